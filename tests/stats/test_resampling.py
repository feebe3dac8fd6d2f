"""Bootstrap and permutation: that the samples are right, and that 95 % means 95 %."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest
import scipy.stats

from tertium.errors import InputError, SettingError
from tertium.stats.classification import accuracy, auc
from tertium.stats.correlation import CORRELATIONS, kendall, pearson
from tertium.stats.groups import global_correlation, input_correlation
from tertium.stats.permutation import permutation_test, standardised, swaps
from tertium.stats.resampling import (
    bootstrap_counts,
    bootstrap_p_value,
    bootstrap_p_values,
    combine,
    matrix_counts,
    percentile_interval,
    ranked_clusters,
    spawn,
    top_cluster,
)


def test_counts_are_draws_with_replacement() -> None:
    counts = bootstrap_counts(50, samples=2000, seed=1)
    assert (counts.sum(axis=1) == 50).all()
    assert counts.mean() == pytest.approx(1)
    assert (counts == 0).mean() == pytest.approx((1 - 1 / 50) ** 50, abs=0.01)
    assert (counts == bootstrap_counts(50, samples=2000, seed=1)).all()
    assert (counts != bootstrap_counts(50, samples=2000, seed=2)).any()


@pytest.mark.parametrize("over", ["inputs", "systems", "both"])
def test_systems_and_inputs_are_drawn_whole(over: Literal["inputs", "systems", "both"]) -> None:
    counts = matrix_counts(4, 6, over=over, samples=30, seed=3).reshape(30, 4, 6)
    assert (counts.sum(axis=(1, 2)) == 24).all()
    rows, columns = counts.max(axis=2), counts.max(axis=1)
    if over == "inputs":
        assert (counts == counts[:, :1, :]).all()
        assert (columns.sum(axis=1) == 6).all()
    elif over == "systems":
        assert (counts == counts[:, :, :1]).all()
        assert (rows.sum(axis=1) == 4).all()
    else:  # how often a score is drawn: the system's times the input's
        row_counts, column_counts = counts.sum(axis=2) / 6, counts.sum(axis=1) / 4
        assert np.allclose(counts, row_counts[:, :, None] * column_counts[:, None, :])


def test_counts_give_what_the_items_drawn_give() -> None:
    x, y = np.random.default_rng(0).normal(size=(2, 30))
    counts = bootstrap_counts(30, samples=25, seed=4)
    drawn = [np.repeat(np.arange(30), sample) for sample in counts]
    assert kendall(x, y, counts=counts) == pytest.approx([kendall(x[n], y[n]) for n in drawn])


@pytest.mark.parametrize("name", ["mean", "pearson", "spearman", "kendall", "accuracy", "auc"])
def test_intervals_cover_what_they_should(name: str) -> None:
    """Of 600 datasets, the 95 % intervals of 93 to 97 % hold the truth."""
    random = np.random.default_rng(17)
    n, rho, trials = 120, 0.5, 600
    counts = bootstrap_counts(n, samples=400, seed=23)
    truth = {
        "mean": 0.0,
        "pearson": rho,
        "spearman": 6 / np.pi * np.arcsin(rho / 2),
        "kendall": 2 / np.pi * np.arcsin(rho),
        "accuracy": 0.7,
        "auc": scipy.stats.norm.cdf(0.8 / np.sqrt(2)),
    }[name]
    covered = 0
    for _ in range(trials):
        x, noise = random.normal(size=(2, n))
        y = rho * x + np.sqrt(1 - rho**2) * noise
        if name == "mean":
            values = counts @ x / n
        elif name == "accuracy":
            values = accuracy(np.ones(n), random.random(n) < truth, counts=counts)
        elif name == "auc":
            labels = np.arange(n) % 2
            values = auc(labels, x + 0.8 * labels, counts=counts)
        else:
            values = CORRELATIONS[name](x, y, counts=counts)
        covered += truth in percentile_interval(values)
    assert 0.93 <= covered / trials <= 0.97


def test_bootstrap_p_by_hand() -> None:
    a, b = np.array([3.0, 1.0, 0.0, 2.0]), np.array([1.0, 1.0, 1.0, 0.0])
    # The differences are 2, 0, -1, 2, their mean 0.75; less that: 1.25, -0.75, -1.75, 1.25.
    assert bootstrap_p_value(a, b, 1.2) == (2 + 1) / 5
    assert bootstrap_p_value(a, b, 1.2, tail="two-sided") == (3 + 1) / 5
    assert bootstrap_p_value(a, b, 1.2, tail="koehn") == (2 + 1) / 5
    # The sizes are 2, 0, 1, 2, their mean 1.25; less that: 0.75, -1.25, -0.25, 0.75.
    assert bootstrap_p_value(a, b, 0.7, tail="sacrebleu") == (2 + 1) / 5
    assert bootstrap_p_value(a, a, 0.0, tail="two-sided") == 1


def test_two_sided_p_is_uniform_if_there_is_no_difference() -> None:
    random = np.random.default_rng(5)
    counts = bootstrap_counts(100, samples=500, seed=6)
    found = []
    for _ in range(600):
        difference = random.normal(size=100)
        values = counts @ difference / 100
        zero = np.zeros_like(values)
        found.append(bootstrap_p_value(values, zero, difference.mean(), tail="two-sided"))
    for level in (0.05, 0.25, 0.5):
        assert np.mean(np.array(found) <= level) == pytest.approx(level, abs=0.045)


def test_samples_of_several_datasets_are_combined_one_by_one() -> None:
    assert combine([[[1.0, 2.0]], [[3.0, 6.0]]]).tolist() == [[2.0, 4.0]]
    with pytest.raises(InputError, match="same number of samples"):
        combine([[1.0], [1.0, 2.0]])
    assert len(set(spawn(0, 50))) == 50


def test_intervals_of_nothing() -> None:
    with pytest.raises(InputError, match="undefined in every sample"):
        percentile_interval([np.nan, np.nan])
    with pytest.raises(SettingError, match="level=95"):
        percentile_interval([1.0], level=95)
    with pytest.raises(SettingError, match="over='input'"):
        matrix_counts(2, 2, over="input")  # type: ignore[arg-type]
    assert percentile_interval([1.0, np.nan, 1.0]).low == 1


@pytest.mark.parametrize(
    ("over", "shape"), [("inputs", (1, 3)), ("systems", (2, 1)), ("both", (2, 3))]
)
def test_what_is_swapped(
    over: Literal["inputs", "systems", "both"], shape: tuple[int, int]
) -> None:
    masks = swaps(2, 3, over=over, samples=4000, seed=2)
    assert masks.shape == (4000, *shape)
    assert masks.mean() == pytest.approx(0.5, abs=0.02)


def test_permutation_tests_find_the_better_measure() -> None:
    random = np.random.default_rng(8)
    human = random.normal(size=(8, 40)) + np.arange(8)[:, None] / 4
    good, bad = (10 * (human + noise * random.normal(size=human.shape)) for noise in (0.5, 3.0))

    def agreement(scores: np.ndarray, gold: np.ndarray) -> float:
        return global_correlation(pearson, scores, gold)

    for over in ("inputs", "both"):
        assert permutation_test(agreement, good, bad, human, over=over, samples=200) < 0.01
        assert permutation_test(agreement, bad, good, human, over=over, samples=200) > 0.9
    two_sided = permutation_test(agreement, bad, good, human, alternative="two-sided", samples=200)
    assert two_sided < 0.02
    assert permutation_test(agreement, good, good + 1, human, samples=20) == 1


def test_permutation_p_is_uniform_if_there_is_no_difference() -> None:
    random = np.random.default_rng(9)

    def agreement(scores: np.ndarray, gold: np.ndarray) -> float:
        return float((scores * gold).sum())

    found = []
    for _ in range(300):
        human, a, b = random.normal(size=(3, 5, 12))
        found.append(permutation_test(agreement, a, b, human, samples=99))
    assert np.mean(np.array(found) <= 0.1) == pytest.approx(0.1, abs=0.04)
    assert np.mean(np.array(found) <= 0.5) == pytest.approx(0.5, abs=0.07)


def test_permutation_of_what_cannot_be_compared() -> None:
    ones = np.ones((2, 3))
    with pytest.raises(InputError, match="x is constant"):
        permutation_test(lambda a, b: 0.0, ones, ones, ones)
    with pytest.raises(InputError, match="x 2 x 3, y 3 x 2, human 2 x 3"):
        permutation_test(lambda a, b: 0.0, ones, ones.T, ones)
    assert standardised(np.array([[1.0, np.nan, 3.0]]))[0, 2] == 1


def test_levels_of_correlation_by_hand() -> None:
    scores = np.array([[1.0, 4.0, np.nan], [2.0, 3.0, 1.0], [3.0, 8.0, 2.0]])
    human = np.array([[1.0, 2.0, 9.0], [2.0, 2.0, 1.0], [4.0, 3.0, 5.0]])
    # The third input has two systems with both scores, ordered alike.
    second = scipy.stats.kendalltau([4, 3, 8], [2, 2, 3])[0]
    assert input_correlation(kendall, scores, human) == pytest.approx((1 + second + 1) / 3)
    there = ~np.isnan(scores)
    assert global_correlation(pearson, scores, human) == pytest.approx(
        scipy.stats.pearsonr(scores[there], human[there])[0]
    )


def test_top_cluster_and_ranks() -> None:
    p = np.array(
        [
            [1.0, 0.20, 0.01, 0.01],
            [0.8, 1.0, 0.30, 0.01],
            [0.99, 0.7, 1.0, 0.20],
            [0.99, 0.99, 0.8, 1.0],
        ]
    )
    assert top_cluster(p) == [0, 1]
    # The third is worse than the first, so it opens a cluster, which the fourth may join.
    assert ranked_clusters([4, 3, 2, 1], p) == [[0, 1], [2, 3]]
    assert ranked_clusters([4, 3, 2, 1], np.ones((4, 4))) == [[0, 1, 2, 3]]
    assert top_cluster(p, alpha=0.001) == [0, 1, 2, 3]
    with pytest.raises(InputError, match="must be square"):
        top_cluster([[1.0, 2.0]])


def test_p_values_of_all_pairs() -> None:
    random = np.random.default_rng(2)
    counts = bootstrap_counts(200, samples=300, seed=1)
    items = random.normal(size=(3, 200)) + np.array([[1.0], [0.95], [0.0]])
    p = bootstrap_p_values(items.mean(axis=1), (counts @ items.T / 200).T)
    assert p[0, 2] < 0.01
    assert p[2, 0] > 0.99
    assert p[0, 1] > 0.05
    assert top_cluster(p) == [0, 1]
    assert (np.diag(p) == 1).all()
