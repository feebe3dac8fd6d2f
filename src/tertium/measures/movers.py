"""Word Mover's Distance: the minimal cost of moving one text's token vectors to the other's.

Kusner et al., "From Word Embeddings to Document Distances" (2015), over contextual vectors as in
SentSim (equations 1 to 4); with a penalty for word order, Chow et al., "WMDO: Fluency-based Word
Mover's Distance for Machine Translation Evaluation" (2019). Distances are negated.
"""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from tertium.errors import SettingError
from tertium.measures.base import Texts
from tertium.measures.embedding import (
    TokenMeasure,
    Weighting,
    idf_weights,
    inner,
    token_weights,
    unit,
)
from tertium.measures.nltk import NLTK, NoSynonyms
from tertium.measures.registry import measure
from tertium.measures.settings import setting
from tertium.models.base import Progress, TokenVectors
from tertium.registry import Extra, check_extras
from tertium.text import Text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Matrix: TypeAlias = "NDArray[np.float64]"
MOST_ITERATIONS = 1_000_000


@measure
@dataclass(frozen=True)
class WordMoversDistance(TokenMeasure):
    """WMD (equation 4): the exact optimal transport between the tokens of two texts, negated."""

    name = "wmd"
    summary = "Word Mover's Distance over contextual token vectors, negated."
    negated = True
    requires = (Extra("wmd", ("ot",)),)
    bounds = (-math.inf, 0.0)
    distance: Literal["euclidean", "cosine"] = setting("euclidean", "Distance between two tokens.")
    """Between two vectors: Euclidean (equation 2), or 1 - cosine."""
    mass: Literal["frequency", "uniform", "idf"] = setting(
        "frequency", "Weight of each token: its frequency, the same for all, or idf."
    )
    """Of a token: its frequency (equation 1), the same for every distinct token, or idf."""

    @property
    def needs_all_rows(self) -> bool:  # type: ignore[override]  # a constant elsewhere
        return self.mass == "idf"

    def reading(self, score: float) -> str:
        return (
            f"turning one text's tokens into the other's takes {-score:.2f} of work "
            "(the same text: 0)"
        )

    def compare(
        self, A: Texts, B: Texts, progress: Progress | None
    ) -> tuple[Sequence[float], set[str]]:
        hypotheses, references, cut = self.token_vectors(A, B, progress)
        weigh = self.weighting(references)
        found = []
        sides = zip(A, B, hypotheses, references, strict=True)
        for done, (a, b, x, y) in enumerate(sides, start=1):
            found.append(self.similarity(a, b, inner(x), inner(y), weigh))
            if progress is not None and done % 1000 == 0:
                progress(self.name, done, len(hypotheses))
        return found, cut

    def similarity(
        self,
        A: Text,
        B: Text,
        hypothesis: TokenVectors,
        reference: TokenVectors,
        weigh: Weighting,
    ) -> float:
        """The similarity of one pair."""
        work, _ = self.moves(hypothesis, reference, weigh)
        return 0.0 - work  # no minus zero

    def moves(
        self, hypothesis: TokenVectors, reference: TokenVectors, weigh: Weighting
    ) -> tuple[float, Matrix]:
        """The minimal cost, and the plan: shape (reference tokens, hypothesis tokens)."""
        return transport(weigh(reference), weigh(hypothesis), self.costs(reference, hypothesis))

    def choices(self) -> Mapping[str, object]:
        return {**super().choices(), "sign": "negated"}

    def costs(self, reference: TokenVectors, hypothesis: TokenVectors) -> Matrix:
        """The cost of moving tokens: shape (reference tokens, hypothesis tokens)."""
        x, y = reference.vectors, hypothesis.vectors
        return cosine_distances(x, y) if self.distance == "cosine" else euclidean_distances(x, y)

    def weighting(self, references: Sequence[TokenVectors]) -> Weighting:
        """The weighting of tokens."""
        if self.mass == "idf":
            return idf_weights([inner(reference) for reference in references])
        return token_weights if self.mass == "frequency" else distinct_weights


