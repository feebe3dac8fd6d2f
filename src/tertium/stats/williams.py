"""Williams' test: do two measures that are correlated themselves differ in their correlation?"""

from __future__ import annotations

import math
from dataclasses import dataclass

from tertium.errors import InputError


@dataclass(frozen=True)
class Williams:
    """The test's t, its degrees of freedom, and p of "the first correlation is greater"."""

    t: float
    degrees: int
    p_value: float


def williams_test(r12: float, r13: float, r23: float, n: int) -> Williams:
    """Test whether r12 is greater than r13 (Williams, 1959; Graham and Baldwin, 2014).

    1 is the human judgement, 2 and 3 are measures; ``n`` is the number of items (systems, or
    segments) that Pearson's r was computed on. One-sided.

    >>> test = williams_test(0.9, 0.8, 0.7, 20)
    >>> round(test.t, 4), test.degrees, round(test.p_value, 4)
    (1.3723, 17, 0.0939)
    """
    from scipy.special import stdtr

    if n < 4:
        raise InputError(f"{n} items are too few: Williams' test needs 4 at least")
    for name, r in (("r12", r12), ("r13", r13), ("r23", r23)):
        if not -1 <= r <= 1:
            raise InputError(f"{name}={r!r} is no correlation")
    determinant = 1 - r12**2 - r13**2 - r23**2 + 2 * r12 * r13 * r23
    if determinant < -1e-12:
        raise InputError(f"no three variables have the correlations {r12}, {r13}, {r23}")
    mean = (r12 + r13) / 2
    variance = 2 * max(determinant, 0.0) * (n - 1) / (n - 3) + mean**2 * (1 - r23) ** 3
    difference = (r12 - r13) * math.sqrt((n - 1) * (1 + r23))
    if variance > 0:
        t = difference / math.sqrt(variance)
    else:  # measures that are the same but for a scale
        t = math.copysign(math.inf, difference) if difference else 0.0
    return Williams(t, n - 3, float(stdtr(n - 3, -t)))
