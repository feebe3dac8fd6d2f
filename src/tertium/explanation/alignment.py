"""Differences by alignment of token vectors (DiffAlign).

Vamvas and Sennrich (2023), "Towards Unsupervised Recognition of Token-level Semantic Differences in
Related Documents": the difference of a token is one minus its best cosine on the other side, and
that of a word the mean over its tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tertium.explanation.spans import A, B, Span, severity_of
from tertium.explanation.words import Word, group_tokens
from tertium.models.base import Progress, TextEncoder, TokenVectors
from tertium.text import Text

DIFFERENCE = "difference"


@dataclass(frozen=True)
class DifferenceSettings:
    """From which difference a word is reported."""

    threshold: float = 0.6
    """One minus the best cosine, from 0 (the same vector) to 2."""


@dataclass(frozen=True, slots=True)
class WordDifference:
    """A word, and how different it is from the most similar word on the other side."""

    word: Word
    difference: float


def word_differences(
    pairs: Sequence[tuple[Text, Text]], encoder: TextEncoder, progress: Progress | None = None
) -> list[tuple[list[WordDifference], list[WordDifference]]]:
    """The differences of the words of ``a`` and of ``b``, for each pair."""
    texts = [text for pair in pairs for text in pair]
    vectors = encoder.token_vectors(
        [text.text for text in texts], lang=[text.lang for text in texts], progress=progress
    )
    return [
        (
            _differences(a.text, vectors[2 * number], vectors[2 * number + 1]),
            _differences(b.text, vectors[2 * number + 1], vectors[2 * number]),
        )
        for number, (a, b) in enumerate(pairs)
    ]


def _differences(text: str, own: TokenVectors, other: TokenVectors) -> list[WordDifference]:
    from tertium.measures.bertscore import cosine_matrix
    from tertium.measures.embedding import inner

    own, other = inner(own), inner(other)
    if not len(own.tokens):
        return []
    if len(other.tokens):
        distances = (1 - cosine_matrix(own, other).max(axis=1)).tolist()
    else:
        distances = [1.0] * len(own.tokens)  # nothing to align with
    return [
        WordDifference(word, sum(distances[index] for index in indices) / len(indices))
        for word, indices in group_tokens(text, own.tokens)
        if word.text
    ]


def differences(
    pairs: Sequence[tuple[Text, Text]],
    encoder: TextEncoder,
    settings: DifferenceSettings = DifferenceSettings(),
    *,
    progress: Progress | None = None,
) -> list[list[Span]]:
    """Find words that have no similar word on the other side."""
    threshold = settings.threshold
    return [
        [
            Span.of(
                text.text,
                each.word.start,
                each.word.end,
                side=side,
                kind=DIFFERENCE,
                score=each.difference,
                severity=severity_of(each.difference, threshold),
                evidence=f"the most similar token has a cosine of {1 - each.difference:.2f}",
            )
            for side, text, words in zip((A, B), pair, found, strict=True)
            for each in words
            if each.difference >= threshold and not each.word.is_punctuation
        ]
        for pair, found in zip(pairs, word_differences(pairs, encoder, progress), strict=True)
    ]
