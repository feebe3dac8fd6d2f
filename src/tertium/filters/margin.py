"""Filter by the margin of sentence embeddings (Artetxe and Schwenk 2019)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tertium.errors import SettingError
from tertium.filters.base import KEPT, CorpusFilter, Verdict
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
from tertium.text import Row, Text

SIDES = ("source", "target")


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
class Margin(CorpusFilter):
    """Keeps pairs with a margin of at least ``at_least``; in Prism 1.05 for mined text, else 1.04.

    The encoder must map both languages to one space and spread texts over it.
    """

    encoder: SentenceEncoder
    at_least: float = 1.04
    k: int = 4
    neighbours: Method = "auto"
    best: int = 0
    """At most so many pairs are kept, those with the largest margins; 0 keeps all."""

    name: ClassVar[str] = "margin"
    reasons: ClassVar[tuple[str, ...]] = ("too small", "not among the best")
    portable: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_method(self.neighbours)
        if self.neighbours == "index":
            check_extras("filter 'margin' with neighbours=index", [FAISS])
        if self.k < 1:
            raise SettingError(f"k is {self.k}; it must be at least 1")
        if self.best < 0:
            raise SettingError(f"best is {self.best}; it must not be negative")

    def choices(self) -> dict[str, object]:
        return {
            "at_least": self.at_least,
            "k": self.k,
            "neighbours": self.neighbours,
            **({"best": self.best} if self.best else {}),
            "encoder": self.encoder.fingerprint,
            **self.encoder.settings,
        }

    def collect(self, rows: Sequence[Row], progress: Progress | None = None) -> NDArray[Any]:
        """The hashes and the vectors of both sides; each distinct text is encoded once."""
        found = [self._encode([row.sides[side] for row in rows], progress) for side in (0, 1)]
        side = [("hash", "<u8"), ("vector", "<f4", found[0].vectors.shape[1:])]
        records = np.empty(len(rows), [(name, side) for name in SIDES])
        for name, encoded in zip(SIDES, found, strict=True):
            records[name]["hash"], records[name]["vector"] = encoded
        return records

    def decide(self, records: NDArray[Any]) -> list[Verdict]:
        sides = [EncodedSide(records[side]["hash"], records[side]["vector"]) for side in SIDES]
        values = margins(sides[0], sides[1], self.k, self.neighbours)
        verdicts = [
            KEPT if value >= self.at_least else Verdict("too small", float(value))
            for value in values
        ]
        if self.best:
            kept = [place for place, verdict in enumerate(verdicts) if verdict.kept]
            for place in sorted(kept, key=lambda place: -values[place])[self.best :]:
                verdicts[place] = Verdict("not among the best", float(values[place]))
        return verdicts

    def _encode(self, texts: Sequence[Text], progress: Progress | None) -> EncodedSide:
        langs = {text.text: text.lang for text in texts}
        distinct = {text: place for place, text in enumerate(langs)}
        encoded = self.encoder.sentence_vectors(
            list(distinct), lang=list(langs.values()), progress=progress
        )
        places = [distinct[text.text] for text in texts]
        return EncodedSide(hash_texts([text.text for text in texts]), encoded.vectors[places])
