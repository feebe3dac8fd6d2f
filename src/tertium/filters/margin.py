"""Filter by the margin of sentence embeddings (Artetxe and Schwenk 2019)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from tertium.errors import SettingError
from tertium.filters.base import KEPT, BitextPair, Filter, Verdict
from tertium.filters.duplicates import Hashes, hash_texts
from tertium.models.base import Progress, SentenceEncoder
from tertium.registry import check_extras
from tertium.stats.neighbours import (
    FAISS,
    Method,
    Similarities,
    Vectors,
    check_method,
    margin,
    neighbour_similarity,
)


class EncodedSide(NamedTuple):
    """One side of the pairs: hashes that identify equal texts, and sentence vectors."""

    hashes: Hashes
    vectors: Vectors


def margins(
    source: EncodedSide, target: EncodedSide, k: int = 4, method: Method = "auto"
) -> Similarities:
    """The ratio margin of each pair, with neighbours among the distinct texts of the other side."""
    cosines = np.array(
        [np.dot(a, b) for a, b in zip(source.vectors, target.vectors, strict=True)], np.float32
    )
    half = np.float32(0.5)  # exact
    near = half * _near(source, target, k, method) + half * _near(target, source, k, method)
    return margin(cosines, near)


def _near(queries: EncodedSide, base: EncodedSide, k: int, method: Method) -> Similarities:
    """The mean similarity of each query with its neighbours; every distinct text counts once."""
    _, first, inverse = np.unique(queries.hashes, return_index=True, return_inverse=True)
    _, others = np.unique(base.hashes, return_index=True)
    order = np.argsort(first)  # the order of the file, not of the hashes
    means = np.empty(len(first), np.float32)
    means[order] = neighbour_similarity(
        queries.vectors[first[order]], base.vectors[np.sort(others)], k, method
    )
    return means[inverse]


@dataclass(frozen=True)
class Margin(Filter):
    """Keeps pairs with a margin of at least ``at_least``; in Prism 1.05 for mined text, else 1.04.

    The encoder must map both languages to one space and spread texts over it. The bundled model's
    encoder does not: its vectors all have similar directions, and few margins exceed 1.
    """

    encoder: SentenceEncoder
    at_least: float = 1.04
    k: int = 4
    neighbours: Method = "auto"

    name: ClassVar[str] = "margin"
    reasons: ClassVar[tuple[str, ...]] = ("too small",)
    portable: ClassVar[bool] = False
    needs_all_pairs: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_method(self.neighbours)
        if self.neighbours == "index":
            check_extras("filter 'margin' with neighbours=index", [FAISS])
        if self.k < 1:
            raise SettingError(f"k is {self.k}; it must be at least 1")

    def choices(self) -> dict[str, object]:
        return {
            "at_least": self.at_least,
            "k": self.k,
            "neighbours": self.neighbours,
            "encoder": self.encoder.fingerprint,
            **self.encoder.settings,
        }

    def judge(self, pairs: Sequence[BitextPair], progress: Progress | None = None) -> list[Verdict]:
        if not pairs:
            return []
        return self.verdicts(*(self.encode(pairs, side, progress) for side in (0, 1)))

    def encode(
        self, pairs: Sequence[BitextPair], side: int, progress: Progress | None = None
    ) -> EncodedSide:
        """Encode one side of some pairs; each distinct text once."""
        texts = [pair[side].text for pair in pairs]
        langs = {pair[side].text: pair[side].lang for pair in pairs}
        distinct = {text: place for place, text in enumerate(langs)}
        encoded = self.encoder.sentence_vectors(
            list(distinct), lang=list(langs.values()), progress=progress
        )
        return EncodedSide(hash_texts(texts), encoded.vectors[[distinct[text] for text in texts]])

    def verdicts(self, source: EncodedSide, target: EncodedSide) -> list[Verdict]:
        """Judge pairs by the vectors of their sides."""
        return [
            KEPT if value >= self.at_least else Verdict("too small", float(value))
            for value in margins(source, target, self.k, self.neighbours)
        ]
