"""Names that have no counterpart on the other side.

A name is a word with a capital letter that is not a word of its language (``lexicon.words_of``), or
the name of a country. Its counterpart may be spelt or inflected differently, or be the name that
another language has for a city or a country.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import cache, lru_cache

from tertium.explanation.lexicon import (
    WORD_LANGUAGES,
    cities,
    countries,
    fold,
    kept_names,
    language,
    share_city,
    words_of,
)
from tertium.explanation.numbers import PROTECTED
from tertium.explanation.placeholders import find_placeholders
from tertium.explanation.spans import A, B, Severity, Span
from tertium.text import Text

NAME = "name"
LETTERS = re.compile(r"[^\W\d_]+")
LEAST_LETTERS = 3
NOUNS_CAPITALIZED = frozenset({"de", "lb"})
SIMILAR, SIMILAR_WORD = 0.65, 0.8
"""The share of letters in common from which a name may be the spelling of a name, or of a word."""
ENDINGS = 3
"""An inflected name may be this much longer."""
SOUNDS = (
    *(("tsch", "s"), ("sch", "s"), ("tch", "s"), ("tz", "s"), ("ts", "s"), ("ch", "s")),
    *(("sh", "s"), ("cz", "s"), ("zh", "s"), ("dj", "s"), ("ph", "f"), ("ou", "u"), ("th", "t")),
    *(("kh", "h"), ("gh", "g"), ("x", "ks"), ("y", "i"), ("j", "i"), ("w", "v"), ("c", "k")),
    *(("q", "k"), ("z", "s"), ("h", "")),
)
"""Letters that transliterations exchange."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A word with a capital letter."""

    start: int
    end: int
    text: str
    folded: str
    is_name: bool
    """Whether it is not a word of its language."""
    is_known: bool
    """Whether it is a name that translations keep, or that of a city."""


def candidates(text: Text) -> list[Candidate]:
    """Words with a capital letter, except abbreviations, headings and what is inside links.

    >>> [each.text for each in candidates(Text("Then Peter met the Council in Rome.", "en"))
    ...     if each.is_name]
    ['Peter', 'Rome']
    """
    lang = language(text.lang)
    words, kept, known_cities = words_of(lang), kept_names(), cities()
    taken = [match.span() for match in PROTECTED.finditer(text.text)]
    taken += [(each.start, each.end) for each in find_placeholders(text.text)]
    found = []
    for match in LETTERS.finditer(text.text):
        word = match[0]
        if len(word) < LEAST_LETTERS or not word[0].isupper() or word.isupper():
            continue
        start, end = match.span()
        if any(begin < end and start < stop for begin, stop in taken):
            continue
        plain, folded = word.lower(), fold(word)
        is_kept = folded in kept
        if is_kept and (plain not in words or not begins_sentence(text.text, start)):
            is_name = True
        else:
            is_name = not (
                plain in words
                or _stem(plain) in words
                or (lang in NOUNS_CAPITALIZED and is_compound(plain, words))
            )
        is_known = is_name and (is_kept or folded in known_cities)
        found.append(Candidate(start, end, word, folded, is_name, is_known))
    return found


def begins_sentence(text: str, start: int) -> bool:
    """Whether a word is the first of a sentence."""
    before = text[:start].rstrip(" \"'„“”«»‚‘’([¿¡\u00a0")
    return not before or before[-1] in ".!?:;-–—•*\n" or text[:start].endswith("  ")


def is_compound(word: str, words: frozenset[str]) -> bool:
    """Whether a word ends in another word, as compounds do.

    >>> is_compound("schneebrücken", frozenset({"brücken"}))
    True
    """
    return any(word[place:] in words for place in range(3, len(word) - LEAST_LETTERS))


def _stem(word: str) -> str:
    """A word without a usual ending of inflection."""
    for ending in ("en", "es", "er", "em", "s", "n", "e"):
        if word.endswith(ending) and len(word) > len(ending) + 3:
            return word.removesuffix(ending)
    return word


