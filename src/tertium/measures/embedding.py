"""What all measures by vectors share, and those that take one vector a text: SSS and SMD.

Both as in Song, Zhao and Specia, "SentSim: Crosslingual Semantic Evaluation of Machine Translation"
(2021).
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, fields
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tertium.measures.base import Measure, Segments
from tertium.measures.references import Texts, over_references
from tertium.measures.settings import check_settings
from tertium.measures.signature import FINGERPRINT_DIGITS
from tertium.models.base import Progress, SentenceEncoder, TextEncoder, TokenVectors
from tertium.text import Row

ALLOWED = {
    "references": ("max", "mean"),
    "part": ("F1", "P", "R"),
    "distance": ("euclidean", "cosine"),
    "mass": ("frequency", "uniform", "idf"),
    "idf": (False, True),
    "leading_space": (False, True),
}


@dataclass(frozen=True)
class EmbeddingMeasure(Measure):
    """A comparison of vectors, over one or more references."""

    model: SentenceEncoder
    _: KW_ONLY
    references: Literal["max", "mean"] = "max"
    """What becomes of several references."""

    def __post_init__(self) -> None:
        check_settings(self, ALLOWED)

    @abstractmethod
    def compare(
        self, A: Texts, B: Texts, progress: Progress | None
    ) -> tuple[Sequence[float], set[str]]:
        """The similarity of each A with its B, and the texts that were cut."""

    def segments(self, rows: Sequence[Row], progress: Progress | None = None) -> Segments:
        return over_references(rows, lambda A, B: self.compare(A, B, progress), self.references)

    def choices(self) -> Mapping[str, object]:
        own = {
            setting.name: getattr(self, setting.name)
            for setting in fields(self)
            if setting.name != "model"
        }
        return {
            "model": self.model.name,
            "fingerprint": self.model.fingerprint[:FINGERPRINT_DIGITS],
            **own,
            **self.model.settings,
        }


@dataclass(frozen=True)
class TokenMeasure(EmbeddingMeasure):
    """A comparison of the pieces of two texts, each with its vector."""

    model_kind = "tokens"
    model: TextEncoder

    def token_vectors(
        self, A: Texts, B: Texts, progress: Progress | None
    ) -> tuple[list[TokenVectors], list[TokenVectors], set[str]]:
        """The vectors of both sides, asked for in one call, and the texts that were cut."""
        texts = [*A, *B]
        found = self.model.token_vectors(
            [self.as_read(text.text) for text in texts],
            lang=[text.lang for text in texts],
            progress=progress,
        )
        cut = {text.text for text, vectors in zip(texts, found, strict=True) if vectors.cut}
        return found[: len(A)], found[len(A) :], cut

    def as_read(self, text: str) -> str:
        """The text as the encoder gets it."""
        return text


def inner(vectors: TokenVectors) -> TokenVectors:
    """Leave out what only frames the text; of a text with nothing in it, the frame is all there is.

    >>> text = TokenVectors(("<s>", "Hi"), np.eye(2, dtype=np.float32), (True, False))
    >>> inner(text).tokens, inner(text).vectors
    (('Hi',), array([[0., 1.]], dtype=float32))
    """
    kept = [place for place, framing in enumerate(vectors.framing) if not framing]
    if not kept or len(kept) == len(vectors.tokens):
        return vectors
    return TokenVectors(
        tuple(vectors.tokens[place] for place in kept),
        vectors.vectors[kept],
        (False,) * len(kept),
        vectors.cut,
    )


def unit(vectors: NDArray[np.float32]) -> NDArray[np.float64]:
    """Make every row of length 1; a row of zeros stays."""
    exact = vectors.astype(np.float64)
    lengths = np.linalg.norm(exact, axis=-1, keepdims=True)
    return exact / np.where(lengths > 0, lengths, 1.0)


@dataclass(frozen=True)
class SemanticSentenceSimilarity(EmbeddingMeasure):
    """SSS (equation 6): the cosine of two sentence vectors."""

    name = "sss"
    model_kind = "sentences"
    bounds = (0.0, 1.0)  # a negative cosine is no similarity at all

    def compare(
        self, A: Texts, B: Texts, progress: Progress | None
    ) -> tuple[Sequence[float], set[str]]:
        texts = [*A, *B]
        found = self.model.sentence_vectors(
            [text.text for text in texts], lang=[text.lang for text in texts], progress=progress
        )
        alpha, beta = np.split(unit(found.vectors), [len(A)])
        cosines = np.sum(alpha * beta, axis=1)
        cosines[~alpha.any(axis=1) & ~beta.any(axis=1)] = 1.0  # nothing is like nothing
        cut = {text.text for text, long in zip(texts, found.cut, strict=True) if long}
        return cosines.tolist(), cut


@dataclass(frozen=True)
class SentenceMoversDistance(TokenMeasure):
    """SMD (equation 9): how far the means of the pieces' vectors are apart, turned round."""

    name = "smd"
    bounds = (-math.inf, 0.0)

    def compare(
        self, A: Texts, B: Texts, progress: Progress | None
    ) -> tuple[Sequence[float], set[str]]:
        a, b, cut = self.token_vectors(A, B, progress)
        return [0.0 - distance_of_means(x, y) for x, y in zip(a, b, strict=True)], cut

    def choices(self) -> Mapping[str, object]:
        return {**super().choices(), "sign": "negated"}


def distance_of_means(a: TokenVectors, b: TokenVectors) -> float:
    """|E(x) - E(y)|, where E is the mean over the pieces (equation 9)."""
    x, y = (inner(side).vectors.mean(axis=0, dtype=np.float64) for side in (a, b))
    return float(np.linalg.norm(x - y))
