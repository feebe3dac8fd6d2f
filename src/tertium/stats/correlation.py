"""Pearson's r, Spearman's rho, Kendall's tau (a, b and c), and tests of Pearson's r.

With ``counts`` (see :mod:`tertium.stats.resampling`) the coefficients give one value per bootstrap
sample. All are NaN if one side is constant.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, overload

import numpy as np
from numpy.typing import ArrayLike

from tertium.errors import InputError, SettingError
from tertium.stats.arrays import Counts, Floats, pair
from tertium.stats.pairs import count_pairs, count_sampled_pairs, dense_ranks, group_counts
from tertium.stats.student import student_sf

Variant = Literal["a", "b", "c"]
TINY = 1e-14
"""A variance below this share of the squared values is due to rounding."""
STRENGTHS = ((0.10, "negligible"), (0.40, "weak"), (0.70, "moderate"), (0.90, "strong"))
"""Upper limits of |r| and their names: Schober et al. (2018), table 1."""
STARS = ((0.001, "***"), (0.01, "**"), (0.05, "*"))


@overload
def pearson(x: ArrayLike, y: ArrayLike, *, counts: None = None) -> float: ...
@overload
def pearson(x: ArrayLike, y: ArrayLike, *, counts: Counts) -> Floats: ...
def pearson(x: ArrayLike, y: ArrayLike, *, counts: Counts | None = None) -> float | Floats:
    """Pearson's r: the linear correlation of x and y.

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
    """Spearman's rho: Pearson's r of the ranks; equal values have the mean of their ranks.

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
    """Kendall's tau: concordant minus discordant pairs, relative to all pairs (a) or adjusted.

    Variant b adjusts for ties, c (Stuart) for scales of different lengths.

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


def positive_correlation_p(r: float, items: int) -> float:
    """The p-value of r > 0: the one-tailed t-test of Pearson's r.

    >>> round(positive_correlation_p(0.5, 12), 4)
    0.0489
    """
    if items < 3:
        raise InputError(f"a correlation of {items} items cannot be tested; at least 3 are needed")
    if abs(r) >= 1:
        return 0.0 if r > 0 else 1.0
    return student_sf(r * math.sqrt((items - 2) / (1 - r * r)), items - 2)


def strength(r: float) -> str:
    """The strength of a correlation in words, after Schober et al. (2018).

    >>> strength(0.256), strength(-0.75), strength(0.95)
    ('weak', 'strong', 'very strong')
    """
    return next((name for below, name in STRENGTHS if abs(r) < below), "very strong")


def stars(p: float) -> str:
    """The usual asterisks for a p-value.

    >>> stars(0.0004), stars(0.03), stars(0.2)
    ('***', '*', '')
    """
    return next((mark for most, mark in STARS if p <= most), "")


@dataclass(frozen=True)
class Williams:
    """The t statistic, its degrees of freedom, and p of "the first correlation is greater"."""

    t: float
    degrees: int
    p_value: float


def williams_test(r12: float, r13: float, r23: float, n: int) -> Williams:
    """Test whether r12 is greater than r13 (Williams, 1959; Graham and Baldwin, 2014).

    1 is the human judgement, 2 and 3 are two measures, which are correlated themselves; ``n`` is
    the number of items (systems or segments) of Pearson's r. One-sided.

    >>> test = williams_test(0.9, 0.8, 0.7, 20)
    >>> round(test.t, 4), test.degrees, round(test.p_value, 4)
    (1.3723, 17, 0.0939)
    """
    if n < 4:
        raise InputError(f"{n} items are too few: the Williams test needs at least 4")
    for name, r in (("r12", r12), ("r13", r13), ("r23", r23)):
        if not -1 <= r <= 1:
            raise InputError(f"{name}={r!r}: a correlation is between -1 and 1")
    determinant = 1 - r12**2 - r13**2 - r23**2 + 2 * r12 * r13 * r23
    if determinant < -1e-12:
        raise InputError(f"no three variables have the correlations {r12}, {r13}, {r23}")
    mean = (r12 + r13) / 2
    variance = 2 * max(determinant, 0.0) * (n - 1) / (n - 3) + mean**2 * (1 - r23) ** 3
    difference = (r12 - r13) * math.sqrt((n - 1) * (1 + r23))
    if variance > 0:
        t = difference / math.sqrt(variance)
    else:  # the measures differ only in scale
        t = math.copysign(math.inf, difference) if difference else 0.0
    return Williams(t, n - 3, student_sf(t, n - 3))


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
    """Pearson's r for each row of weights; a and b are the same for all rows, or one per row."""
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
    """The ranks of the items in each sample, from 1; equal values have the mean of their ranks."""
    groups = dense_ranks(values)
    sizes = group_counts(groups, weights)
    ranks: Floats = (np.cumsum(sizes, axis=1) - sizes / 2 + 0.5)[:, groups]
    return ranks
