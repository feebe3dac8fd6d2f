"""Numbers as values: ``1,5 Millionen`` is 1.5 million, and ``2,5 mg`` is not 25 mg.

Separators, months, units and currencies are those of each language (CLDR); numbers may be spelt
out. Versions and addresses are compared as they stand, Roman numerals only match.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache

from tertium.explanation.lexicon import language, spelling
from tertium.explanation.number_words import TOKEN, beginnings, spelt_numbers
from tertium.explanation.placeholders import find_placeholders
from tertium.explanation.spans import A, B, Severity, Span
from tertium.text import Text

NUMBER, UNIT, DATE = "number", "unit", "date"
SPACES = " \u00a0\u202f\u2009"
DIGITS = re.compile(
    r"\d{1,3}(?:[ \u00a0\u202f\u2009'’]\d{3})+(?!\d)(?:[.,]\d+)?|\d+(?:[.,٫٬]\d+)*|[¼½¾⅓⅔⅛]"
)
PROTECTED = re.compile(
    r"(?:https?://|www\.|ftp://)\S+|[\w.+-]+@[\w-]+\.[\w.]+|\b[\w-]+\.(?:com|org|net|de|fr|es|eu)\b"
    r"|\b\d{1,3}(?:\.\d{1,3}){3}\b|\bv\d+(?:\.\d+)+\b|\b(?i:iso[-_ ]?8859(?:-\d+)?|utf-?\d+)\b"
    r"|(?<![\d.,])\d{1,3}\.(?:\d{1,3}\.\d|(?:1[3-9]|[2-9]\d|0)\.\d\d)(?!\.?\d)"  # 1.20.1 is no date
)
NUMERIC_DATE = re.compile(r"(?<![\d.,/-])(\d{1,4})([./-])(\d{1,2})\2(\d{4}|\d{2})(?![\d/]|[.,-]\d)")
CLOCK = re.compile(
    r"(?<![\d:.,])([01]?\d|2[0-4])(?:(?::|\s?h\s?|\s?Uhr\s)([0-5]\d)(?!\d|\s?%|:\d\d\d)"
    r"|\.([0-5]\d)(?=\s?(?:Uhr|[ap]\.?\s?m\b|h\b)))(?::[0-5]\d)?(?:\s?(Uhr|h(?!\w)))?"
    r"(\s?[ap]\.?\s?m\b\.?)?",
    re.IGNORECASE,
)
HOUR = re.compile(
    r"\s?(?:(?P<noon>[ap])\.?\s?m\b\.?|(?P<hour>uhr|o['’]clock|h(?!\w)))", re.IGNORECASE
)
FRACTIONS = {"¼": 0.25, "½": 0.5, "¾": 0.75, "⅓": 1 / 3, "⅔": 2 / 3, "⅛": 0.125}
DENOMINATOR = re.compile(r"\s?[/⁄]\s?(\d{1,2})(?![\d/.,])")
SQUARE = re.compile(r"(?:^|[^\w])[kcmd]?m$")
CURRENCY_BEFORE = re.compile(r"(?:[A-Z]{2,3}[$£]?|[€$£¥₽₹])[ \u00a0\u202f]?$")
YEAR_BEFORE = re.compile(r"([12]\d)\d\d[-–/]$")
DECADE = re.compile(r"['’]?s(?!\w)|er(?:n|-)?(?![a-z])", re.IGNORECASE)
DECADES = re.compile(r"\w+(?:ties|(?:zig|ßig)ern?)", re.IGNORECASE)
ROMAN = re.compile(r"\b(?:[IVXLC]{2,}|[VX])(?=\b|e\b|er\b|º|ème\b)")
ROMANS = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}
SCALE_LETTERS = {"k": 3, "m": 6, "mn": 6, "mln": 6, "bn": 9, "b": 9, "tn": 12}
MORE_SCALES = {
    "en": {
        **{"millions": 6, "billions": 9, "hundred": 2, "m": 6, "mn": 6, "mln": 6, "bn": 9, "k": 3},
    },
    "de": {"hundert": 2, "mill": 6, "mia": 9},
    "fr": {"cents": 2, "milliers": 3, "mds": 9, "mrd": 9, "m": 6, "mia": 9},
    "es": {"cientos": 2, "miles": 3, "m": 6, "mill": 6},
    "zh": {"万": 4, "亿": 8, "萬": 4, "億": 8},
    "ja": {"万": 4, "億": 8},
    "ko": {"만": 4, "억": 8},
}
GENERIC = {
    "en": {
        **{"dollar": "USD CAD AUD", "dollars": "USD CAD AUD", "pound": "GBP pound"},
        **{"pounds": "GBP pound", "yen": "JPY", "yuan": "CNY", "rubles": "RUB", "roubles": "RUB"},
        **{"franc": "CHF FRF", "francs": "CHF FRF", "ton": "tonne", "tons": "tonne"},
        **{"metre": "meter", "metres": "meter", "kilometre": "kilometer", "cents": "cent"},
        **{"kilometres": "kilometer", "centimetres": "centimeter", "per cent": "percent"},
        **{"kilo": "kilogram", "kilos": "kilogram", "hrs": "hour"},
        **{"litre": "liter", "litres": "liter", "square metres": "square-meter", "yrs": "year"},
    },
    "de": {
        **{"dollar": "USD CAD AUD", "pfund": "GBP pound", "yen": "JPY", "yuan": "CNY"},
        **{"rubel": "RUB", "franken": "CHF", "mark": "DEM", "euros": "EUR", "stunden": "hour"},
        **{"jahren": "year", "monaten": "month", "tagen": "day", "kilo": "kilogram"},
        **{"metern": "meter", "kilometern": "kilometer", "cent": "cent", "grad": ""},
    },
    "fr": {
        **{"dollar": "USD CAD AUD", "dollars": "USD CAD AUD", "livre": "GBP pound"},
        **{"livres": "GBP pound", "yen": "JPY", "yens": "JPY", "yuans": "CNY", "roubles": "RUB"},
        **{"franc": "CHF FRF", "francs": "CHF FRF", "an": "year", "ans": "year"},
        **{"kilo": "kilogram", "kilos": "kilogram", "p. cent": "percent", "%": "percent"},
        **{"centimes": "cent", "années": "year"},
    },
    "es": {
        **{"dólar": "USD CAD AUD", "dólares": "USD CAD AUD", "libra": "GBP pound"},
        **{"libras": "GBP pound", "yen": "JPY", "yenes": "JPY", "yuanes": "CNY"},
        **{"rublos": "RUB", "franco": "CHF FRF", "francos": "CHF FRF", "kilo": "kilogram"},
        **{"kilos": "kilogram", "pesetas": "ESP"},
        **{"centavos": "cent", "céntimos": "cent"},
    },
}
"""Usual words for units and currencies besides those of CLDR."""
SYMBOLS = {
    **{
        "€": "EUR",
        "$": "USD CAD AUD MXN",
        "US$": "USD",
        "£": "GBP",
        "¥": "JPY CNY",
        "%": "percent",
    },
    **{"mph": "mile-per-hour", "km/h": "kilometer-per-hour", "kph": "kilometer-per-hour"},
    **{"sq mi": "square-mile", "mi": "mile", "m": "meter", "km²": "square-kilometer"},
    **{"‰": "permille", "°C": "celsius", "°F": "fahrenheit", "₽": "RUB", "₹": "INR"},
}
NOT_UNITS = frozenset(
    {"in", "a", "t", "d", "s", "y", "°", "m", "h", "pi", "pt", "c", "j", "b", "B"}
)
"""Symbols of CLDR that are words, or have other meanings, in running text."""
BASE = {
    **{"kilometer": ("length", 1000.0), "meter": ("length", 1.0), "centimeter": ("length", 0.01)},
    **{"millimeter": ("length", 0.001), "mile": ("length", 1609.344), "yard": ("length", 0.9144)},
    **{"foot": ("length", 0.3048), "inch": ("length", 0.0254), "nautical-mile": ("length", 1852.0)},
    **{"kilogram": ("mass", 1000.0), "gram": ("mass", 1.0), "milligram": ("mass", 0.001)},
    **{"tonne": ("mass", 1e6), "pound": ("mass", 453.59237), "ounce": ("mass", 28.349523)},
    **{"square-kilometer": ("area", 1e6), "square-meter": ("area", 1.0), "hectare": ("area", 1e4)},
    **{"square-mile": ("area", 2589988.1), "acre": ("area", 4046.8564)},
    **{"square-foot": ("area", 0.09290304), "kilometer-per-hour": ("speed", 1.0)},
    **{"mile-per-hour": ("speed", 1.609344), "meter-per-second": ("speed", 3.6)},
    **{"knot": ("speed", 1.852), "liter": ("volume", 1.0), "gallon": ("volume", 3.785412)},
    **{"milliliter": ("volume", 0.001), "barrel": ("volume", 158.987)},
    **{"year": ("time", 365.25), "month": ("time", 30.44), "week": ("time", 7.0)},
    **{"day": ("time", 1.0), "hour": ("time", 1 / 24), "minute": ("time", 1 / 1440)},
    **{"century": ("time", 36525.0), "decade": ("time", 3652.5), "second": ("time", 1 / 86400)},
}
"""Dimensions of units, and how many base units one has."""
CONVERTED = 0.06
"""A converted value may be rounded by this share."""
SPELT_OUT = 12
"""Whole numbers up to this are often spelt out, or said in another way."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number of a text: the values that it may have, and its unit."""

    start: int
    end: int
    text: str
    values: tuple[float, ...]
    units: frozenset[str] = field(default=frozenset())
    """The units that may be meant; empty if there is none."""
    form: str = "digits"
    """digits, spelt, weak (an article, or hundreds of), date, month, time or code."""
    parts: tuple[int, int] | None = None
    """Numerator and denominator of a fraction."""

    @property
    def is_small(self) -> bool:
        if self.form not in ("digits", "spelt"):
            return False
        value = self.values[0]
        return 0 <= value <= SPELT_OUT and value == int(value)


