"""How near the nearest neighbours of a vector are: exactly for few, by an index for many."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tertium.errors import SettingError

Vectors = NDArray[np.float32]
Method = Literal["auto", "exact", "index"]

METHODS = ("auto", "exact", "index")
FEW = 50_000
"""Up to so many vectors a side every one is compared with every other."""
QUERIES, BASE = 1024, 16_384
LISTS_PER_ROOT = 4
PROBED = 32
TRAINING_PER_LIST = 50


def neighbour_similarity(
    queries: Vectors, base: Vectors, k: int, method: Method = "auto"
) -> NDArray[np.float32]:
    """The mean inner product of each query with its k nearest among ``base``.

    >>> base = np.eye(3, dtype=np.float32)
    >>> neighbour_similarity(base[:1], base, k=2).tolist()
    [0.5]
    """
    if method not in METHODS:
        raise SettingError(f"neighbours by {method!r}: it must be one of {', '.join(METHODS)}")
    k = min(k, len(base))
    if method == "exact" or (method == "auto" and len(base) <= FEW):
        return _exact(queries, base, k)
    return _by_index(queries, base, k)


def _exact(queries: Vectors, base: Vectors, k: int) -> NDArray[np.float32]:
    means = np.empty(len(queries), dtype=np.float32)
    for start in range(0, len(queries), QUERIES):
        some = np.asarray(queries[start : start + QUERIES], dtype=np.float32)
        best = np.empty((len(some), 0), dtype=np.float32)
        for first in range(0, len(base), BASE):
            block = np.asarray(base[first : first + BASE], dtype=np.float32)
            found = np.concatenate([best, some @ block.T], axis=1)
            best = np.partition(found, -min(k, found.shape[1]), axis=1)[:, -k:]
        means[start : start + QUERIES] = np.sort(best, axis=1).mean(axis=1)
    return means


def _by_index(queries: Vectors, base: Vectors, k: int) -> NDArray[np.float32]:
    """Ask an inverted file of faiss: its lists come from k-means with a fixed seed."""
    if find_spec("faiss") is None:
        raise SettingError(
            f"neighbours among {len(base)} vectors need faiss: install Tertium with its extra, "
            "`pip install 'tertium[margin]'`, or compare all with all (neighbours=exact)"
        )
    import faiss

    lists = max(1, int(LISTS_PER_ROOT * np.sqrt(len(base))))
    index = faiss.IndexIVFFlat(
        faiss.IndexFlatIP(base.shape[1]), base.shape[1], lists, faiss.METRIC_INNER_PRODUCT
    )
    index.cp.min_points_per_centroid, index.cp.max_points_per_centroid = 1, TRAINING_PER_LIST
    sample = np.sort(np.random.default_rng(0).permutation(len(base))[: lists * TRAINING_PER_LIST])
    index.train(np.ascontiguousarray(base[sample], dtype=np.float32))
    for first in range(0, len(base), BASE):
        index.add(np.ascontiguousarray(base[first : first + BASE], dtype=np.float32))
    index.nprobe = PROBED
    means = np.empty(len(queries), dtype=np.float32)
    for start in range(0, len(queries), BASE):
        found, places = index.search(
            np.ascontiguousarray(queries[start : start + BASE], dtype=np.float32), k
        )
        found[places < 0] = 0.0  # fewer than k in the lists that were looked through
        means[start : start + BASE] = found.mean(axis=1)
    return means
