"""Relative rankings: does a measure put the better of two translations first?

WMT's Kendall-like tau, and pairwise accuracy with calibrated ties. Matrices have a row a system and
a column a segment; NaN marks what nobody judged.
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
"""Two direct assessments must lie so far apart for one to count as better (WMT17 to WMT20)."""


@dataclass(frozen=True)
class RelativeRankings:
    """Judgements that one system's output is better than another's, for the same segment."""

    better: Ints
    worse: Ints
    segment: Ints

    def __len__(self) -> int:
        return len(self.segment)

    def scores(self, measure: ArrayLike) -> tuple[Floats, Floats]:
        """A measure's scores of the better outputs, and of the worse ones."""
        values = matrix(measure, "measure")
        return values[self.better, self.segment], values[self.worse, self.segment]


def relative_rankings(human: ArrayLike, *, points: float = DARR_POINTS) -> RelativeRankings:
    """Make rankings from direct assessments (daRR): all pairs at least ``points`` apart.

    ``human`` holds raw scores from 0 to 100, the mean where an output was judged repeatedly.

    >>> len(relative_rankings([[80, 50], [60, 10], [20, 40]]))
    4
    """
    scores = matrix(human, "human")
    first, second = np.triu_indices(len(scores), 1)
    differences = scores[first] - scores[second]
    pairs, segment = np.nonzero((np.abs(differences) >= points) & (differences != 0))
    ahead = differences[pairs, segment] > 0
    better = np.where(ahead, first[pairs], second[pairs])
    worse = np.where(ahead, second[pairs], first[pairs])
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

    A pair that the measure cannot tell apart is discordant, as at WMT since 2017 (Ma et al., 2019).
    With ``counts``, one value a bootstrap sample of pairs.

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
    """The largest difference in a measure's scores that still is a tie, and what that gives."""

    epsilon: float
    accuracy: float


def pairwise_accuracy_with_ties(
    measure: ArrayLike, human: ArrayLike, *, epsilon: float = 0.0
) -> float:
    """The share of pairs on which measure and people agree, ties included: acc_eq.

    Deutsch et al. (2023), "Ties Matter". The pairs are of outputs for the same segment, and the
    mean is over segments; a measure ties where its scores differ by ``epsilon`` at most. For pairs
    from the whole matrix, give it as one column.

    >>> pairwise_accuracy_with_ties([[0.9], [0.8], [0.1]], [[3], [3], [1]])
    0.6666666666666666
    """
    pairs = _pairs(measure, human)
    right = np.where(pairs.differences <= epsilon, pairs.human_ties, pairs.agree)
    by_segment = np.bincount(pairs.segments, weights=right) / np.bincount(pairs.segments)
    return float(by_segment.mean())


def calibrate_ties(measure: ArrayLike, human: ArrayLike) -> TieCalibration:
    """Choose the epsilon with the best acc_eq; of equally good ones, the smallest.

    The candidates are 0 and all differences in the measure's scores. It may be chosen on the items
    that are reported, as WMT does, or on others, and then be given to
    :func:`pairwise_accuracy_with_ties`.

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

    Pairs that people cannot tell apart are left out; a pair that only the measure cannot tell apart
    is wrong.

    >>> pairwise_accuracy([30.1, 31.0, 28.4], [80, 79, 70])
    0.6666666666666666
    """
    scores, gold = pair(measure, human)
    first, second = np.triu_indices(len(scores), 1)
    by_people = np.sign(gold[first] - gold[second])
    told = by_people != 0
    if not told.any():
        raise InputError("people score all systems alike: there is no order to agree with")
    by_measure = np.sign(scores[first] - scores[second])
    return float((by_measure == by_people)[told].mean())


def soft_pairwise_accuracy(
    measure: ArrayLike, human: ArrayLike, *, samples: int = SAMPLES, seed: int = 0
) -> float:
    """How near the measure's certainty about each pair of systems comes to people's.

    Thompson et al. (2024): the mean over pairs of 1 - |p_human - p_measure|, each p from a paired
    permutation test. Matrices of systems and segments; segments with a score missing in one of the
    matrices are left out of that one.

    >>> human = [[80, 75, 90], [60, 70, 72]]
    >>> soft_pairwise_accuracy(human, human)
    1.0
    """
    scores, gold = matrix(measure, "measure"), matrix(human, "human")
    if len(scores) != len(gold):
        raise InputError(f"the measure has {len(scores)} systems, the people judged {len(gold)}")
    if len(scores) < 2:
        raise InputError("there must be two systems at least")
    first, second = np.triu_indices(len(scores), 1)
    by_measure = pairwise_p_values(scores, samples=samples, seed=seed)[first, second]
    by_people = pairwise_p_values(gold, samples=samples, seed=seed)[first, second]
    return float(1 - np.abs(by_people - by_measure).mean())


def pairwise_p_values(scores: ArrayLike, *, samples: int = SAMPLES, seed: int = 0) -> Floats:
    """P-values of "system i (row) is better than system j (column)", from one set of permutations.

    The score of a system is its mean; the scores of two systems are swapped segment by segment at
    random, and p is how often that gives at least the difference that was seen. As the paper has
    it, nothing is added to the fraction. The diagonal is 1.
    """
    values = matrix(scores, "scores")
    values = values[:, ~np.isnan(values).any(axis=0)]
    if values.shape[1] < 1:
        raise InputError("there is no segment that is scored for every system")
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
    """Whether measure and people agree, before any tie is introduced."""
    human_ties: Bools
    segments: Ints
    """Which segment the pair is of, counted from 0, those without a pair left out."""


def _pairs(measure: ArrayLike, human: ArrayLike) -> _Pairs:
    scores, gold = matrix(measure, "measure"), matrix(human, "human")
    same_shape(measure=scores, human=gold)
    first, second = np.triu_indices(len(scores), 1)
    by_measure, by_people = scores[first] - scores[second], gold[first] - gold[second]
    there = ~(np.isnan(by_measure) | np.isnan(by_people))
    if not there.any():
        raise InputError("there is no segment with two outputs that are scored and judged")
    segments = np.unique(np.nonzero(there)[1], return_inverse=True)[1]
    return _Pairs(
        np.abs(by_measure[there]),
        np.sign(by_measure[there]) == np.sign(by_people[there]),
        by_people[there] == 0,
        segments.astype(np.int64),
    )
