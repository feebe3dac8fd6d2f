"""Sentence alignment of two documents in linear time (Thompson and Koehn 2019).

*Vecalign: Improved Sentence Alignment in Linear Time and Space*. Dynamic programming over vectors
of 1 to n joined neighbouring sentences, coarse to fine: the vectors of neighbours are averaged
until the documents are short, these are aligned, and at each finer level only cells near the
coarser path are computed.

One difference from the paper: the cost is normalised by the mean over all blocks of the same size
in the other document, not over a random sample of blocks. Longer blocks, which many encoders place
closer to each other, are therefore not preferred.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tertium.errors import SettingError
from tertium.stats.neighbours import Vectors

Costs = NDArray[np.float64]
Cell = tuple[int, int]
Band = Sequence[tuple[int, int]]
"""For each number of sentences of the first document, the range of those of the second."""
ONE_TO_ONE = ((1, 1),)
COARSEST = 50
"""Documents of at most this many sentences are aligned without a band."""
SAMPLES = 20_000
SMALLEST_NORM = 1e-6
ROUNDING = 1e-6
"""1 - cos below this is 0: the same text, so that identical documents are aligned 1-1."""
CHEAPEST_DELETION = 0.1
"""Where a document repeats itself, even random pairs can have no cost; 1 is the mean."""


@dataclass(frozen=True)
class AlignmentSettings:
    """How documents are aligned."""

    max_size: int = 4
    """The highest number of sentences of both sides in one unit: 4 allows 1-1, 1-2, 1-3 and 2-2."""
    deletion_quantile: float = 0.2
    """The cost of leaving out a sentence, as a quantile of the costs of random 1-1 units."""
    width: int = 10
    """How far from the path of the coarser level cells are computed."""
    seed: int = 0

    def __post_init__(self) -> None:
        if self.max_size < 2:
            raise SettingError(f"max_size is {self.max_size}; it must be at least 2")
        if not 0 <= self.deletion_quantile <= 1:
            raise SettingError(
                f"deletion_quantile is {self.deletion_quantile}; it must be from 0 to 1"
            )
        if self.width < 1:
            raise SettingError(f"width is {self.width}; it must be at least 1")

    @property
    def moves(self) -> tuple[Cell, ...]:
        """How many sentences of each side a unit may have; deletions are added to these."""
        return tuple((p, size - p) for size in range(2, self.max_size + 1) for p in range(1, size))

    @property
    def longest(self) -> int:
        """The highest number of sentences of one side in a unit."""
        return self.max_size - 1


class Unit(NamedTuple):
    """Sentences that belong together: ranges of indices, one of which may be empty."""

    source: range
    target: range
    cost: float


def align(
    source: Mapping[int, Vectors],
    target: Mapping[int, Vectors],
    settings: AlignmentSettings | None = None,
) -> list[Unit]:
    """Align two documents by their vectors; the units cover all sentences, in order.

    For each block size from 1 to ``settings.longest``, a side has the vectors of all blocks of so
    many joined sentences: the vector at index i is that of sentences i to i + size - 1.

    >>> vectors = {1: np.eye(3, dtype=np.float32)}
    >>> other = {1: np.eye(3, dtype=np.float32)[[0, 2]]}
    >>> for unit in align(vectors, other, AlignmentSettings(max_size=2)):
    ...     print(list(unit.source), list(unit.target))
    [0] [0]
    [1] []
    [2] [1]
    """
    settings = settings or AlignmentSettings()
    n, m = len(source[1]), len(target[1])
    band = _band_at(source[1], target[1], settings)
    costs = UnitCosts(source, target, settings)
    return _best_path(n, m, settings.moves, costs, band)


class UnitCosts:
    """The cost of aligning a block of one document with a block of the other.

    c(x, y) = (1 - cos(x, y)) |x| |y| / ((mean_s (1 - cos(x, y_s)) + mean_s (1 - cos(x_s, y))) / 2)

    where |x| is the number of sentences in a block, and y_s are all blocks of the size of y.
    """

    def __init__(
        self,
        source: Mapping[int, Vectors],
        target: Mapping[int, Vectors],
        settings: AlignmentSettings,
    ) -> None:
        self._source, self._target = source, target
        self._source_norms = _norms(source, target)
        self._target_norms = _norms(target, source)
        self.deletion = self._deletion_cost(settings)

    def __call__(self, i: int, p: int, starts: slice, q: int) -> Costs:
        """The costs of the block of ``p`` sentences at i with those of ``q`` sentences."""
        cosines = self._target[q][starts].astype(np.float64) @ self._source[p][i].astype(np.float64)
        norms = (self._source_norms[p, q][i] + self._target_norms[q, p][starts]) / 2
        return np.asarray(_distances(cosines) * p * q / np.maximum(norms, SMALLEST_NORM))

    def _deletion_cost(self, settings: AlignmentSettings) -> float:
        """A quantile of the costs of random 1-1 units; of all, if there are few."""
        n, m = len(self._source[1]), len(self._target[1])
        if n * m <= SAMPLES:
            sampled = np.arange(n * m)
        else:
            sampled = np.random.default_rng(settings.seed).integers(n * m, size=SAMPLES)
        i, j = np.divmod(sampled, m)
        cosines = np.einsum(
            "nd,nd->n", self._source[1][i].astype(np.float64), self._target[1][j].astype(np.float64)
        )
        norms = (self._source_norms[1, 1][i] + self._target_norms[1, 1][j]) / 2
        costs = _distances(cosines) / np.maximum(norms, SMALLEST_NORM)
        return max(float(np.quantile(costs, settings.deletion_quantile)), CHEAPEST_DELETION)


def _distances(cosines: Costs) -> Costs:
    """1 - cos; 0 if it is nothing but rounding."""
    return np.where(1 - cosines < ROUNDING, 0.0, 1 - cosines)


def _norms(blocks: Mapping[int, Vectors], others: Mapping[int, Vectors]) -> dict[Cell, Costs]:
    """The mean of 1 - cosine of each block with all blocks of a size, by both sizes."""
    means = {
        size: vectors.astype(np.float64).mean(axis=0)
        for size, vectors in others.items()
        if len(vectors)
    }
    return {
        (size, other): 1 - vectors.astype(np.float64) @ mean
        for size, vectors in blocks.items()
        for other, mean in means.items()
    }


def _best_path(n: int, m: int, moves: Sequence[Cell], costs: UnitCosts, band: Band) -> list[Unit]:
    """The path of least cost from (0, 0) to (n, m) inside the band.

    Of equal costs, the unit that comes first in ``moves`` is chosen, then deletions.
    """
    best: list[Costs] = []
    steps: list[NDArray[np.int64]] = []  # index in moves; then a deletion in source, in target
    in_source, in_target = len(moves), len(moves) + 1
    for i in range(n + 1):
        low, high = band[i]
        row = np.full(high - low, np.inf)
        step = np.full(high - low, -1, np.int64)
        if i == 0 and low == 0:
            row[0] = 0.0
        for number, (p, q) in enumerate(moves):
            if i - p < 0:
                continue
            before_low, before_high = band[i - p]
            start, stop = max(low, before_low + q), min(high, before_high + q)
            if start >= stop:
                continue
            before = best[i - p][start - q - before_low : stop - q - before_low]
            value = before + costs(i - p, p, slice(start - q, stop - q), q)
            _improve(row, step, start - low, value, number)
        if i:
            before_low, before_high = band[i - 1]
            start, stop = max(low, before_low), min(high, before_high)
            if start < stop:
                before = best[i - 1][start - before_low : stop - before_low]
                _improve(row, step, start - low, before + costs.deletion, in_source)
        for j in range(1, high - low):
            if row[j - 1] + costs.deletion < row[j]:
                row[j], step[j] = row[j - 1] + costs.deletion, in_target
        best.append(row)
        steps.append(step)
    units = []
    i, j = n, m
    while (i, j) != (0, 0):
        number = int(steps[i][j - band[i][0]])
        p, q = (1, 0) if number == in_source else (0, 1) if number == in_target else moves[number]
        cost = float(best[i][j - band[i][0]] - best[i - p][j - q - band[i - p][0]])
        units.append(Unit(range(i - p, i), range(j - q, j), cost))
        i, j = i - p, j - q
    return units[::-1]


def _improve(row: Costs, step: NDArray[np.int64], start: int, value: Costs, number: int) -> None:
    """Take over lower costs into a part of a row."""
    place = slice(start, start + len(value))
    better = value < row[place]
    row[place][better] = value[better]
    step[place][better] = number


def _band_at(source: Vectors, target: Vectors, settings: AlignmentSettings) -> Band:
    """The cells near the path of the next coarser level; all cells of short documents."""
    n, m = len(source), len(target)
    if max(n, m) <= COARSEST:
        return [(0, m + 1)] * (n + 1)
    halves = {1: _halved(source)}, {1: _halved(target)}
    coarser = _band_at(halves[0][1], halves[1][1], settings)
    costs = UnitCosts(*halves, settings)
    path = _best_path(len(halves[0][1]), len(halves[1][1]), ONE_TO_ONE, costs, coarser)
    return _band_around(
        [(2 * unit.source.stop, 2 * unit.target.stop) for unit in path], n, m, settings
    )


def _band_around(path: Sequence[Cell], n: int, m: int, settings: AlignmentSettings) -> Band:
    """For each i, the j within ``width`` of the path, and of the path at neighbouring i."""
    reach = settings.width + settings.longest
    low, high = np.full(n + 1, m), np.zeros(n + 1, np.int64)
    corners = [(0, 0), *((min(i, n), min(j, m)) for i, j in path), (n, m)]
    for (i, j), (next_i, next_j) in pairwise(corners):
        low[i : next_i + 1] = np.minimum(low[i : next_i + 1], j)
        high[i : next_i + 1] = np.maximum(high[i : next_i + 1], next_j)
    result = []
    for i in range(n + 1):
        near = slice(max(0, i - reach), i + reach + 1)
        result.append(
            (max(0, int(low[near].min()) - reach), min(m, int(high[near].max()) + reach) + 1)
        )
    return result


def _halved(vectors: Vectors) -> Vectors:
    """The mean of each two neighbours, as vectors of length 1; a last one alone stays."""
    pairs = [vectors[start : start + 2].mean(axis=0) for start in range(0, len(vectors), 2)]
    means: Vectors = np.stack(pairs).astype(np.float32)
    lengths = np.linalg.norm(means, axis=1, keepdims=True)
    return np.asarray(np.divide(means, lengths, out=np.zeros_like(means), where=lengths > 0))
