"""Words that are repeated in sequence, as in the output of a model that does not end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

REPEATS = 3
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
    best: Repetition | None = None
    for period in range(1, min(MAX_PERIOD, len(words) // REPEATS) + 1):
        run = 0
        for index in range(period, len(words)):
            run = run + 1 if keys[index] == keys[index - period] else 0
            times = run // period + 1
            start = index - run + 1
            has_word = any(map(str.isalpha, "".join(keys[start : index + 1])))
            longest = 0 if best is None else best.last - best.first + 1
            if times >= REPEATS and has_word and run > longest:
                best = Repetition(times, start, index)
    return best
