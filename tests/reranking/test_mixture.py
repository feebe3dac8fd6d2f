"""Mixtures of scores, and the tuning of their weights."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tertium
from tertium.reranking.mixture import (
    best_on_line,
    mixed,
    standardized,
    system_score,
    tune,
    upper_envelope,
)

CHRF = tertium.load("chrf")


def test_mixed() -> None:
    """Features (1, 3) and (5, 1): standardized (-1, 1) and (1, -1)."""
    features = np.array([[1.0, 5.0], [3.0, 1.0]])
    assert mixed(features, [0.75, 0.25]).tolist() == [-0.5, 0.5]


def test_a_feature_that_is_constant_counts_nothing() -> None:
    assert standardized(np.array([[0.1 + 0.2], [0.3]])).tolist() == [[0.0], [0.0]]
    assert standardized(np.array([[7.0]])).tolist() == [[0.0]]


NUMBERS = st.integers(-5, 5).map(float)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=8))
def test_the_envelope_has_the_highest_line(lines: list[tuple[float, float]]) -> None:
    offsets, slopes = (np.array(values) for values in zip(*lines, strict=True))
    found = upper_envelope(offsets, slopes)
    starts = [start for start, _ in found]
    assert starts == sorted(starts)
    for weight in np.linspace(0, 12, 49):
        [*_, (_, place)] = [each for each in found if each[0] <= weight]
        values = offsets + weight * slopes
        assert values[place] == pytest.approx(values.max(), abs=1e-9)


def lists(seed: int) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Eight lists of five candidates with three features; statistics (sum, count)."""
    draw = np.random.default_rng(seed)
    features = [standardized(draw.normal(size=(5, 3))) for _ in range(8)]
    scores = [each @ [0.2, 1.0, 0.5] + draw.normal(size=5) for each in features]
    return features, [np.column_stack([each, np.ones(5)]) for each in scores]


@pytest.mark.parametrize("seed", range(5))
def test_the_line_search_is_exact(seed: int) -> None:
    features, statistics = lists(seed)
    mean = tertium.load("sss")  # its system score is the mean of its statistics
    rest = np.array([0.4, 0.0, 0.3])
    weight, score = best_on_line(features, statistics, mean, rest, 1)
    tried = []
    for value in np.linspace(0, 20, 4001):
        weights = rest.copy()
        weights[1] = value
        tried.append(system_score(features, statistics, mean, weights))
    assert score >= max(tried) - 1e-12
    rest[1] = weight
    assert system_score(features, statistics, mean, rest) == pytest.approx(score)


@pytest.mark.parametrize("seed", range(3))
def test_tuned_weights_beat_every_single_feature(seed: int) -> None:
    features, statistics = lists(seed)
    mean = tertium.load("sss")
    found = tune(features, statistics, mean)
    assert sum(found.weights) == pytest.approx(1)
    assert min(found.weights) >= 0
    assert system_score(features, statistics, mean, np.array(found.weights)) == pytest.approx(
        found.score
    )
    for start in (*np.eye(3), np.full(3, 1 / 3)):
        assert found.score >= system_score(features, statistics, mean, start) - 1e-12


def test_the_system_score_of_a_corpus_measure_is_tuned() -> None:
    """One feature is right in both lists, the other in none: only the first counts."""
    references = ["The train is late.", "He comes tomorrow."]
    candidates = [["The dogs.", "The train is late."], ["He comes tomorrow.", "No."]]
    statistics = []
    for reference, texts in zip(references, candidates, strict=True):
        scores = CHRF.score(texts, [reference] * 2)
        statistics.append(np.array(scores.statistics))
    features = [np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([[1.0, 0.0], [0.0, 1.0]])]
    found = tune(features, statistics, CHRF)
    assert found.score == pytest.approx(100)
    assert found.weights[0] > found.weights[1]
