"""Binary classification: ROC curve, AUC, thresholds, accuracy, precision, recall and F1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike

from tertium.errors import InputError
from tertium.stats.arrays import Bools, Counts, Floats, Ints, vector
from tertium.stats.pairs import dense_ranks, group_counts


@dataclass(frozen=True)
class Roc:
    """The ROC curve, from (0, 0) to (1, 1)."""

    false_positive_rate: Floats
    true_positive_rate: Floats
    thresholds: Floats
    """At each point, scores at or above the threshold are classified as positive."""


@dataclass(frozen=True)
class Threshold:
    """The best threshold: scores *above* ``value`` are classified as positive."""

    value: float
    accuracy: float
    """On the items that the threshold was chosen on."""


class Point(NamedTuple):
    """What is found if items with at least this score are kept."""

    threshold: float
    precision: float
    recall: float
    f1: float


def precision_recall_points(
    labels: Sequence[bool], scores: Sequence[float], positives: int | None = None
) -> list[Point]:
    """Precision, recall and F1 at every threshold, from the highest down.

    ``positives`` is the number of right items, if some of them have no score and cannot be found.

    >>> precision_recall_points([True, False], [0.9, 0.5], positives=2)[0]
    Point(threshold=0.9, precision=1.0, recall=0.5, f1=0.6666666666666666)
    """
    total = sum(labels) if positives is None else positives
    if not total:
        raise InputError("no item is right, so there is nothing to find")
    ordered = sorted(zip(scores, labels, strict=True), key=lambda one: -one[0])
    points, right = [], 0
    for count, (score, label) in enumerate(ordered, start=1):
        right += label
        if count < len(ordered) and ordered[count][0] == score:
            continue  # equal scores are kept or left out together
        points.append(Point(score, right / count, right / total, 2 * right / (count + total)))
    return points


def best_f1(points: Sequence[Point]) -> Point:
    """The point with the highest F1; of equal ones, the highest threshold."""
    return max(points, key=lambda point: (point.f1, point.threshold))


def roc_curve(labels: ArrayLike, scores: ArrayLike, *, corners_only: bool = True) -> Roc:
    """The ROC curve; its first threshold is infinite.

    ``corners_only`` drops points on a straight line between others, as scikit-learn does.

    >>> roc_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]).thresholds
    array([ inf, 0.8 , 0.4 , 0.35, 0.1 ])
    """
    positive, values = _classes(labels, scores)
    false_positives, true_positives, thresholds = _curve(positive, values, corners_only)
    negatives = len(positive) - positive.sum()
    return Roc(false_positives / negatives, true_positives / positive.sum(), thresholds)


def sampled_roc(labels: ArrayLike, scores: ArrayLike, at: ArrayLike, counts: Counts) -> Floats:
    """The true positive rate at each of some false positive rates, for each bootstrap sample.

    Between the points of a curve it is linear; NaN for a sample that has one class only.

    >>> sampled_roc([0, 1, 1], [0.4, 0.3, 0.8], [0.0, 0.5, 1.0], [[1, 1, 1], [1, 2, 0]]).tolist()
    [[0.5, 0.5, 1.0], [0.0, 0.0, 1.0]]
    """
    positive, values = _classes(labels, scores)
    order = np.argsort(-values, kind="stable")
    last = np.append(np.flatnonzero(np.diff(values[order])), len(values) - 1)
    rates = np.asarray(at, dtype=np.float64)
    curves = np.full((len(counts), len(rates)), np.nan)
    for place, drawn in enumerate(np.asarray(counts, dtype=np.float64)[:, order]):
        true, false = (np.cumsum(drawn * own)[last] for own in (positive[order], ~positive[order]))
        if true[-1] and false[-1]:
            x, y = (np.concatenate([[0.0], own / own[-1]]) for own in (false, true))
            curves[place] = np.interp(rates, x, y)
    return curves


@overload
def auc(labels: ArrayLike, scores: ArrayLike, *, counts: None = None) -> float: ...
@overload
def auc(labels: ArrayLike, scores: ArrayLike, *, counts: Counts) -> Floats: ...
def auc(labels: ArrayLike, scores: ArrayLike, *, counts: Counts | None = None) -> float | Floats:
    """The area under the ROC curve: how often a positive scores above a negative; ties count half.

    With ``counts``, one value per bootstrap sample; NaN if a sample has one class only.

    >>> auc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.75
    """
    positive, values = _classes(labels, scores)
    weights = np.ones((1, len(values))) if counts is None else np.asarray(counts, dtype=np.float64)
    groups = dense_ranks(values)
    positives = group_counts(groups, weights * positive)
    negatives = group_counts(groups, weights * ~positive)
    below = np.cumsum(negatives, axis=1) - negatives / 2
    pairs = positives.sum(axis=1) * negatives.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        area = np.where(pairs > 0, (positives * below).sum(axis=1) / pairs, np.nan)
    return float(area[0]) if counts is None else area


def best_threshold(labels: ArrayLike, scores: ArrayLike) -> Threshold:
    """Choose the threshold with the best accuracy, to be applied to other items.

    The candidates are those of the ROC curve, from the highest down; scores strictly above are
    positive; of equal accuracies the first is used. This is the evaluation of NMTScore.

    >>> best_threshold([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    Threshold(value=0.4, accuracy=0.75)
    """
    positive, values = _classes(labels, scores)
    candidates = _curve(positive, values, corners_only=True)[2]
    ordered_positives, ordered_negatives = np.sort(values[positive]), np.sort(values[~positive])
    above = len(ordered_positives) - np.searchsorted(ordered_positives, candidates, side="right")
    right = above + np.searchsorted(ordered_negatives, candidates, side="right")
    best = int(np.argmax(right))
    return Threshold(float(candidates[best]), float(right[best] / len(values)))


def decide(scores: ArrayLike, threshold: float) -> Bools:
    """Classify scores above the threshold as positive.

    >>> decide([0.3, 0.4, 0.5], 0.4)
    array([False, False,  True])
    """
    return np.asarray(np.asarray(scores, dtype=np.float64) > threshold)


@overload
def accuracy(labels: ArrayLike, decisions: ArrayLike, *, counts: None = None) -> float: ...
@overload
def accuracy(labels: ArrayLike, decisions: ArrayLike, *, counts: Counts) -> Floats: ...
def accuracy(
    labels: ArrayLike, decisions: ArrayLike, *, counts: Counts | None = None
) -> float | Floats:
    """The share of correct decisions; with ``counts``, one value per bootstrap sample.

    >>> accuracy([1, 0, 1], [1, 1, 1])
    0.6666666666666666
    """
    truth, decided = _decisions(labels, decisions)
    right = (truth == decided).astype(np.float64)
    if counts is None:
        return float(right.mean())
    weights = np.asarray(counts, dtype=np.float64)
    return np.asarray(weights @ right / weights.sum(axis=1))


def macro_f1(labels: ArrayLike, decisions: ArrayLike) -> float:
    """The mean of F1 over the classes that occur in labels or decisions.

    >>> macro_f1([1, 0, 1, 0], [1, 0, 0, 0])
    0.7333333333333334
    """
    truth, decided = _decisions(labels, decisions)
    scores = []
    for label in np.unique(np.concatenate([truth, decided])):
        both = int(((truth == label) & (decided == label)).sum())
        named = int((truth == label).sum() + (decided == label).sum())
        scores.append(2 * both / named)
    return float(np.mean(scores))


def _classes(labels: ArrayLike, scores: ArrayLike) -> tuple[Bools, Floats]:
    truth = vector(labels, "labels", at_least=1)
    values = vector(scores, "scores", at_least=1)
    if len(truth) != len(values):
        raise InputError(f"{len(truth)} labels, but {len(values)} scores")
    if not np.isin(truth, (0, 1)).all():
        raise InputError("the labels must be 0 and 1")
    positive: Bools = truth == 1
    if positive.all() or not positive.any():
        raise InputError("all items are of the same class; both classes are needed")
    return positive, values


def _decisions(labels: ArrayLike, decisions: ArrayLike) -> tuple[Ints, Ints]:
    truth = vector(labels, "labels", at_least=1)
    decided = vector(decisions, "decisions", at_least=1)
    if len(truth) != len(decided):
        raise InputError(f"{len(truth)} labels, but {len(decided)} decisions")
    return truth.astype(np.int64), decided.astype(np.int64)


def _curve(positive: Bools, values: Floats, corners_only: bool) -> tuple[Ints, Ints, Floats]:
    """False and true positives at each threshold, from the highest down."""
    order = np.argsort(-values, kind="stable")
    ordered = values[order]
    last = np.append(np.flatnonzero(np.diff(ordered)), len(ordered) - 1)
    true_positives = np.cumsum(positive[order])[last]
    false_positives = last + 1 - true_positives
    if corners_only and len(last) > 2:
        bends = (np.diff(true_positives, 2) != 0) | (np.diff(false_positives, 2) != 0)
        kept = np.flatnonzero(np.concatenate([[True], bends, [True]]))
        last, true_positives, false_positives = (
            last[kept],
            true_positives[kept],
            false_positives[kept],
        )
    return (
        np.concatenate([[0], false_positives]),
        np.concatenate([[0], true_positives]),
        np.concatenate([[np.inf], ordered[last]]),
    )
