"""Log-probabilities that a model is known to give, kept beside it in ``golden.json``."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tertium.errors import ModelError
from tertium.models.base import TokenScores, TranslationModel

GOLDEN = "golden.json"
INT8 = "int8-avx2"
"""The precision of the numbers in int8."""


@dataclass(frozen=True, slots=True)
class GoldenAnswer:
    """A target and its source, and the log-probabilities of the target's tokens."""

    target: str
    source: str
    target_lang: str
    source_lang: str
    float32: tuple[float, ...]
    int8: tuple[float, ...]
    """With the arithmetic that int8 has on every x86-64 processor."""


def read_golden(folder: Path) -> list[GoldenAnswer]:
    """Read the known answers of a model."""
    try:
        answers = json.loads((folder / GOLDEN).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ModelError(f"{folder} has no {GOLDEN}") from None
    lists = ("float32", "int8")
    return [GoldenAnswer(**{**a, **{name: tuple(a[name]) for name in lists}}) for a in answers]


def golden_scores(model: TranslationModel, golden: Sequence[GoldenAnswer]) -> list[TokenScores]:
    """Score the known targets with a model."""
    return model.log_probs(
        [known.target for known in golden],
        [known.source for known in golden],
        target_lang=[known.target_lang for known in golden],
        source_lang=[known.source_lang for known in golden],
    )


def largest_difference(scores: Sequence[TokenScores], expected: Sequence[Sequence[float]]) -> float:
    """How far the worst token is off."""
    differences = [
        abs(a - b)
        for found, known in zip(scores, expected, strict=True)
        for a, b in zip(found.log_probs, known, strict=True)
    ]
    return max(differences) if all(map(math.isfinite, differences)) else math.inf
