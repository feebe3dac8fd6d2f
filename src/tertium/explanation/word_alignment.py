"""Which words of two texts are translations of each other, by an encoder's token vectors."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tertium.errors import SettingError
from tertium.explanation.words import token_offsets
from tertium.models.base import Progress, TextEncoder
from tertium.stats.word_alignment import METHODS, AlignmentMethod, aligned
from tertium.text import Text

Links = list[tuple[int, int]]
"""The words of the source and of the target, counted from 0."""


@dataclass(frozen=True)
class WordAligner:
    """SimAlign over the tokens of an encoder: words are aligned if any of their tokens are.

    Words are what spaces separate, as in Pharaoh format.

    >>> import tertium
    >>> aligner = WordAligner(tertium.load_encoder("tertium-mini-encoder"))
    >>> pair = Text("Ich sehe einen Hund .", "de"), Text("I see a dog .", "en")
    >>> [pharaoh(links) for links in aligner([pair])]
    ['0-0 1-1 2-2 3-3 4-4']
    """

    encoder: TextEncoder
    method: AlignmentMethod = "itermax"

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise SettingError(f"alignment method {self.method!r}: use {', '.join(METHODS)}")

    def __call__(
        self, pairs: Sequence[tuple[Text, Text]], progress: Progress | None = None
    ) -> list[Links]:
        """Align the words of each pair, the source first."""
        from tertium.measures.bertscore import cosine_matrix
        from tertium.measures.embedding import inner

        texts = [text for pair in pairs for text in pair]
        vectors = self.encoder.token_vectors(
            [text.text for text in texts], lang=[text.lang for text in texts], progress=progress
        )
        framed = [inner(each) for each in vectors]
        words = [
            words_of_tokens(text.text, each.tokens)
            for text, each in zip(texts, framed, strict=True)
        ]
        found = []
        for place in range(0, len(texts), 2):
            # SimAlign's similarities are not negative either
            similarities = (cosine_matrix(framed[place], framed[place + 1]) + 1) / 2
            source, target = words[place], words[place + 1]
            rows = [row for row, word in enumerate(source) if word is not None]
            columns = [column for column, word in enumerate(target) if word is not None]
            links = aligned(similarities[np.ix_(rows, columns)], self.method)
            found.append(
                sorted(
                    {(int(source[rows[i]]), int(target[columns[j]])) for i, j in np.argwhere(links)}
                )
            )
        return found


def words_of_tokens(text: str, tokens: Sequence[str]) -> list[int | None]:
    """The word of each token, counted from 0; None for one without characters.

    >>> words_of_tokens("Hello there!", ["▁He", "llo", "▁", "there", "!", "</s>"])
    [0, 0, None, 1, 1, None]
    """
    words = [match.span() for match in re.finditer(r"\S+", text)]
    found: list[int | None] = []
    for span in token_offsets(text, tokens):
        inside = [
            number
            for number, (start, end) in enumerate(words)
            if span is not None and start < span[1] and span[0] < end
        ]
        found.append(inside[0] if inside else None)
    return found


def pharaoh(links: Links) -> str:
    """The links of a pair as a line of Pharaoh format.

    >>> pharaoh([(0, 0), (1, 2)])
    '0-0 1-2'
    """
    return " ".join(f"{source}-{target}" for source, target in links)
