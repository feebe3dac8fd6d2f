"""What embedding-based measures share, and those with one vector per text: SSS and SMD.

Both as in Song, Zhao and Specia, "SentSim: Crosslingual Semantic Evaluation of Machine Translation"
(2021).
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, fields
from typing import TYPE_CHECKING, Literal

from tertium.measures.base import (
    CopyRule,
    EmptyRule,
    Measure,
    Segments,
    Texts,
    check_copies,
    unusual,
)
from tertium.measures.references import (
    COPIES,
    EMPTY_TEXT,
    LONG_TEXT,
    SEVERAL_REFERENCES,
    Long,
    over_references,
)
from tertium.measures.registry import measure
from tertium.measures.settings import setting
from tertium.measures.totals import FINGERPRINT_DIGITS
from tertium.models.base import Progress, SentenceEncoder, TextEncoder, TokenVectors
from tertium.text import Row

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Weighting = Callable[[TokenVectors], "NDArray[np.float64]"]
"""From a text's tokens to their weights, which sum to 1."""


@dataclass(frozen=True)
class EmbeddingMeasure(Measure):
    """A measure that compares vectors, over one or more references."""

    model: SentenceEncoder
    _: KW_ONLY
    references: Literal["max", "mean"] = setting(*SEVERAL_REFERENCES)
    empty: EmptyRule = setting(*EMPTY_TEXT)
    long: Long = setting(*LONG_TEXT)
    copies: CopyRule = setting(*COPIES)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_copies(self)

    @abstractmethod
    def compare(
        self, A: Texts, B: Texts, progress: Progress | None
    ) -> tuple[Sequence[float], set[str]]:
        """The similarity of each A with its B, and the truncated texts."""

    def segments(self, rows: Sequence[Row], progress: Progress | None = None) -> Segments:
        return over_references(
            self, rows, lambda A, B: self.compare(A, B, progress), self.references, progress
        )

    def aligning_encoder(self) -> SentenceEncoder:
        return self.model

    def choices(self) -> Mapping[str, object]:
        own = {
            setting.name: getattr(self, setting.name)
            for setting in fields(self)
            if setting.name not in ("model", "against", "empty", "long", "copies")
        }
        own |= unusual(self, empty="worst", long="split", copies="formula")
        return {
            "model": self.model.name,
            "fingerprint": self.model.fingerprint[:FINGERPRINT_DIGITS],
            **own,
            **self.model.settings,
        }


@dataclass(frozen=True)
class TokenMeasure(EmbeddingMeasure):
    """A measure that compares the token vectors of two texts."""

    model_kind = "tokens"
    model: TextEncoder

    def token_vectors(
        self, A: Texts, B: Texts, progress: Progress | None
    ) -> tuple[list[TokenVectors], list[TokenVectors], set[str]]:
        """The vectors of both sides, encoded in one call, and the truncated texts."""
        texts = [*A, *B]
        found = self.model.token_vectors(
            [self.as_read(text.text) for text in texts],
            lang=[text.lang for text in texts],
            progress=progress,
        )
        cut = {text.text for text, vectors in zip(texts, found, strict=True) if vectors.cut}
        return found[: len(A)], found[len(A) :], cut

    def as_read(self, text: str) -> str:
        """The text as it is passed to the encoder."""
        return text


