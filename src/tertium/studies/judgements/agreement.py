"""The agreement of measures with human judgements, and the same in bootstrap samples."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations, permutations
from typing import Any, Literal

import numpy as np

from tertium.errors import DataWarning, InputError, SettingError
from tertium.stats.arrays import Counts, Floats
from tertium.stats.correlation import CORRELATIONS, pearson, williams_test
from tertium.stats.groups import average, global_correlation, input_correlation, per_group
from tertium.stats.permutation import permutation_test
from tertium.stats.ranking import kendall_like, pairwise_accuracy
from tertium.stats.resampling import bootstrap_counts, matrix_counts
from tertium.studies.columns import Column
from tertium.studies.judgements.sets import JudgedSet
from tertium.studies.judgements.study import MeasureScores, ScoresByMeasure

SegmentStatistic = Literal["kendall", "pearson", "spearman"]
SystemStatistic = Literal["pearson", "spearman", "kendall", "accuracy"]
AverageBy = Literal["none", "input", "system"]
"""Correlate all outputs at once, or within each input or each system and average."""
Test = Literal["bootstrap", "permutation", "williams"]
LARGEST_MATRIX = 20_000
"""With more outputs than this, only inputs are resampled."""
FEWEST = 3
"""Outputs, or systems, that a correlation needs."""


def segment_column(
    judged: JudgedSet,
    scores: ScoresByMeasure,
    *,
    statistic: SegmentStatistic = "kendall",
    average_by: AverageBy = "none",
    test: Test = "bootstrap",
    samples: int,
    seed: int,
) -> Column:
    """Correlate the scores of outputs with the judgements.

    Inputs and systems are resampled (Boot-Both), or inputs alone if there is one system, if most
    systems were not judged on most inputs, or if correlations are averaged over groups.
    """
    check_test(test, statistic, average_by)
    correlate = CORRELATIONS[statistic]
    places, human = judged_places(judged)
    scores = with_scores(judged, scores, places)
    values, replicates = {}, {}
    measures = {name: np.array([each.segments[n] for n in places]) for name, each in scores.items()}
    counts = _item_counts(judged, places, samples, seed)
    for name, own in measures.items():
        if average_by == "none":
            values[name] = float(correlate(own, human))
            replicates[name] = np.asarray(correlate(own, human, counts=counts))
        else:
            values[name], replicates[name] = _averaged(
                judged, places, own, human, statistic, average_by, samples, seed
            )
    p_values = {}
    if test == "williams":
        p_values = _williams(measures, human)
    elif test == "permutation":
        p_values = _permutation(
            judged, places, measures, human, statistic, average_by, samples, seed
        )
    return Column(judged.name, values, replicates, p_values, n=len(places))


def check_test(test: Test, statistic: SegmentStatistic, average_by: AverageBy) -> None:
    """Refuse the Williams test for anything but Pearson's r of all outputs."""
    if test == "williams" and (statistic != "pearson" or average_by != "none"):
        raise SettingError("the Williams test is for Pearson's r of all outputs: use pearson")


def judged_places(judged: JudgedSet) -> tuple[list[int], Floats]:
    """The places of the outputs that were judged, and their human scores."""
    places = [n for n, segment in enumerate(judged.segments) if segment.score is not None]
    if len(places) < FEWEST:
        raise InputError(f"{judged.name}: {len(places)} judged outputs are too few to correlate")
    return places, np.array([judged.segments[n].score for n in places], dtype=np.float64)


def ranking_column(
    judged: JudgedSet, scores: ScoresByMeasure, *, samples: int, seed: int
) -> Column:
    """WMT's Kendall-like tau on relative rankings (Prism, tables 2 and 4)."""
    place = {(each.system, each.id): n for n, each in enumerate(judged.segments)}
    for n, segment in enumerate(judged.segments):  # an output that several systems share
        for system in segment.system.split("+"):
            place.setdefault((system, segment.id), n)
    pairs = [
        (place[ranked.better, ranked.segment], place[ranked.worse, ranked.segment])
        for ranked in judged.rankings
        if (ranked.better, ranked.segment) in place and (ranked.worse, ranked.segment) in place
    ]
    if not pairs:
        raise InputError(f"{judged.name}: no ranking compares two outputs that are in the data")
    better, worse = (np.array(each) for each in zip(*pairs, strict=True))
    scores = with_scores(judged, scores, sorted({*better.tolist(), *worse.tolist()}))
    counts = bootstrap_counts(len(pairs), samples=samples, seed=seed)
    values, replicates = {}, {}
    for name, each in scores.items():
        own = np.array(each.segments)
        values[name] = kendall_like(own[better], own[worse])
        replicates[name] = kendall_like(own[better], own[worse], counts=counts)
    return Column(judged.name, values, replicates, n=len(pairs))


