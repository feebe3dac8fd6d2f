"""How rare a piece is: inverse document frequency over the references at hand."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from tertium.models.base import TokenVectors

Weighting = Callable[[TokenVectors], NDArray[np.float64]]
"""From a text's pieces to their weights, which sum to 1."""


def inverse_document_frequency(documents: Iterable[Sequence[str]]) -> Callable[[str], float]:
    """BERTScore's idf(w) = ln((N + 1) / (n(w) + 1)), of N documents of which n(w) hold w.

    >>> idf = inverse_document_frequency([["a", "b", "b"], ["a"], ["c"]])
    >>> [round(idf(piece), 4) for piece in "abd"]  # ln 4/3, ln 4/2, ln 4/1
    [0.2877, 0.6931, 1.3863]
    """
    count, holding = 0, Counter[str]()
    for document in documents:
        count += 1
        holding.update(set(document))
    return lambda piece: math.log((count + 1) / (holding[piece] + 1))


def idf_weights(references: Iterable[TokenVectors]) -> Weighting:
    """Weigh pieces by their idf over the references; all alike where none of them is rare."""
    idf = inverse_document_frequency([text.tokens for text in references])

    def weigh(text: TokenVectors) -> NDArray[np.float64]:
        weights = np.array([idf(piece) for piece in text.tokens]) * piece_weights(text)
        return weights / weights.sum() if weights.sum() > 0 else piece_weights(text)

    return weigh


def piece_weights(text: TokenVectors) -> NDArray[np.float64]:
    """Weigh all pieces alike, and what frames the text with 0 (if there is anything else)."""
    weights = np.array([not framing for framing in text.framing], dtype=np.float64)
    return weights / weights.sum() if weights.any() else np.full(len(weights), 1 / len(weights))
