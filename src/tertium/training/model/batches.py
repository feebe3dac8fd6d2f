"""Pairs as the padded arrays that the network reads, in Prism's convention."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tertium.training.model.corpus import Corpus
from tertium.training.model.pieces import END, PAD


@dataclass(frozen=True, slots=True)
class Example:
    """Sentences of one direction, end to end; mostly one pair, sometimes two."""

    sources: tuple[int, ...]
    targets: tuple[int, ...]
    target_lang: str


@dataclass(frozen=True, slots=True)
class Batch:
    """Source: pieces and the end. Target: end, tag, pieces; and what is to be said after the tag.

    The tag is forced, so nothing is asked where it would be predicted.
    """

    sources: NDArray[np.int64]
    targets: NDArray[np.int64]
    labels: NDArray[np.int64]

    @property
    def tokens(self) -> int:
        """How many labels count, which are all but the padding."""
        return int((self.labels != PAD).sum())


def make_batch(corpus: Corpus, tags: Mapping[str, int], examples: Sequence[Example]) -> Batch:
    """Frame and pad the examples."""
    sources, targets, labels = [], [], []
    for example in examples:
        source = [corpus.sentence(number) for number in example.sources]
        target = [corpus.sentence(number) for number in example.targets]
        sources.append(np.concatenate([*source, [END]]))
        targets.append(np.concatenate([[END, tags[example.target_lang]], *target]))
        labels.append(np.concatenate([*target, [END]]))
    return Batch(_padded(sources), _padded(targets), _padded(labels))


def part_of(batch: Batch, part: int, parts: int) -> Batch:
    """Every ``parts``-th row from ``part`` on, which may be none, with no more padding than needed.

    >>> rows = np.array([[7, 8, 2], [9, 2, PAD], [2, PAD, PAD]])
    >>> part_of(Batch(rows, rows, rows), 1, 2).labels
    array([[9, 2]])
    """
    if parts == 1:
        return batch
    chosen = [rows[part::parts] for rows in (batch.sources, batch.targets, batch.labels)]
    return Batch(*(rows[:, (rows != PAD).any(axis=0)] for rows in chosen))


def _padded(rows: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    padded = np.full((len(rows), max(map(len, rows))), PAD, np.int64)
    for place, row in enumerate(rows):
        padded[place, : len(row)] = row
    return padded
