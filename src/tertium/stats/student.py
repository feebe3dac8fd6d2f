"""Student's t distribution, by the incomplete beta function."""

from __future__ import annotations

import math

TINY = 1e-300


def student_sf(t: float, freedom: float) -> float:
    """P(T > t) of Student's t distribution.

    >>> round(student_sf(2.228138851964939, 10), 10), student_sf(0.0, 3), student_sf(math.inf, 3)
    (0.025, 0.5, 0.0)
    """
    if math.isnan(t):
        return math.nan
    if math.isinf(t):
        return 0.0 if t > 0 else 1.0
    square = t * t
    tail = 0.5 * _incomplete_beta(
        freedom / 2, 0.5, freedom / (freedom + square), square / (freedom + square)
    )
    return tail if t >= 0 else 1 - tail


def _incomplete_beta(a: float, b: float, x: float, y: float) -> float:
    """The regularized incomplete beta function I_x(a, b), where y is 1 - x, to its last digits."""
    if x <= 0 or y <= 0:
        return 0.0 if x <= 0 else 1.0
    front = math.exp(
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log(y)
    )
    if x < (a + 1) / (a + b + 2):
        return front * _fraction(a, b, x) / a
    return 1 - front * _fraction(b, a, y) / b


def _fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of the function (DLMF 8.17.22), by Lentz's method."""
    c, d = 1.0, 1 / _not_zero(1 - (a + b) * x / (a + 1))
    result, step, change = d, 0, 0.0
    while abs(change - 1) > 1e-15:
        step += 1
        even = step * (b - step) * x / ((a + 2 * step - 1) * (a + 2 * step))
        odd = -(a + step) * (a + b + step) * x / ((a + 2 * step) * (a + 2 * step + 1))
        change = 1.0
        for term in (even, odd):
            d = 1 / _not_zero(1 + term * d)
            c = _not_zero(1 + term / c)
            result *= c * d
            change = c * d
    return result


def _not_zero(number: float) -> float:
    return number if abs(number) > TINY else TINY
