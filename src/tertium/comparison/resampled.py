"""What the system scores might have been: bootstrap and permutation of summed statistics.

A system score is a function of statistics summed over the segments (for BLEU: n-gram matches and
lengths; for most measures: the scores and their number). So a sample of segments is a matrix
product, whatever the measure, and no text is looked at again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tertium.measures.base import Measure
from tertium.stats.arrays import Counts, Floats
from tertium.stats.resampling import bootstrap_counts, p_value, rounding, spawn


@dataclass(frozen=True)
class Draws:
    """The same samples for all systems and measures: how often each segment, and which swaps."""

    counts: Counts
    swapped: Floats
    """1 where the outputs of two systems are swapped, otherwise 0."""


def draw(segments: int, *, samples: int, seed: int) -> Draws:
    """Draw samples of segments, and toss a coin for each segment."""
    first, second = spawn(seed, 2)
    coins = np.random.default_rng(second).integers(2, size=(samples, segments), dtype=np.int8)
    return Draws(
        bootstrap_counts(segments, samples=samples, seed=first).astype(np.float64),
        coins.astype(np.float64),
    )


def bootstrap_systems(measure: Measure, statistics: Floats, draws: Draws) -> Floats:
    """The system scores of every sample: a row a system, a column a sample."""
    return np.array([measure.systems(draws.counts @ system) for system in statistics])


def permutation_p_values(measure: Measure, statistics: Floats, draws: Draws) -> Floats:
    """Test each pair of systems by approximate randomisation, two-sided.

    p is how often two systems whose outputs are swapped segment by segment at random differ at
    least as much as the real ones (Riezler and Maxwell, 2005). Systems that do not differ have 1;
    sacrebleu, which counts only larger differences, gives them the smallest p there is.
    """
    totals = statistics.sum(axis=1)
    swapped = [draws.swapped @ system for system in statistics]
    scores = measure.systems(totals)
    found = np.ones((len(totals), len(totals)))
    for i in range(len(totals)):
        for j in range(i):
            moved = swapped[i] - swapped[j]
            pseudo = measure.systems(totals[i] - moved), measure.systems(totals[j] + moved)
            differences = np.abs(pseudo[0] - pseudo[1])
            observed = abs(float(scores[i] - scores[j]))
            extreme = differences >= observed - rounding(differences, observed)
            found[i, j] = found[j, i] = p_value(int(extreme.sum()), len(differences))
    return found
