"""Filters by a score: dual conditional cross-entropy of a translation model, or any measure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

from tertium.errors import SettingError
from tertium.filters.base import KEPT, Filter, Verdict
from tertium.measures.base import Measure
from tertium.models.base import Progress, TranslationModel
from tertium.models.catalog import load_model
from tertium.text import Row


def dual_score(forward: float, backward: float) -> float:
    """Dual conditional cross-entropy (Junczys-Dowmunt 2018, equations 1 and 2), between 0 and 1.

    exp(-(\\|H(y|x) - H(x|y)\\| + (H(y|x) + H(x|y)) / 2)), with H in nats per token.

    >>> round(dual_score(1.0, 1.0), 4), round(dual_score(0.5, 1.5), 4)
    (0.3679, 0.1353)
    """
    return math.exp(-(abs(forward - backward) + (forward + backward) / 2))


@dataclass(frozen=True)
class Dual(Filter):
    """Keeps pairs whose dual conditional cross-entropy score is at least ``at_least``.

    The paper uses one model per direction and ranks all pairs. Which threshold is sensible depends
    on the model.
    """

    at_least: float = 0.005
    model: TranslationModel = field(default_factory=load_model)

    name: ClassVar[str] = "dual"
    reasons: ClassVar[tuple[str, ...]] = ("too improbable",)
    portable: ClassVar[bool] = False

    def choices(self) -> dict[str, object]:
        return {
            "at_least": self.at_least,
            "model": self.model.fingerprint,
            **self.model.settings,
        }

    def judge(self, rows: Sequence[Row], progress: Progress | None = None) -> list[Verdict]:
        pairs = [row.sides for row in rows]
        forward, backward = (
            self.model.log_probs(
                [pair[1 - side].text for pair in pairs],
                [pair[side].text for pair in pairs],
                target_lang=[pair[1 - side].lang for pair in pairs],
                source_lang=[pair[side].lang for pair in pairs],
                progress=progress,
            )
            for side in (0, 1)
        )
        return [
            self._verdict(dual_score(-there.H, -back.H))
            for there, back in zip(forward, backward, strict=True)
        ]

    def _verdict(self, score: float) -> Verdict:
        return KEPT if score >= self.at_least else Verdict("too improbable", score)


@dataclass(frozen=True)
class MeasureFilter(Filter):
    """Keeps pairs whose score by a measure is from ``at_least`` to ``at_most``.

    The target is the hypothesis. The source of the pair is both the source and, for measures that
    need one, the reference.

    >>> import tertium
    >>> from tertium.text import Row, Text
    >>> similar = MeasureFilter(tertium.load("chrf"), at_least=50)
    >>> similar.judge([Row.pair(Text("the same"), Text("the same"))])[0].kept
    True
    """

    measure: Measure
    at_least: float = -math.inf
    at_most: float = math.inf

    name: ClassVar[str] = "measure"
    reasons: ClassVar[tuple[str, ...]] = ("too low", "too high")
    portable: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.at_least == -math.inf and self.at_most == math.inf:
            raise SettingError(f"no threshold for {self.measure.name}: set at_least or at_most")

    @property
    def needs_all_rows(self) -> bool:  # type: ignore[override]  # a constant elsewhere
        return self.measure.needs_all_rows

    def choices(self) -> dict[str, object]:
        return {
            "at_least": str(self.at_least),
            "at_most": str(self.at_most),
            **self.measure.description(),
        }

    def judge(self, rows: Sequence[Row], progress: Progress | None = None) -> list[Verdict]:
        compared = [replace(row, references=row.sides[:1]) for row in rows]
        scores = self.measure.segments(compared, progress).scores if rows else []
        return [self._verdict(score) for score in scores]

    def _verdict(self, score: float) -> Verdict:
        if score < self.at_least:
            return Verdict("too low", score)
        return Verdict("too high", score) if score > self.at_most else KEPT