def quantities(text: str, lang: str) -> list[Quantity]:
    """Find the numbers of a text.

    >>> [(each.text, each.values[0]) for each in quantities("1.500 Euro, 3,5 % und -2", "de")]
    [('1.500 Euro', 1500.0), ('3,5 %', 3.5), ('-2', -2.0)]
    """
    taken = [(each.start, each.end) for each in find_placeholders(text)]
    found: list[Quantity] = []
    if DIGITS.search(text):
        for match in PROTECTED.finditer(text):
            taken.append(match.span())
            if match[0][0].isdigit() or match[0][0] == "v":
                found.append(Quantity(*match.span(), match[0], (), form="code"))
        for quantity in (*_dates(text), *_clocks(text)):
            if _is_free(quantity, taken):
                found.append(quantity)
        taken += [(each.start, each.end) for each in found]
        for match in DIGITS.finditer(text):
            if all(match.end() <= start or end <= match.start() for start, end in taken):
                found += _number(text, match, lang)
    taken = [(each.start, each.end) for each in found] + taken
    for spelt in spelt_numbers(text, lang):
        units, start, end = _unit(text, spelt.start, spelt.end, lang)
        form = "weak" if spelt.is_weak else "spelt"
        values: tuple[float, ...] = (float(spelt.value),)
        if DECADES.fullmatch(text, spelt.start, spelt.end):
            values += (spelt.value + 1900.0,)
        quantity = Quantity(start, end, text[start:end], values, units, form)
        if _is_free(quantity, taken):
            found.append(quantity)
    found += [month for month in _months(text, lang) if _is_free(month, taken)]
    return sorted(found, key=lambda each: each.start)


