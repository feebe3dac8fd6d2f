"""Sentence splitting: by rules, or by ICU (extra: words); abbreviations are handled in both."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from itertools import pairwise
from typing import Literal

from tertium.registry import Extra, check_extras
from tertium.text import Text

Splitter = Literal["rules", "icu"]
ICU = Extra("words", ("icu4py",))
SUPPRESSIONS = "@ss=standard"
"""Do not split after the abbreviations that ICU knows in a language."""
ABBREVIATIONS = frozenset(
    "dr prof mr mrs ms mme mlle hr fr sr sra st abs bzw ca vgl cf vs eg ie approx dept gov jr "  # noqa: SIM905
    "ggf evtl inkl zzgl bspw hrsg geb av env dra dña ud uds".split()
)
"""Abbreviations within a sentence, in the languages of the bundled model."""
BEFORE_NUMBERS = frozenset("nr no vol fig pp art bd tel núm pág".split())  # noqa: SIM905
"""Abbreviations if a number follows."""
ORDINALS = frozenset({"de", "da", "nb", "nn", "no", "fi", "et", "cs", "sk", "hu", "pl", "sl", "hr"})
"""Languages that write ordinal numbers with a full stop."""
NO_SPACES = frozenset({"zh", "ja", "th", "lo", "my", "km"})
"""Languages that are written without spaces between sentences."""
LAST_WORD = re.compile(r"(\w+)\.\s*$")
CLOSERS = r"[\"'”’»›)\]}」』）】]*"
BOUNDARY = re.compile(
    rf"[.!?…؟۔।॥։።]+{CLOSERS}\s+(?=(\S))"  # what follows decides
    rf"|[。！？｡．]+{CLOSERS}\s*"
    r"|[^\S\n\r\u2028\u2029]*[\n\r\u2028\u2029]+\s*"
)
CLAUSE = re.compile(r"[,;:–—،؛、，；：]\s+|[、，；：]")
MIDDLE = 0.25, 0.75
MOST_MARKS = 8
"""A letter is kept together with so many combining marks."""


def split_sentences(text: str, lang: str | None = None, by: Splitter = "rules") -> list[str]:
    """Split a text into sentences, without the white space around them.

    ``rules`` splits after . ! ? … and their counterparts in other scripts, where no lower-case
    letter follows, and at line breaks. ``icu`` splits by the rules of Unicode and the abbreviations
    that ICU knows. In both, the parts are joined again after a single letter (an initial, "z. B."),
    after an abbreviation such as "Dr.", and after a number in languages that write ordinals with a
    full stop.

    >>> split_sentences("Mr. Smith met Dr. J. Weber. They talked.", "en")
    ['Mr. Smith met Dr. J. Weber.', 'They talked.']
    """
    sentences: list[str] = []
    joined = ""
    parts = [*(_icu_parts(text, lang) if by == "icu" else _parts(text)), ""]
    for part, following in pairwise(parts):
        joined += part
        if not _goes_on(part, following, lang):
            sentences.append(joined.strip())
            joined = ""
    return [sentence for sentence in [*sentences, joined.strip()] if sentence]


def best_splitter() -> Splitter:
    """ICU if it is installed, otherwise rules."""
    return "icu" if all(find_spec(name) is not None for name in ICU.modules) else "rules"


def _parts(text: str) -> Iterable[str]:
    start = 0
    for boundary in BOUNDARY.finditer(text):
        following = boundary[1]
        if following is None or not following.islower():
            yield text[start : boundary.end()]
            start = boundary.end()
    yield text[start:]


def _icu_parts(text: str, lang: str | None) -> Iterable[str]:
    check_extras("splitting by ICU", [ICU], alternative="give one sentence per line")
    from icu4py.breakers import SentenceBreaker

    return map(str, SentenceBreaker(text, (lang or "") + (SUPPRESSIONS if lang else "")))


def _goes_on(part: str, following: str, lang: str | None) -> bool:
    """Whether the last word of a part is an abbreviation rather than the end of a sentence."""
    found = LAST_WORD.search(part)
    if found is None or "\n" in part[found.end(1) :]:
        return False
    word = found[1].lower()
    if word.isdecimal():
        return lang is not None and lang[:2] in ORDINALS and len(word) <= 2
    if word in BEFORE_NUMBERS:
        return following[:1].isdecimal()
    return (len(word) == 1 and word.isalpha() and found[1] != "I") or word in ABBREVIATIONS


def halves(text: str) -> tuple[str, str]:
    """Split a text near its middle: after a comma or the like, at a space, or anywhere.

    >>> halves("He came late, but she had waited.")
    ('He came late,', 'but she had waited.')
    >>> halves("abcdef")
    ('abc', 'def')
    """
    low, high = (int(share * len(text)) for share in MIDDLE)
    for places in (
        [match.end() for match in CLAUSE.finditer(text, low, high)],
        [match.end() for match in re.compile(r"\s+").finditer(text, low, high)],
    ):
        if places:
            place = min(places, key=lambda place: abs(place - len(text) / 2))
            return text[:place].rstrip(), text[place:].lstrip()
    middle = max(1, len(text) // 2)
    near = range(middle, min(middle + MOST_MARKS, len(text) - 1))
    place = next((place for place in near if not unicodedata.combining(text[place])), middle)
    return text[:place], text[place:]


def join(sentences: Sequence[Text]) -> Text:
    """Join sentences, with a space unless their language is written without spaces.

    >>> join([Text("One.", "en"), Text("Two.", "en")])
    Text(text='One. Two.', lang='en')
    """
    lang = sentences[0].lang if sentences else None
    between = "" if lang is not None and lang[:2] in NO_SPACES else " "
    return Text(between.join(sentence.text for sentence in sentences), lang)
