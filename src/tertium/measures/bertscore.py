"""BERTScore: each token is matched with the most similar token of the other text.

Zhang et al., "BERTScore: Evaluating Text Generation with BERT" (2020). Same numbers as their
package, bert-score 0.3.13, except where its padding wins over a negative cosine.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from tertium.errors import SettingError
from tertium.measures.base import Texts
from tertium.measures.embedding import (
    TokenMeasure,
    Weighting,
    idf_weights,
    token_weights,
    unit,
)
from tertium.measures.registry import measure
from tertium.measures.settings import setting
from tertium.models.base import Progress, TokenVectors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Match(NamedTuple):
    """Precision, recall, and their harmonic mean."""

    P: float
    R: float
    F1: float


@measure
@dataclass(frozen=True)
class BertScore(TokenMeasure):
    """The mean cosine of every token with its best match: F1, P or R."""

    name = "bertscore"
    summary = "Mean cosine of each token with its most similar token of the other text."
    bounds = (0.0, 1.0)  # a negative cosine counts as no similarity
    part: Literal["F1", "P", "R"] = setting("F1", "F1, precision or recall.")
    idf: bool = setting(False, "Weigh rare tokens more.")
    """Whether rare tokens count more: inverse document frequency over the references."""
    baseline: str | Path | None = setting(
        None, "A file of baselines by which scores are rescaled.", served=False
    )
    """A baseline file of bert-score (LAYER,P,R,F): scores are rescaled so that it becomes 0."""
    leading_space: bool = setting(
        False, "Put a space before each text, as old releases of bert-score did.", served=False
    )
    """Whether a space is put before each text, as bert-score does with RoBERTa and GPT-2 (where
    transformers allows it: before version 5)."""

    @property
    def needs_all_rows(self) -> bool:  # type: ignore[override]  # a constant elsewhere
        return self.idf

    def reading(self, score: float) -> str:
        return f"each token is matched with the most similar one; their mean cosine is {score:.2f}"

    def compare(
        self, A: Texts, B: Texts, progress: Progress | None
    ) -> tuple[Sequence[float], set[str]]:
        matches, cut = self.matches(A, B, progress)
        return [getattr(match, self.part) for match in matches], cut

    def matches(
        self, A: Texts, B: Texts, progress: Progress | None = None
    ) -> tuple[list[Match], set[str]]:
        """Precision, recall and F1 of each A against its B, and the truncated texts."""
        hypotheses, references, cut = self.token_vectors(A, B, progress)
        weigh = idf_weights(references) if self.idf else token_weights
        found = []
        for x, y in zip(hypotheses, references, strict=True):
            match = match_tokens(x, y, weigh)
            if self._baselines is not None:
                match = Match(
                    *((m - b) / (1 - b) for m, b in zip(match, self._baselines, strict=True))
                )
            found.append(match)
        return found, cut

    def as_read(self, text: str) -> str:
        return " " * self.leading_space + text.strip()

    def choices(self) -> Mapping[str, object]:
        choices = {**super().choices(), "baseline": "none"}
        if self._baselines is not None:
            choices["baseline"] = "/".join(f"{number:.6f}" for number in self._baselines)
        return choices

    @cached_property
    def _baselines(self) -> Match | None:
        if self.baseline is None:
            return None
        return read_baseline(Path(self.baseline), int(self.model.settings["layer"]))


def match_tokens(x: TokenVectors, y: TokenVectors, weigh: Weighting = token_weights) -> Match:
    """Match a hypothesis with a reference (equation 5, in both directions).

    Special tokens can be matched, but do not count. An empty text matches only an empty text.
    """
    if all(x.framing) or all(y.framing):
        same = float(all(x.framing) and all(y.framing))
        return Match(same, same, same)
    cosines = cosine_matrix(x, y)
    P = float(weigh(x) @ cosines.max(axis=1))
    R = float(weigh(y) @ cosines.max(axis=0))
    return Match(P, R, 2 * P * R / (P + R) if P + R else 0.0)


def cosine_matrix(x: TokenVectors, y: TokenVectors) -> NDArray[np.float64]:
    """Cosines of all tokens: shape (tokens of x, tokens of y)."""
    cosines: NDArray[np.float64] = unit(x.vectors) @ unit(y.vectors).T
    return cosines


def read_baseline(file: Path, layer: int) -> Match:
    """Read the line of a layer from a baseline file of bert-score."""
    try:
        with file.open(encoding="utf-8", newline="") as stream:
            lines = {int(line["LAYER"]): line for line in csv.DictReader(stream)}
        line = lines[layer]
        return Match(float(line["P"]), float(line["R"]), float(line["F"]))
    except OSError as error:
        raise SettingError(f"baseline {file} is not readable: {error.strerror}") from None
    except KeyError as missing:
        raise SettingError(
            f"baseline {file} has no {missing}: it needs the columns LAYER,P,R,F "
            f"and a line for layer {layer}"
        ) from None
    except (TypeError, ValueError) as error:
        raise SettingError(f"baseline {file} has a value that is not a number: {error}") from None
