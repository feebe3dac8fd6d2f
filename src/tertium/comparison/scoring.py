"""Score the outputs of all systems with all measures, so that no query is computed twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tertium.data.systems import ParallelOutputs, Segment
from tertium.errors import InputError
from tertium.measures.base import Measure, Segments, check_readable
from tertium.measures.marks import (
    by_system,
    identified,
    language_warnings,
    mark_rows,
    uses_model,
)
from tertium.measures.signature import Signature
from tertium.measures.totals import Totals
from tertium.models.base import Progress
from tertium.stats.arrays import Bools, Floats
from tertium.text import Row

SEGMENTS_AT_A_TIME = 256

Advance = Callable[[int], None]
"""Called with the number of segments that have been scored."""


@dataclass(frozen=True)
class ScoredSystems:
    """The scores of every output by one measure."""

    measure: Measure
    signature: Signature
    scores: Floats
    """Shape (systems, segments)."""
    statistics: Floats
    """Shape (systems, segments, statistics): the numbers whose sums give the system score."""
    cut: Bools
    marks: Mapping[str, Mapping[str, int]]
    """For each mark, how many outputs of each system have it."""
    identified: Mapping[str, int]
    """Identified languages of outputs without a given language, and how many are in each."""
    warnings: Sequence[str]
    """What is wrong with the texts of a system as a whole: their languages."""

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
    """Score a block of segments of all systems at a time, with each measure in turn.

    Systems share their references, and measures share many queries: block by block, the results
    are still cached in memory.
    """
    parts: list[list[_Part]] = [[] for _ in measures]
    size = SEGMENTS_AT_A_TIME
    for start in range(0, len(outputs.segments), size):
        segments = outputs.segments[start : start + size]
        for place, measure in enumerate(measures):
            if not measure.needs_all_rows:
                parts[place].append(_score(measure, segments, progress))
        if advance is not None:
            advance(start + len(segments))
    scored = []
    for measure, its_parts in zip(measures, parts, strict=True):
        whole = its_parts or [_score(measure, outputs.segments, progress)]
        totals = Totals()
        marks: dict[str, Counter[str]] = {}
        languages = {system: Counter[str]() for system in outputs.systems}
        for part in whole:
            totals.add(part.rows, part.segments, measure.reads)
            size = len(part.rows) // part.systems
            for place, system in enumerate(outputs.systems):
                its = slice(place * size, (place + 1) * size)
                marked = mark_rows([measure], part.rows[its], part.segments.cut[its])
                languages[system] += marked.languages
                for mark, count in marked.counts().items():
                    marks.setdefault(mark, Counter())[system] += count
        named = [identified(each) for each in languages.values() if uses_model([measure])]
        scored.append(
            ScoredSystems(
                measure,
                measure.signature(totals),
                np.concatenate([part.by_system(part.segments.scores) for part in whole], axis=1),
                np.concatenate(
                    [part.by_system(part.segments.statistics) for part in whole], axis=1
                ),
                np.concatenate([part.by_system(part.segments.cut) for part in whole], axis=1),
                marks,
                sum(named, Counter[str]()),
                by_system(
                    {name: language_warnings(each, [measure]) for name, each in languages.items()}
                ),
            )
        )
    return scored


@dataclass(frozen=True)
class _Part:
    """A block of segments of all systems, ordered by system."""

    rows: Sequence[Row]
    segments: Segments
    systems: int

    def by_system(self, values: Sequence[object]) -> Any:
        array = np.array(values)
        return array.reshape(self.systems, -1, *array.shape[1:])


def _score(measure: Measure, segments: Sequence[Segment], progress: Progress | None) -> _Part:
    count = len(segments[0].outputs)
    rows = [
        Row(segment.number, segment.outputs[system], segment.references, segment.source)
        for system in range(count)
        for segment in segments
    ]
    return _Part(rows, measure.segments(rows, progress), count)


def check_measures(outputs: ParallelOutputs, measures: Sequence[Measure]) -> None:
    """Check that no measure is given twice, and that none lacks sources."""
    names = [measure.column for measure in measures]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"measure {name} is given twice")
    for measure in measures:
        check_readable(
            measure,
            outputs.name,
            has_references=outputs.has_references,
            has_source=outputs.has_source,
        )
