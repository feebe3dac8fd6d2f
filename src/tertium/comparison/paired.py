"""Tests every pair of systems by every measure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tertium.comparison.resampled import Draws, bootstrap_systems, draw, permutation_p_values
from tertium.comparison.result import Comparison, MeasureComparison, Pair
from tertium.comparison.scoring import Advance, ScoredSystems, score_systems
from tertium.data.systems import ParallelOutputs
from tertium.errors import InputError, SettingError
from tertium.measures.base import Measure
from tertium.models.base import Progress
from tertium.stats.arrays import Floats
from tertium.stats.clusters import ranked_clusters
from tertium.stats.conventions import ALPHA, LEVEL, SAMPLES, Tail
from tertium.stats.resampling import bootstrap_p_value, percentile_interval

TIE = 1e-9
"""Segment scores that differ by less than this share of their size are equal but for rounding."""


def compare_outputs(
    outputs: ParallelOutputs,
    measures: Sequence[Measure],
    *,
    baseline: str | None = None,
    samples: int = SAMPLES,
    seed: int = 0,
    alpha: float = ALPHA,
    tail: Tail = "two-sided",
    progress: Progress | None = None,
    advance: Advance | None = None,
) -> Comparison:
    """Compare outputs that have been read."""
    if baseline is not None and baseline not in outputs.systems:
        raise InputError(f"no system {baseline!r}: there are {', '.join(outputs.systems)}")
    if not measures:
        raise SettingError("there is no measure to compare by")
    if samples < 1:
        raise SettingError(f"samples={samples!r}: it must be a whole number from 1")
    if not 0 < alpha < 1:
        raise SettingError(f"alpha={alpha!r}: it must be between 0 and 1")
    scored = score_systems(outputs, measures, progress=progress, advance=advance)
    draws = draw(len(outputs.segments), samples=samples, seed=seed)
    return Comparison(
        outputs,
        [_compared(outputs.systems, each, draws, alpha, tail) for each in scored],
        baseline,
        samples,
        seed,
        alpha,
        LEVEL,
        tail,
    )


def _compared(
    systems: Sequence[str], scored: ScoredSystems, draws: Draws, alpha: float, tail: Tail
) -> MeasureComparison:
    scores = scored.systems
    replicates = bootstrap_systems(scored.measure, scored.statistics, draws)
    permuted = permutation_p_values(scored.measure, scored.statistics, draws)
    order = sorted(range(len(systems)), key=lambda system: -scores[system])
    pairs = []
    for place, i in enumerate(order):
        for j in order[place + 1 :]:
            difference = float(scores[i] - scores[j])
            wins, ties, losses = _outcomes(scored.scores[i], scored.scores[j])
            pairs.append(
                Pair(
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
    return MeasureComparison(
        scored.measure.name,
        scored.signature,
        {systems[system]: float(scores[system]) for system in order},
        {systems[system]: percentile_interval(replicates[system]) for system in order},
        [[systems[system] for system in cluster] for cluster in clusters],
        pairs,
        scored.scores,
        int(scored.cut.sum()),
    )


def _outcomes(a: Floats, b: Floats) -> tuple[int, int, int]:
    slack = TIE * np.maximum(1.0, np.maximum(np.abs(a), np.abs(b)))
    wins, losses = int((a > b + slack).sum()), int((b > a + slack).sum())
    return wins, len(a) - wins - losses, losses