@measure
@dataclass(frozen=True)
class OrderedWordMoversDistance(WordMoversDistance):
    """WMDo: WMD - delta * (1/2 - chunks/matches), negated: changes of order cost more."""

    name = "wmdo"
    summary = "Word Mover's Distance with a penalty for word order, negated."
    delta: float = setting(0.2, "Penalty for word order.", low=0)
    """The weight of the order."""
    alignment: Literal["plan", "meteor"] = setting(
        "plan",
        "What is in order: the tokens as mass is moved, or words as METEOR matches them (equal, or "
        "with the same stem; extra nltk), as in the authors' program.",
        served=False,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.alignment == "meteor":
            check_extras("wmdo:alignment=meteor", NLTK)
        if not self.delta >= 0:
            raise SettingError(f"delta={self.delta!r}: it must be 0 or more")

    @property
    def bounds(self) -> tuple[float, float]:  # type: ignore[override]  # a constant elsewhere
        return -math.inf, self.delta / 2

    def similarity(
        self,
        A: Text,
        B: Text,
        hypothesis: TokenVectors,
        reference: TokenVectors,
        weigh: Weighting,
    ) -> float:
        work, plan = self.moves(hypothesis, reference, weigh)
        if self.alignment == "meteor":
            order = matched_fragmentation(A.text.lower().split(), B.text.lower().split())
        else:
            order = fragmentation(plan)
        return self.delta * (0.5 - order) - work + 0.0  # no minus zero

    def choices(self) -> Mapping[str, object]:
        choices = dict(super().choices())
        if self.alignment == "plan":
            del choices["alignment"]
        return choices


def matched_fragmentation(hypothesis: Sequence[str], reference: Sequence[str]) -> float:
    """Chunks per match of METEOR: words that are equal, or have the same stem (Porter).

    Without a match, nothing is known of the order: 1/2, which adds nothing to WMD.

    >>> matched_fragmentation(["a", "b", "cats", "d"], ["cat", "d", "a", "b"])
    0.5
    """
    from nltk.translate.meteor_score import align_words

    matches, _, _ = align_words(hypothesis, reference, wordnet=NoSynonyms())
    pairs = sorted(matches)
    chunks = sum(
        place == 0 or pairs[place - 1] != (h - 1, r - 1) for place, (h, r) in enumerate(pairs)
    )
    return chunks / len(pairs) if pairs else 0.5


def transport(
    source: NDArray[np.float64], target: NDArray[np.float64], costs: Matrix
) -> tuple[float, Matrix]:
    """The minimal cost (equation 4) and the plan T, under the constraints of equation 3.

    >>> import numpy as np
    >>> work, plan = transport(np.array([0.5, 0.5]), np.array([1.0]), np.array([[1.0], [3.0]]))
    >>> work, plan.tolist()
    (2.0, [[0.5], [0.5]])
    """
    # POT imports every array library that is installed; only NumPy is needed.
    for library in ("PYTORCH", "JAX", "TENSORFLOW", "CUPY"):
        os.environ.setdefault(f"POT_BACKEND_DISABLE_{library}", "1")
    try:
        import ot
    except ImportError:
        raise SettingError(
            "wmd and wmdo solve optimal transport with POT, which is not installed: "
            "pip install 'tertium[wmd]'"
        ) from None
    plan: Matrix = ot.emd(
        source, target, costs, numItermax=MOST_ITERATIONS, center_dual=False, check_marginals=False
    )
    return float((plan * costs).sum()), plan


def distinct_weights(text: TokenVectors) -> NDArray[np.float64]:
    """Weight every distinct token equally; repeated tokens share their weight."""
    import numpy as np

    counts = Counter(text.tokens)
    return np.array([1 / (len(counts) * counts[token]) for token in text.tokens])


def euclidean_distances(x: NDArray[np.float32], y: NDArray[np.float32]) -> Matrix:
    """c(i, j) = |x_i - y_j| (equation 2), without the cancellation of the quicker formula."""
    import numpy as np

    a, b = x.astype(np.float64), y.astype(np.float64)
    squares: Matrix = (a * a).sum(axis=1)[:, None] + (b * b).sum(axis=1)[None, :] - 2 * a @ b.T
    near = squares < 1e-6 * (1 + squares.max(initial=0))
    distances: Matrix = np.sqrt(np.maximum(squares, 0))
    for i, j in zip(*np.nonzero(near), strict=True):
        distances[i, j] = np.linalg.norm(a[i] - b[j])
    return distances


def cosine_distances(x: NDArray[np.float32], y: NDArray[np.float32]) -> Matrix:
    """1 - cos(x_i, y_j)."""
    distances: Matrix = (1 - unit(x) @ unit(y).T).clip(min=0)
    return distances


def fragmentation(plan: Matrix) -> float:
    """The number of contiguous runs of matched tokens, divided by the number of tokens.

    A token of the reference is matched with the one that most of its mass moves to; among equals,
    with the one that continues the run, or else with the nearest.

    >>> import numpy as np
    >>> fragmentation(np.eye(4) / 4), fragmentation(np.eye(4)[[2, 3, 0, 1]] / 4)
    (0.25, 0.5)
    """
    chunks, before = 0, -1
    for flow in plan:
        [best] = (flow == flow.max()).nonzero()
        place = int(min(best, key=lambda place: (abs(place - (before + 1)), place)))
        chunks += place != before + 1 or chunks == 0
        before = place
    return chunks / len(plan)
