"""Scores the outputs of all systems by all measures, so that no question is asked twice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tertium.data.systems import ParallelOutputs, Segment
from tertium.errors import InputError
from tertium.measures.base import Measure, Totals
from tertium.measures.signature import Signature
from tertium.models.base import Progress
from tertium.stats.arrays import Bools, Floats
from tertium.text import Row, Text

SEGMENTS_AT_A_TIME = 256

Advance = Callable[[int], None]
"""Called with the number of segments that are done."""


@dataclass(frozen=True)
class ScoredSystems:
    """What a measure finds for every output."""

    measure: Measure
    signature: Signature
    scores: Floats
    """A row a system, a column a segment."""
    statistics: Floats
    """The same, and on the third axis the numbers that add up to the system score."""
    cut: Bools

    @property
    def systems(self) -> Floats:
        """The system scores."""
        return self.measure.systems(self.statistics.sum(axis=1))


def score_systems(
    outputs: ParallelOutputs,
    measures: Sequence[Measure],
    *,
    progress: Progress | None = None,
    advance: Advance | None = None,
) -> list[ScoredSystems]:
    """Score some segments of all systems at a time, by each measure in turn.

    Systems share their references, and measures many of their questions; those for the same
    segments are put close together, where the memo has the answers at hand.
    """
    check_measures(outputs, measures)
    totals = [Totals() for _ in measures]
    scores: list[list[Floats]] = [[] for _ in measures]
    statistics: list[list[Floats]] = [[] for _ in measures]
    cut: list[list[Bools]] = [[] for _ in measures]
    count = len(outputs.systems)
    for start in range(0, len(outputs.segments), SEGMENTS_AT_A_TIME):
        segments = outputs.segments[start : start + SEGMENTS_AT_A_TIME]
        for place, measure in enumerate(measures):
            rows = [
                Row(segment.number, segment.outputs[system], _compared_with(measure, segment))
                for system in range(count)
                for segment in segments
            ]
            found = measure.segments(rows, progress)
            totals[place].add(rows, found)
            shape = (count, len(segments))
            scores[place].append(np.reshape(found.scores, shape))
            statistics[place].append(np.reshape(found.statistics, (*shape, -1)))
            cut[place].append(np.reshape(found.cut, shape))
        if advance is not None:
            advance(start + len(segments))
    for measure, total in zip(measures, totals, strict=True):
        if _against_source(measure, outputs.has_references):
            total.facts["against"] = "source"
    return [
        ScoredSystems(
            measure,
            measure.signature(totals[place]),
            np.concatenate(scores[place], axis=1),
            np.concatenate(statistics[place], axis=1),
            np.concatenate(cut[place], axis=1),
        )
        for place, measure in enumerate(measures)
    ]


def check_measures(outputs: ParallelOutputs, measures: Sequence[Measure]) -> None:
    """Every measure must be there once, and find what it compares with."""
    names = [measure.name for measure in measures]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"{name} is asked for twice")
    for measure in measures:
        if _against_source(measure, outputs.has_references) and not outputs.has_source:
            raise InputError(f"{measure.name} needs sources, and {outputs.name} has none")


def _against_source(measure: Measure, has_references: bool) -> bool:
    return measure.compares_with == "source" or not has_references


def _compared_with(measure: Measure, segment: Segment) -> tuple[Text, ...]:
    if _against_source(measure, bool(segment.references)):
        assert segment.source is not None
        return (segment.source,)
    return segment.references
