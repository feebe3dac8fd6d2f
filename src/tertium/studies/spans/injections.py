"""Errors injected into a right translation, such as a reader would find.

Each function changes the hypothesis of a pair, or returns None if the pair does not allow it: what
is changed stands on both sides, as far as that can be told.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from tertium.data.codes import primary
from tertium.data.negation import negation_differs, toggled
from tertium.data.opposites import opposed
from tertium.explanation.lexicon import fold, kept_names, words_of
from tertium.text import Text

Pair = tuple[Text, Text]
SEPARATORS = {"en": (".", ","), "de": (",", "."), "fr": (",", "."), "es": (",", ".")}
WORDS = {
    "en": "two three four five six seven eight nine ten eleven twelve",
    "de": "zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
    "fr": "deux trois quatre cinq six sept huit neuf dix onze douze",
    "es": "dos tres cuatro cinco seis siete ocho nueve diez once doce",
}
MONTHS = {
    "en": "January February March April May June July August September October November December",
    "de": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
    "fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre "
    "diciembre",
}
UNITS = {
    "en": "km m kg g mg mm cm MB GB % € $ kilometers meters hours minutes days weeks years months "
    "euros dollars percent miles",
    "de": "km m kg g mg mm cm MB GB % € $ Kilometer Meter Stunden Minuten Tage Wochen Jahre Monate "
    "Euro Dollar Prozent Meilen",
    "fr": "km m kg g mg mm cm Mo Go % € $ kilomètres mètres heures minutes jours semaines ans mois "
    "euros dollars % miles",
    "es": "km m kg g mg mm cm MB GB % € $ kilómetros metros horas minutos días semanas años meses "
    "euros dólares % millas",
}
"""In the same order in all languages."""
SWAPS = {
    **{0: 1, 1: 0, 2: 3, 3: 2, 4: 3, 5: 6, 6: 5, 7: 8, 8: 7, 9: 10, 10: 11, 11: 10, 12: 13, 13: 12},
    **{14: 15, 15: 14, 16: 17, 17: 16, 18: 19, 19: 18, 20: 21, 21: 20, 22: 20, 23: 13},
}
LETTERS = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True)
class Names:
    """Names that both sides of some pairs have, in a fixed order, to replace and to draw from."""

    names: tuple[str, ...] = ()

    @classmethod
    def of(cls, pairs: Iterable[Pair]) -> Names:
        """Those in the list of names that translations keep, and no words of either language."""
        known = kept_names()
        found: set[str] = set()
        for pair in pairs:
            words = words_of(primary(pair[0].lang or "")) | words_of(primary(pair[1].lang or ""))
            for word in shared_names(pair):
                if fold(word) in known and word.lower() not in words:
                    found.add(word)
        return cls(tuple(sorted(found)))


def shared_names(pair: Pair) -> list[str]:
    """Words with a capital letter that both sides have, other than the first of a text."""
    a, b = (set(LETTERS.findall(text.text)) for text in pair)
    return sorted(
        word for word in a & b if len(word) > 2 and word[0].isupper() and word[1:].islower()
    )


Edit = Callable[[Pair, Names, random.Random], str | None]


def _replace(text: str, match: re.Match[str], new: str) -> str:
    return text[: match.start()] + new + text[match.end() :]


def digit(pair: Pair, names: Names, draw: random.Random) -> str | None:
    """Change a digit, not to a leading zero."""
    places = list(re.finditer(r"(?<!&#)(?<!&#\d)(?<!&#\d\d)\d", pair[0].text))
    if not places:
        return None
    match = draw.choice(places)
    return _replace(pair[0].text, match, draw.choice(sorted(set("123456789") - {match[0]})))


def decimal(pair: Pair, names: Names, draw: random.Random) -> str | None:
    """Drop the decimal separator, or move it by one digit."""
    a = pair[0]
    mark = re.escape(SEPARATORS[str(a.lang)][0])
    places = list(re.finditer(rf"(?<![\d.,:/])(\d+){mark}(\d{{1,2}})(?![\d:/]|[.,]\d)", a.text))
    if not places:
        return None
    match = draw.choice(places)
    whole, rest = match[1], match[2]
    options = [(whole + rest).lstrip("0") or "0"]
    if len(rest) > 1 and rest.strip("0"):
        options.append(f"{whole}{rest[0]}{mark[-1]}{rest[1:]}")
    if len(whole) > 1:
        options.append(f"{whole[:-1]}{mark[-1]}{whole[-1]}{rest}")
    changed = [option for option in options if value(option) != value(match[0])]
    return _replace(a.text, match, draw.choice(changed)) if changed else None


def value(number: str) -> float:
    """The value of a number without separators of thousands."""
    return float(number.replace(",", "."))


def sign(pair: Pair, names: Names, draw: random.Random) -> str | None:
    """Put a minus before a number that is not zero and no time."""
    places = list(
        re.finditer(
            r"(?<=[^\W\d]\s)(?=[1-9]\d*(?:[.,]\d+)?(?:\s?%|\s(?!h\b|Uhr|heure|o['’]clock|[ap]\.?m)"
            r"|[.,;!?]?$))",
            pair[0].text,
        )
    )
    return _replace(pair[0].text, draw.choice(places), "-") if places else None


def unit(pair: Pair, names: Names, draw: random.Random) -> str | None:
    """Replace the unit of a number by another, if the source has the unit too."""
    a, b = pair
    own, others = (UNITS[str(text.lang)].split() for text in pair)
    source = set(re.findall(r"[^\W\d_]+|[%€$]", b.text))
    places = [
        (match, own.index(match[2]))
        for match in re.finditer(r"(?<=\d)(\s?)([^\W\d_]+|[%€$])(?![\w/])", a.text)
        if match[2] in own and others[own.index(match[2])] in source
    ]
    if not places:
        return None
    match, place = draw.choice(places)
    return _replace(a.text, match, match[1] + own[SWAPS[place]])


def number_word(pair: Pair, names: Names, draw: random.Random) -> str | None:
    """Replace a number word by another, if the source has the number too."""
    a, b = pair
    own, others = (WORDS[str(text.lang)].split() for text in pair)
    source = {word.lower() for word in re.findall(r"\w+", b.text)}
    places = [
        match
        for match in LETTERS.finditer(a.text)
        if match[0] in own and {others[own.index(match[0])], str(own.index(match[0]) + 2)} & source
    ]
    if not places:
        return None
    match = draw.choice(places)
    return _replace(a.text, match, draw.choice([word for word in own if word != match[0]]))


def date(pair: Pair, names: Names, draw: random.Random) -> str | None:
    """Replace the month of a date by another, if the source has the month too."""
    months, others = (MONTHS[str(text.lang)].split() for text in pair)
    either = "|".join(months)
    places = [
        match
        for match in re.finditer(rf"(?<=\d )(?:{either})\b|\b(?:{either})(?= \d)", pair[0].text)
        if others[months.index(match[0])] in pair[1].text
    ]
    if not places:
        return None
    match = draw.choice(places)
    return _replace(pair[0].text, match, draw.choice([m for m in months if m != match[0]]))


def name(pair: Pair, names: Names, draw: random.Random) -> str | None:
    """Replace a name that both sides have by one of another pair."""
    own = [word for word in shared_names(pair) if word in names.names]
    if not own:
        return None
    old, new = draw.choice(own), draw.choice(names.names)
    if re.search(rf"\b{new}", pair[0].text + pair[1].text):
        return None
    return re.sub(rf"\b{old}\b", new, pair[0].text)


def half(pair: Pair, names: Names, draw: random.Random) -> str | None:
    """Leave the second half as it is in the source."""
    a, b = (text.text.split() for text in pair)
    if min(len(a), len(b)) < 8:
        return None
    return " ".join(a[: len(a) // 2] + b[len(b) // 2 :])


def stretch(pair: Pair, names: Names, draw: random.Random) -> str | None:
    """Leave four words, three of them in lower case, as they are in the source."""
    a, b = (text.text.split() for text in pair)
    places = [
        place
        for place in range(len(b) - 3)
        for words in [b[place : place + 4]]
        if all(word.isalpha() for word in words) and sum(word.islower() for word in words) > 2
    ]
    if len(a) < 8 or not places:
        return None
    place = draw.choice(places)
    start = min(place, len(a) - 4)
    return " ".join(a[:start] + b[place : place + 4] + a[start + 4 :])


def omitted(pair: Pair, names: Names, draw: random.Random) -> str | None:
    """Leave out four words in sequence."""
    words = pair[0].text.split()
    if len(words) < 8:
        return None
    place = draw.randrange(len(words) - 4)
    return " ".join(words[:place] + words[place + 4 :])


def opposite(pair: Pair, names: Names, draw: random.Random) -> str | None:
    """Replace a word by its opposite."""
    a = pair[0]
    options = list(opposed(a.text, primary(a.lang or "")))
    if not options:
        return None
    start, end, new = draw.choice(options)
    return a.text[:start] + new + a.text[end:]


def negation(pair: Pair, names: Names, draw: random.Random) -> str | None:
    """Negate, or remove the negation; not where the other text differs in that already."""
    a, b = pair
    langs = primary(a.lang or ""), primary(b.lang or "")
    if negation_differs(a.text, langs[0], b.text, langs[1]):
        return None
    return toggled(a.text, langs[0])


INJECTED: dict[str, Edit] = {
    **{"digit": digit, "decimal": decimal, "sign": sign, "unit": unit, "date": date},
    **{"number word": number_word, "name": name, "half": half, "stretch": stretch},
    **{"omitted": omitted, "opposite": opposite, "negation": negation},
}
