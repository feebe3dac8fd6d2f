"""r and its p are scipy's; the permutation test is exact where all orders can be counted."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
import scipy.stats

from tertium.errors import InputError
from tertium.stats.association import (
    association,
    holm,
    permutation_within,
    residuals,
    without_each_group,
)
from tertium.stats.correlation import pearson

GENERATOR = np.random.default_rng(7)
X = GENERATOR.normal(size=30)
Y = 0.4 * X + GENERATOR.normal(size=30)


def test_r_and_p_are_scipys() -> None:
    found = association(X, Y, samples=200)
    expected = scipy.stats.pearsonr(X, Y)
    assert found.r == pytest.approx(expected.statistic)
    assert found.p == pytest.approx(expected.pvalue)
    assert found.items == 30
    assert found.interval.low < found.r < found.interval.high


def test_permutation_of_few_items() -> None:
    x, y = [1.0, 2.0, 3.0, 4.0, 5.0], [2.0, 1.0, 4.0, 3.0, 5.0]
    r = abs(pearson(x, y))
    orders = [abs(pearson(x, list(order))) >= r - 1e-12 for order in permutations(y)]
    found = association(x, y, samples=20_000).permutation_p
    assert found == pytest.approx(sum(orders) / len(orders), abs=0.01)


def test_permutation_agrees_with_t_where_t_is_right() -> None:
    found = association(X, Y, samples=20_000)
    assert found.permutation_p == pytest.approx(found.p, abs=0.01)


def test_a_perfect_line() -> None:
    found = association([1, 2, 3], [2, 4, 6], samples=100)
    assert (found.r, found.p) == (1.0, 0.0)


def test_seeds() -> None:
    assert association(X, Y, samples=50, seed=1) == association(X, Y, samples=50, seed=1)
    one, two = (association(X, Y, samples=50, seed=seed).interval for seed in (1, 2))
    assert one != two


def test_without_each_group() -> None:
    groups = ["a"] * 10 + ["b"] * 20
    found = without_each_group(X, Y, groups)
    assert found == {"a": pytest.approx(pearson(X[10:], Y[10:])), "b": pearson(X[:10], Y[:10])}


def test_what_cannot_be_correlated() -> None:
    with pytest.raises(InputError, match="constant"):
        association([1, 2, 3], [1, 1, 1])
    with pytest.raises(InputError, match="at least 3"):
        association([1, 2], [1, 2])
    with pytest.raises(InputError, match="1 group labels for 2 items"):
        without_each_group([1, 2], [1, 2], ["a"])


def test_a_partial_correlation_is_that_of_the_formula() -> None:
    """(r_xy - r_xz r_yz) / sqrt((1 - r_xz^2) (1 - r_yz^2))."""
    z = GENERATOR.normal(size=30)
    x, y = X + z, Y + 2 * z
    xy, xz, yz = pearson(x, y), pearson(x, z), pearson(y, z)
    expected = (xy - xz * yz) / np.sqrt((1 - xz**2) * (1 - yz**2))
    assert pearson(residuals(x, z), residuals(y, z)) == pytest.approx(expected)


def test_what_the_control_explains_wholly_has_no_partial_correlation() -> None:
    assert np.isnan(pearson(residuals(3 * X + 1, X), residuals(Y, X)))
    assert residuals(Y, np.ones(30)) == pytest.approx(Y - Y.mean())


def test_permutation_within_groups_against_all_orders() -> None:
    """Two groups of three: 36 orders, all counted here."""
    x, y = [1.0, 2.0, 3.0, 7.0, 8.0, 9.0], [1.0, 3.0, 2.0, 9.0, 7.0, 8.0]
    values = np.array(
        [pearson(x, [*a, *b]) for a in permutations(y[:3]) for b in permutations(y[3:])]
    )
    far = np.abs(values - values.mean()) >= abs(pearson(x, y) - values.mean()) - 1e-12
    p = permutation_within(x, y, list("aaabbb"), samples=20_000)
    assert p == pytest.approx(far.mean(), abs=0.01)


def test_what_differs_between_groups_only_is_not_significant_within_them() -> None:
    groups = [name for name in "abcd" for _ in range(10)]
    between = np.repeat([0.0, 1.0, 2.0, 3.0], 10)
    x, y = (between + 0.1 * GENERATOR.normal(size=40) for _ in range(2))
    assert association(x, y, samples=1000).permutation_p < 0.01
    assert permutation_within(x, y, groups, samples=1000) > 0.05
    with pytest.raises(InputError, match="2 group labels for 40 items"):
        permutation_within(x, y, ["a", "b"])


def test_holm() -> None:
    """5 * 0.01, 4 * 0.02, 3 * 0.03; then 2 * 0.04 and 0.05, which are raised to the one before."""
    assert holm([0.01, 0.02, 0.03, 0.04, 0.05]) == pytest.approx([0.05, 0.08, 0.09, 0.09, 0.09])
    found = holm([0.2, float("nan"), 0.01])
    assert (found[0], found[2]) == (0.2, 0.02)
    assert np.isnan(found[1])
