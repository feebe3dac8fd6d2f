"""Relative rankings, ties and systems, worked by hand."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tertium.errors import InputError
from tertium.stats.correlation import williams_test
from tertium.stats.groups import average, per_group
from tertium.stats.ranking import (
    calibrate_ties,
    kendall_like,
    pairwise_accuracy,
    pairwise_accuracy_with_ties,
    pairwise_p_values,
    relative_rankings,
    soft_pairwise_accuracy,
)
from tertium.stats.resampling import bootstrap_counts

COLUMNS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=12)


def test_rankings_from_direct_assessment() -> None:
    human = np.array([[90, 50, np.nan], [65, 26, 80], [66, 25, 10]])
    # Segment 1: 90 - 65 is 25, enough; 90 - 66 is not. Segment 2: 50 - 25 only. Segment 3: 80 - 10.
    found = relative_rankings(human)
    triples = list(zip(found.segment, found.better, found.worse, strict=True))
    assert triples == [(0, 0, 1), (1, 0, 2), (2, 1, 2)]
    better, worse = found.scores([[9, 1, 0], [1, 9, 5], [9, 2, 5]])
    assert (better.tolist(), worse.tolist()) == ([9, 1, 5], [1, 2, 5])
    # Right, wrong, and a tie, which counts as wrong.
    assert kendall_like(better, worse) == pytest.approx((1 - 2) / 3)
    assert len(relative_rankings([[1, 1], [1, 1]], points=0)) == 0


def test_kendall_like_of_samples() -> None:
    better, worse = np.random.default_rng(0).integers(4, size=(2, 30))
    counts = bootstrap_counts(30, samples=10)
    for value, row in zip(kendall_like(better, worse, counts=counts), counts, strict=True):
        drawn = np.repeat(np.arange(30), row)
        assert value == pytest.approx(kendall_like(better[drawn], worse[drawn]))


def test_tie_calibration_by_hand() -> None:
    human, measure = np.array([[1, 2, 2, 3, 4]]).T, np.array([[2, 1, 1.5, 5, 3]]).T
    # Of the ten pairs, the six of one of the first three with one of the last two are ordered
    # alike. People tie items 2 and 3; the measure has the other three the wrong way round.
    assert pairwise_accuracy_with_ties(measure, human) == pytest.approx(0.6)
    assert pairwise_accuracy_with_ties(measure, human, epsilon=2) == pytest.approx(0.4)
    # With 0.5, the pair that people tie is tied, and so is 2 against 1.5, which was wrong anyhow.
    found = calibrate_ties(measure, human)
    assert found.epsilon == 0.5
    assert found.accuracy == pytest.approx(0.7)


def brute(measure: np.ndarray, human: np.ndarray, epsilon: float) -> float:
    segments = []
    for m, h in zip(measure.T, human.T, strict=True):
        right = []
        for i, j in combinations(range(len(m)), 2):
            order = 0 if abs(m[i] - m[j]) <= epsilon else np.sign(m[i] - m[j])
            right.append(order == np.sign(h[i] - h[j]))
        segments.append(np.mean(right))
    return float(np.mean(segments))


@given(COLUMNS, st.integers(0, 5))
def test_calibration_finds_the_best_epsilon(rows: list[tuple[int, int]], shift: int) -> None:
    first = np.array(rows, dtype=float)
    measure = np.stack([first[:, 0], np.roll(first[:, 0], shift)], axis=1)
    human = np.stack([first[:, 1], first[:, 1]], axis=1)
    found = calibrate_ties(measure, human)
    by_epsilon = {epsilon: brute(measure, human, epsilon) for epsilon in range(6)}
    assert found.accuracy == pytest.approx(max(by_epsilon.values()))
    assert found.accuracy == pytest.approx(by_epsilon[int(found.epsilon)])
    for epsilon, expected in by_epsilon.items():
        value = pairwise_accuracy_with_ties(measure, human, epsilon=epsilon)
        assert value == pytest.approx(expected)


def test_missing_judgements_make_no_pairs() -> None:
    human = np.array([[1, np.nan], [2, 5], [3, np.nan]])
    measure = np.array([[1, 1], [2, 2], [3, 3]])
    assert pairwise_accuracy_with_ties(measure, human) == 1
    with pytest.raises(InputError, match="no segment has two outputs"):
        pairwise_accuracy_with_ties(measure, human * np.nan)


def test_pairwise_accuracy_of_systems_by_hand() -> None:
    # Pairs: (1, 2) right, (1, 3) right, (1, 4) wrong, (2, 3) tied by people, (2, 4) and (3, 4)
    # right and tied by the measure, which is wrong.
    assert pairwise_accuracy([4, 2, 1, 1], [4, 3, 3, 9]) == pytest.approx(2 / 5)
    with pytest.raises(InputError, match="there is no order"):
        pairwise_accuracy([1, 2], [3, 3])


def test_soft_pairwise_accuracy_by_hand() -> None:
    # Three segments; all eight ways to swap are equally probable. By the measure, system 1 is
    # ahead by 2 + 1 + 1 = 4, which only the swap of nothing gives: p = 1/8. By the people, it is
    # ahead by 1 - 1 + 1 = 1, which four of the eight sums of three signs reach: p = 4/8.
    measure, human = [[2, 1, 1], [0, 0, 0]], [[1, 0, 1], [0, 1, 0]]
    p = pairwise_p_values(measure, samples=20000)
    assert p[0, 1] == pytest.approx(1 / 8, abs=0.01)
    assert pairwise_p_values(human, samples=20000)[0, 1] == pytest.approx(1 / 2, abs=0.015)
    expected = 1 - (1 / 2 - 1 / 8)
    found = soft_pairwise_accuracy(measure, human, samples=20000)
    assert found == pytest.approx(expected, abs=0.015)
    assert soft_pairwise_accuracy(measure, human) == soft_pairwise_accuracy(measure, human)


def test_williams_by_hand() -> None:
    # K = 1 - .04 - .25 - .01 + 2 * .01 = .72, mean r = .35:
    # t = -.3 sqrt(314 * 1.1 / (2 * .72 * 314 / 312 + .1225 * .729)) = -4.4950 with 312 degrees.
    found = williams_test(0.2, 0.5, 0.1, 315)
    assert found.t == pytest.approx(-4.4950, abs=5e-5)
    assert found.degrees == 312
    assert found.p_value > 0.9999
    assert williams_test(0.5, 0.2, 0.1, 315).p_value == pytest.approx(1 - found.p_value)
    assert williams_test(0.5, 0.5, 1.0, 10).p_value == 0.5


def test_williams_holds_its_level() -> None:
    random = np.random.default_rng(4)
    rejected = []
    for _ in range(2000):
        human = random.normal(size=30)
        a, b = human + random.normal(size=(2, 30))
        r = np.corrcoef([human, a, b])
        rejected.append(williams_test(r[0, 1], r[0, 2], r[1, 2], 30).p_value < 0.05)
    assert np.mean(rejected) == pytest.approx(0.05, abs=0.012)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((0.1, 0.2, 0.3, 3), "too few"),
        ((1.1, 0.2, 0.3, 9), "between -1 and 1"),
        ((0.9, 0.9, -0.9, 9), "no three variables"),
    ],
)
def test_williams_refuses(arguments: tuple[float, float, float, int], words: str) -> None:
    with pytest.raises(InputError, match=words):
        williams_test(*arguments)


def test_averages_over_languages() -> None:
    values = per_group(lambda x, y: float((x * y).sum()), ["a", "b", "a"], [1, 2, 3], [1, 1, 2])
    assert values == {"a": 7, "b": 2}
    assert average(values) == 4.5
    with pytest.raises(InputError, match="undefined in every group"):
        average({"a": float("nan")})
