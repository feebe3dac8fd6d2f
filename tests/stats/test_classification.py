"""ROC, AUC, threshold, accuracy and F1 against scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics

from tertium.errors import InputError
from tertium.stats.classification import (
    accuracy,
    auc,
    best_threshold,
    decide,
    macro_f1,
    roc_curve,
    sampled_roc,
)
from tertium.stats.resampling import bootstrap_counts

ITEMS = st.lists(st.tuples(st.booleans(), st.integers(-6, 6)), min_size=2, max_size=60).filter(
    lambda items: len({label for label, _ in items}) == 2
)


@settings(deadline=None)  # a busy machine is slow
@given(ITEMS, st.booleans())
def test_the_same_curve_as_scikit_learn(items: list[tuple[bool, int]], corners: bool) -> None:
    labels, scores = zip(*items, strict=True)
    found = roc_curve(labels, scores, corners_only=corners)
    expected = metrics.roc_curve(labels, scores, drop_intermediate=corners)
    assert found.false_positive_rate == pytest.approx(expected[0])
    assert found.true_positive_rate == pytest.approx(expected[1])
    assert (found.thresholds == expected[2]).all()
    assert auc(labels, scores) == pytest.approx(metrics.roc_auc_score(labels, scores))


@settings(deadline=None)  # a busy machine is slow
@given(ITEMS)
def test_the_threshold_is_the_first_best_candidate(items: list[tuple[bool, int]]) -> None:
    labels, scores = (np.array(values) for values in zip(*items, strict=True))
    candidates = metrics.roc_curve(labels, scores)[2]
    right = [metrics.accuracy_score(labels, scores > candidate) for candidate in candidates]
    found = best_threshold(labels, scores)
    assert found.value == candidates[int(np.argmax(right))]
    assert found.accuracy == pytest.approx(max(right))
    assert accuracy(labels, decide(scores, found.value)) == pytest.approx(found.accuracy)


@settings(deadline=None)  # a busy machine is slow
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=30))
def test_accuracy_and_f1(items: list[tuple[int, int]]) -> None:
    labels, told = zip(*items, strict=True)
    assert accuracy(labels, told) == pytest.approx(metrics.accuracy_score(labels, told))
    expected = metrics.f1_score(labels, told, average="macro", zero_division=0.0)
    assert macro_f1(labels, told) == pytest.approx(expected)


def test_samples_are_computed_as_if_they_were_drawn() -> None:
    random = np.random.default_rng(1)
    labels, scores = random.integers(2, size=40), random.integers(9, size=40)
    counts = bootstrap_counts(40, samples=15, seed=2)
    areas = auc(labels, scores, counts=counts)
    shares = accuracy(labels, scores > 4, counts=counts)
    rates = np.linspace(0, 1, 7)
    curves = sampled_roc(labels, scores, rates, counts)
    for sample, drawn in enumerate(np.repeat(np.arange(40), row) for row in counts):
        false, true, _ = metrics.roc_curve(labels[drawn], scores[drawn])
        assert curves[sample] == pytest.approx(np.interp(rates, false, true))
        expected = metrics.roc_auc_score(labels[drawn], scores[drawn])
        assert areas[sample] == pytest.approx(expected)
        assert shares[sample] == pytest.approx((labels == (scores > 4))[drawn].mean())


def test_what_cannot_be_told_apart() -> None:
    with pytest.raises(InputError, match="all items are of the same class"):
        auc([1, 1], [0.1, 0.2])
    with pytest.raises(InputError, match="must be 0 and 1"):
        auc([1, 2], [0.1, 0.2])
    with pytest.raises(InputError, match="2 labels, but 3 scores"):
        best_threshold([0, 1], [0.1, 0.2, 0.3])
    assert np.isnan(auc([0, 1], [0.1, 0.2], counts=np.array([[2, 0]])))[0]
    assert np.isnan(sampled_roc([0, 1], [0.1, 0.2], [0.5], np.array([[2, 0]])))[0, 0]
