"""Pairwise agreement of a measure with people: of outputs, and of systems.

WMT's Kendall-like tau, pairwise accuracy with calibrated ties, and hard and soft pairwise accuracy
of systems. Matrices have the shape (systems, segments); NaN marks missing judgements.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import overload

import numpy as np
from numpy.typing import ArrayLike

from tertium.errors import InputError
from tertium.stats.arrays import Bools, Counts, Floats, Ints, matrix, pair, same_shape
from tertium.stats.conventions import SAMPLES

DARR_POINTS = 25.0
"""The smallest difference of two direct assessments that counts (WMT17 to WMT20)."""


@dataclass(frozen=True)
class RelativeRankings:
    """Judgements that one system's output is better than another's, for the same segment."""

    better: Ints
    worse: Ints
    segment: Ints

    def __len__(self) -> int:
        return len(self.segment)

    def scores(self, measure: ArrayLike) -> tuple[Floats, Floats]:
        """The scores of the better outputs, and of the worse ones."""
        values = matrix(measure, "measure")
        return values[self.better, self.segment], values[self.worse, self.segment]


def relative_rankings(human: ArrayLike, *, points: float = DARR_POINTS) -> RelativeRankings:
    """Make rankings from direct assessments (daRR): all pairs at least ``points`` apart.

    ``human`` has raw scores from 0 to 100, or their mean if an output was judged repeatedly.

    >>> len(relative_rankings([[80, 50], [60, 10], [20, 40]]))
    4
    """
    scores = matrix(human, "human")
    first, second = np.triu_indices(len(scores), 1)
    differences = scores[first] - scores[second]
    pairs, segment = np.nonzero((np.abs(differences) >= points) & (differences != 0))
    first_wins = differences[pairs, segment] > 0
    better = np.where(first_wins, first[pairs], second[pairs])
    worse = np.where(first_wins, second[pairs], first[pairs])
    order = np.lexsort((worse, better, segment))
    return RelativeRankings(better[order], worse[order], segment[order])


@overload
def kendall_like(better: ArrayLike, worse: ArrayLike, *, counts: None = None) -> float: ...
@overload
def kendall_like(better: ArrayLike, worse: ArrayLike, *, counts: Counts) -> Floats: ...
def kendall_like(
    better: ArrayLike, worse: ArrayLike, *, counts: Counts | None = None
) -> float | Floats:
    """WMT's tau on given pairs: (concordant - discordant) / (concordant + discordant).

    A pair that the measure ties is discordant, as at WMT since 2017 (Ma et al., 2019). With
    ``counts``, one value per bootstrap sample of pairs.

    >>> kendall_like([0.9, 0.8, 0.5, 0.5], [0.1, 0.2, 0.3, 0.5])
    0.5
    """
    first, second = pair(better, worse, at_least=1)
    signs = np.where(first > second, 1.0, -1.0)
    if counts is None:
        return float(signs.mean())
    weights = np.asarray(counts, dtype=np.float64)
    return np.asarray(weights @ signs / weights.sum(axis=1))


@dataclass(frozen=True)
class TieCalibration:
    """The largest difference in scores that is still a tie, and the resulting accuracy."""

    epsilon: float
    accuracy: float


def pairwise_accuracy_with_ties(
    measure: ArrayLike, human: ArrayLike, *, epsilon: float = 0.0
) -> float:
    """The share of pairs on which measure and people agree, ties included: acc_eq.

    Deutsch et al. (2023), "Ties Matter". The pairs are of outputs for the same segment, and the
    mean is over segments; a measure ties if its scores differ by at most ``epsilon``. For pairs
    from the whole matrix, reshape it to one column.

    >>> pairwise_accuracy_with_ties([[0.9], [0.8], [0.1]], [[3], [3], [1]])
    0.6666666666666666
    """
    pairs = _pairs(measure, human)
    right = np.where(pairs.differences <= epsilon, pairs.human_ties, pairs.agree)
    by_segment = np.bincount(pairs.segments, weights=right) / np.bincount(pairs.segments)
    return float(by_segment.mean())


def calibrate_ties(measure: ArrayLike, human: ArrayLike) -> TieCalibration:
    """Choose the epsilon with the best acc_eq; of several, the smallest.

    The candidates are 0 and all differences of scores. It may be chosen on the reported items, as
    WMT does, or on others, and then passed to :func:`pairwise_accuracy_with_ties`.

    >>> calibrate_ties([[0.9], [0.75], [0.1]], [[3], [3], [1]])
    TieCalibration(epsilon=0.15..., accuracy=1.0)
    """
    pairs = _pairs(measure, human)
    order = np.argsort(pairs.differences, kind="stable")
    differences = pairs.differences[order]
    weights = 1 / np.bincount(pairs.segments)[pairs.segments]
    gains = ((pairs.human_ties.astype(np.float64) - pairs.agree) * weights)[order]
    last = np.append(np.flatnonzero(np.diff(differences)), len(differences) - 1)
    epsilons = np.concatenate([[0.0], differences[last]])
    gained = np.concatenate([[0.0], np.cumsum(gains)[last]])
    best = int(np.argmax(gained >= gained.max() - 1e-9))
    epsilon = float(epsilons[best])
    return TieCalibration(epsilon, pairwise_accuracy_with_ties(measure, human, epsilon=epsilon))


def pairwise_accuracy(measure: ArrayLike, human: ArrayLike) -> float:
    """The share of pairs of systems that the measure orders as people do (Kocmi et al., 2021).

    Pairs that people tie are left out; a pair that only the measure ties is wrong.

    >>> pairwise_accuracy([30.1, 31.0, 28.4], [80, 79, 70])
    0.6666666666666666
    """
    scores, gold = pair(measure, human)
    first, second = np.triu_indices(len(scores), 1)
    by_people = np.sign(gold[first] - gold[second])
    ordered = by_people != 0
    if not ordered.any():
        raise InputError("all systems have the same human score, so that there is no order")
    by_measure = np.sign(scores[first] - scores[second])
    return float((by_measure == by_people)[ordered].mean())


def soft_pairwise_accuracy(
    measure: ArrayLike, human: ArrayLike, *, samples: int = SAMPLES, seed: int = 0
) -> float:
    """Soft pairwise accuracy: how close the confidence of the measure is to that of people.

    Thompson et al. (2024): the mean over pairs of 1 - |p_human - p_measure|, each p from a paired
    permutation test. Segments with a missing score in one of the matrices are left out of that one.

    >>> human = [[80, 75, 90], [60, 70, 72]]
    >>> soft_pairwise_accuracy(human, human)
    1.0
    """
    scores, gold = matrix(measure, "measure"), matrix(human, "human")
    if len(scores) != len(gold):
        raise InputError(f"the measure has {len(scores)} systems, the human scores {len(gold)}")
    if len(scores) < 2:
        raise InputError("at least two systems are needed")
    first, second = np.triu_indices(len(scores), 1)
    by_measure = pairwise_p_values(scores, samples=samples, seed=seed)[first, second]
    by_people = pairwise_p_values(gold, samples=samples, seed=seed)[first, second]
    return float(1 - np.abs(by_people - by_measure).mean())


def pairwise_p_values(scores: ArrayLike, *, samples: int = SAMPLES, seed: int = 0) -> Floats:
    """P-values of "system i (row) is better than system j (column)", from one set of permutations.

    The score of a system is its mean. The scores of two systems are swapped at random, segment by
    segment; p is the share of permutations with at least the observed difference. As in the paper,
    nothing is added to the fraction. The diagonal is 1.
    """
    values = matrix(scores, "scores")
    values = values[:, ~np.isnan(values).any(axis=0)]
    if values.shape[1] < 1:
        raise InputError("no segment has a score for every system")
    coins = np.random.default_rng(seed).integers(2, size=(samples, values.shape[1]), dtype=np.int8)
    # Half the difference of two pseudo-systems, whose segments are swapped where the sign is -1.
    partial = (coins * 2.0 - 1.0) @ values.T
    totals = values.sum(axis=1)
    slack = 1e-12 * max(1.0, float(np.abs(values).sum(axis=1).max()))
    found = np.ones((len(values), len(values)))
    for system in range(len(values)):
        swapped = partial[:, [system]] - partial
        found[system] = (swapped >= totals[system] - totals - slack).mean(axis=0)
    return found


@dataclass(frozen=True)
class _Pairs:
    differences: Floats
    agree: Bools
    """Whether measure and people agree, without additional ties."""
    human_ties: Bools
    segments: Ints
    """The segment of each pair, counted from 0, without those that have no pair."""


def _pairs(measure: ArrayLike, human: ArrayLike) -> _Pairs:
    scores, gold = matrix(measure, "measure"), matrix(human, "human")
    same_shape(measure=scores, human=gold)
    first, second = np.triu_indices(len(scores), 1)
    by_measure, by_people = scores[first] - scores[second], gold[first] - gold[second]
    there = ~(np.isnan(by_measure) | np.isnan(by_people))
    if not there.any():
        raise InputError("no segment has two outputs that are both scored and judged")
    segments = np.unique(np.nonzero(there)[1], return_inverse=True)[1]
    return _Pairs(
        np.abs(by_measure[there]),
        np.sign(by_measure[there]) == np.sign(by_people[there]),
        by_people[there] == 0,
        segments.astype(np.int64),
    )
