"""Wilson's and Newcombe's intervals against the examples of Newcombe's papers."""

from __future__ import annotations

import numpy as np
import pytest

from tertium.errors import InputError
from tertium.stats.arrays import Bools
from tertium.stats.conventions import Interval
from tertium.stats.proportions import combined_interval, combined_p_value, wilson


def limits(found: Interval) -> tuple[float, float]:
    return found.low, found.high


def items(*counts: tuple[bool, bool, int]) -> tuple[Bools, Bools]:
    """Two arrays of the same items, from a two by two table."""
    one = np.concatenate([np.full(count, a) for a, _, count in counts])
    other = np.concatenate([np.full(count, b) for _, b, count in counts])
    return one, other


@pytest.mark.parametrize(
    ("count", "of", "expected"),
    [  # Newcombe (1998), "Two-sided confidence intervals for the single proportion", table I
        (81, 263, (0.2553, 0.3662)),
        (15, 148, (0.0624, 0.1605)),
        (0, 20, (0.0000, 0.1611)),
        (1, 29, (0.0061, 0.1718)),
    ],
)
def test_wilson(count: int, of: int, expected: tuple[float, float]) -> None:
    assert limits(wilson(count, of)) == pytest.approx(expected, abs=5e-5)
    turned = wilson(of - count, of)
    assert (1 - turned.high, 1 - turned.low) == pytest.approx(expected, abs=5e-5)


def test_one_share_has_its_own_interval() -> None:
    own = np.arange(24) < 5
    assert limits(combined_interval([own], [1.0])) == pytest.approx(limits(wilson(5, 24)))
    assert wilson(0, 24).low == 0
    assert wilson(24, 24).high == 1
    with pytest.raises(InputError, match="3 of 2 is not a share"):
        wilson(3, 2)


def test_independent_shares_have_newcombes_difference() -> None:
    """56 of 70 and 48 of 80: 0.0524 to 0.3339 (Newcombe, 1998, table II, method 10)."""
    found = combined_interval([np.arange(70) < 56, np.arange(80) < 48], [1, -1])
    assert limits(found) == pytest.approx((0.0524, 0.3339), abs=5e-5)


def test_p_is_at_the_end_of_the_interval() -> None:
    pair = items((True, True, 20), (True, False, 12), (False, True, 3), (False, False, 15))
    p = combined_p_value(pair, [1, -1])
    assert 0.001 < p < 0.05
    assert combined_interval(pair, [1, -1], level=1 - p).low == pytest.approx(0, abs=1e-9)
    assert 0 not in combined_interval(pair, [1, -1])
    swapped = combined_interval(pair[::-1], [1, -1])
    assert (-swapped.high, -swapped.low) == pytest.approx(limits(combined_interval(pair, [1, -1])))


def test_pairs_that_agree_make_a_difference_more_certain() -> None:
    together = items((True, True, 20), (True, False, 5), (False, False, 25))
    against = items((True, False, 25), (False, True, 20), (False, False, 5))
    one, other = (combined_interval(pair, [1, -1]) for pair in (together, against))
    assert one.high - one.low < other.high - other.low
    assert combined_p_value(together, [1, -1]) < combined_p_value(against, [1, -1])


def test_nothing_differs() -> None:
    own = np.arange(30) < 10
    assert combined_p_value([own, own], [1, -1]) == 1
    none = np.zeros(24, dtype=np.bool_)
    assert combined_p_value([none, none], [1, -1]) == 1
    assert combined_interval([none, none], [1, -1]).high > 0.1
