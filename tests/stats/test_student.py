"""Student's t distribution is scipy's, from the middle to the tails, for few and many items."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats

from tertium.mining.thresholds import _wilson
from tertium.stats.student import student_sf


@pytest.mark.parametrize("freedom", [1, 2, 3, 10, 57, 1000, 10**6])
def test_the_same_as_scipy(freedom: int) -> None:
    for t in (0.0, 1e-9, 0.001, 0.1, 0.5, 1.0, 1.7, 2.5, 4.0, 8.0, 30.0):
        for signed in (t, -t):
            expected = scipy.stats.t.sf(signed, freedom)
            assert student_sf(signed, freedom) == pytest.approx(expected, rel=1e-8, abs=1e-300)


def test_limits() -> None:
    assert student_sf(math.inf, 5) == 0
    assert student_sf(-math.inf, 5) == 1
    assert math.isnan(student_sf(math.nan, 5))
    # With one degree of freedom it is Cauchy's distribution: 1/2 - arctan(t) / pi.
    assert student_sf(1.0, 1) == pytest.approx(0.25, rel=1e-14)


@pytest.mark.parametrize("items", [1, 2, 7, 400])
def test_the_interval_of_a_proportion_is_scipys(items: int) -> None:
    for right in np.unique([0, 1, items // 2, items]).tolist():
        limits = scipy.stats.binomtest(right, items).proportion_ci(0.95, method="wilson")
        assert _wilson(right / items, items) == pytest.approx([limits.low, limits.high], abs=1e-12)
