"""Filter by the margin of sentence embeddings (Artetxe and Schwenk 2019)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tertium.errors import SettingError
from tertium.filters.base import KEPT, BitextPair, Filter, Verdict
from tertium.filters.duplicates import Hashes, hash_texts
from tertium.models.base import Progress, SentenceEncoder
from tertium.registry import Extra, check_extras

Vectors = NDArray[np.float32]
Method = Literal["auto", "exact", "index"]

METHODS = ("auto", "exact", "index")
FAISS = Extra("margin", ("faiss",))
MAX_EXACT = 50_000
"""Up to this many vectors, every query is compared with every vector."""
QUERY_BLOCK, BASE_BLOCK = 1024, 16_384
LISTS_PER_ROOT = 4
PROBED_LISTS = 32
TRAINING_PER_LIST = 50


def neighbour_similarity(
    queries: Vectors, base: Vectors, k: int, method: Method = "auto"
) -> NDArray[np.float32]:
    """The mean inner product of each query with its k nearest neighbours in ``base``.

    >>> base = np.eye(3, dtype=np.float32)
    >>> neighbour_similarity(base[:1], base, k=2).tolist()
    [0.5]
    """
    _check_method(method)
    k = min(k, len(base))
    if method == "exact" or (method == "auto" and len(base) <= MAX_EXACT):
        return _exact(queries, base, k)
    return _by_index(queries, base, k)


def _check_method(method: str) -> None:
    if method not in METHODS:
        raise SettingError(f"neighbours={method!r}: it must be one of {', '.join(METHODS)}")


def _exact(queries: Vectors, base: Vectors, k: int) -> NDArray[np.float32]:
    means = np.empty(len(queries), dtype=np.float32)
    for start in range(0, len(queries), QUERY_BLOCK):
        some = np.asarray(queries[start : start + QUERY_BLOCK], dtype=np.float32)
        best = np.empty((len(some), 0), dtype=np.float32)
        for first in range(0, len(base), BASE_BLOCK):
            block = np.asarray(base[first : first + BASE_BLOCK], dtype=np.float32)
            products = np.concatenate([best, some @ block.T], axis=1)
            best = np.partition(products, -min(k, products.shape[1]), axis=1)[:, -k:]
        means[start : start + QUERY_BLOCK] = np.sort(best, axis=1).mean(axis=1)
    return means


def _by_index(queries: Vectors, base: Vectors, k: int) -> NDArray[np.float32]:
    """Query an inverted file index of faiss; its lists come from k-means with a fixed seed."""
    check_extras(
        f"a neighbour search in {len(base)} vectors", [FAISS], alternative="use neighbours=exact"
    )
    import faiss

    lists = max(1, int(LISTS_PER_ROOT * np.sqrt(len(base))))
    index = faiss.IndexIVFFlat(
        faiss.IndexFlatIP(base.shape[1]), base.shape[1], lists, faiss.METRIC_INNER_PRODUCT
    )
    index.cp.min_points_per_centroid, index.cp.max_points_per_centroid = 1, TRAINING_PER_LIST
    sample = np.sort(np.random.default_rng(0).permutation(len(base))[: lists * TRAINING_PER_LIST])
    index.train(np.ascontiguousarray(base[sample], dtype=np.float32))
    for first in range(0, len(base), BASE_BLOCK):
        index.add(np.ascontiguousarray(base[first : first + BASE_BLOCK], dtype=np.float32))
    index.nprobe = PROBED_LISTS
    means = np.empty(len(queries), dtype=np.float32)
    for start in range(0, len(queries), BASE_BLOCK):
        products, places = index.search(
            np.ascontiguousarray(queries[start : start + BASE_BLOCK], dtype=np.float32), k
        )
        products[places < 0] = 0.0  # fewer than k in the probed lists
        means[start : start + BASE_BLOCK] = products.mean(axis=1)
    return means


class EncodedSide(NamedTuple):
    """One side of the pairs: hashes that identify equal texts, and sentence vectors."""

    hashes: Hashes
    vectors: Vectors


def margins(
    source: EncodedSide, target: EncodedSide, k: int = 4, method: Method = "auto"
) -> NDArray[np.float32]:
    """The ratio margin of each pair (Artetxe and Schwenk 2019, equations 1 and 2).

    margin(x, y) = cos(x, y) / (sum_z cos(x, z) / 2k + sum_z cos(y, z) / 2k), where z are the k
    nearest neighbours among the distinct texts of the other side. Where the denominator is not
    positive, as for an empty text, the margin is 0.
    """
    cosines = np.array(
        [np.dot(a, b) for a, b in zip(source.vectors, target.vectors, strict=True)], np.float32
    )
    near = _near(source, target, k, method) / 2 + _near(target, source, k, method) / 2
    return np.divide(cosines, near, out=np.zeros_like(cosines), where=near > 0)


def _near(queries: EncodedSide, base: EncodedSide, k: int, method: Method) -> NDArray[np.float32]:
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
        _check_method(self.neighbours)
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
