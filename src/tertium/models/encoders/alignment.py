"""Alignment of the sentences of two documents by an encoder's vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from tertium.data.sentences import join
from tertium.errors import InputError
from tertium.models.base import Progress, SentenceEncoder
from tertium.stats.alignment import AlignmentSettings, Unit, align
from tertium.stats.neighbours import Vectors
from tertium.text import Text


@dataclass(frozen=True)
class Aligner:
    """Aligns the sentences of two documents by an encoder's vectors."""

    encoder: SentenceEncoder
    settings: AlignmentSettings = field(default_factory=AlignmentSettings)

    def __call__(
        self,
        source: Sequence[Text],
        target: Sequence[Text],
        progress: Progress | None = None,
    ) -> list[Unit]:
        """Align two lists of sentences, none of which is blank."""
        for name, side in (("first", source), ("second", target)):
            if not side:
                raise InputError(f"the {name} document has no sentences: all lines are blank")
        return align(self._blocks(source, progress), self._blocks(target, progress), self.settings)

    def _blocks(self, sentences: Sequence[Text], progress: Progress | None) -> dict[int, Vectors]:
        """Encode all blocks of 1 to n joined sentences in one call."""
        sizes = range(1, min(self.settings.longest, len(sentences)) + 1)
        blocks = {
            size: [
                join(sentences[start : start + size]) for start in range(len(sentences) - size + 1)
            ]
            for size in sizes
        }
        texts = [block.text for size in sizes for block in blocks[size]]
        langs = [block.lang for size in sizes for block in blocks[size]]
        vectors = self.encoder.sentence_vectors(texts, lang=langs, progress=progress).vectors
        ends = np.cumsum([len(blocks[size]) for size in sizes])[:-1]
        found: dict[int, Vectors] = dict(zip(sizes, np.split(vectors, ends), strict=True))
        nothing = np.empty((0, vectors.shape[1]), np.float32)
        return {size: found.get(size, nothing) for size in range(1, self.settings.longest + 1)}
