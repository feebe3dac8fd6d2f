"""Pearson's r, Spearman's rho, and Kendall's tau in its variants a, b and c.

With ``counts`` (see :mod:`tertium.stats.resampling`) each gives one value a bootstrap sample. All
are NaN where one side is constant: then there is nothing to correlate.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, overload

import numpy as np
from numpy.typing import ArrayLike

from tertium.errors import InputError, SettingError
from tertium.stats.arrays import Counts, Floats, pair
from tertium.stats.pairs import count_pairs, count_sampled_pairs, dense_ranks, group_counts

Variant = Literal["a", "b", "c"]
TINY = 1e-14
"""A variance below this share of the values' squared size is rounding, not variance."""


@overload
def pearson(x: ArrayLike, y: ArrayLike, *, counts: None = None) -> float: ...
@overload
def pearson(x: ArrayLike, y: ArrayLike, *, counts: Counts) -> Floats: ...
def pearson(x: ArrayLike, y: ArrayLike, *, counts: Counts | None = None) -> float | Floats:
    """How far y is a straight line over x.

    >>> round(pearson([1, 2, 3], [1, 2, 4]), 4)
    0.982
    """
    a, b = pair(x, y)
    weights = _weights(counts, len(a))
    found = _weighted_pearson(a - a.mean(), b - b.mean(), weights, a, b)
    return float(found[0]) if counts is None else found


@overload
def spearman(x: ArrayLike, y: ArrayLike, *, counts: None = None) -> float: ...
@overload
def spearman(x: ArrayLike, y: ArrayLike, *, counts: Counts) -> Floats: ...
def spearman(x: ArrayLike, y: ArrayLike, *, counts: Counts | None = None) -> float | Floats:
    """Pearson's r of the ranks; equal values share the mean of their ranks.

    >>> spearman([1, 2, 3, 4], [1, 10, 100, 50])
    0.8
    """
    a, b = pair(x, y)
    weights = _weights(counts, len(a))
    x_ranks, y_ranks = _mid_ranks(a, weights), _mid_ranks(b, weights)
    middle = (weights.sum(axis=1, keepdims=True) + 1) / 2
    found = _weighted_pearson(x_ranks - middle, y_ranks - middle, weights, x_ranks, y_ranks)
    return float(found[0]) if counts is None else found


@overload
def kendall(
    x: ArrayLike, y: ArrayLike, *, variant: Variant = "b", counts: None = None
) -> float: ...
@overload
def kendall(x: ArrayLike, y: ArrayLike, *, variant: Variant = "b", counts: Counts) -> Floats: ...
def kendall(
    x: ArrayLike, y: ArrayLike, *, variant: Variant = "b", counts: Counts | None = None
) -> float | Floats:
    """Pairs ordered alike less pairs ordered otherwise, as a share of all (a) or of those untied.

    Variant b allows for ties on either side; c (Stuart) for scales of different lengths.

    >>> kendall([1, 2, 3, 4], [1, 3, 2, 4], variant="a")
    0.6666666666666666
    >>> round(kendall([1, 2, 3, 4], [1, 2, 2, 4]), 4)
    0.9129
    """
    if variant not in ("a", "b", "c"):
        raise SettingError(f"variant={variant!r}: it must be one of 'a', 'b', 'c'")
    if counts is not None:
        found = count_sampled_pairs(x, y, counts)
        return _tau(
            variant, found.score, found.untied_x, found.untied_y, found.items, found.distinct
        )
    pairs = count_pairs(x, y)
    score = np.array([float(pairs.concordant - pairs.discordant)])
    untied_x = np.array([float(pairs.total - pairs.ties_x - pairs.ties_both)])
    untied_y = np.array([float(pairs.total - pairs.ties_y - pairs.ties_both)])
    items = np.array([float(len(np.asarray(x)))])
    fewest = min(len(np.unique(x)), len(np.unique(y))) if variant == "c" else 0
    distinct = np.array([float(fewest)])
    return float(_tau(variant, score, untied_x, untied_y, items, distinct)[0])


def _tau(
    variant: Variant,
    score: Floats,
    untied_x: Floats,
    untied_y: Floats,
    items: Floats,
    distinct: Floats,
) -> Floats:
    defined = (untied_x > 0) & (untied_y > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        if variant == "a":
            tau = score / (items * (items - 1) / 2)
        elif variant == "b":
            tau = score / np.sqrt(untied_x) / np.sqrt(untied_y)
        else:
            tau = 2 * score * distinct / (items**2 * (distinct - 1))
    return np.where(defined, np.clip(tau, -1, 1), np.nan)


CORRELATIONS: dict[str, Callable[..., float | Floats]] = {
    "pearson": pearson,
    "spearman": spearman,
    "kendall": kendall,
}
"""The correlations by name; Kendall's is tau-b."""


def _weights(counts: Counts | None, items: int) -> Floats:
    if counts is None:
        return np.ones((1, items))
    weights = np.asarray(counts, dtype=np.float64)
    if weights.ndim != 2 or weights.shape[1] != items:
        raise InputError(f"the counts have the shape {weights.shape}, for {items} items")
    return weights


def _weighted_pearson(
    a: Floats, b: Floats, weights: Floats, x_sizes: Floats, y_sizes: Floats
) -> Floats:
    """Pearson's r of each row of weights; a and b are one for all, or one a row."""
    total = weights.sum(axis=1)

    def mean(values: Floats) -> Floats:
        products = weights @ values if values.ndim == 1 else (weights * values).sum(axis=1)
        return np.asarray(products / total)

    mean_a, mean_b = mean(a), mean(b)
    var_a, var_b = mean(a * a) - mean_a**2, mean(b * b) - mean_b**2
    covariance = mean(a * b) - mean_a * mean_b
    floor_a, floor_b = (TINY * np.max(np.abs(each)) ** 2 for each in (x_sizes, y_sizes))
    defined = (var_a > floor_a) & (var_b > floor_b)
    with np.errstate(divide="ignore", invalid="ignore"):
        r = covariance / np.sqrt(var_a * var_b)
    return np.where(defined, np.clip(r, -1, 1), np.nan)


def _mid_ranks(values: Floats, weights: Floats) -> Floats:
    """The ranks of the items in each sample, from 1; equal ones share the mean of their ranks."""
    groups = dense_ranks(values)
    sizes = group_counts(groups, weights)
    ranks: Floats = (np.cumsum(sizes, axis=1) - sizes / 2 + 0.5)[:, groups]
    return ranks
