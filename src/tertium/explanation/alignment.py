"""Differences by token vectors: DiffAlign and DiffDel.

Vamvas and Sennrich (2023), "Towards Unsupervised Recognition of Token-level Semantic Differences in
Related Documents". The score of a token is

- diff-align: one minus its best cosine on the other side;
- diff-del: (cos(A without the token, B) - cos(A, B) + 1) / 2, where A and B are the sums of the
  token vectors of both texts: a token that only one text has makes the texts less similar.

The score of a word is the mean over its tokens. The third method of the paper, diff-mask, is in
:mod:`tertium.explanation.likelihood`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from tertium.explanation.spans import WordScore, WordScores
from tertium.explanation.words import group_tokens
from tertium.models.base import Progress, TextEncoder, TokenVectors
from tertium.text import Text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DIFFERENCE = "difference"
DIFFERENCE_THRESHOLD = 0.6
"""From 0 (the same vector) to 2."""
DELETION_THRESHOLD = 0.505
"""From 0 to 1: above 0.5, the texts are more similar without the token."""


def word_differences(
    pairs: Sequence[tuple[Text, Text]], encoder: TextEncoder, progress: Progress | None = None
) -> list[WordScores]:
    """One minus the best cosine of each word on the other side (diff-align), for each pair.

    >>> import tertium
    >>> pair = Text("I see a dog", "en"), Text("I see a house", "en")
    >>> [(first, _)] = word_differences([pair], tertium.load_encoder())
    >>> max(first, key=lambda each: each.score).word.text
    'dog'
    """
    return _scored(pairs, encoder, _aligned, progress)


def word_deletions(
    pairs: Sequence[tuple[Text, Text]], encoder: TextEncoder, progress: Progress | None = None
) -> list[WordScores]:
    """How much more similar the texts are without each word (diff-del), for each pair.

    >>> import tertium
    >>> pair = Text("I see a dog", "en"), Text("I see a house", "en")
    >>> [(first, _)] = word_deletions([pair], tertium.load_encoder())
    >>> max(first, key=lambda each: each.score).word.text
    'dog'
    """
    return _scored(pairs, encoder, _deleted, progress)


TokenScorer = Callable[[TokenVectors, TokenVectors], tuple[list[float], str]]
"""The score of every token of the first text, and what to say about that of a word."""


def _scored(
    pairs: Sequence[tuple[Text, Text]],
    encoder: TextEncoder,
    scorer: TokenScorer,
    progress: Progress | None,
) -> list[WordScores]:
    from tertium.measures.embedding import inner

    texts = [text for pair in pairs for text in pair]
    vectors = encoder.token_vectors(
        [text.text for text in texts], lang=[text.lang for text in texts], progress=progress
    )
    framed = [inner(each) for each in vectors]
    return [
        (
            _words(a.text, framed[2 * number], framed[2 * number + 1], scorer),
            _words(b.text, framed[2 * number + 1], framed[2 * number], scorer),
        )
        for number, (a, b) in enumerate(pairs)
    ]


def _words(
    text: str, own: TokenVectors, other: TokenVectors, scorer: TokenScorer
) -> list[WordScore]:
    """The mean over the tokens of each word."""
    if not own.tokens:
        return []
    scores, evidence = scorer(own, other)
    found = []
    for word, indices in group_tokens(text, own.tokens):
        if word.text:
            score = sum(scores[index] for index in indices) / len(indices)
            found.append(WordScore(word, score, evidence.format(score=score, cosine=1 - score)))
    return found


def _aligned(own: TokenVectors, other: TokenVectors) -> tuple[list[float], str]:
    from tertium.measures.bertscore import cosine_matrix

    evidence = "the most similar token has a cosine of {cosine:.2f}"
    if not other.tokens:
        return [1.0] * len(own.tokens), evidence  # nothing to align with
    return (1 - cosine_matrix(own, other).max(axis=1)).tolist(), evidence


def _deleted(own: TokenVectors, other: TokenVectors) -> tuple[list[float], str]:
    import numpy as np

    own_vectors = own.vectors.astype(np.float64)
    whole = own_vectors.sum(axis=0, keepdims=True)
    target = other.vectors.astype(np.float64).sum(axis=0)
    gains = _cosines(whole - own_vectors, target) - _cosines(whole, target)
    evidence = "(cosine without it - cosine + 1) / 2 = {score:.3f}"
    return ((gains + 1) / 2).tolist(), evidence


def _cosines(rows: NDArray[np.float64], vector: NDArray[np.float64]) -> NDArray[np.float64]:
    """The cosine of each row with a vector; 0 if one of them is zero."""
    import numpy as np

    norms = np.linalg.norm(rows, axis=1) * np.linalg.norm(vector)
    return np.asarray(np.divide(rows @ vector, norms, out=np.zeros(len(rows)), where=norms > 0))
