"""Pearson's r with an interval and p-values: partial, within groups of items, without each group.

Related items (languages of one family) are not exchangeable. ``permutation_within`` shuffles only
within groups, so that differences between groups count for nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np
from numpy.typing import ArrayLike

from tertium.errors import InputError
from tertium.stats.arrays import Floats, Ints, pair
from tertium.stats.conventions import SAMPLES, Interval
from tertium.stats.correlation import pearson
from tertium.stats.resampling import bootstrap_counts, p_value, percentile_interval, rounding
from tertium.stats.student import student_sf

EXACT = 9
"""At most so many items are tried in all orders."""


@dataclass(frozen=True)
class Association:
    """Pearson's r and the evidence for it."""

    r: float
    interval: Interval
    """Percentiles of the bootstrap over items."""
    p: float
    """Two-sided, by Student's t: assumes independent and normal items."""
    permutation_p: float
    """Two-sided, by permutation: assumes exchangeable items."""
    items: int


def association(
    x: ArrayLike, y: ArrayLike, *, samples: int = SAMPLES, seed: int = 0
) -> Association:
    """Correlate x with y, and test the correlation.

    >>> found = association([1, 2, 3, 4, 5], [1, 2, 4, 3, 5], samples=100)
    >>> round(found.r, 4), round(found.p, 4), found.items
    (0.9, 0.0374, 5)
    """
    a, b = pair(x, y, at_least=3)
    r = pearson(a, b)
    if np.isnan(r):
        raise InputError("x or y is constant, so that their correlation is undefined")
    freedom = len(a) - 2
    spread = max(1 - r * r, 0.0)
    p = 2 * student_sf(abs(r) * math.sqrt(freedom / spread), freedom) if spread else 0.0
    with_replacement = pearson(a, b, counts=bootstrap_counts(len(a), samples=samples, seed=seed))
    shuffled = _shuffled(a, b, samples, seed)
    extreme = np.abs(shuffled) >= abs(r) - rounding(shuffled, r)
    return Association(
        r,
        percentile_interval(with_replacement),
        p,
        p_value(int(extreme.sum()), samples),
        len(a),
    )


def permutation_test(x: ArrayLike, y: ArrayLike, *, samples: int = SAMPLES, seed: int = 0) -> float:
    """Two-sided p of r by permutation: exact if there are at most ``samples`` orders.

    >>> round(permutation_test([1, 2, 3], [1, 2, 4]), 4)  # this order of 6, and the reverse
    0.3333
    """
    a, b = pair(x, y, at_least=3)
    r = pearson(a, b)
    if np.isnan(r):
        return float("nan")
    exact = len(a) <= EXACT and math.factorial(len(a)) <= samples
    if exact:
        shuffled = _correlated(a, b, np.array(list(permutations(range(len(a))))))
    else:
        shuffled = _shuffled(a, b, samples, seed)
    extreme = int((np.abs(shuffled) >= abs(r) - rounding(shuffled, r)).sum())
    return extreme / len(shuffled) if exact else p_value(extreme, samples)


def without_each_group(x: ArrayLike, y: ArrayLike, groups: Sequence[str]) -> dict[str, float]:
    """r without the items of each group in turn; NaN if fewer than three are left.

    >>> without_each_group([1, 2, 3, 9], [3, 2, 1, 9], ["a", "a", "a", "b"])
    {'a': nan, 'b': -1.0}
    """
    a, b = pair(x, y)
    if len(groups) != len(a):
        raise InputError(f"there are {len(groups)} group labels for {len(a)} items")
    found = {}
    for group in dict.fromkeys(groups):
        kept = np.array([other != group for other in groups])
        found[group] = pearson(a[kept], b[kept]) if kept.sum() >= 3 else float("nan")
    return found


def residuals(values: ArrayLike, control: ArrayLike) -> Floats:
    """What is left of values after a linear regression on a control.

    Pearson's r of the residuals of x and of those of y is their partial correlation.

    >>> residuals([1, 2, 3], [10, 20, 30]).round(6).tolist()
    [0.0, 0.0, 0.0]
    """
    a, c = pair(values, control, at_least=3)
    a, c = a - a.mean(), c - c.mean()
    spread = float(c @ c)
    if not spread:
        return np.asarray(a)
    left = a - c * (float(a @ c) / spread)
    # What remains of a multiple of the control is rounding, and would correlate with anything.
    constant = float(left @ left) <= 1e-20 * float(a @ a)
    return np.zeros(len(a)) if constant else left


def permutation_within(
    x: ArrayLike, y: ArrayLike, groups: Sequence[str], *, samples: int = SAMPLES, seed: int = 0
) -> float:
    """Two-sided p of r where y is shuffled within each group only.

    Differences between groups stay as they are, so that r differs from what they alone give; the
    distance is measured from the mean of the shuffled values. NaN if nothing can be shuffled.

    >>> permutation_within([1, 2, 9, 9], [1, 2, 7, 8], ["a", "b", "c", "d"])
    nan
    """
    a, b = pair(x, y, at_least=3)
    if len(groups) != len(a):
        raise InputError(f"there are {len(groups)} group labels for {len(a)} items")
    r = pearson(a, b)
    places = [np.flatnonzero(np.array(groups) == group) for group in dict.fromkeys(groups)]
    if np.isnan(r) or max(map(len, places)) < 2:
        return float("nan")
    generator = np.random.default_rng(seed)
    orders = np.tile(np.arange(len(b)), (samples, 1))
    for own in places:
        if len(own) > 1:
            orders[:, own] = generator.permuted(np.tile(own, (samples, 1)), axis=1)
    shuffled = _correlated(a, b, orders)
    middle = float(shuffled.mean())
    extreme = np.abs(shuffled - middle) >= abs(r - middle) - rounding(shuffled, r)
    return p_value(int(extreme.sum()), samples)


def holm(p_values: Sequence[float]) -> list[float]:
    """Correct p-values for their number (Holm, 1979); NaN stays, and counts for nothing.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    defined = [place for place, p in enumerate(p_values) if not math.isnan(p)]
    corrected, highest = list(p_values), 0.0
    for rank, place in enumerate(sorted(defined, key=lambda place: p_values[place])):
        highest = max(highest, min(1.0, (len(defined) - rank) * p_values[place]))
        corrected[place] = highest
    return corrected


def _shuffled(a: Floats, b: Floats, samples: int, seed: int) -> Floats:
    """r of a with random permutations of b."""
    generator = np.random.default_rng(np.random.SeedSequence(seed).spawn(1)[0])
    orders = generator.permuted(np.tile(np.arange(len(b)), (samples, 1)), axis=1)
    return _correlated(a, b, orders)


def _correlated(a: Floats, b: Floats, orders: Ints) -> Floats:
    """r of a with b in each of some orders."""
    first, second = (
        (each - each.mean()) / np.sqrt(((each - each.mean()) ** 2).sum()) for each in (a, b)
    )
    return np.asarray(second[orders] @ first)
