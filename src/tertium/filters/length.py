"""Texts that are empty, too long, or out of proportion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from tertium.filters.base import KEPT, Filter, Pair, Verdict
from tertium.filters.pieces import cutters
from tertium.models.base import Progress
from tertium.models.catalog import DEFAULT_MODEL


def lengths(pairs: Sequence[Pair], unit: str) -> list[tuple[int, int]]:
    """How many units the source and the target of each pair have."""
    of_sources, of_targets = cutters(unit)
    sources = of_sources([pair.source.text for pair in pairs])
    targets = of_targets([pair.target.text for pair in pairs])
    return [(len(a), len(b)) for a, b in zip(sources, targets, strict=True)]


@dataclass(frozen=True)
class Length(Filter):
    """Keeps pairs where either text has ``shortest`` to ``longest`` pieces (Prism, appendix C.1).

    >>> from tertium.text import Text
    >>> Length().judge([Pair(Text("Ja."), Text(""))])
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

    def judge(self, pairs: Sequence[Pair], progress: Progress | None = None) -> list[Verdict]:
        return [self._verdict(*both) for both in lengths(pairs, self.unit)]

    def _verdict(self, source: int, target: int) -> Verdict:
        for side, length in (("source", source), ("target", target)):
            if length < self.shortest:
                return Verdict(f"{side} too short", float(length))
            if length > self.longest:
                return Verdict(f"{side} too long", float(length))
        return KEPT


@dataclass(frozen=True)
class Ratio(Filter):
    """Keeps pairs where the longer text has at most ``highest`` times the pieces of the shorter.

    >>> from tertium.text import Text
    >>> Ratio(unit="words").judge([Pair(Text("Nein, ich gehe nicht hin."), Text("No."))])
    [Verdict(reason='target too short', value=3.5)]
    """

    highest: float = 3.0
    unit: str = DEFAULT_MODEL

    name: ClassVar[str] = "ratio"
    reasons: ClassVar[tuple[str, ...]] = ("source too short", "target too short")

    def judge(self, pairs: Sequence[Pair], progress: Progress | None = None) -> list[Verdict]:
        return [self._verdict(*both) for both in lengths(pairs, self.unit)]

    def _verdict(self, source: int, target: int) -> Verdict:
        shorter, longer = sorted((source, target))
        ratio = longer / max(1, shorter)
        if ratio <= self.highest:
            return KEPT
        return Verdict("source too short" if source < target else "target too short", ratio)
