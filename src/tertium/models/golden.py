"""Log-probabilities that a model is known to give, kept beside it in ``golden.json``."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path

from tertium.errors import ModelError
from tertium.models.base import TranslationModel

GOLDEN = "golden.json"


@dataclass(frozen=True, slots=True)
class GoldenAnswer:
    """A question, and the log-probabilities in float32 that are its right answer."""

    target: str
    source: str
    target_lang: str
    source_lang: str
    log_probs: tuple[float, ...]


def read_golden(folder: Path) -> list[GoldenAnswer]:
    """Read the known answers of a model."""
    try:
        answers = json.loads((folder / GOLDEN).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ModelError(f"{folder} has no {GOLDEN}") from None
    return [GoldenAnswer(**{**a, "log_probs": tuple(a["log_probs"])}) for a in answers]


def largest_difference(model: TranslationModel, golden: list[GoldenAnswer]) -> float:
    """Ask the known questions again; how far is the answer off, at the worst token?"""
    answers = model.log_probs(
        [known.target for known in golden],
        [known.source for known in golden],
        target_lang=[known.target_lang for known in golden],
        source_lang=[known.source_lang for known in golden],
    )
    differences = [
        abs(a - b)
        for answer, known in zip(answers, golden, strict=True)
        for a, b in zip(answer.log_probs, known.log_probs, strict=True)
    ]
    return max(differences) if all(map(math.isfinite, differences)) else math.inf
