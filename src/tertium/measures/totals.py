"""Sums over rows: in any order and any grouping, the same to the bit."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from tertium.measures.signature import MIXED
from tertium.text import Row

if TYPE_CHECKING:
    from tertium.measures.base import Segments

Role = Literal["reference", "source"]
"""What a hypothesis may be compared with."""
UNKNOWN = "unknown"


@dataclass
class Totals:
    """The running sum of a measure's statistics, and what a signature must say about the rows.

    It is small and plain, so that a run can save it and be resumed, and workers can send it.
    """

    sums: list[list[float]] = field(default_factory=list)
    """Of each statistic the exact sum, as :func:`exact_sum` gives it."""
    rows: int = 0
    cut: int = 0
    split: int = 0
    """Rows with a text that was split, because it is longer than the model reads."""
    facts: dict[str, str] = field(default_factory=dict)

    @property
    def statistics(self) -> list[float]:
        """The sums, each rounded once."""
        return [parts[0] if parts else 0.0 for parts in self.sums]

    @classmethod
    def of_statistics(cls, statistics: Sequence[Sequence[float]]) -> Totals:
        """The sums over some rows, of which nothing else is known."""
        totals = cls(rows=len(statistics))
        totals._add_to_sums([list(column) for column in zip(*statistics, strict=True)])
        return totals

    def less(self, other: Totals) -> list[float]:
        """The sums without some of the rows."""
        return [
            math.fsum([*own, *(-part for part in parts)])
            for own, parts in zip(self.sums, other.sums, strict=True)
        ]

    def add(self, rows: Sequence[Row], segments: Segments, reads: Sequence[Role]) -> None:
        """Add some rows; ``reads`` is what the measure compares the hypotheses with."""
        self._add_to_sums([list(column) for column in zip(*segments.statistics, strict=True)])
        for row in rows:
            self._note("lang", row.hypothesis.lang or UNKNOWN)
            if "reference" in reads:
                for reference in row.references:
                    self._note("reference_lang", reference.lang or UNKNOWN)
                self._note("nrefs", str(len(row.references)))
            if "source" in reads and row.source is not None:
                self._note("source_lang", row.source.lang or UNKNOWN)
        self.rows += len(rows)
        self.cut += sum(segments.cut)
        self.split += sum(segments.split)

    def merge(self, other: Totals) -> None:
        """Add the totals of other rows."""
        self._add_to_sums(other.sums)
        for fact, value in other.facts.items():
            self._note(fact, value)
        self.rows += other.rows
        self.cut += other.cut
        self.split += other.split

    def _add_to_sums(self, more: Sequence[Sequence[float]]) -> None:
        before: Sequence[Sequence[float]] = self.sums or [()] * len(more)
        if more:
            pairs = zip(before, more, strict=True)
            self.sums = [exact_sum([*parts, *added]) for parts, added in pairs]

    def _note(self, fact: str, value: str) -> None:
        if self.facts.setdefault(fact, value) != value:
            self.facts[fact] = MIXED


def exact_sum(numbers: Iterable[float]) -> list[float]:
    """Sum without any rounding: the nearest float first, then what that leaves over, and so on.

    >>> exact_sum([1e16, 1.0, 1.0, 1.0])
    [1.0000000000000004e+16, -1.0]
    >>> exact_sum([])
    []
    """
    left = list(numbers)
    parts: list[float] = []
    while part := math.fsum(left):
        parts.append(part)
        if not math.isfinite(part):
            break
        left.append(-part)
    return parts
