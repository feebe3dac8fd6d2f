"""Pairs that a measure finds too far apart, or too near."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from tertium.errors import SettingError
from tertium.filters.base import KEPT, Filter, Pair, Verdict
from tertium.measures.base import Measure
from tertium.measures.signature import spell
from tertium.models.base import Progress
from tertium.text import Row


@dataclass(frozen=True)
class Similarity(Filter):
    """Keeps pairs whose score by a measure lies within bounds.

    The target is the hypothesis, and the source is what it is compared with.

    >>> import tertium
    >>> from tertium.text import Text
    >>> near = Similarity(tertium.load("chrf"), at_least=50)
    >>> near.judge([Pair(Text("the same"), Text("the same"))])[0].kept
    True
    """

    measure: Measure
    at_least: float = -math.inf
    at_most: float = math.inf

    name: ClassVar[str] = "measure"
    reasons: ClassVar[tuple[str, ...]] = ("too low", "too high")
    portable: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.measure.needs_all_rows:
            raise SettingError(
                f"{self.measure.name} with these settings scores all rows in one go, and a filter "
                "sees some at a time; choose settings by which each row has a score of its own"
            )
        if self.at_least == -math.inf and self.at_most == math.inf:
            raise SettingError(f"how high must {self.measure.name} be? say at_least or at_most")

    def choices(self) -> dict[str, object]:
        return {
            "measure": self.measure.name,
            "at_least": str(self.at_least),
            "at_most": str(self.at_most),
            **{name: spell(value) for name, value in self.measure.choices().items()},
        }

    def judge(self, pairs: Sequence[Pair], progress: Progress | None = None) -> list[Verdict]:
        rows = [
            Row(number, pair.target, (pair.source,)) for number, pair in enumerate(pairs, start=1)
        ]
        scores = self.measure.segments(rows, progress).scores if rows else []
        return [self._verdict(score) for score in scores]

    def _verdict(self, score: float) -> Verdict:
        if score < self.at_least:
            return Verdict("too low", score)
        return Verdict("too high", score) if score > self.at_most else KEPT