def _is_free(quantity: Quantity, taken: Sequence[tuple[int, int]]) -> bool:
    return all(quantity.end <= start or end <= quantity.start for start, end in taken)


def _dates(text: str) -> Iterator[Quantity]:
    """The parts of dates in digits: day and month in either order, and the year."""
    for match in NUMERIC_DATE.finditer(text):
        first, separator, second, third = match.groups()
        numbers = [int(part) for part in (first, second, third)]
        day, month, year = numbers[::-1] if len(first) == 4 else numbers
        if (len(first) == 3) or min(day, month) > 12 or max(day, month) > 31 or not min(day, month):
            continue
        if separator == "." and len(third) == 2 and len(first) + len(second) < 4 and year < 13:
            continue  # a version, or a number of a section
        years = (float(year),) if year > 99 else (year + 1900.0, year + 2000.0, float(year))
        places = [match.span(1), match.span(3), match.span(4)]
        for (start, end), values in zip(
            places if len(first) != 4 else places[::-1],
            ((float(day),), (float(month),), years),
            strict=True,
        ):
            yield Quantity(start, end, text[start:end], values, form="date")


def _clocks(text: str) -> Iterator[Quantity]:
    """Times with minutes, in hours."""
    for match in CLOCK.finditer(text):
        hour, minutes = int(match[1]), int(match[2] or match[3])
        values = _hours(hour + minutes / 60, match[5])
        if not minutes:
            values += (float(hour),)
        yield Quantity(match.start(), match.end(), match[0].strip(), values, form="time")


