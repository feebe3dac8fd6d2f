"""Metrics that others have computed, as rows beside the measures that are computed here."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from tertium.data.metric_scores import read_metric_scores
from tertium.errors import InputError
from tertium.studies.judgements.agreement import systems_of
from tertium.studies.judgements.sets import JudgedSet
from tertium.studies.judgements.study import MeasureScores


def submitted_scores(judged: JudgedSet, places: Sequence[Path]) -> dict[str, MeasureScores]:
    """The submitted scores of a set, by metric.

    A segment that was not scored is NaN. The score of a system is the submitted one, or the mean
    of its segments.
    """
    pair = judged.name.rpartition(" ")[2]
    systems = {*systems_of(judged), *(n for s in judged.systems for n in s.split("+"))}
    metrics = read_metric_scores(places, pair, sorted(systems))
    return {
        name: MeasureScores(
            [
                metric.segments.get((segment.system.split("+")[0], segment.id), math.nan)
                for segment in judged.segments
            ],
            systems=metric.systems,
        )
        for name, metric in metrics.items()
    }


def add_submitted(
    sets: Sequence[JudgedSet],
    scores: dict[str, dict[str, MeasureScores]],
    places: Sequence[Path],
) -> None:
    """Add the submitted metrics to the scores of the sets."""
    count = 0
    for judged in sets:
        submitted = submitted_scores(judged, places)
        count += len(submitted)
        for name, own in submitted.items():
            label = f"{name} (submitted)" if name in scores[judged.name] else name
            scores[judged.name][label] = own
    if not count:
        names = ", ".join(judged.name for judged in sets)
        given = ", ".join(map(str, places))
        raise InputError(f"{given}: no scores of the systems of {names}")
