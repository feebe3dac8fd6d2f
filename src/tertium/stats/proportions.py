"""Intervals of shares, and of sums of shares such as means and differences, with p-values.

A share has Wilson's interval, which is of use also for 0 of 24. A weighted sum of shares has the
interval that recovers its variance from those of the parts (MOVER: Zou and Donner, 2008); for the
difference of two shares of the same items it is Newcombe's (1998), without continuity correction.
The p-value is that of the level at which the interval ends at 0, so that the two always agree.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np

from tertium.errors import InputError
from tertium.stats.arrays import Bools, Floats
from tertium.stats.conventions import LEVEL, Interval

FARTHEST = 38.0
"""In standard deviations: beyond, a p-value is 0 in double precision."""
STEPS = 60


def wilson(count: int, items: int, *, level: float = LEVEL) -> Interval:
    """Wilson's score interval of a share.

    >>> found = wilson(0, 24)
    >>> found.low, round(found.high, 3)
    (0.0, 0.138)
    """
    if items < 1 or not 0 <= count <= items:
        raise InputError(f"{count} of {items} is not a share")
    low, high = _wilson(count / items, items, _deviations(level))
    return Interval(low, high, level)


def combined_interval(
    members: Sequence[Bools], weights: Sequence[float], *, level: float = LEVEL
) -> Interval:
    """The interval of a weighted sum of shares.

    Each array says which items count. Arrays of the same length are of the same items, in the same
    order, and correlated as they are found to be; others are independent.
    """
    low, high = _limits(members, weights, _correlations(members), _deviations(level))
    return Interval(low, high, level)


def combined_p_value(members: Sequence[Bools], weights: Sequence[float]) -> float:
    """The two-sided p-value of a weighted sum of shares being 0.

    >>> import numpy as np
    >>> one, other = np.array([True] * 6 + [False] * 6), np.array([False] * 12)
    >>> combined_p_value([one, one], [1, -1])
    1.0
    >>> combined_p_value([one, other], [1, -1]) < 0.05
    True
    """
    correlations = _correlations(members)
    near, far = 0.0, FARTHEST
    for _ in range(STEPS):
        middle = (near + far) / 2
        low, high = _limits(members, weights, correlations, middle)
        if low <= 0 <= high:
            far = middle
        else:
            near = middle
    # Between zero and the first deviation that holds 0: nothing differs.
    return 1.0 if far < 1e-9 else 2 * NormalDist().cdf(-far)


def _deviations(level: float) -> float:
    return NormalDist().inv_cdf((1 + level) / 2)


def _wilson(share: float, items: int, deviations: float) -> tuple[float, float]:
    square = deviations**2 / items
    middle = (share + square / 2) / (1 + square)
    half = math.sqrt(square * (share * (1 - share) + square / 4)) / (1 + square)
    # At the ends the limit is exactly the share; the subtraction leaves rounding.
    low = 0.0 if share == 0 else max(0.0, middle - half)
    return low, 1.0 if share == 1 else min(1.0, middle + half)


def _limits(
    members: Sequence[Bools], weights: Sequence[float], correlations: Floats, deviations: float
) -> tuple[float, float]:
    shares = [float(own.mean()) for own in members]
    value = sum(w * share for w, share in zip(weights, shares, strict=True))
    below, above = np.zeros(len(members)), np.zeros(len(members))
    for place, (own, share, weight) in enumerate(zip(members, shares, weights, strict=True)):
        low, high = _wilson(share, len(own), deviations)
        down, up = weight * (share - low), weight * (high - share)
        below[place], above[place] = (down, up) if weight >= 0 else (up, down)
    return (
        value - math.sqrt(max(0.0, float(below @ correlations @ below))),
        value + math.sqrt(max(0.0, float(above @ correlations @ above))),
    )


def _correlations(members: Sequence[Bools]) -> Floats:
    """Phi of any two arrays; 0 where one is constant or they are not of the same items."""
    found = np.eye(len(members))
    for i, one in enumerate(members):
        for j, other in enumerate(members[:i]):
            varies = all(0 < own.sum() < len(own) for own in (one, other))
            if varies and len(one) == len(other):
                found[i, j] = found[j, i] = np.corrcoef(one, other)[0, 1]
    return found
