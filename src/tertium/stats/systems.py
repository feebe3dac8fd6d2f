"""Does a measure order systems as people do? Pairwise accuracy, hard and soft."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from tertium.errors import InputError
from tertium.stats.arrays import Floats, matrix, pair
from tertium.stats.conventions import SAMPLES


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
