"""Word differences of two texts in one language: what was replaced, removed or inserted."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from tertium.data.codes import primary
from tertium.explanation.words import Word, split_words
from tertium.text import Text

Range = tuple[int, int]


class Change(NamedTuple):
    """Characters of both texts that stand for each other; those of one side may be empty."""

    a_start: int
    a_end: int
    b_start: int
    b_end: int


def in_one_language(a: Text, b: Text) -> bool:
    """Whether two texts are said to be in the same language, whatever its region."""
    return a.lang is not None and b.lang is not None and primary(a.lang) == primary(b.lang)


def changes(a: str, b: str) -> list[Change]:
    """What differs between two texts, in words; nothing else differs but spaces.

    >>> a, b = "The shop opens at nine.", "The store closes at nine today."
    >>> [(a[each.a_start : each.a_end], b[each.b_start : each.b_end]) for each in changes(a, b)]
    [('shop', 'store'), ('opens', 'closes'), ('', 'today')]
    """
    first, second = split_words(a), split_words(b)
    matcher = SequenceMatcher(
        None, [word.text for word in first], [word.text for word in second], autojunk=False
    )
    return [
        Change(*_characters(first, *one, len(a)), *_characters(second, *other, len(b)))
        for what, i, j, k, m in matcher.get_opcodes()
        if what != "equal"
        for one, other in _one_by_one((i, j), (k, m))
    ]


def _one_by_one(one: Range, other: Range) -> list[tuple[Range, Range]]:
    """As many words as there are on the other side are replaced one by one."""
    (i, j), (k, m) = one, other
    if j - i != m - k:
        return [(one, other)]
    return [((i + n, i + n + 1), (k + n, k + n + 1)) for n in range(j - i)]


def _characters(words: Sequence[Word], start: int, end: int, length: int) -> tuple[int, int]:
    """The characters from one word to another; of no words, the place where they would be."""
    if start < end:
        return words[start].start, words[end - 1].end
    place = words[start].start if start < len(words) else length
    return place, place
