"""Paired bootstrap and permutation tests of all pairs of systems.

A system score is a function of statistics summed over the segments (for BLEU: n-gram matches and
lengths; for most measures: the scores and their number). So a sample of segments is a matrix
product, whatever the measure, and no text is scored again.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from tertium.comparison.result import Comparison, MeasureComparison, SystemPair
from tertium.data.systems import SystemOutputs
from tertium.errors import InputError, SettingError
from tertium.measures.base import Measure
from tertium.measures.scores import ScoreTable
from tertium.measures.totals import Signature
from tertium.stats.arrays import Counts, Floats
from tertium.stats.conventions import ALPHA, LEVEL, SAMPLES, Tail
from tertium.stats.resampling import (
    bootstrap_counts,
    bootstrap_p_value,
    p_value,
    percentile_interval,
    ranked_clusters,
    rounding,
    spawn,
)

TIE = 1e-9
"""Segment scores whose relative difference is smaller than this are equal except for rounding."""


def compare_scores(
    table: ScoreTable,
    outputs: SystemOutputs,
    *,
    baseline: str | None = None,
    samples: int = SAMPLES,
    seed: int = 0,
    alpha: float = ALPHA,
    tail: Tail = "two-sided",
) -> Comparison:
    """Test all pairs of systems, whose scores are in a table with those of all segments."""
    check_comparison(outputs, baseline=baseline, samples=samples, alpha=alpha)
    draws = draw(outputs.count, samples=samples, seed=seed)
    measures = [_compare(table, name, draws, alpha, tail) for name in table.measures]
    return Comparison(outputs, measures, baseline, samples, seed, alpha, LEVEL, tail)


def check_comparison(
    outputs: SystemOutputs, *, baseline: str | None, samples: int, alpha: float
) -> None:
    """Check the settings, before any work."""
    if baseline is not None and baseline not in outputs.systems:
        raise InputError(f"no system {baseline!r}: the systems are {', '.join(outputs.systems)}")
    if samples < 1:
        raise SettingError(f"samples={samples!r}: it must be at least 1")
    if not 0 < alpha < 1:
        raise SettingError(f"alpha={alpha!r}: it must be between 0 and 1")


def _compare(
    table: ScoreTable, name: str, draws: Draws, alpha: float, tail: Tail
) -> MeasureComparison:
    systems = table.systems
    scored = [table[system, name] for system in systems]
    measure = scored[0].measure
    assert measure is not None
    statistics = np.array([each.statistics for each in scored])
    scores = np.array([each.system for each in scored])
    segment_scores = np.array([each.segments for each in scored])
    replicates = bootstrap_systems(measure, statistics, draws)
    permuted = permutation_p_values(measure, statistics, draws)
    order = sorted(range(len(systems)), key=lambda system: -scores[system])
    pairs = []
    for place, i in enumerate(order):
        for j in order[place + 1 :]:
            difference = float(scores[i] - scores[j])
            wins, ties, losses = _outcomes(segment_scores[i], segment_scores[j])
            pairs.append(
                SystemPair(
                    a=systems[i],
                    b=systems[j],
                    difference=difference,
                    interval=percentile_interval(replicates[i] - replicates[j]),
                    bootstrap_p=bootstrap_p_value(
                        replicates[i], replicates[j], difference, tail=tail
                    ),
                    permutation_p=float(permuted[i, j]),
                    wins=wins,
                    ties=ties,
                    losses=losses,
                )
            )
    better = np.where(scores[:, None] > scores, permuted, 1.0)
    clusters = ranked_clusters(scores.tolist(), better, alpha=alpha)
    marks: dict[str, Counter[str]] = {}
    for system, each in zip(systems, scored, strict=True):
        for mark in (mark for row in each.marks for mark in row):
            marks.setdefault(mark, Counter())[system] += 1
    alone = table.only(name)
    return MeasureComparison(
        name,
        Signature.common([each.signature for each in scored]),
        {systems[system]: float(scores[system]) for system in order},
        {systems[system]: percentile_interval(replicates[system]) for system in order},
        [[systems[system] for system in cluster] for cluster in clusters],
        pairs,
        segment_scores,
        sum(sum(each.cut) for each in scored),
        marks,
        alone.identified,
        alone.warnings,
        {system: alone.without(system) for system in systems if alone.meaningless(system)},
    )


def _outcomes(a: Floats, b: Floats) -> tuple[int, int, int]:
    slack = TIE * np.maximum(1.0, np.maximum(np.abs(a), np.abs(b)))
    wins, losses = int((a > b + slack).sum()), int((b > a + slack).sum())
    return wins, len(a) - wins - losses, losses


@dataclass(frozen=True)
class Draws:
    """The samples, which are the same for all systems and measures; shape (samples, segments)."""

    counts: Counts
    """How often each segment is in a bootstrap sample."""
    swapped: Floats
    """1 where the outputs of two systems are swapped in the permutation test, otherwise 0."""


def draw(segments: int, *, samples: int, seed: int) -> Draws:
    """Draw bootstrap samples, and the swaps of the permutation test."""
    first, second = spawn(seed, 2)
    coins = np.random.default_rng(second).integers(2, size=(samples, segments), dtype=np.int8)
    return Draws(
        bootstrap_counts(segments, samples=samples, seed=first).astype(np.float64),
        coins.astype(np.float64),
    )


def bootstrap_systems(measure: Measure, statistics: Floats, draws: Draws) -> Floats:
    """Return the system scores of every sample, of shape (systems, samples)."""
    return np.array([measure.systems(draws.counts @ system) for system in statistics])


def permutation_p_values(measure: Measure, statistics: Floats, draws: Draws) -> Floats:
    """Test each pair of systems with approximate randomisation, two-sided.

    p is how often two systems whose outputs are randomly swapped, segment by segment, differ at
    least as much as the real ones (Riezler and Maxwell, 2005). Identical systems have p = 1;
    sacrebleu, which counts only larger differences, gives them the smallest possible p.
    """
    totals = statistics.sum(axis=1)
    swapped = [draws.swapped @ system for system in statistics]
    scores = measure.systems(totals)
    p_values = np.ones((len(totals), len(totals)))
    for i in range(len(totals)):
        for j in range(i):
            moved = swapped[i] - swapped[j]
            pseudo = measure.systems(totals[i] - moved), measure.systems(totals[j] + moved)
            differences = np.abs(pseudo[0] - pseudo[1])
            observed = abs(float(scores[i] - scores[j]))
            extreme = differences >= observed - rounding(differences, observed)
            p_values[i, j] = p_values[j, i] = p_value(int(extreme.sum()), len(differences))
    return p_values