def name_spans(a: Text, b: Text) -> list[Span]:
    """Find names of each side that the other side does not have.

    Both languages need a table of words. A name of one side counts only if the other side has a
    name without counterpart too, and one of them is known: translations often replace a name by a
    pronoun or a description, and rare words are no names. Where one side's names are all unknown,
    the difference is minor.

    >>> pair = Text("Robert sah Claire in Paris.", "de"), Text("Peter saw Susan in London.", "en")
    >>> [span.text for span in name_spans(*pair)]
    ['Robert', 'Claire', 'Paris', 'Peter', 'Susan', 'London']
    """
    if not {language(a.lang), language(b.lang)} <= WORD_LANGUAGES:
        return []
    first, second = candidates(a), candidates(b)
    if not first or not second:
        return []
    words = [{fold(match[0]) for match in LETTERS.finditer(text.text)} for text in (a, b)]
    left, right = (
        [*_unmatched_names(own, others, other), *_unmatched_countries(own, other)]
        for own, others, other in ((first, second, words[1]), (second, first, words[0]))
    )
    if not left or not right or not any(each.is_known for each in (*left, *right)):
        return []
    sure = all(any(each.is_known for each in side) for side in (left, right))
    severity: Severity = "major" if sure else "minor"
    return [*_spans(a.text, A, left, right, severity), *_spans(b.text, B, right, left, severity)]


def _spans(
    text: str,
    side: str,
    own: Sequence[Candidate],
    others: Sequence[Candidate],
    severity: Severity,
) -> Iterable[Span]:
    named = ", ".join(dict.fromkeys(other.text for other in _shown(others)))
    for each in sorted(_shown(own), key=lambda each: each.start):
        yield Span.of(
            text,
            each.start,
            each.end,
            side=side,
            kind=NAME,
            score=1.0,
            severity=severity,
            evidence=f"names differ: the other text does not have {each.text}, but {named}",
        )


def _shown(names: Sequence[Candidate]) -> Sequence[Candidate]:
    """The known names, if there are any."""
    return [each for each in names if each.is_known] or names


def _unmatched_names(
    own: Sequence[Candidate], others: Sequence[Candidate], words: set[str]
) -> list[Candidate]:
    """The names that nothing on the other side resembles."""
    names = [
        each
        for each in own
        if each.is_name and each.folded not in words and each.folded not in countries()
    ]
    if not names:
        return []
    own_words = {each.folded for each in own}
    free = [each for each in others if each.folded not in own_words]
    known = cities()
    return [
        each
        for each in names
        if not any(
            are_one_name(each.folded, other.folded, other.is_name)
            and not (each.folded in known and other.folded in known)
            for other in free
        )
        and not (each.folded in known and any(share_city(each.folded, word) for word in words))
        and not (each.text[:-1].isupper() and each.folded[:-1] in words)  # APIs
    ]


def _unmatched_countries(own: Sequence[Candidate], words: set[str]) -> list[Candidate]:
    """The countries that the other side neither names nor has an adjective for."""
    known = countries()
    return [
        replace(each, is_known=True)
        for each in own
        if each.folded in known
        and not any(
            beginning in word  # Südafrika has Afrika
            for number in known[each.folded]
            for beginning in _beginnings(number)
            for word in words
        )
    ]


@cache
def _beginnings(country: int) -> tuple[str, ...]:
    """How the names of a country begin, and its adjectives."""
    return tuple({word[:4] for word, numbers in countries().items() if country in numbers})


@lru_cache(maxsize=1 << 16)
def are_one_name(one: str, other: str, is_name: bool = True) -> bool:
    """Whether two folded words may be spellings or inflections of one name.

    >>> are_one_name("obama", "obamas"), are_one_name("jelzin", "yeltsin")
    (True, True)
    >>> are_one_name("peter", "robert")
    False
    """
    short, long = sorted((one, other), key=len)
    if long.startswith(short) and (len(long) - len(short) <= ENDINGS or len(short) > 3):
        return True
    if len(short) > 3 and long.endswith(short):  # a compound
        return True
    if one[:4] == other[:4] and len(short) > 5:
        return True
    sounds = sound(one), sound(other)
    if sounds[0] == sounds[1]:
        return True
    if sounds[0][:1] != sounds[1][:1] and len(short) < 5:
        return False
    ratio = SequenceMatcher(None, *sounds, autojunk=False).ratio()
    return ratio >= (SIMILAR if is_name else SIMILAR_WORD)


@lru_cache(maxsize=1 << 15)
def sound(word: str) -> str:
    """A rough key of how a name sounds."""
    for letters, key in SOUNDS:
        word = word.replace(letters, key)
    return re.sub(r"(.)\1+", r"\1", word)