def system_column(
    judged: JudgedSet,
    scores: ScoresByMeasure,
    *,
    statistic: SystemStatistic = "pearson",
    top: int | None = None,
    samples: int,
    seed: int,
) -> Column:
    """Correlate the scores of systems, of all or of the ``top`` ones by human score.

    Inputs are resampled. Human scores of systems that are given are not.
    """
    human = system_judgements(judged)
    systems = sorted(human, key=lambda system: -human[system])[:top]
    if len(systems) < FEWEST:
        raise InputError(f"{judged.name}: {len(systems)} systems are too few to correlate")
    inputs = {name: n for n, name in enumerate(dict.fromkeys(s.id for s in judged.segments))}
    places = systems_of(judged)
    members = [[(n, inputs[judged.segments[n].id]) for n in places[name]] for name in systems]
    counts = bootstrap_counts(len(inputs), samples=samples, seed=seed)
    draws = np.concatenate([np.ones((1, len(inputs))), counts])  # the first row is the data itself
    gold = np.array([[human[system]] for system in systems]).repeat(len(draws), axis=1)
    if not judged.system_scores:
        given = [segment.score for segment in judged.segments]
        gold = np.array([_means(given, own, draws) for own in members])
    agree = _statistic(statistic)
    values, replicates = {}, {}
    judged_outputs = sorted({place for own in members for place, _ in own})
    complete = with_scores(judged, scores, judged_outputs, systems=systems)
    for name, each in complete.items():
        if each.systems:
            totals = np.array([[each.systems[system]] for system in systems])
            totals = totals.repeat(len(draws), axis=1)
        else:
            totals = np.array([_system_scores(each, own, draws) for own in members])
        agreed = np.array([_agreement(agree, x, y) for x, y in zip(totals.T, gold.T, strict=True)])
        values[name], replicates[name] = float(agreed[0]), agreed[1:]
    return Column(judged.name, values, replicates, n=len(systems))


def with_scores(
    judged: JudgedSet,
    scores: ScoresByMeasure,
    places: Sequence[int],
    *,
    systems: Sequence[str] | None = None,
) -> ScoresByMeasure:
    """Leave out, with a warning, metrics that did not score all of these outputs or systems.

    Only scores that were submitted can be incomplete. A metric that has no scores at all of this
    kind, as many had of segments, is left out without a warning.
    """
    complete = {}
    for name, each in scores.items():
        if systems is not None and each.systems:
            missing = [system for system in systems if system not in each.systems]
            count, what = len(missing), f"systems: {', '.join(missing)}"
            total = len(systems)
        else:
            unscored = [n for n in places if np.isnan(each.segments[n])]
            count, total, what = len(unscored), len(places), "outputs"
            if count < total and count:
                names = dict.fromkeys(judged.segments[n].system for n in unscored)
                what = f"outputs, of the systems {', '.join(names)}"
        if not count:
            complete[name] = each
        elif count < total:
            warnings.warn(
                f"{judged.name}: {name} is left out, without scores of {count} of {total} {what}",
                DataWarning,
                stacklevel=3,
            )
    return complete


def _agreement(agree: Callable[[Floats, Floats], float], x: Floats, y: Floats) -> float:
    """The agreement of the systems that are in a sample; NaN if there are too few of them.

    A sample of inputs may hold no output of a system that was judged on few inputs.
    """
    drawn = np.isfinite(x) & np.isfinite(y)
    return agree(x[drawn], y[drawn]) if drawn.sum() >= FEWEST else float("nan")


def systems_of(judged: JudgedSet) -> dict[str, list[int]]:
    """The systems, and the places of their outputs.

    WMT joins the names of systems with the same output by a plus. If all of them occur on their
    own as well, the output counts for each.
    """
    single = {name for name in judged.systems if "+" not in name}
    places: dict[str, list[int]] = {}
    for place, segment in enumerate(judged.segments):
        parts = segment.system.split("+")
        for name in parts if single.issuperset(parts) else [segment.system]:
            places.setdefault(name, []).append(place)
    return places


def system_judgements(judged: JudgedSet) -> dict[str, float]:
    """The human scores of the systems: given, or the mean over the judged outputs."""
    places = systems_of(judged)
    if judged.system_scores:
        return {name: score for name, score in judged.system_scores.items() if name in places}
    means = {}
    for system, own in places.items():
        scores = [judged.segments[n].score for n in own]
        given = [score for score in scores if score is not None]
        if given:
            means[system] = sum(given) / len(given)
    return means


