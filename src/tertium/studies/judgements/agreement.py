"""Agreement of a measure with people, and the same in bootstrap samples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np

from tertium.errors import InputError
from tertium.stats.arrays import Counts, Floats
from tertium.stats.correlation import CORRELATIONS
from tertium.stats.ranking import kendall_like
from tertium.stats.resampling import bootstrap_counts, matrix_counts
from tertium.stats.systems import pairwise_accuracy
from tertium.studies.columns import Column
from tertium.studies.judgements.sets import JudgedSet
from tertium.studies.judgements.study import MeasureScores, ScoresByMeasure

SegmentStatistic = Literal["kendall", "pearson", "spearman"]
SystemStatistic = Literal["pearson", "spearman", "kendall", "accuracy"]
LARGEST_MATRIX = 20_000
"""Beyond so many outputs, inputs alone are resampled."""
FEWEST_SYSTEMS = 3


def segment_column(
    judged: JudgedSet,
    scores: ScoresByMeasure,
    *,
    statistic: SegmentStatistic = "kendall",
    samples: int,
    seed: int,
) -> Column:
    """Correlate all judged outputs at once (global correlation).

    Inputs and systems are resampled (Boot-Both), or inputs alone where there is one system or where
    most systems were not judged on most inputs.
    """
    correlate = CORRELATIONS[statistic]
    places, human = judged_places(judged)
    counts = _item_counts(judged, places, samples, seed)
    values, replicates = {}, {}
    for name, found in scores.items():
        own = np.array([found.segments[n] for n in places])
        values[name] = float(correlate(own, human))
        replicates[name] = np.asarray(correlate(own, human, counts=counts))
    return Column(judged.name, values, replicates)


def judged_places(judged: JudgedSet) -> tuple[list[int], Floats]:
    """Which outputs were judged, and what people thought of them."""
    places = [n for n, segment in enumerate(judged.segments) if segment.score is not None]
    if len(places) < FEWEST_SYSTEMS:
        raise InputError(f"{judged.name}: {len(places)} judged outputs are too few to correlate")
    return places, np.array([judged.segments[n].score for n in places], dtype=np.float64)


def ranking_column(
    judged: JudgedSet, scores: ScoresByMeasure, *, samples: int, seed: int
) -> Column:
    """WMT's Kendall-like tau on relative rankings (Prism, tables 2 and 4)."""
    place = {(each.system, each.id): n for n, each in enumerate(judged.segments)}
    for n, segment in enumerate(judged.segments):  # several systems with the same output
        for system in segment.system.split("+"):
            place.setdefault((system, segment.id), n)
    pairs = [
        (place[ranked.better, ranked.segment], place[ranked.worse, ranked.segment])
        for ranked in judged.rankings
        if (ranked.better, ranked.segment) in place and (ranked.worse, ranked.segment) in place
    ]
    if not pairs:
        raise InputError(f"{judged.name}: no ranking is of two outputs that are there")
    better, worse = (np.array(each) for each in zip(*pairs, strict=True))
    counts = bootstrap_counts(len(pairs), samples=samples, seed=seed)
    values, replicates = {}, {}
    for name, found in scores.items():
        own = np.array(found.segments)
        values[name] = kendall_like(own[better], own[worse])
        replicates[name] = kendall_like(own[better], own[worse], counts=counts)
    return Column(judged.name, values, replicates)