def _hours(value: float, noon: str | None) -> tuple[float, ...]:
    """A time on both clocks, the more probable one first."""
    other = value - 12 if value >= 12 else value + 12
    after = noon is not None and noon.strip().lower().startswith("p")
    return (other, value) if after and value < 12 else (value, other)


def _number(text: str, match: re.Match[str], lang: str) -> Iterator[Quantity]:
    start, end = match.span()
    before = text[start - 1] if start else " "
    if match[0] in FRACTIONS:
        yield Quantity(start, end, match[0], (FRACTIONS[match[0]],))
        return
    in_list = before == "[" and text[end : end + 1] == "]"
    readings = None if in_list else read_number(match[0], lang)
    if readings is None:  # a version, or a list without spaces
        for part in re.finditer(r"\d+", match[0]):
            place = start + part.start()
            yield Quantity(place, place + len(part[0]), part[0], (float(part[0]),), form="code")
        return
    values = readings
    if end < len(text) and text[end] in FRACTIONS:
        values, end = (values[0] + FRACTIONS[text[end]],), end + 1
    fraction = DENOMINATOR.match(text, end)
    is_apart = before not in "/-" and not before.isalpha()
    if fraction and is_apart and 0 < values[0] < int(fraction[1]) <= 20:
        parts = (int(values[0]), int(fraction[1]))
        yield Quantity(
            start, fraction.end(), text[start : fraction.end()], (parts[0] / parts[1],), parts=parts
        )
        return
    if match[0] in "23" and SQUARE.search(text[max(0, start - 3) : start]):
        return
    is_code = (
        before.isalpha()
        or before == "_"
        or (before in "-‐‑" and start > 1 and text[start - 2].isalpha())
    )
    if is_code:
        yield Quantity(start, end, match[0], values, form="code")
        return
    sign = _sign(text, start)
    if sign is not None:
        values = tuple(-value for value in values) + (values if sign == "–" else ())
        start -= 1
    if before in "'’" and len(match[0]) == 2:
        values += tuple(value + century for value in values for century in (1900, 2000))
    elif len(match[0]) == 2 and (year := YEAR_BEFORE.search(text[max(0, start - 5) : start])):
        values += (values[0] + 100 * int(year[1]),)  # 2007-08
    if decade := DECADE.match(text, end):
        ten = values[0]
        if not ten % 10 and (ten < 100 or 1000 < ten < 2100):
            values += (ten % 100,) if ten > 100 else (ten + 1900, ten + 2000)
            yield Quantity(start, decade.end(), text[start : decade.end()], values)
            return
    hour = HOUR.match(text, end)
    if hour and values[0] <= 24 and "." not in match[0] and "," not in match[0]:
        values = (*_hours(values[0], hour["noon"]), values[0])
        yield Quantity(start, hour.end(), text[start : hour.end()], values, form="time")
        return
    values, end = _scaled(text, end, values, lang)
    units, start, end = _unit(text, start, end, lang)
    if units == {"meter"} and CURRENCY_BEFORE.search(text[max(0, start - 5) : start]):
        units = frozenset()  # £5m
    yield Quantity(start, end, text[start:end], values, units)


def _sign(text: str, start: int) -> str | None:
    """The minus before a number; a dash after a word or in a range is none."""
    if not start or text[start - 1] not in "-−–":
        return None
    if start > 1 and text[start - 2] not in f"{SPACES}()„\"“'`«[=:/":
        return None
    before = text[: start - 1].rstrip()
    return None if before[-1:].isdigit() or before[-1:] == "%" else text[start - 1]


