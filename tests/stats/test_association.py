"""r and its p are scipy's; the permutation test is exact where all orders can be counted."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
import scipy.stats

from tertium.errors import InputError
from tertium.stats.association import association, without_each_group
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
