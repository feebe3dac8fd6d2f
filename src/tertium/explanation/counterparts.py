"""Which words of a text have a counterpart in the other, by the vectors of an encoder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tertium.explanation.words import Word, group_tokens
from tertium.models.base import Progress, TextEncoder, TokenVectors
from tertium.text import Text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Counterpart:
    """A word, its best cosine on the other side, and how much it counts."""

    word: Word
    cosine: float
    weight: float
    """The length of its vector."""


Counterparts = tuple[list[Counterpart], list[Counterpart]]
"""The words of both texts of a pair, without punctuation."""


def counterparts(
    pairs: Sequence[tuple[Text, Text]], encoder: TextEncoder, progress: Progress | None = None
) -> list[Counterparts]:
    """Compare every word of each text with those of the other; a word is the sum of its tokens.

    >>> import tertium
    >>> pair = Text("Ich sehe einen Hund.", "de"), Text("I see a dog tomorrow.", "en")
    >>> [(_, second)] = counterparts([pair], tertium.load_encoder("tertium-mini-encoder"))
    >>> min(second, key=lambda each: each.cosine).word.text
    'tomorrow'
    """
    words = word_vectors(pairs, encoder, progress)
    return [
        (
            _compared(*words[place], words[place + 1][1]),
            _compared(*words[place + 1], words[place][1]),
        )
        for place in range(0, len(words), 2)
    ]


def word_vectors(
    pairs: Sequence[tuple[Text, Text]], encoder: TextEncoder, progress: Progress | None = None
) -> list[tuple[list[Word], NDArray[np.float64]]]:
    """The words of all texts, two for each pair, with the sums of the vectors of their tokens."""
    texts = [text for pair in pairs for text in pair]
    vectors = encoder.token_vectors(
        [text.text for text in texts], lang=[text.lang for text in texts], progress=progress
    )
    return [_word_vectors(text.text, each) for text, each in zip(texts, vectors, strict=True)]


def cosines_of(rows: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.float64]:
    """The cosine of each vector with each of the others; 0 with a vector without length."""
    import numpy as np

    lengths = np.outer(np.linalg.norm(rows, axis=1), np.linalg.norm(others, axis=1))
    return np.asarray(rows @ others.T / np.maximum(lengths, 1e-9))


def _word_vectors(text: str, tokens: TokenVectors) -> tuple[list[Word], NDArray[np.float64]]:
    import numpy as np

    from tertium.measures.embedding import inner

    inside = inner(tokens)
    words, rows = [], []
    for word, indices in group_tokens(text, inside.tokens):
        if word.text and not word.is_punctuation:
            words.append(word)
            rows.append(inside.vectors[indices].astype(np.float64).sum(axis=0))
    return words, np.array(rows).reshape(len(rows), inside.vectors.shape[1])


def _compared(
    words: Sequence[Word], own: NDArray[np.float64], other: NDArray[np.float64]
) -> list[Counterpart]:
    import numpy as np

    lengths = np.linalg.norm(own, axis=1)
    best = cosines_of(own, other).max(axis=1) if len(other) else np.zeros(len(own))
    return [
        Counterpart(word, float(cosine), float(length))
        for word, cosine, length in zip(words, best, lengths, strict=True)
    ]