def inner(vectors: TokenVectors) -> TokenVectors:
    """Leave out special tokens, unless the text has no others.

    >>> import numpy as np
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
    """Scale every row to length 1; a row of zeros stays."""
    import numpy as np

    exact = vectors.astype(np.float64)
    lengths = np.linalg.norm(exact, axis=-1, keepdims=True)
    return exact / np.where(lengths > 0, lengths, 1.0)


@measure
@dataclass(frozen=True)
class SemanticSentenceSimilarity(EmbeddingMeasure):
    """SSS (equation 6): the cosine of two sentence vectors."""

    name = "sss"
    summary = "Cosine of the sentence vectors of two texts."
    model_kind = "sentences"
    bounds = (0.0, 1.0)  # a negative cosine counts as no similarity

    @property
    def is_symmetric(self) -> bool:
        return True

    def reading(self, score: float) -> str:
        return f"the vectors of the two texts have a cosine of {score:.2f} (the same text: 1)"

    def compare(
        self, A: Texts, B: Texts, progress: Progress | None
    ) -> tuple[Sequence[float], set[str]]:
        import numpy as np

        alpha, beta, cut = self._vectors(A, B, progress)
        cosines = np.sum(alpha * beta, axis=1)
        cosines[~alpha.any(axis=1) & ~beta.any(axis=1)] = 1.0  # two empty texts are identical
        return cosines.tolist(), cut

    def against_aggregate(self, hypotheses: Texts, references: Texts) -> tuple[list[float], bool]:
        """The cosine with the mean of the references' unit vectors: the mean of the cosines."""
        import numpy as np

        alpha, beta, cut = self._vectors(hypotheses, references, None)
        if self.empty == "worst":  # 0, whatever an empty text is compared with
            alpha[[not text.text.strip() for text in hypotheses]] = 0
            beta[[not text.text.strip() for text in references]] = 0
        means = alpha @ beta.mean(axis=0)
        if self.empty == "formula":  # two empty texts are identical
            means[~alpha.any(axis=1)] = np.mean(~beta.any(axis=1))
        return means.tolist(), bool(cut)

    def _vectors(
        self, A: Texts, B: Texts, progress: Progress | None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], set[str]]:
        """The unit vectors of both sides, encoded in one call, and the truncated texts."""
        import numpy as np

        texts = [*A, *B]
        found = self.model.sentence_vectors(
            [text.text for text in texts], lang=[text.lang for text in texts], progress=progress
        )
        alpha, beta = np.split(unit(found.vectors), [len(A)])
        return alpha, beta, {text.text for text, cut in zip(texts, found.cut, strict=True) if cut}


@measure
@dataclass(frozen=True)
class SentenceMoversDistance(TokenMeasure):
    """SMD (equation 9): the distance of the mean token vectors, negated."""

    name = "smd"
    summary = "Distance between the mean token vectors of two texts, negated."
    negated = True
    bounds = (-math.inf, 0.0)

    @property
    def is_symmetric(self) -> bool:
        return True

    def reading(self, score: float) -> str:
        return f"the means of the token vectors are {-score:.2f} apart (the same text: 0)"

    def compare(
        self, A: Texts, B: Texts, progress: Progress | None
    ) -> tuple[Sequence[float], set[str]]:
        a, b, cut = self.token_vectors(A, B, progress)
        return [0.0 - distance_of_means(x, y) for x, y in zip(a, b, strict=True)], cut

    def choices(self) -> Mapping[str, object]:
        return {**super().choices(), "sign": "negated"}


def distance_of_means(a: TokenVectors, b: TokenVectors) -> float:
    """|E(x) - E(y)|, where E is the mean over the tokens (equation 9)."""
    import numpy as np

    x, y = (inner(side).vectors.mean(axis=0, dtype=np.float64) for side in (a, b))
    return float(np.linalg.norm(x - y))


def inverse_document_frequency(documents: Iterable[Sequence[str]]) -> Callable[[str], float]:
    """BERTScore's idf(w) = ln((N + 1) / (n(w) + 1)), of N documents of which n(w) hold w.

    >>> idf = inverse_document_frequency([["a", "b", "b"], ["a"], ["c"]])
    >>> [round(idf(token), 4) for token in "abd"]  # ln 4/3, ln 4/2, ln 4/1
    [0.2877, 0.6931, 1.3863]
    """
    count, holding = 0, Counter[str]()
    for document in documents:
        count += 1
        holding.update(set(document))
    return lambda token: math.log((count + 1) / (holding[token] + 1))


def idf_weights(references: Iterable[TokenVectors]) -> Weighting:
    """Weight tokens by their idf over the references; equally if all of them are 0."""
    import numpy as np

    idf = inverse_document_frequency([text.tokens for text in references])

    def weigh(text: TokenVectors) -> NDArray[np.float64]:
        weights = np.array([idf(token) for token in text.tokens]) * token_weights(text)
        return weights / weights.sum() if weights.sum() > 0 else token_weights(text)

    return weigh


def token_weights(text: TokenVectors) -> NDArray[np.float64]:
    """Weight all tokens equally, and special tokens with 0 (if there are others)."""
    import numpy as np

    weights = np.array([not framing for framing in text.framing], dtype=np.float64)
    return weights / weights.sum() if weights.any() else np.full(len(weights), 1 / len(weights))
