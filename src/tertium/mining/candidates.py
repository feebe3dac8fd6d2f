"""Candidate pairs from nearest neighbours, their margins, and which of them are selected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray

from tertium.errors import SettingError
from tertium.models.base import Progress
from tertium.stats.neighbours import (
    MARGINS,
    Indices,
    MarginKind,
    Method,
    Neighbours,
    Similarities,
    Vectors,
    check_method,
    margin,
    mean_similarity,
    nearest,
)

Selection = Literal["one-to-one", "mutual", "all"]
SELECTIONS = ("one-to-one", "mutual", "all")
Scores = NDArray[np.float64]
BLOCK = 65_536

BY_CHANCE = 0.01
"""The share of second-best candidates that reach the default threshold of mining."""


@dataclass(frozen=True)
class NeighbourSettings:
    """How candidates are found: ``k`` per text, with margins over ``margin_k`` neighbours."""

    k: int = 4
    margin: MarginKind = "ratio"
    margin_k: int = 4
    method: Method = "auto"

    def __post_init__(self) -> None:
        check_method(self.method)
        if self.margin not in MARGINS:
            raise SettingError(f"margin={self.margin!r}: it must be one of {', '.join(MARGINS)}")
        for name, value in (("k", self.k), ("margin_k", self.margin_k)):
            if value < 1:
                raise SettingError(f"{name} is {value}; it must be at least 1")

    @property
    def searched(self) -> int:
        """The number of neighbours that candidates and margins need."""
        return self.k if self.margin == "absolute" else max(self.k, self.margin_k)


@dataclass(frozen=True)
class Candidates:
    """Pairs of indices with their cosines and margins, sorted by the indices."""

    first: Indices
    second: Indices
    cosine: Similarities
    margin: Similarities

    def __len__(self) -> int:
        return len(self.first)

    def take(self, chosen: NDArray[np.int64] | NDArray[np.bool_]) -> Self:
        """Some of the pairs, in the order given."""
        return type(self)(
            self.first[chosen], self.second[chosen], self.cosine[chosen], self.margin[chosen]
        )


def between(
    first: Vectors,
    second: Vectors,
    settings: NeighbourSettings | None = None,
    progress: Progress | None = None,
) -> Candidates:
    """The nearest neighbours of each text of two lists in the other list, in both directions.

    >>> a = np.array([[1, 0], [0, 1]], np.float32)
    >>> found = between(a, a[::-1], NeighbourSettings(k=1, margin_k=2))
    >>> found.first.tolist(), found.second.tolist(), found.margin.tolist()
    ([0, 1], [1, 0], [2.0, 2.0])
    """
    settings = settings or NeighbourSettings()
    if not len(first) or not len(second):
        return _none()
    forward, backward = (
        nearest(queries, base, settings.searched, settings.method, progress=progress)
        for queries, base in ((first, second), (second, first))
    )
    i, j = _pairs(forward, settings.k)
    j_back, i_back = _pairs(backward, settings.k)
    pairs = np.unique(np.r_[i, i_back] * len(second) + np.r_[j, j_back])
    i, j = np.divmod(pairs, len(second))
    near = _halves(forward, settings)[i] + _halves(backward, settings)[j]
    return _candidates(first, second, i, j, near, settings)


def margin_by_chance(found: Candidates) -> float | None:
    """The margin that only one in a hundred second-best candidates reaches; None without any.

    Of the candidates of a text, at most one is usually its translation: the second-best shows what
    the best is like by chance. On sentences of Europarl and of technical documentation (de-en),
    half of which have a translation, pairs above it have a precision of 0.88 and 0.89 (0.50 and
    0.51 without a threshold) and the best F1 (0.85); where fewer have one, precision is lower.

    >>> a = np.eye(4, dtype=np.float32)
    >>> round(margin_by_chance(between(a, a, NeighbourSettings(k=2, margin_k=2))), 2)
    0.0
    """
    order = np.lexsort((-found.margin, found.first))
    first, margin = found.first[order], found.margin[order]
    same = first[1:] == first[:-1]  # as the one before
    second = np.r_[False, same] & ~np.r_[False, False, same[1:] & same[:-1]][: len(first)]
    return float(np.quantile(margin[second], 1 - BY_CHANCE)) if second.any() else None


def within(
    vectors: Vectors, settings: NeighbourSettings | None = None, progress: Progress | None = None
) -> Candidates:
    """The nearest neighbours of each text in its own list; each pair once, lower index first.

    >>> a = np.array([[1, 0], [0, 1], [0.8, 0.6]], np.float32)
    >>> found = within(a, NeighbourSettings(k=1, margin="absolute"))
    >>> found.first.tolist(), found.second.tolist(), found.margin
    ([0, 1], [2, 2], array([0.8, 0.6], dtype=float32))
    """
    settings = settings or NeighbourSettings()
    if len(vectors) < 2:
        return _none()
    found = nearest(
        vectors, vectors, settings.searched, settings.method, skip_self=True, progress=progress
    )
    i, j = _pairs(found, settings.k)
    pairs = np.unique(np.minimum(i, j) * len(vectors) + np.maximum(i, j))
    i, j = np.divmod(pairs, len(vectors))
    half = _halves(found, settings)
    return _candidates(vectors, vectors, i, j, half[i] + half[j], settings)


def search(
    queries: Vectors,
    corpus: Vectors,
    settings: NeighbourSettings | None = None,
    progress: Progress | None = None,
) -> Candidates:
    """The nearest neighbours of each query in a corpus.

    A margin other than ``absolute`` also needs the neighbours of the texts found among the queries.
    """
    settings = settings or NeighbourSettings(margin="absolute")
    if not len(queries) or not len(corpus):
        return _none()
    forward = nearest(queries, corpus, settings.searched, settings.method, progress=progress)
    i, j = _pairs(forward, settings.k)
    order = np.lexsort((j, i))
    i, j = i[order], j[order]
    near = np.zeros(len(i), np.float32)
    if settings.margin != "absolute":
        distinct, places = np.unique(j, return_inverse=True)
        backward = nearest(corpus[distinct], queries, settings.margin_k, settings.method)
        near = _halves(forward, settings)[i] + _halves(backward, settings)[places]
    return _candidates(queries, corpus, i, j, near, settings)


def select(
    first: Indices, second: Indices, scores: Scores, how: Selection, *, one_list: bool = False
) -> NDArray[np.int64]:
    """Which pairs are selected, the highest score first; ties are broken by the indices.

    ``one-to-one``: greedily from the highest score down, every text at most once. ``mutual``: each
    of the two is the other's best. ``all``: every pair. With ``one_list``, both indices are of the
    same list.

    >>> i, j = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    >>> scores = np.array([0.9, 0.8, 0.7, 0.1])
    >>> [select(i, j, scores, how).tolist() for how in SELECTIONS]
    [[0, 3], [0], [0, 1, 2, 3]]
    """
    if how not in SELECTIONS:
        raise SettingError(f"{how!r} is not a selection; use one of {', '.join(SELECTIONS)}")
    order = np.lexsort((second, first, -scores))
    if how == "all":
        return order
    seen_first: set[int] = set()
    seen_second = seen_first if one_list else set()
    chosen = []
    for place in order.tolist():
        i, j = int(first[place]), int(second[place])
        free = i not in seen_first and j not in seen_second
        if free:
            chosen.append(place)
        if free or how == "mutual":
            seen_first.add(i)
            seen_second.add(j)
    return np.array(chosen, dtype=np.int64)


def _pairs(found: Neighbours, k: int) -> tuple[Indices, Indices]:
    """Queries with their k nearest neighbours, as two arrays."""
    neighbours = found.indices[:, :k]
    queries = np.repeat(np.arange(len(neighbours)), neighbours.shape[1])
    valid = neighbours.ravel() >= 0
    return queries[valid], neighbours.ravel()[valid]


def _halves(found: Neighbours, settings: NeighbourSettings) -> Similarities:
    """The contribution of one side to the denominator of the margin."""
    return mean_similarity(found, settings.margin_k) / np.float32(2)


def _candidates(
    first: Vectors,
    second: Vectors,
    i: Indices,
    j: Indices,
    near: Similarities,
    settings: NeighbourSettings,
) -> Candidates:
    cosines = np.empty(len(i), np.float32)
    for start in range(0, len(i), BLOCK):
        some = slice(start, start + BLOCK)
        cosines[some] = np.einsum("nd,nd->n", first[i[some]], second[j[some]])
    return Candidates(i, j, cosines, margin(cosines, near, settings.margin))


def _none() -> Candidates:
    indices, similarities = np.empty(0, np.int64), np.empty(0, np.float32)
    return Candidates(indices, indices, similarities, similarities)