def _averaged(
    judged: JudgedSet,
    places: Sequence[int],
    own: Floats,
    human: Floats,
    statistic: SegmentStatistic,
    average_by: AverageBy,
    samples: int,
    seed: int,
) -> tuple[float, Floats]:
    """The correlation within each input or system, averaged; and in bootstrap samples of inputs."""
    correlate = CORRELATIONS[statistic]
    segments = [judged.segments[n] for n in places]
    names = [each.id if average_by == "input" else each.system for each in segments]
    sizes = Counter(names)
    several = np.array([sizes[name] > 1 for name in names])
    within = per_group(
        lambda x, y: float(correlate(x, y)),
        [name for name in names if sizes[name] > 1],
        own[several],
        human[several],
    )
    inputs = {name: n for n, name in enumerate(dict.fromkeys(each.id for each in segments))}
    counts = bootstrap_counts(len(inputs), samples=samples, seed=seed)
    if average_by == "input":
        defined = {name: value for name, value in within.items() if not np.isnan(value)}
        drawn = counts[:, [inputs[name] for name in defined]]
        with np.errstate(invalid="ignore"):
            sums = drawn @ np.array(list(defined.values()))
            return average(within), np.asarray(sums / drawn.sum(axis=1))
    columns = np.array([inputs[each.id] for each in segments])
    replicates = []
    for name in within:
        member = np.array([each == name for each in names])
        drawn = counts[:, columns[member]]
        replicates.append(np.asarray(correlate(own[member], human[member], counts=drawn)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # no group is defined in a sample
        return average(within), np.asarray(np.nanmean(replicates, axis=0))


def _williams(measures: Mapping[str, Floats], human: Floats) -> dict[tuple[str, str], float]:
    r = {name: pearson(own, human) for name, own in measures.items()}
    defined = [name for name in measures if not np.isnan(r[name])]
    return {
        (a, b): williams_test(r[a], r[b], pearson(measures[a], measures[b]), len(human)).p_value
        for a, b in permutations(defined, 2)
    }


def _permutation(
    judged: JudgedSet,
    places: Sequence[int],
    measures: Mapping[str, Floats],
    human: Floats,
    statistic: SegmentStatistic,
    average_by: AverageBy,
    samples: int,
    seed: int,
) -> dict[tuple[str, str], float]:
    """PERM-BOTH for each pair of measures; of several outputs for an input, each has its row."""
    correlate = CORRELATIONS[statistic]
    segments = [judged.segments[n] for n in places]
    seen: Counter[tuple[str, str]] = Counter()
    systems: dict[tuple[str, int], int] = {}
    inputs: dict[str, int] = {}
    rows, columns = [], []
    for each in segments:
        number = seen[each.system, each.id]
        seen[each.system, each.id] += 1
        rows.append(systems.setdefault((each.system, number), len(systems)))
        columns.append(inputs.setdefault(each.id, len(inputs)))

    def matrix(values: Floats) -> Floats:
        filled = np.full((len(systems), len(inputs)), np.nan)
        filled[rows, columns] = values
        return filled

    def agree(scores: Floats, gold: Floats) -> float:
        def one(x: Floats, y: Floats) -> float:
            return float(correlate(x, y))

        if average_by == "none":
            return global_correlation(one, scores, gold)
        if average_by == "input":
            return input_correlation(one, scores, gold)
        return input_correlation(one, scores.T, gold.T)

    gold = matrix(human)
    found = {}
    for a, b in combinations(measures, 2):
        try:
            settings: dict[str, Any] = {"samples": samples, "seed": seed}
            x, y = matrix(measures[a]), matrix(measures[b])
            found[a, b] = permutation_test(agree, x, y, gold, **settings)
            found[b, a] = permutation_test(agree, y, x, gold, **settings)
        except InputError:  # a measure is constant
            continue
    return found


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


Members = Sequence[tuple[int, int]]
"""The outputs of a system: their places among the segments, and their inputs."""


def _means(scores: Sequence[float | None], members: Members, draws: Floats) -> Floats:
    """The mean score of a system in each draw; NaN if none of its outputs is drawn."""
    weights, sums = np.zeros(draws.shape[1]), np.zeros(draws.shape[1])
    for place, column in members:
        score = scores[place]
        if score is not None:
            weights[column] += 1
            sums[column] += score
    with np.errstate(invalid="ignore"):
        return np.asarray((draws @ sums) / (draws @ weights))


def _system_scores(found: MeasureScores, members: Members, draws: Floats) -> Floats:
    """The system score in each draw: from summed statistics if the measure has them."""
    if found.statistics is None or found.system is None:
        return _means(found.segments, members, draws)
    weights = np.zeros(draws.shape[1])
    sums = np.zeros((draws.shape[1], len(found.statistics[0])))
    for place, column in members:
        weights[column] += 1
        sums[column] += found.statistics[place]
    totals, drawn = (draws @ sums).tolist(), draws @ weights
    scores = [found.system(row) if n else np.nan for row, n in zip(totals, drawn, strict=True)]
    return np.array(scores)


def _statistic(name: SystemStatistic) -> Callable[[Floats, Floats], float]:
    if name == "accuracy":
        return pairwise_accuracy
    correlate = CORRELATIONS[name]
    return lambda x, y: float(correlate(x, y))
