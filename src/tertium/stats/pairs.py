"""Concordant and discordant pairs of items.

A single ranking takes n log n steps, by merge sort. Bootstrap samples are computed together by a
matrix product, which for up to a few thousand items is faster than sorting each sample.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from tertium.stats.arrays import Counts, Floats, Ints, pair

LARGEST_PRODUCT = 6000
"""With more items, samples are counted one by one: the cost of the product is quadratic."""
ROWS_AT_A_TIME = 1024
SMALL_BLOCK = 32
"""Within blocks of this size, all pairs are compared."""


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
    discordant = inversions(ys)
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


def inversions(ranks: Ints) -> int:
    """Count the pairs in descending order, without ties, by a bottom-up merge sort.

    >>> inversions(np.array([2, 0, 1, 1]))
    3
    """
    ceiling = int(ranks.max(initial=0)) + 1
    rows = np.full((-(-len(ranks) // SMALL_BLOCK), SMALL_BLOCK), ceiling)  # the rest is in order
    rows.ravel()[: len(ranks)] = ranks
    wrong = np.triu(rows[:, :, None] > rows[:, None, :], 1)
    found, blocks, width = int(wrong.sum()), np.sort(rows, axis=1).ravel(), SMALL_BLOCK
    place = np.arange(len(blocks))
    while width < len(blocks):
        merged = place // (2 * width)
        keys = merged * (ceiling + 1) + blocks
        left = place % (2 * width) < width
        ends = np.cumsum(np.bincount(merged[left]))
        # The keys of the left halves are sorted: by block, and within each from the last round.
        smaller_or_equal = np.searchsorted(keys[left], keys[~left], side="right")
        found += int((ends[merged[~left]] - smaller_or_equal).sum())
        blocks = np.sort(keys, kind="stable") - merged * (ceiling + 1)
        width *= 2
    return found


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
    product = _score_by_product if len(a) <= LARGEST_PRODUCT else _score_one_by_one
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


def _score_one_by_one(x: Ints, y: Ints, weights: Counts) -> Floats:
    from scipy.stats import kendalltau

    scores = []
    for sample in weights.astype(np.int64):
        drawn = np.repeat(np.arange(len(x)), sample)
        a, b = x[drawn], y[drawn]
        tau = kendalltau(a, b, method="asymptotic").statistic
        pairs = len(drawn) * (len(drawn) - 1) // 2
        untied = float(pairs - _tied(a)) * float(pairs - _tied(b))
        scores.append(0.0 if np.isnan(tau) else float(np.rint(tau * np.sqrt(untied))))
    return np.array(scores)
