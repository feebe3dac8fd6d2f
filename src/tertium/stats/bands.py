"""Bootstrap bands of curves: the interval of the height of a curve at each of many places.

A band is pointwise: each place by itself is covered at the given level, the whole curve less often.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from tertium.errors import InputError
from tertium.stats.arrays import Counts, Floats, pair
from tertium.stats.conventions import LEVEL

PLACES = 51
"""Of a line: its band is curved."""
TINY = 1e-12
"""A sample whose variance is this small a share of all is of one place."""


class Band(NamedTuple):
    """The limits of a curve at each of the places ``x``."""

    x: Floats
    low: Floats
    high: Floats


def pointwise_band(x: ArrayLike, curves: ArrayLike, *, level: float = LEVEL) -> Band:
    """The percentile interval of the height of sampled curves, one per row, at each place.

    Samples in which a curve is undefined (NaN) are left out.

    >>> low, high = pointwise_band([0.0], [[float(n)] for n in range(101)], level=0.5)[1:]
    >>> low.tolist(), high.tolist()
    ([25.0], [75.0])
    """
    heights = np.asarray(curves, dtype=np.float64)
    defined = heights[~np.isnan(heights).any(axis=1)]
    if not len(defined):
        raise InputError("the curve is undefined in every sample: is one side constant?")
    tail = (1 - level) / 2
    low, high = np.quantile(defined, [tail, 1 - tail], axis=0)
    return Band(np.asarray(x, dtype=np.float64), low, high)


def line_band(x: ArrayLike, y: ArrayLike, counts: Counts) -> Band | None:
    """The band of the line of least squares, over the range of x; None if all x are equal."""
    values = np.asarray(x, dtype=np.float64)
    if values.min() == values.max():
        return None
    at = np.linspace(values.min(), values.max(), PLACES)
    return pointwise_band(at, sampled_lines(x, y, at, counts))


def sampled_lines(x: ArrayLike, y: ArrayLike, at: ArrayLike, counts: Counts) -> Floats:
    """The height of the line of least squares at each place, for each sample of points.

    NaN for a sample in which all points have the same x.

    >>> sampled_lines([0, 1, 2], [0, 2, 1], [0.0, 2.0], [[1, 1, 0], [1, 0, 1]]).tolist()
    [[0.0, 4.0], [0.0, 1.0]]
    """
    a, b = pair(x, y)
    weights = np.asarray(counts, dtype=np.float64)
    center, spread = a.mean(), float(a.var())
    a = a - center  # sums of squares lose fewer digits
    total = weights.sum(axis=1)
    mean_a, mean_b = weights @ a / total, weights @ b / total
    variance = weights @ (a * a) / total - mean_a**2
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = (weights @ (a * b) / total - mean_a * mean_b) / variance
    slope = np.where(variance > TINY * spread, slope, np.nan)
    places = np.asarray(at, dtype=np.float64) - center
    return np.asarray(mean_b[:, None] + slope[:, None] * (places[None, :] - mean_a[:, None]))