def read_number(digits: str, lang: str) -> tuple[float, ...] | None:
    """The values of a number in digits; without a language, both readings of ``1.500``.

    None if it is not one number, such as a version.

    >>> read_number("1.500,25", "de"), read_number("2.5", "de"), read_number("1.2.3", "en")
    ((1500.25,), (2.5,), None)
    """
    plain = re.sub(r"[ \u00a0\u202f\u2009'’]", "", digits).replace("٫", ".").replace("٬", "")
    separators = [char for char in plain if char in ".,"]
    if not separators:
        return (float(plain),)
    groups = re.split("[.,]", plain)
    is_grouped = len(groups[0]) <= 3 and groups[0] != "0" and all(len(g) == 3 for g in groups[1:])
    last = separators[-1]
    joined = "".join(groups[:-1])
    if len(separators) > 1:
        if len(set(separators)) == 1:
            return (float("".join(groups)),) if is_grouped else None
        if len(set(separators[:-1])) > 1 or not all(len(group) == 3 for group in groups[1:-1]):
            return None
        return (float(f"{joined}.{groups[-1]}"),)
    decimal = float(f"{joined}.{groups[-1]}")
    if not is_grouped or len(plain) != len(digits):
        return (decimal,)
    if not lang:
        return (float("".join(groups)), decimal)
    return (decimal,) if last == spelling(lang).decimal else (float("".join(groups)),)


def _scaled(
    text: str, end: int, values: tuple[float, ...], lang: str
) -> tuple[tuple[float, ...], int]:
    """Multiply by a following word such as million."""
    scales = _scales(lang)
    for match in _following(text, end):
        word = match[0].casefold().strip(SPACES + ".-")
        if word not in scales:
            continue
        factor = 10 ** scales[word]
        large = tuple(value * factor for value in values)
        if word in SCALE_LETTERS:  # or a unit: metres
            return (*large, *values), end
        more, more_end = _scaled(text, match.end(), large, lang)
        return more, more_end
    return values, end


@cache
def _scales(lang: str) -> dict[str, int]:
    return spelling(lang).scales | MORE_SCALES.get(lang, {})


WORDS_AFTER = [
    re.compile(r"[ \u00a0\u202f-]?[^\W\d_]+[ \u00a0][^\W\d_]+"),
    re.compile(r"[ \u00a0\u202f-]{0,2}(?:[^\W\d_]+(?:/h|²|³)?|[%€$£¥‰₽₹]|°[CF])"),
]
LINK = re.compile(r"[ \u00a0](?:d['’]|de |of |di )", re.IGNORECASE)


def _following(text: str, end: int) -> Iterator[re.Match[str]]:
    """The next two words, then the next one."""
    for pattern in WORDS_AFTER:
        if match := pattern.match(text, end):
            yield match


@cache
def _units(lang: str) -> dict[str, frozenset[str]]:
    """What units and currencies are called; symbols as they are, words in lower case."""
    found: dict[str, set[str]] = {}
    data = spelling(lang)
    for table in (data.units, data.currencies):
        for unit, names in table.items():
            for name in (*names, *([unit] if unit.isupper() else [])):
                plain = name.strip(SPACES + ".\u202f")
                if "/" in plain[:1] or " " in plain[:4] or plain in NOT_UNITS or not plain:
                    continue
                found.setdefault(plain if len(plain) < 4 else plain.casefold(), set()).add(unit)
    for words in (SYMBOLS, GENERIC.get(lang, {})):
        for word, units in words.items():
            found[word] = set(units.split())
    return {word: frozenset(units) for word, units in found.items() if units}


def _unit(text: str, start: int, end: int, lang: str) -> tuple[frozenset[str], int, int]:
    """The unit after a number, or the currency before it, and the offsets with it."""
    units = _units(lang)
    link = LINK.match(text, end)
    place = link.end() if link else end
    for match in _following(text, place):
        word = match[0].strip(SPACES + "-")
        if found := units.get(word) or units.get(word.casefold() if len(word) > 3 else word):
            return found, start, match.end()
    if before := CURRENCY_BEFORE.search(text[max(0, start - 5) : start]):
        word = before[0].strip(SPACES)
        if found := units.get(word):
            return found, start - len(before[0]), end
    return frozenset(), start, end


def _months(text: str, lang: str) -> Iterator[Quantity]:
    """Names of months, beside a number or with a capital letter."""
    names = _month_names(lang)
    for match in TOKEN.finditer(text):
        number = names.get(match[0].casefold())
        if number is None:
            continue
        around = (
            text[max(0, match.start() - 7) : match.start()] + text[match.end() : match.end() + 5]
        )
        if any(char.isdigit() for char in around):
            yield Quantity(*match.span(), match[0], (float(number),), form="month")


