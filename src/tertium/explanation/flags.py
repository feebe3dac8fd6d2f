"""Flags: defects of a pair that can be seen without a model.

Each flag is the name of a defect; where it has a place in a text, there is a span as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import lru_cache

from tertium.data.identify import is_other_language
from tertium.explanation.names import name_spans
from tertium.explanation.numbers import number_spans
from tertium.explanation.placeholders import placeholder_spans
from tertium.explanation.spans import A, Span
from tertium.explanation.untranslated import untranslated_spans
from tertium.explanation.words import Word, split_words
from tertium.measures.degenerate import repeated
from tertium.text import Text

COPY, LANGUAGE, TRUNCATED, REPETITION = "copy", "language", "truncated", "repetition"
EMPTY = "empty"
COPIED = 0.8
"""The share of words in common from which a text in another language is a copy."""
MIN_COPIED_WORDS = 3
SHORT = 0.6
"""A hypothesis without final punctuation is truncated if it is shorter than this share of the
other text, in words (characters in scripts without spaces)."""


def flag(a: Text, b: Text) -> tuple[list[str], list[Span]]:
    """Flag a pair; ``a`` is the hypothesis, ``b`` the reference or the source.

    >>> names, spans = flag(Text("Er kam 1998.", "de"), Text("He came in 1989.", "en"))
    >>> names, [(span.side, span.text) for span in spans]
    (['number'], [('a', '1998'), ('b', '1989')])
    """
    if bool(a.text.strip()) != bool(b.text.strip()):
        return [EMPTY], []
    if is_copy(a, b):
        return [COPY], []
    names: list[str] = []
    if a.lang is not None and is_other_language(a.text, a.lang):
        names.append(LANGUAGE)
    if is_truncated(a.text, b.text):
        names.append(TRUNCATED)
    spans = [
        *repetitions(a.text, b.text),
        *untranslated_spans(a, b),
        *number_spans(a, b),
        *name_spans(a, b),
        *placeholder_spans(a, b),
    ]
    names += sorted({span.kind for span in spans})
    return names, spans


@lru_cache(maxsize=4)
def _words(text: str) -> Sequence[Word]:
    """The words of a text, which several rules need."""
    return split_words(text)


def is_copy(a: Text, b: Text) -> bool:
    """Whether most words of ``a`` are those of ``b``, in another language.

    >>> is_copy(Text("I see the big dog", "de"), Text("I see the big dog.", "en"))
    True
    """
    if a.lang is None or b.lang is None or a.lang == b.lang:
        return False
    first, second = (
        [word.text.casefold() for word in _words(text.text) if word.text.isalpha()]
        for text in (a, b)
    )
    if min(len(first), len(second)) < MIN_COPIED_WORDS:
        return False
    return SequenceMatcher(None, first, second, autojunk=False).ratio() >= COPIED


def is_truncated(a: str, b: str) -> bool:
    """Whether ``a`` is much shorter than ``b`` and has no final punctuation, which ``b`` has.

    >>> is_truncated("Ich habe das", "I have read the book that you gave me.")
    True
    """
    first, second = _words(a), _words(b)
    if not first or not second or first[-1].is_punctuation or not second[-1].is_punctuation:
        return False
    counts = [sum(not word.is_punctuation for word in words) for words in (first, second)]
    return counts[0] < SHORT * counts[1]


def repetitions(a: str, b: str) -> list[Span]:
    """Find words that ``a`` repeats in sequence, more often than ``b`` does.

    >>> [span.text for span in repetitions("the the the the dog", "der Hund")]
    ['the the the']
    """
    words = _words(a)
    found = repeated([word.text for word in words])
    if found is None:
        return []
    usual = repeated([word.text for word in _words(b)])
    if usual is not None and usual.times >= found.times:
        return []
    evidence = f"{found.times} times in sequence"
    span = Span.of(
        a,
        words[found.first].start,
        words[found.last].end,
        side=A,
        kind=REPETITION,
        score=float(found.times),
        severity="major",
        evidence=evidence,
    )
    return [span]
