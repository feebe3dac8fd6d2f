"""Nearest neighbours of vectors by inner product, and the margin of a pair of vectors.

Artetxe and Schwenk, *Margin-based Parallel Corpus Mining with Multilingual Sentence Embeddings*
(2019). The vectors have length 1, so that inner products are cosines. Arrays may be memory-mapped:
they are read in blocks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tertium.errors import SettingError
from tertium.registry import Extra, check_extras

Vectors = NDArray[np.float32]
Similarities = NDArray[np.float32]
Indices = NDArray[np.int64]
Method = Literal["auto", "exact", "index"]
MarginKind = Literal["ratio", "distance", "absolute"]
Report = Callable[[str, int, int], None]
"""Called with the name of a task, how many items are done, and how many there are."""

METHODS = ("auto", "exact", "index")
MARGINS = ("ratio", "distance", "absolute")
FAISS = Extra("margin", ("faiss",))
MAX_EXACT = 50_000
"""Up to this many vectors, every query is compared with every vector."""
QUERY_BLOCK, BASE_BLOCK = 1024, 16_384
LISTS_PER_ROOT = 4
PROBED_LISTS = 32
TRAINING_PER_LIST = 50


class Neighbours(NamedTuple):
    """The neighbours of each query, nearest first; of equal ones, the lower index first."""

    similarities: Similarities
    """Shape (queries, k)."""
    indices: Indices
    """-1 where the index found fewer than k; the similarity is 0 there."""


def check_method(method: str) -> None:
    """Refuse an unknown search method."""
    if method not in METHODS:
        raise SettingError(f"neighbours={method!r}: it must be one of {', '.join(METHODS)}")


def is_exact(method: Method, count: int) -> bool:
    """Whether a search among ``count`` vectors compares with every vector."""
    return method == "exact" or (method == "auto" and count <= MAX_EXACT)


def nearest(
    queries: Vectors,
    base: Vectors,
    k: int,
    method: Method = "auto",
    *,
    skip_self: bool = False,
    progress: Report | None = None,
) -> Neighbours:
    """Find the k vectors of ``base`` with the highest inner product with each query.

    ``exact`` compares with every vector, ``index`` uses an inverted file index of faiss (extra:
    margin), ``auto`` the index beyond 50 000 vectors. With ``skip_self``, queries and base are the
    same vectors, and none is its own neighbour.

    >>> base = np.eye(3, dtype=np.float32)
    >>> nearest(base[:1], base, k=2).indices.tolist()
    [[0, 1]]
    >>> nearest(base, base, k=1, skip_self=True).indices.tolist()
    [[1], [0], [0]]
    """
    check_method(method)
    if k < 1:
        raise SettingError(f"k is {k}; it must be at least 1")
    width = min(k + skip_self, len(base))
    search = _exact if is_exact(method, len(base)) else _by_index
    found = search(queries, base, width, progress)
    return _without_self(found) if skip_self else found


def mean_similarity(found: Neighbours, k: int) -> Similarities:
    """The mean similarity of each query with its k nearest neighbours.

    >>> base = np.eye(3, dtype=np.float32)
    >>> mean_similarity(nearest(base[:1], base, k=2), k=2).tolist()
    [0.5]
    """
    if not found.similarities.shape[1]:
        return np.zeros(len(found.similarities), np.float32)
    smallest_first = np.ascontiguousarray(found.similarities[:, :k][:, ::-1])
    means: Similarities = smallest_first.mean(axis=1)
    return means


def neighbour_similarity(
    queries: Vectors, base: Vectors, k: int, method: Method = "auto"
) -> Similarities:
    """The mean inner product of each query with its k nearest neighbours in ``base``."""
    found = nearest(queries, base, k, method)
    if is_exact(method, len(base)):
        return mean_similarity(found, k)
    means: Similarities = found.similarities.mean(axis=1)  # in another order: the last bit differs
    return means


def margin(cosines: Similarities, near: Similarities, kind: MarginKind = "ratio") -> Similarities:
    """The margin of pairs with these cosines (Artetxe and Schwenk 2019, equations 1 and 2).

    ``near`` is the mean cosine of the two texts with their k nearest neighbours on the other side:
    sum_z cos(x, z) / 2k + sum_z cos(y, z) / 2k. The ratio margin is 0 where it is not positive, as
    for an empty text.

    >>> a, b = np.array([0.75], np.float32), np.array([0.5], np.float32)
    >>> [float(margin(a, b, kind)[0]) for kind in MARGINS]
    [1.5, 0.25, 0.75]
    """
    if kind == "absolute":
        return cosines
    if kind == "distance":
        return cosines - near
    if kind != "ratio":
        raise SettingError(f"margin={kind!r}: it must be one of {', '.join(MARGINS)}")
    return np.divide(cosines, near, out=np.zeros_like(cosines), where=near > 0)


def _exact(queries: Vectors, base: Vectors, k: int, progress: Report | None) -> Neighbours:
    similarities = np.empty((len(queries), k), np.float32)
    indices = np.empty((len(queries), k), np.int64)
    for start in range(0, len(queries), QUERY_BLOCK):
        some = np.asarray(queries[start : start + QUERY_BLOCK], dtype=np.float32)
        best = Neighbours(
            np.empty((len(some), 0), np.float32), np.empty((len(some), 0), dtype=np.int64)
        )
        for first in range(0, len(base), BASE_BLOCK):
            block = np.asarray(base[first : first + BASE_BLOCK], dtype=np.float32)
            found = _top(some @ block.T, k)
            best = _merged(best, Neighbours(found.similarities, found.indices + first), k)
        similarities[start : start + len(some)], indices[start : start + len(some)] = best
        if progress is not None:
            progress("searching", start + len(some), len(queries))
    return Neighbours(similarities, indices)


def _top(products: Similarities, k: int) -> Neighbours:
    """The k highest values of each row with their columns; of equal ones, the lower columns."""
    if k < products.shape[1]:
        columns = np.argpartition(products, -k, axis=1)[:, -k:]
        lowest = np.take_along_axis(products, columns, axis=1).min(axis=1, keepdims=True)
        for row in np.flatnonzero((products >= lowest).sum(axis=1) > k):  # which of equal values?
            columns[row] = np.argsort(-products[row], kind="stable")[:k]
        columns.sort(axis=1)
        return _sorted(Neighbours(np.take_along_axis(products, columns, axis=1), columns))
    return _sorted(
        Neighbours(products, np.broadcast_to(np.arange(products.shape[1]), products.shape))
    )


def _sorted(found: Neighbours) -> Neighbours:
    """Sort by similarity, highest first; what is equal keeps its order."""
    order = np.argsort(-found.similarities, axis=1, kind="stable")
    return Neighbours(
        np.take_along_axis(found.similarities, order, axis=1),
        np.take_along_axis(found.indices, order, axis=1),
    )


def _merged(best: Neighbours, more: Neighbours, k: int) -> Neighbours:
    """The k best of both; the indices of ``best`` are lower than those of ``more``."""
    both = Neighbours(
        np.concatenate([best.similarities, more.similarities], axis=1),
        np.concatenate([best.indices, more.indices], axis=1),
    )
    similarities, indices = _sorted(both)
    return Neighbours(similarities[:, :k], indices[:, :k])


def _without_self(found: Neighbours) -> Neighbours:
    """Drop each query from its own neighbours, and the last one where it is not among them."""
    others = found.indices != np.arange(len(found.indices))[:, None]
    others[others.all(axis=1), -1] = False
    shape = len(found.indices), found.indices.shape[1] - 1
    return Neighbours(
        found.similarities[others].reshape(shape), found.indices[others].reshape(shape)
    )


def _by_index(queries: Vectors, base: Vectors, k: int, progress: Report | None) -> Neighbours:
    """Query an inverted file index of faiss; its lists come from k-means with a fixed seed."""
    check_extras(
        f"a neighbour search in {len(base)} vectors", [FAISS], alternative="use neighbours=exact"
    )
    import faiss

    lists = min(len(base), int(LISTS_PER_ROOT * np.sqrt(len(base))))
    index = faiss.IndexIVFFlat(
        faiss.IndexFlatIP(base.shape[1]), base.shape[1], lists, faiss.METRIC_INNER_PRODUCT
    )
    index.cp.min_points_per_centroid, index.cp.max_points_per_centroid = 1, TRAINING_PER_LIST
    sample = np.sort(np.random.default_rng(0).permutation(len(base))[: lists * TRAINING_PER_LIST])
    index.train(np.ascontiguousarray(base[sample], dtype=np.float32))
    for first in range(0, len(base), BASE_BLOCK):
        index.add(np.ascontiguousarray(base[first : first + BASE_BLOCK], dtype=np.float32))
    index.nprobe = PROBED_LISTS
    similarities = np.empty((len(queries), k), np.float32)
    indices = np.empty((len(queries), k), np.int64)
    for start in range(0, len(queries), BASE_BLOCK):
        some = np.ascontiguousarray(queries[start : start + BASE_BLOCK], dtype=np.float32)
        products, places = index.search(some, k)
        products[places < 0] = 0.0  # fewer than k in the probed lists
        similarities[start : start + len(some)] = products
        indices[start : start + len(some)] = places
        if progress is not None:
            progress("searching", start + len(some), len(queries))
    return Neighbours(similarities, indices)
