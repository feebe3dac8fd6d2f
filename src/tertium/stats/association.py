"""Pearson's r with an interval, p-values, and the values without each group of items."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from tertium.errors import InputError
from tertium.stats.arrays import Floats, pair
from tertium.stats.conventions import SAMPLES, Interval
from tertium.stats.correlation import pearson
from tertium.stats.resampling import bootstrap_counts, p_value, percentile_interval, rounding
from tertium.stats.student import student_sf


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


def _shuffled(a: Floats, b: Floats, samples: int, seed: int) -> Floats:
    """r of a with random permutations of b."""
    generator = np.random.default_rng(np.random.SeedSequence(seed).spawn(1)[0])
    orders = generator.permuted(np.tile(np.arange(len(b)), (samples, 1)), axis=1)
    first, second = (
        (each - each.mean()) / np.sqrt(((each - each.mean()) ** 2).sum()) for each in (a, b)
    )
    return np.asarray(second[orders] @ first)