@cache
def _month_names(lang: str) -> dict[str, int]:
    return {
        name: number
        for number, names in enumerate(spelling(lang).months, 1)
        for name in names
        if name.isalpha()
    }


def _same(one: float, other: float) -> bool:
    return abs(one - other) <= 1e-12 * max(abs(one), abs(other), 1.0)


def _likeness(one: Quantity, other: Quantity) -> int:
    """How probable it is that two numbers are the same; 0 if they are not.

    One of them has to have its first value: 1970s may be 70, but not 1870s.
    """
    if not one.values or not other.values:
        return 9 * (one.text.lstrip("v") == other.text.lstrip("v"))
    forms = {one.form, other.form}
    if "month" in forms and not forms <= {"month", "date"}:
        return 0
    likeness = 0
    if _same(one.values[0], other.values[0]):
        likeness = 4
    elif any(_same(one.values[0], value) for value in other.values) or any(
        _same(value, other.values[0]) for value in one.values
    ):
        likeness = 2
    elif "time" in forms and forms != {"time"}:
        digits = [re.sub(r"\D", "", each.text) for each in (one, other)]
        likeness = 2 * (len(digits[0]) > 2 and digits[0] == digits[1])
    if likeness:
        likeness += 2 * (len(forms) == 1) + (not one.units.isdisjoint(other.units))
    return likeness


def _match(
    first: Sequence[Quantity], second: Sequence[Quantity]
) -> tuple[list[tuple[Quantity, Quantity]], list[Quantity], list[Quantity]]:
    """Pairs of numbers that are the same, the most alike first, and what is left of both sides."""
    options = [
        (-likeness, abs(i / len(first) - j / len(second)), i, j)
        for i, one in enumerate(first)
        for j, other in enumerate(second)
        if (likeness := _likeness(one, other))
    ]
    pairs = []
    left, right = dict(enumerate(first)), dict(enumerate(second))
    for _, _, i, j in sorted(options):
        if i in left and j in right:
            pairs.append((left.pop(i), right.pop(j)))
    return pairs, list(left.values()), list(right.values())


def _is_repeated(each: Quantity, others: Sequence[Quantity]) -> bool:
    """Whether the other side has the number, but not as often."""
    return any(_likeness(each, other) for other in others)


def number_spans(a: Text, b: Text) -> list[Span]:
    """Numbers, units and dates that differ.

    >>> pair = Text("Nehmen Sie 2,5 mg.", "de"), Text("Take 25 mg.", "en")
    >>> [(span.text, span.severity, span.evidence) for span in number_spans(*pair)]
    [('2,5 mg', 'critical', 'numbers differ: 2,5 mg / 25 mg'),
     ('25 mg', 'critical', 'numbers differ: 2,5 mg / 25 mg')]
    """
    langs = language(a.lang), language(b.lang)
    first, second = quantities(a.text, langs[0]), quantities(b.text, langs[1])
    if not first and not second:
        return []
    pairs, left, right = _match(first, second)
    spans = _unit_spans(a.text, b.text, pairs)
    left = _unsaid(left, b.text, langs[1], second, [y for _, y in pairs])
    right = _unsaid(right, a.text, langs[0], first, [x for x, _ in pairs])
    repeated = [each for each in left if _is_repeated(each, second)]
    repeated += [each for each in right if _is_repeated(each, first)]
    for x, y in _paired(left, right):
        if x in repeated and (y is None or y in repeated):
            continue
        if x is not None and y is not None:
            spans += _difference(a.text, b.text, x, y)
        elif x is not None and _is_noticed(x):
            spans.append(_missing(a.text, A, x))
        elif y is not None and _is_noticed(y) and y not in repeated:
            spans.append(_missing(b.text, B, y))
    return spans


def _is_noticed(each: Quantity) -> bool:
    """Whether a number is reported although nothing on the other side takes its place."""
    return each.form in ("digits", "time", "date", "code") and not each.is_small


def _unsaid(
    left: Sequence[Quantity],
    other: str,
    lang: str,
    others: Sequence[Quantity],
    matched: Sequence[Quantity],
) -> list[Quantity]:
    """Leave out articles, and numbers that the other text says in another way or unit."""
    left = [
        each
        for each in left
        if each.form != "weak" and not any(_is_converted(each, other) for other in matched)
    ]
    if not left:
        return []
    counted = [(each.start, each.end) for each in others if each.form != "weak"]
    words = [
        match[0].casefold()
        for match in TOKEN.finditer(other)
        if not any(start <= match.start() < end for start, end in counted)
    ]
    romans = {_roman(match[0]) for match in ROMAN.finditer(other)}
    values = {value for each in others for value in each.values}
    return [each for each in left if not _is_said(each, words, lang, romans, values)]


