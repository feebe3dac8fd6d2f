"""Names that have no counterpart on the other side.

A name is a word with a capital letter that is not a word of its language (``lexicon.words_of``).
Its counterpart may be spelt or inflected differently, or be the name that another language has for
a city or a country. In languages that write all nouns with capitals, names are recognised too: as
long as the table of words has the nouns.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache

from tertium.explanation.lexicon import WORD_LANGUAGES, fold, language, places, words_of
from tertium.explanation.numbers import PROTECTED
from tertium.explanation.placeholders import find_placeholders
from tertium.explanation.spans import A, B, Span
from tertium.text import Text

NAME = "name"
LETTERS = re.compile(r"[^\W\d_]+")
LEAST_LETTERS = 3
SIMILAR = 0.6
"""The share of letters in common from which two spellings may be of one name."""
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


def candidates(text: Text) -> list[Candidate]:
    """Words with a capital letter, except abbreviations, headings and what is inside links.

    >>> [each.text for each in candidates(Text("Then Peter met the Council in Rome.", "en"))
    ...     if each.is_name]
    ['Peter', 'Rome']
    """
    lang = language(text.lang)
    words, known = words_of(lang), places()
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
        plain = word.lower()
        folded = fold(word)
        is_word = plain in words or _stem(plain) in words
        found.append(Candidate(start, end, word, folded, not is_word or folded in known))
    return found


def _stem(word: str) -> str:
    """A word without a usual ending of inflection."""
    for ending in ("en", "es", "er", "em", "s", "n", "e"):
        if word.endswith(ending) and len(word) > len(ending) + 3:
            return word.removesuffix(ending)
    return word


def name_spans(a: Text, b: Text) -> list[Span]:
    """Find names of each side that the other side does not have.

    Both languages need a table of words. One side's name counts only if the other side has a name
    without counterpart too: translations often replace a name by a pronoun or a description.

    >>> pair = Text("Robert sah Claire in Paris.", "de"), Text("Peter saw Susan in London.", "en")
    >>> [span.text for span in name_spans(*pair)]
    ['Robert', 'Claire', 'Paris', 'Peter', 'Susan', 'London']
    """
    if not {language(a.lang), language(b.lang)} <= WORD_LANGUAGES:
        return []
    first, second = candidates(a), candidates(b)
    left = _without_counterpart(first, second, b.text)
    right = _without_counterpart(second, first, a.text)
    if not left or not right:
        return []
    spans = []
    for side, text, own, others in ((A, a.text, left, right), (B, b.text, right, left)):
        named = ", ".join(dict.fromkeys(other.text for other in others))
        for each in own:
            evidence = f"the other text does not have {each.text}, but {named}"
            spans.append(
                Span.of(
                    text,
                    each.start,
                    each.end,
                    side=side,
                    kind=NAME,
                    score=1.0,
                    severity="major",
                    evidence=evidence,
                )
            )
    return spans


def _without_counterpart(
    own: Iterable[Candidate], others: Iterable[Candidate], other: str
) -> list[Candidate]:
    """The names that no word with a capital letter of the other side resembles."""
    names = [each for each in own if each.is_name]
    if not names:
        return []
    exact = {each.folded for each in others}
    words = {fold(match[0]) for match in LETTERS.finditer(other)}
    own_words = {each.folded for each in own}
    free = [each.folded for each in others if each.folded not in own_words]
    return [
        each
        for each in names
        if each.folded not in exact
        and each.folded not in words
        and not any(are_one_name(each.folded, word) for word in free)
        and not any(_share_place(each.folded, word) for word in words)
    ]


def _share_place(one: str, other: str) -> bool:
    known = places()
    return one in known and other in known and bool(known[one] & known[other])


@lru_cache(maxsize=1 << 16)
def are_one_name(one: str, other: str) -> bool:
    """Whether two folded words may be spellings or inflections of one name.

    >>> are_one_name("obama", "obamas"), are_one_name("jelzin", "yeltsin")
    (True, True)
    >>> are_one_name("peter", "robert")
    False
    """
    short, long = sorted((one, other), key=len)
    if long.startswith(short) and (len(long) - len(short) <= ENDINGS or len(short) > 5):
        return True
    if one[:4] == other[:4] and len(short) > 5:
        return True
    sounds = sound(one), sound(other)
    if sounds[0] == sounds[1]:
        return True
    if sounds[0][:1] != sounds[1][:1] and len(short) < 5:
        return False
    return SequenceMatcher(None, *sounds, autojunk=False).ratio() >= SIMILAR


@lru_cache(maxsize=1 << 15)
def sound(word: str) -> str:
    """A rough key of how a name sounds."""
    for letters, key in SOUNDS:
        word = word.replace(letters, key)
    return re.sub(r"(.)\1+", r"\1", word)
