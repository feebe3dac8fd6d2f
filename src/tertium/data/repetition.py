"""Words that are repeated in sequence, as in the output of a model that does not end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import islice
from operator import eq
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