def system_column(
    judged: JudgedSet,
    scores: ScoresByMeasure,
    *,
    statistic: SystemStatistic = "pearson",
    top: int | None = None,
    samples: int,
    seed: int,
) -> Column:
    """Correlate the systems' scores, of all systems or of those that people find best.

    Inputs are resampled. Where people's scores of systems are given, they stay as they are.
    """
    human = system_judgements(judged)
    systems = sorted(human, key=lambda system: -human[system])[:top]
    if len(systems) < FEWEST_SYSTEMS:
        raise InputError(f"{judged.name}: {len(systems)} systems are too few to correlate")
    inputs = list(dict.fromkeys(segment.id for segment in judged.segments))
    counts = bootstrap_counts(len(inputs), samples=samples, seed=seed)
    draws = np.concatenate([np.ones((1, len(inputs))), counts])  # the first is no sample
    gold = np.array([[human[system]] for system in systems]).repeat(len(draws), axis=1)
    if not judged.system_scores:
        own = [segment.score for segment in judged.segments]
        gold = np.array([_means(judged, own, system, inputs, draws) for system in systems])
    agree = _statistic(statistic)
    values, replicates = {}, {}
    for name, found in scores.items():
        totals = np.array(
            [_system_scores(judged, found, system, inputs, draws) for system in systems]
        )
        all_ = np.array([agree(totals[:, n], gold[:, n]) for n in range(len(draws))])
        values[name], replicates[name] = float(all_[0]), all_[1:]
    return Column(judged.name, values, replicates)


def system_judgements(judged: JudgedSet) -> dict[str, float]:
    """People's scores of the systems: given, or the mean over what was judged."""
    if judged.system_scores:
        there = set(judged.systems)
        return {name: score for name, score in judged.system_scores.items() if name in there}
    found: dict[str, list[float]] = {}
    for segment in judged.segments:
        if segment.score is not None:
            found.setdefault(segment.system, []).append(segment.score)
    return {system: sum(each) / len(each) for system, each in found.items()}


def _item_counts(judged: JudgedSet, places: Sequence[int], samples: int, seed: int) -> Counts:
    """How often each judged output is in each sample."""
    systems = {name: n for n, name in enumerate(judged.systems)}
    inputs: dict[str, int] = {}
    for n in places:
        inputs.setdefault(judged.segments[n].id, len(inputs))
    columns = np.array([inputs[judged.segments[n].id] for n in places])
    cells = len(systems) * len(inputs)
    if len(systems) == 1 or cells > LARGEST_MATRIX or 2 * len(places) < cells:
        return bootstrap_counts(len(inputs), samples=samples, seed=seed)[:, columns]
    rows = np.array([systems[judged.segments[n].system] for n in places])
    drawn = matrix_counts(len(systems), len(inputs), over="both", samples=samples, seed=seed)
    return drawn[:, rows * len(inputs) + columns]


def _means(
    judged: JudgedSet,
    scores: Sequence[float | None],
    system: str,
    inputs: Sequence[str],
    draws: Floats,
) -> Floats:
    """The mean of a system's scores in each draw."""
    place = {name: n for n, name in enumerate(inputs)}
    weights, sums = np.zeros(len(inputs)), np.zeros(len(inputs))
    for segment, score in zip(judged.segments, scores, strict=True):
        if segment.system == system and score is not None:
            weights[place[segment.id]] += 1
            sums[place[segment.id]] += score
    with np.errstate(invalid="ignore"):
        return np.asarray((draws @ sums) / (draws @ weights))


def _system_scores(
    judged: JudgedSet, found: MeasureScores, system: str, inputs: Sequence[str], draws: Floats
) -> Floats:
    """The system score in each draw: from summed statistics where the measure has them."""
    if found.statistics is None or found.system is None:
        return _means(judged, found.segments, system, inputs, draws)
    place = {name: n for n, name in enumerate(inputs)}
    sums = np.zeros((len(inputs), len(found.statistics[0])))
    for segment, statistics in zip(judged.segments, found.statistics, strict=True):
        if segment.system == system:
            sums[place[segment.id]] += statistics
    return np.array([found.system(row) for row in (draws @ sums).tolist()])


def _statistic(name: SystemStatistic) -> Callable[[Floats, Floats], float]:
    if name == "accuracy":
        return pairwise_accuracy
    correlate = CORRELATIONS[name]
    return lambda x, y: float(correlate(x, y))
