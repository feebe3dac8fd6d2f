"""Pairs that were copied rather than translated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from tertium.filters.base import KEPT, Filter, Pair, Verdict
from tertium.filters.pieces import cutters
from tertium.models.base import Progress
from tertium.models.catalog import DEFAULT_MODEL


def overlap(one: Sequence[str], other: Sequence[str], n: int) -> float:
    """The share of n-grams in common, of those of the side that has fewer; 0 where there are none.

    >>> overlap("a b c d".split(), "b c d e f".split(), 3)
    0.5
    """
    grams = [
        Counter(zip(*(units[place:] for place in range(n)), strict=False)) for units in (one, other)
    ]
    fewer = min(counter.total() for counter in grams)
    return (grams[0] & grams[1]).total() / fewer if fewer else 0.0


@dataclass(frozen=True)
class Overlap(Filter):
    """Keeps pairs that share at most so many of their 3-grams and 4-grams (Prism, appendix B).

    >>> from tertium.text import Text
    >>> name = "Otto Normalverbraucher aus Köln"
    >>> Overlap(unit="words").judge([Pair(Text(f"Das ist {name}."), Text(f"This is {name}."))])
    [Verdict(reason='4-grams', value=0.5)]
    """

    three: float = 0.6
    four: float = 0.4
    unit: str = DEFAULT_MODEL

    name: ClassVar[str] = "overlap"
    reasons: ClassVar[tuple[str, ...]] = ("3-grams", "4-grams")

    def judge(self, pairs: Sequence[Pair], progress: Progress | None = None) -> list[Verdict]:
        of_sources, of_targets = cutters(self.unit)
        sources = of_sources([pair.source.text for pair in pairs])
        targets = of_targets([pair.target.text for pair in pairs])
        return [self._verdict(*both) for both in zip(sources, targets, strict=True)]

    def _verdict(self, source: Sequence[str], target: Sequence[str]) -> Verdict:
        for n, reason, highest in ((3, "3-grams", self.three), (4, "4-grams", self.four)):
            share = overlap(source, target, n)
            if share > highest:
                return Verdict(reason, share)
        return KEPT
