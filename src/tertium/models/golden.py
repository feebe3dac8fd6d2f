"""Expected log-probabilities of a model, stored in its folder as ``golden.json``."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tertium.errors import ModelError
from tertium.models.base import Query, TokenScores, TranslationModel

GOLDEN = "golden.json"
INT8 = "int8-avx2"
"""The precision setting for which the int8 numbers are expected."""


@dataclass(frozen=True, slots=True)
class GoldenExample:
    """A target, its source, and the expected log-probabilities of the target's tokens."""

    target: str
    source: str
    target_lang: str
    source_lang: str
    float32: tuple[float, ...]
    int8: tuple[float, ...]
    """With the int8 arithmetic of every x86-64 processor (see :mod:`tertium.models.arithmetic`)."""


def read_golden(folder: Path) -> list[GoldenExample]:
    """Read the examples of a model."""
    try:
        examples = json.loads((folder / GOLDEN).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ModelError(f"{folder} has no {GOLDEN}") from None
    lists = ("float32", "int8")
    return [GoldenExample(**{**e, **{name: tuple(e[name]) for name in lists}}) for e in examples]


def golden_scores(model: TranslationModel, examples: Sequence[GoldenExample]) -> list[TokenScores]:
    """Score the targets of the examples with a model."""
    return model.log_probs(
        [Query(one.target, one.source, one.target_lang, one.source_lang) for one in examples]
    )


def largest_difference(scores: Sequence[TokenScores], expected: Sequence[Sequence[float]]) -> float:
    """The largest absolute difference of a log-probability; infinite if one is not a number."""
    differences = [
        abs(a - b)
        for result, log_probs in zip(scores, expected, strict=True)
        for a, b in zip(result.log_probs, log_probs, strict=True)
    ]
    return max(differences) if all(map(math.isfinite, differences)) else math.inf
