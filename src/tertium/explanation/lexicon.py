"""Tables of words, places and spellings, which ``scripts/detection_tables.py`` writes.

Spellings are those of CLDR; places are from GeoNames (CC BY 4.0) and CLDR; words were counted in
the development half of public bitext.
"""

from __future__ import annotations

import json
import lzma
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from anyascii import anyascii

from tertium.data.codes import primary

TABLES = Path(__file__).with_name("tables")
WORD_LANGUAGES = frozenset({"de", "en", "es", "fr", "it", "nl", "pt", "ru"})
"""The languages with a table of words."""


@dataclass(frozen=True)
class Spelling:
    """How a language writes numbers and dates."""

    decimal: str
    group: str
    months: tuple[tuple[str, ...], ...]
    units: dict[str, list[str]]
    currencies: dict[str, list[str]]
    scales: dict[str, int]
    """Words for powers of ten, such as million."""


@lru_cache(maxsize=1 << 16)
def fold(word: str) -> str:
    """Latin letters without case and diacritics.

    >>> fold("Müller"), fold("Москва"), fold("Łódź")
    ('muller', 'moskva', 'lodz')
    """
    if word.isascii():
        return word.lower()
    return "".join(char for char in anyascii(word).lower() if char.isalnum())


@lru_cache
def language(lang: str | None) -> str:
    """The code that the tables use; empty if the language is unknown."""
    return primary(lang) if lang else ""


@cache
def words_of(lang: str) -> frozenset[str]:
    """Words of a language that are not names, in lower case; empty if there is no table.

    >>> "council" in words_of("en"), "obama" in words_of("en")
    (True, False)
    """
    if lang not in WORD_LANGUAGES:
        return frozenset()
    return frozenset(_read(f"words.{lang}.txt.xz").split("\n"))


@cache
def kept_names() -> frozenset[str]:
    """Names that translations keep, folded.

    >>> "obama" in kept_names(), "council" in kept_names()
    (True, False)
    """
    return frozenset(_read("names.txt.xz").split("\n"))


@cache
def cities() -> dict[str, frozenset[int]]:
    """Names of cities, folded, and the cities that have them."""
    return _groups("cities.txt.xz")


@cache
def countries() -> dict[str, frozenset[int]]:
    """Names of countries and continents in the languages with a table of words, folded."""
    return _groups("countries.txt.xz")


def share_city(one: str, other: str) -> bool:
    """Whether two folded words are names of one city.

    >>> share_city("londres", "london"), share_city("london", "paris")
    (True, False)
    """
    known = cities()
    return one in known and other in known and not known[one].isdisjoint(known[other])


def _groups(name: str) -> dict[str, frozenset[int]]:
    found: dict[str, set[int]] = {}
    for number, line in enumerate(_read(name).split("\n")):
        for word in line.split(" "):
            found.setdefault(word, set()).add(number)
    return {word: frozenset(numbers) for word, numbers in found.items()}


@cache
def spelling(lang: str) -> Spelling:
    """The spellings of a language; those of English if CLDR does not have it.

    >>> spelling("de").decimal, spelling("de").months[2]
    (',', ('mär', 'märz'))
    """
    languages = _cldr()["languages"]
    data = languages.get(lang) or languages["en"]
    return Spelling(
        data["decimal"],
        data["group"],
        tuple(map(tuple, data["months"])),
        data["units"],
        data["currencies"],
        data["scales"],
    )


@cache
def _cldr() -> dict[str, Any]:
    table: dict[str, Any] = json.loads(_read("cldr.json.xz"))
    return table


def _read(name: str) -> str:
    return lzma.decompress((TABLES / name).read_bytes()).decode()
