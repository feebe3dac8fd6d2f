"""Hypotheses that are no translation: untranslated, in another language, empty or repeated.

A model often finds them more probable than a translation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import islice
from operator import eq
from typing import NamedTuple

from tertium.data.codes import primary
from tertium.data.identify import is_other_language
from tertium.text import Row, Text

REPEATS = 3
"""Words that stand in sequence so many times are repeated, as by a model that does not end."""
MAX_PERIOD = 8
"""Repetitions of up to this many words are found."""


class Repetition(NamedTuple):
    """How many times some words stand in sequence, and the places of what is too much."""

    times: int
    first: int
    """The first word of the second time."""
    last: int


def repeated(words: Sequence[str]) -> Repetition | None:
    """The longest repetition of one or several words, three times or more; None without.

    >>> repeated("they said no no no .".split())
    Repetition(times=3, first=3, last=4)
    """
    keys = [word.casefold() for word in words]
    if not any(
        count >= REPEATS and any(map(str.isalpha, key)) for key, count in Counter(keys).items()
    ):  # most texts: nothing to search for
        return None
    best: Repetition | None = None
    longest = 0
    for period in range(1, min(MAX_PERIOD, len(keys) // REPEATS) + 1):
        least = (REPEATS - 1) * period
        same = list(map(eq, keys, islice(keys, period, None)))
        if sum(same) < least:
            continue
        run = 0
        for index, is_same in enumerate(same, start=period):
            run = run + 1 if is_same else 0
            if run >= least and run > longest:
                start = index - run + 1
                if any(map(str.isalpha, "".join(keys[start : index + 1]))):
                    best, longest = Repetition(run // period + 1, start, index), run
    return best


FEWEST_COPIED_LETTERS = 10


def is_degenerate(row: Row) -> bool:
    """Whether a hypothesis is empty, a copy of its source, in another language, or repeats itself.

    What the source repeats as well is right.

    >>> source = Text("Ich sehe den großen Hund.", "de")
    >>> texts = ["I see the big dog.", "Ich sehe den großen Hund.", "I see the the the the dog."]
    >>> [is_degenerate(Row(1, Text(text, "en"), (), source)) for text in texts]
    [False, True, True]
    """
    hypothesis, source = row.hypothesis, row.source
    if is_blank(hypothesis):
        return source is None or not is_blank(source)
    if is_copy(row):
        return True
    if hypothesis.lang is not None and is_other_language(hypothesis.text, hypothesis.lang):
        return True
    return is_repeated(row)


def is_repeated(row: Row) -> bool:
    """Whether a hypothesis repeats words in sequence, more often than its source or reference.

    >>> is_repeated(Row(1, Text("no no no no"), (), Text("nein nein nein nein")))
    False
    """
    found = repeated(row.hypothesis.text.split())
    if found is None:
        return False
    others = [repeated(text.text.split()) for text in (*row.references, row.source) if text]
    return all(other is None or other.times < found.times for other in others)


def is_blank(text: Text) -> bool:
    """Whether there is nothing but white space."""
    return not text.text.strip()


def is_copy(row: Row) -> bool:
    """Whether the hypothesis is its source, untranslated, and not by chance what it should be.

    A copy that a reference has as well is right; so is one in the same language. Names and numbers
    are often left as they are, so a copy has at least two words or ten letters.

    >>> is_copy(Row(1, Text("wo ist sie"), (Text("where is she"),), Text("Wo ist sie?")))
    True
    """
    source, hypothesis = row.source, row.hypothesis
    if source is None or is_blank(hypothesis):
        return False
    if source.lang and hypothesis.lang and primary(source.lang) == primary(hypothesis.lang):
        return False
    copied = _folded(hypothesis.text)
    letters = sum(map(str.isalpha, copied))
    return (
        copied == _folded(source.text)
        and copied not in {_folded(reference.text) for reference in row.references}
        and letters > 0
        and (len(copied.split()) > 1 or letters >= FEWEST_COPIED_LETTERS)
    )


def _folded(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".!?…。！？ ")
