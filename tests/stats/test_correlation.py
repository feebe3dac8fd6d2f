"""Correlations against scipy, one by one and sample by sample."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from tertium.errors import InputError, SettingError
from tertium.stats import pairs
from tertium.stats.correlation import kendall, pearson, spearman
from tertium.stats.pairs import PairCounts, count_pairs, inversions
from tertium.stats.resampling import bootstrap_counts

VALUES = st.lists(
    st.tuples(st.integers(-5, 5), st.floats(-3, 3, allow_subnormal=False)), min_size=2, max_size=40
)


def constant(values: list[float]) -> bool:
    return len(set(values)) == 1


@settings(deadline=None)  # a busy machine is slow
@given(VALUES)
def test_pairs_are_counted_as_one_would_by_hand(rows: list[tuple[int, float]]) -> None:
    x, y = zip(*rows, strict=True)
    found = count_pairs(x, y)
    signs = [(np.sign(x[i] - x[j]), np.sign(y[i] - y[j])) for i in range(len(x)) for j in range(i)]
    assert found == PairCounts(
        sum(a * b > 0 for a, b in signs),
        sum(a * b < 0 for a, b in signs),
        sum(a == 0 and b != 0 for a, b in signs),
        sum(a != 0 and b == 0 for a, b in signs),
        sum(a == 0 and b == 0 for a, b in signs),
    )
    assert found.total == len(x) * (len(x) - 1) // 2


@settings(deadline=None)  # a busy machine is slow
@given(st.lists(st.integers(0, 9), min_size=1, max_size=70))
def test_inversions(ranks: list[int]) -> None:
    expected = sum(ranks[j] > ranks[i] for i in range(len(ranks)) for j in range(i))
    assert inversions(np.array(ranks)).tolist() == [expected]


@pytest.mark.parametrize("size", [2, 3, 17, 300])
@pytest.mark.parametrize("levels", [3, 1000])
def test_the_same_as_scipy(size: int, levels: int) -> None:
    random = np.random.default_rng(size + levels)
    x = np.append(random.integers(levels, size=size - 2), [0, 1]).astype(float)
    y = x + random.integers(levels, size=size)
    y[0], y[-1] = y[-1] + 1, y[-1]
    assert pearson(x, y) == pytest.approx(scipy.stats.pearsonr(x, y)[0], abs=1e-12)
    assert spearman(x, y) == pytest.approx(scipy.stats.spearmanr(x, y)[0], abs=1e-12)
    variants: tuple[Literal["b", "c"], ...] = ("b", "c")
    for variant in variants:
        expected = scipy.stats.kendalltau(x, y, variant=variant)[0]
        assert kendall(x, y, variant=variant) == pytest.approx(expected, abs=1e-12)


def test_tau_a_by_hand() -> None:
    # Of the six pairs four are ordered alike, one otherwise, and one is tied in y: (4 - 1) / 6.
    assert kendall([1, 2, 3, 4], [1, 3, 2, 3], variant="a") == pytest.approx(0.5)


@pytest.mark.parametrize("largest_product", [6000, 10])
def test_samples_are_computed_as_if_they_were_drawn(
    monkeypatch: pytest.MonkeyPatch, largest_product: int
) -> None:
    monkeypatch.setattr(pairs, "LARGEST_PRODUCT", largest_product)
    monkeypatch.setattr(pairs, "ROWS_AT_A_TIME", 16)
    random = np.random.default_rng(3)
    x, y = random.integers(9, size=50).astype(float), random.normal(size=50)
    counts = bootstrap_counts(50, samples=20, seed=5)
    found = {
        "pearson": pearson(x, y, counts=counts),
        "spearman": spearman(x, y, counts=counts),
        **{
            f"tau-{variant}": kendall(x, y, variant=variant, counts=counts)
            for variant in ("a", "b", "c")
        },
    }
    for sample, drawn in enumerate(np.repeat(np.arange(50), row) for row in counts):
        a, b = x[drawn], y[drawn]
        for name, expected in {
            "pearson": scipy.stats.pearsonr(a, b)[0],
            "spearman": scipy.stats.spearmanr(a, b)[0],
            "tau-a": kendall(a, b, variant="a"),
            "tau-b": scipy.stats.kendalltau(a, b)[0],
            "tau-c": scipy.stats.kendalltau(a, b, variant="c")[0],
        }.items():
            assert found[name][sample] == pytest.approx(expected, abs=1e-12), name


@settings(deadline=None)  # a busy machine is slow
@given(VALUES)
def test_properties(rows: list[tuple[int, float]]) -> None:
    x, y = (list(map(float, values)) for values in zip(*rows, strict=True))
    for correlation in (spearman, kendall):
        value = correlation(x, y)
        if constant(x) or constant(y):
            assert np.isnan(value)
            continue
        assert -1 <= value <= 1
        assert correlation(y, x) == pytest.approx(value)
        assert correlation(x, [-each for each in y]) == pytest.approx(-value)
        assert correlation(x, x) == pytest.approx(1)


@pytest.mark.parametrize("correlation", [pearson, spearman, kendall])
def test_what_cannot_be_correlated(correlation: Callable[..., Any]) -> None:
    assert np.isnan(correlation([0.1, 0.1, 0.1], [1, 2, 3]))
    assert np.isnan(correlation([1, 2], [1, 2], counts=np.array([[2, 0]])))[0]
    for x, y, words in [
        ([1.0], [1.0], "x has 1 value; at least 2 are needed"),
        ([1.0, 2.0], [1.0, 2.0, 3.0], "x has 2 values and y 3"),
        ([1.0, np.nan], [1.0, 2.0], "missing or infinite values \\(1\\), the first at position 2"),
        ([[1.0, 2.0]], [1.0, 2.0], "x has 2 dimensions"),
    ]:
        with pytest.raises(InputError, match=words):
            correlation(x, y)


def test_unknown_variant() -> None:
    with pytest.raises(SettingError, match="variant='d'"):
        kendall([1, 2], [1, 2], variant="d")  # type: ignore[call-overload]
