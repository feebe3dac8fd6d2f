"""Paraphrases by pivoting: sentences of one language that share a translation."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from tertium.storage.arrays import ArrayWriter, load_mapped
from tertium.storage.repeats import ROWS_AT_ONCE, Repeats, find_repeats, partitioned

MAX_RENDERINGS = 8
MAX_PARTNERS = 3

Sentence = TypeVar("Sentence", bound=Hashable)
Rows = NDArray[np.int32]


def pivot_paraphrases(
    pairs: Iterable[tuple[Sentence, Hashable]],
    *,
    max_renderings: int = MAX_RENDERINGS,
    max_partners: int = MAX_PARTNERS,
) -> list[tuple[Sentence, Sentence]]:
    """Pair sentences of one language that share a translation; ``pairs`` are (sentence, pivot).

    The renderings of a pivot are paired in a ring. A pivot with more than ``max_renderings`` is
    too unspecific ("Go!") and is ignored; a sentence gets at most ``max_partners``, so that
    frequent sentences do not dominate.

    >>> pivot_paraphrases([(1, 9), (2, 9), (3, 9), (4, 8)])
    [(1, 2), (2, 3), (3, 1)]
    """
    sentences: dict[Sentence, int] = {}
    pivots: dict[Hashable, int] = {}
    numbered = [
        (sentences.setdefault(sentence, len(sentences)), pivots.setdefault(pivot, len(pivots)))
        for sentence, pivot in pairs
    ]
    names = list(sentences)
    with TemporaryDirectory() as folder:
        paired = pivot_pairs(
            [np.array(numbered, np.int32).reshape(-1, 2)],
            Path(folder),
            max_renderings=max_renderings,
            max_partners=max_partners,
        )
        return [(names[a], names[b]) for rows in paired for a, b in rows.tolist()]


def pivot_pairs(
    pairs: Iterable[Rows],
    scratch: Path,
    *,
    max_renderings: int = MAX_RENDERINGS,
    max_partners: int = MAX_PARTNERS,
    rows_at_once: int = ROWS_AT_ONCE,
) -> Iterator[Rows]:
    """The same for arrays of numbers, part by part; the memory does not grow with the pairs.

    Pairs come in the order of their pivots, and of a sentence's partners the first are taken.
    """

    def repeats_of(name: str, keys: NDArray[np.uint64]) -> Repeats:
        (scratch / name).mkdir()
        return find_repeats(keys, scratch / name, rows_at_once=rows_at_once)

    def chunks(keys: NDArray[np.uint64]) -> Iterator[tuple[slice, NDArray[np.uint64]]]:
        for start in range(0, len(keys), rows_at_once):
            place = slice(start, start + rows_at_once)
            yield place, np.array(keys[place])

    with ArrayWriter(scratch / "rows.npy", np.uint64, columns=2) as writer:
        for part in pairs:
            for start in range(0, len(part), rows_at_once):
                writer.append(part[start : start + rows_at_once])
    rows = load_mapped(scratch / "rows.npy")
    repeated = repeats_of("repeated", rows).rank
    with ArrayWriter(scratch / "pivots.npy", np.uint64, columns=2) as writer:
        for place, chunk in chunks(rows):
            writer.append(chunk[repeated[place] == 0][:, ::-1])
    renderings = load_mapped(scratch / "pivots.npy")
    with ArrayWriter(scratch / "keys.npy", np.uint64, columns=2) as writer:
        for _, chunk in chunks(renderings):
            writer.append(_alone(chunk[:, 0]))
    first, rank = repeats_of("pivots", load_mapped(scratch / "keys.npy"))

    rings = scratch / "rings"
    rings.mkdir()
    parts = -(-len(renderings) // rows_at_once)
    with ArrayWriter(scratch / "edges.npy", np.uint64, columns=2) as edges:
        with partitioned(rings, parts) as buckets:
            for place, chunk in chunks(renderings):
                few = rank[place] <= max_renderings  # one too many, so that it is noticed
                starts = first[place][few]
                numbered = np.column_stack([starts, chunk[few][:, 1].astype(np.int64)])
                buckets.add(numbered, starts // rows_at_once)
        for bucket in buckets.read(2, np.int64):
            edges.append(_rings(bucket, max_renderings))
    found = load_mapped(scratch / "edges.npy")
    repeated = repeats_of("edges", found).rank
    with (
        ArrayWriter(scratch / "distinct.npy", np.uint64, columns=2) as distinct,
        ArrayWriter(scratch / "sentences.npy", np.uint64, columns=2) as keys,
    ):
        for place, chunk in chunks(found):
            chosen = chunk[repeated[place] == 0]
            distinct.append(chosen)
            keys.append(_alone(chosen[:, 0]))
    partners = repeats_of("partners", load_mapped(scratch / "sentences.npy")).rank
    for place, chunk in chunks(load_mapped(scratch / "distinct.npy")):
        yield chunk[partners[place] < max_partners].astype(np.int32)


def _rings(bucket: NDArray[np.int64], max_renderings: int) -> NDArray[np.int64]:
    """Pair each rendering with the next one of its pivot, and the last with the first.

    >>> _rings(np.array([[5, 1], [6, 2], [5, 3]]), 8).tolist()
    [[1, 3], [3, 1]]
    """
    bucket = bucket[np.argsort(bucket[:, 0], kind="stable")]
    starts = np.flatnonzero(np.diff(bucket[:, 0], prepend=-1))
    sizes = np.diff(starts, append=len(bucket))
    following = np.arange(1, len(bucket) + 1)
    following[starts + sizes - 1] = starts
    kept = np.repeat((sizes >= 2) & (sizes <= max_renderings), sizes)
    edges: NDArray[np.int64] = np.column_stack([bucket[:, 1], bucket[following, 1]])[kept]
    return edges


def _alone(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Keys of one number."""
    return np.column_stack([numbers, np.zeros_like(numbers)])
