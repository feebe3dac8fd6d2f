"""Concordant and discordant pairs of items.

A single ranking takes n log n steps, by radix sort. Bootstrap samples are computed together by a
matrix product, which for up to a few thousand items is faster than sorting each sample.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tertium.stats.arrays import Counts, Floats, Ints, pair

LARGEST_PRODUCT = 5000
"""With more items, samples are sorted: the cost of the product is quadratic."""
ROWS_AT_A_TIME = 1024
SAMPLES_AT_A_TIME = 64


@dataclass(frozen=True)
class PairCounts:
    """The number of pairs that are concordant, discordant or tied in two rankings."""

    concordant: int
    discordant: int
    ties_x: int
    """Tied in x only."""
    ties_y: int
    """Tied in y only."""
    ties_both: int

    @property
    def total(self) -> int:
        return self.concordant + self.discordant + self.ties_x + self.ties_y + self.ties_both


def count_pairs(x: ArrayLike, y: ArrayLike) -> PairCounts:
    """Count concordant, discordant and tied pairs in n log n (Knight, 1966).

    >>> count_pairs([1, 2, 3, 4], [1, 3, 2, 2])
    PairCounts(concordant=3, discordant=2, ties_x=0, ties_y=1, ties_both=0)
    """
    a, b = pair(x, y)
    x_ranks, y_ranks = dense_ranks(a), dense_ranks(b)
    joint = np.sort(x_ranks * (len(b) + 1) + y_ranks)  # by x and, within ties of x, by y
    ys = joint % (len(b) + 1)
    discordant = int(inversions(ys)[0])
    both = _tied(np.cumsum(np.diff(joint, prepend=joint[0]) > 0))
    in_x, in_y = _tied(x_ranks), _tied(ys)
    total = len(ys) * (len(ys) - 1) // 2
    return PairCounts(
        concordant=total - discordant - in_x - in_y + both,
        discordant=discordant,
        ties_x=in_x - both,
        ties_y=in_y - both,
        ties_both=both,
    )


def dense_ranks(values: Floats) -> Ints:
    """Ranks of the distinct values, from 0 for the smallest.

    >>> dense_ranks(np.array([0.5, 0.1, 0.5]))
    array([1, 0, 1])
    """
    ranks: Ints = np.unique(values, return_inverse=True)[1].astype(np.int64)
    return ranks


def inversions(ranks: Ints, samples: NDArray[np.int32] | None = None) -> Floats:
    """Count the pairs in descending order, without ties, by a radix sort from the highest bit.

    Numbers whose higher bits are equal form a group, in their original order. Every 1 before a 0
    of its group is an inversion; then the 0s of each group are moved before its 1s. With
    ``samples``, item i occurs samples[s, i] times in sample s: as the items move in the same way in
    all samples, only their numbers are added up for each.

    >>> inversions(np.array([2, 0, 1, 1]))
    array([3.])
    >>> inversions(np.array([2, 0, 1, 1]), np.array([[1, 1, 1, 1], [2, 0, 1, 1]]))
    array([3., 4.])
    """
    values, places = ranks.astype(np.int32), np.arange(len(ranks), dtype=np.int32)
    weights = np.ones((1, len(ranks)), np.int32) if samples is None else samples
    numbers = np.ascontiguousarray(weights.T)
    ones_before = np.zeros((len(ranks) + 1, len(weights)), np.int32)
    start, end, found = np.zeros_like(places), np.full_like(places, len(ranks)), 0.0
    for bit in reversed(range(int(ranks.max(initial=0)).bit_length())):
        one = (values >> bit & 1) == 1
        zeros = np.flatnonzero(~one)
        np.cumsum(numbers * one[:, None], axis=0, out=ones_before[1:])
        before = ones_before[zeros] - ones_before[start[zeros]]
        found += np.einsum("is,is->s", before, numbers[zeros], dtype=np.float64)
        ones = np.append(np.int32(0), np.cumsum(one, dtype=np.int32))
        in_group = ones[:-1] - ones[start]
        middle = end - (ones[end] - ones[start])
        order = np.empty_like(places)
        order[np.where(one, middle + in_group, places - in_group)] = places
        start, end = np.where(one, middle, start)[order], np.where(one, end, middle)[order]
        values, numbers = values[order], numbers[order]
    return np.broadcast_to(found, len(weights))


def _tied(ranks: Ints) -> int:
    sizes = np.bincount(ranks)
    return int((sizes * (sizes - 1) // 2).sum())


@dataclass(frozen=True)
class SampledPairs:
    """For each bootstrap sample: concordant minus discordant pairs, untied pairs, and sizes."""

    score: Floats
    untied_x: Floats
    untied_y: Floats
    items: Floats
    distinct: Floats
    """The number of distinct values in x or in y, whichever is smaller."""


def count_sampled_pairs(x: ArrayLike, y: ArrayLike, counts: Counts) -> SampledPairs:
    """Count the pairs of every bootstrap sample; each row of ``counts`` is one sample."""
    a, b = pair(x, y)
    weights = np.asarray(counts, dtype=np.float32)
    x_ranks, y_ranks = dense_ranks(a), dense_ranks(b)
    items = weights.sum(axis=1, dtype=np.float64)
    in_x, in_y = (group_counts(ranks, weights) for ranks in (x_ranks, y_ranks))
    squares = items**2
    untied = [(squares - np.einsum("sg,sg->s", sizes, sizes)) / 2 for sizes in (in_x, in_y)]
    product = _score_by_product if len(a) <= LARGEST_PRODUCT else _score_by_sorting
    return SampledPairs(
        product(x_ranks, y_ranks, weights),
        untied[0],
        untied[1],
        items,
        np.minimum((in_x > 0).sum(axis=1), (in_y > 0).sum(axis=1)).astype(np.float64),
    )


def group_counts(groups: Ints, weights: Counts) -> Floats:
    """Sum the counts of each sample over the items of each group: shape (samples, groups).

    >>> group_counts(np.array([0, 1, 0]), np.array([[1, 2, 3]]))
    array([[4., 2.]])
    """
    order = np.argsort(groups, kind="stable")
    starts = np.flatnonzero(np.diff(groups[order], prepend=-1))
    if len(starts) == len(groups):
        return np.asarray(weights[:, order], dtype=np.float64)
    found: Floats = np.add.reduceat(weights[:, order], starts, axis=1, dtype=np.float64)
    return found


def _score_by_product(x: Ints, y: Ints, weights: Counts) -> Floats:
    """The sum over pairs i > j of w_i w_j sign(x_i - x_j) sign(y_i - y_j), some rows at a time.

    Integers below 2 ** 24 are exact in float32, and so is the product.
    """
    score = np.zeros(len(weights))
    xs, ys = x.astype(np.int32), y.astype(np.int32)
    for start in range(0, len(xs), ROWS_AT_A_TIME):
        end = min(start + ROWS_AT_A_TIME, len(xs))
        signs = np.sign(xs[start:end, None] - xs[:end]) * np.sign(ys[start:end, None] - ys[:end])
        signs[:, start:] = np.tril(signs[:, start:])  # each pair once
        reached = weights[:, :end] @ signs.T.astype(np.float32)
        score += np.einsum("sn,sn->s", reached, weights[:, start:end], dtype=np.float64)
    return score


def _score_by_sorting(x: Ints, y: Ints, weights: Counts) -> Floats:
    """The same by sorting: among items in the order of x and y, inversions are discordant."""
    order = np.lexsort((y, x))
    xs, ys = x[order], y[order]
    both = np.cumsum((np.diff(xs, prepend=xs[0]) != 0) | (np.diff(ys, prepend=ys[0]) != 0))
    samples = weights[:, order].astype(np.int32)
    discordant = np.concatenate(
        [
            inversions(ys, samples[start : start + SAMPLES_AT_A_TIME])
            for start in range(0, len(samples), SAMPLES_AT_A_TIME)
        ]
    )
    everything, in_x, in_y, in_both = (
        np.sum(sizes * (sizes - 1) / 2, axis=1)
        for sizes in (
            samples.sum(axis=1, keepdims=True, dtype=np.float64),
            *(group_counts(groups, samples) for groups in (xs, ys, both)),
        )
    )
    score: Floats = everything - in_x - in_y + in_both - 2 * discordant
    return score
