"""Pairs that a translation model finds improbable, in one direction or in both."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from tertium.filters.base import KEPT, Filter, Pair, Verdict
from tertium.models.base import Progress, TranslationModel
from tertium.models.catalog import load_model


def dual_score(forward: float, backward: float) -> float:
    """Dual conditional cross-entropy (Junczys-Dowmunt 2018, equations 1 and 2), between 0 and 1.

    The cross-entropies are in nats a piece: exp(-(\\|H(y|x) - H(x|y)\\| + (H(y|x) + H(x|y)) / 2)).

    >>> round(dual_score(1.0, 1.0), 4), round(dual_score(0.5, 1.5), 4)
    (0.3679, 0.1353)
    """
    return math.exp(-(abs(forward - backward) + (forward + backward) / 2))


@dataclass(frozen=True)
class Dual(Filter):
    """Keeps pairs whose dual conditional cross-entropy score is at least so high.

    The paper has a model for each direction and ranks all pairs; which score is high enough depends
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

    def judge(self, pairs: Sequence[Pair], progress: Progress | None = None) -> list[Verdict]:
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
