"""Pairs whose vectors are no nearer to each other than to any other's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tertium.errors import SettingError
from tertium.filters.base import KEPT, Filter, Pair, Verdict
from tertium.filters.hashes import Hashes, hash_texts
from tertium.filters.neighbours import METHODS, Method, Vectors, neighbour_similarity
from tertium.models.base import Progress, SentenceEncoder


class Side(NamedTuple):
    """One side of the pairs: what tells equal texts, and the vectors."""

    hashes: Hashes
    vectors: Vectors


def margins(source: Side, target: Side, k: int = 4, method: Method = "auto") -> NDArray[np.float32]:
    """The ratio margin of each pair (Artetxe and Schwenk 2019, equations 1 and 2).

    margin(x, y) = cos(x, y) / (sum_z cos(x, z) / 2k + sum_z cos(y, z) / 2k), where z are the k
    nearest neighbours among the distinct texts of the other side. Where the denominator is not
    above zero, as for an empty text, the margin is 0.
    """
    cosines = np.array(
        [np.dot(a, b) for a, b in zip(source.vectors, target.vectors, strict=True)], np.float32
    )
    near = _near(source, target, k, method) / 2 + _near(target, source, k, method) / 2
    return np.divide(cosines, near, out=np.zeros_like(cosines), where=near > 0)


def _near(queries: Side, base: Side, k: int, method: Method) -> NDArray[np.float32]:
    """The mean similarity of each query with its neighbours; every distinct text counts once."""
    _, first, inverse = np.unique(queries.hashes, return_index=True, return_inverse=True)
    _, others = np.unique(base.hashes, return_index=True)
    order = np.argsort(first)  # in the order of the file, whatever the hashes
    means = np.empty(len(first), np.float32)
    means[order] = neighbour_similarity(
        queries.vectors[first[order]], base.vectors[np.sort(others)], k, method
    )
    return means[inverse]


@dataclass(frozen=True)
class Margin(Filter):
    """Keeps pairs whose margin is at least so large: in Prism 1.05 for mined text, 1.04 for other.

    Any encoder will do that puts the two languages into one space and spreads over that space. The
    bundled model's does not: its vectors all point much the same way, and few margins are above 1.
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
        if self.neighbours not in METHODS:
            raise SettingError(
                f"neighbours by {self.neighbours!r}: it must be one of {', '.join(METHODS)}"
            )
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

    def judge(self, pairs: Sequence[Pair], progress: Progress | None = None) -> list[Verdict]:
        if not pairs:
            return []
        return self.verdicts(*(self.encode(pairs, side, progress) for side in (0, 1)))

    def encode(self, pairs: Sequence[Pair], side: int, progress: Progress | None = None) -> Side:
        """Encode one side of some pairs; each distinct text once."""
        texts = [pair[side].text for pair in pairs]
        langs = {pair[side].text: pair[side].lang for pair in pairs}
        distinct = {text: place for place, text in enumerate(langs)}
        found = self.encoder.sentence_vectors(
            list(distinct), lang=list(langs.values()), progress=progress
        )
        return Side(hash_texts(texts), found.vectors[[distinct[text] for text in texts]])

    def verdicts(self, source: Side, target: Side) -> list[Verdict]:
        """Judge pairs by the vectors of their sides."""
        found = margins(source, target, self.k, self.neighbours)
        return [
            KEPT if value >= self.at_least else Verdict("too small", float(value))
            for value in found
        ]
