"""Filters that count tokens or words: empty or long texts, disproportionate ones, copied ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from tertium.filters.base import KEPT, Filter, Verdict
from tertium.filters.units import splitters
from tertium.models.base import Progress
from tertium.models.catalog import DEFAULT_MODEL
from tertium.text import Row


def split_rows(rows: Sequence[Row], unit: str) -> list[tuple[list[str], list[str]]]:
    """Split the source and the target of each row into units."""
    split_source, split_target = splitters(unit)
    sources = split_source([row.sides[0].text for row in rows])
    targets = split_target([row.sides[1].text for row in rows])
    return list(zip(sources, targets, strict=True))


@dataclass(frozen=True)
class Length(Filter):
    """Keeps pairs where both texts have ``shortest`` to ``longest`` units (Prism, appendix C.1).

    >>> from tertium.text import Row, Text
    >>> Length().judge([Row.pair(Text("Ja."), Text(""))])
    [Verdict(reason='target too short', value=0.0)]
    """

    shortest: int = 1
    longest: int = 200
    unit: str = DEFAULT_MODEL

    name: ClassVar[str] = "length"
    reasons: ClassVar[tuple[str, ...]] = (
        "source too short",
        "target too short",
        "source too long",
        "target too long",
    )

    def judge(self, rows: Sequence[Row], progress: Progress | None = None) -> list[Verdict]:
        return [self._verdict(len(a), len(b)) for a, b in split_rows(rows, self.unit)]

    def _verdict(self, source: int, target: int) -> Verdict:
        for side, length in (("source", source), ("target", target)):
            if length < self.shortest:
                return Verdict(f"{side} too short", float(length))
            if length > self.longest:
                return Verdict(f"{side} too long", float(length))
        return KEPT


@dataclass(frozen=True)
class Ratio(Filter):
    """Keeps pairs where the longer text has at most ``highest`` times the units of the shorter.

    >>> from tertium.text import Row, Text
    >>> Ratio(unit="words").judge([Row.pair(Text("Nein, ich gehe nicht hin."), Text("No."))])
    [Verdict(reason='target too short', value=3.5)]
    """

    highest: float = 3.0
    unit: str = DEFAULT_MODEL

    name: ClassVar[str] = "ratio"
    reasons: ClassVar[tuple[str, ...]] = ("source too short", "target too short")

    def judge(self, rows: Sequence[Row], progress: Progress | None = None) -> list[Verdict]:
        return [self._verdict(len(a), len(b)) for a, b in split_rows(rows, self.unit)]

    def _verdict(self, source: int, target: int) -> Verdict:
        shorter, longer = sorted((source, target))
        ratio = longer / max(1, shorter)
        if ratio <= self.highest:
            return KEPT
        return Verdict("source too short" if source < target else "target too short", ratio)


def overlap(one: Sequence[str], other: Sequence[str], n: int) -> float:
    """The proportion of shared n-grams, relative to the side with fewer; 0 if it has none.

    >>> overlap("a b c d".split(), "b c d e f".split(), 3)
    0.5
    """
    ngrams = [
        Counter(zip(*(units[place:] for place in range(n)), strict=False)) for units in (one, other)
    ]
    fewer = min(counter.total() for counter in ngrams)
    return (ngrams[0] & ngrams[1]).total() / fewer if fewer else 0.0


@dataclass(frozen=True)
class Overlap(Filter):
    """Removes pairs that were copied rather than translated (Prism, appendix B).

    A pair is kept if the sides share at most ``three`` of their 3-grams and ``four`` of their
    4-grams.

    >>> from tertium.text import Row, Text
    >>> name = "Otto Normalverbraucher aus Köln"
    >>> pair = Row.pair(Text(f"Das ist {name}."), Text(f"This is {name}."))
    >>> Overlap(unit="words").judge([pair])
    [Verdict(reason='4-grams', value=0.5)]
    """

    three: float = 0.6
    four: float = 0.4
    unit: str = DEFAULT_MODEL

    name: ClassVar[str] = "overlap"
    reasons: ClassVar[tuple[str, ...]] = ("3-grams", "4-grams")

    def judge(self, rows: Sequence[Row], progress: Progress | None = None) -> list[Verdict]:
        return [self._verdict(a, b) for a, b in split_rows(rows, self.unit)]

    def _verdict(self, source: Sequence[str], target: Sequence[str]) -> Verdict:
        for n, reason, highest in ((3, "3-grams", self.three), (4, "4-grams", self.four)):
            share = overlap(source, target, n)
            if share > highest:
                return Verdict(reason, share)
        return KEPT
