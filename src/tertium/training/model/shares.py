"""Which part of an update's batches each process works on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Share(NamedTuple):
    """A batch, or every ``parts``-th of its rows from ``part`` on."""

    number: int
    part: int = 0
    parts: int = 1


def shares(numbers: Sequence[int], index: int, count: int) -> list[Share]:
    """Deal out whole batches as long as there is one for each process; split the rest by rows.

    >>> shares(range(5), index=1, count=2)
    [Share(number=1, part=0, parts=1), Share(number=3, part=0, parts=1),
     Share(number=4, part=1, parts=2)]
    """
    dealt = len(numbers) - len(numbers) % count
    return [
        *(Share(number) for number in numbers[index:dealt:count]),
        *(Share(number, index, count) for number in numbers[dealt:]),
    ]