def _is_said(
    each: Quantity, words: Sequence[str], lang: str, romans: set[int], values: set[float]
) -> bool:
    if not each.values or each.form in ("month", "time"):
        return False
    if any(value in romans for value in each.values):
        return True
    if each.parts is not None and (
        each.parts[0] in (*values, 1) or all(part in values for part in each.parts)
    ):
        return True
    value = each.values[0]
    starts = beginnings(lang, int(value)) if 1 <= value <= 100 and value == int(value) else ()
    return any(word.startswith(starts) for word in words)


def _roman(numeral: str) -> int:
    numbers = [ROMANS[char] for char in numeral]
    return sum(
        -number if number < max(numbers[place:]) else number for place, number in enumerate(numbers)
    )


def _paired(
    left: Sequence[Quantity], right: Sequence[Quantity]
) -> Iterator[tuple[Quantity | None, Quantity | None]]:
    """Put together the numbers that probably should be the same: by form, unit and digits."""
    rest = list(right)
    for x in left:
        if not rest:
            yield x, None
            continue
        y = max(rest, key=lambda y: _resemblance(x, y))
        rest.remove(y)
        yield x, y
    for y in rest:
        yield None, y


def _resemblance(x: Quantity, y: Quantity) -> tuple[bool, bool, bool, int]:
    digits = [set(re.sub(r"\D", "", each.text)) for each in (x, y)]
    return (
        x.form == y.form,
        _is_converted(x, y),
        not x.units.isdisjoint(y.units),
        len(digits[0] & digits[1]),
    )


def _difference(a: str, b: str, x: Quantity, y: Quantity) -> list[Span]:
    severity: Severity = "critical"
    kind, what = NUMBER, "numbers differ"
    if {"month", "date"} & {x.form, y.form}:
        kind, what, severity = DATE, "dates differ", "major"
    elif "time" in (x.form, y.form):
        what, severity = "times differ", "major"
    elif x.text == y.text and x.units == y.units:
        what, severity = "the separators are not those of the language", "minor"
    elif _is_converted(x, y):
        kind, what, severity = UNIT, "converted into another unit", "minor"
    elif "spelt" in (x.form, y.form):
        severity = "major"
    evidence = f"{what}: {x.text} / {y.text}"
    return [
        _span(text, side, each, kind, severity, evidence)
        for side, text, each in ((A, a, x), (B, b, y))
    ]


def _is_converted(x: Quantity, y: Quantity) -> bool:
    """Whether two values are the same in different units, rounded."""
    for one in x.units:
        for other in y.units:
            if {one, other} == {"celsius", "fahrenheit"}:
                celsius, fahrenheit = (x, y) if one == "celsius" else (y, x)
                if abs(celsius.values[0] * 1.8 + 32 - fahrenheit.values[0]) <= 2:
                    return True
            elif one in BASE and other in BASE and BASE[one][0] == BASE[other][0]:
                sizes = x.values[0] * BASE[one][1], y.values[0] * BASE[other][1]
                if one != other and abs(sizes[0] - sizes[1]) <= CONVERTED * max(map(abs, sizes)):
                    return True
    return False


def _unit_spans(a: str, b: str, pairs: Sequence[tuple[Quantity, Quantity]]) -> list[Span]:
    spans = []
    for x, y in pairs:
        if x.units and y.units and not x.units & y.units:
            evidence = f"units differ: {x.text} / {y.text}"
            spans += [
                _span(text, side, each, UNIT, "critical", evidence)
                for side, text, each in ((A, a, x), (B, b, y))
            ]
    return spans


def _missing(text: str, side: str, each: Quantity) -> Span:
    kind = DATE if each.form == "date" else NUMBER
    return _span(text, side, each, kind, "major", f"the other text does not have {each.text}")


def _span(
    text: str, side: str, each: Quantity, kind: str, severity: Severity, evidence: str
) -> Span:
    return Span.of(
        text,
        each.start,
        each.end,
        side=side,
        kind=kind,
        score=1.0,
        severity=severity,
        evidence=evidence,
    )
