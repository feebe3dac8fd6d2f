"""Scores several systems on one test set in this process, with the scores of all segments."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tertium.data.pairs import Item, Pairs
from tertium.engines.bad_rows import BadRows, TolerantScorer
from tertium.engines.local.scoring import batches
from tertium.engines.output import Output
from tertium.engines.progress import NO_PROGRESS, JobProgress
from tertium.engines.scoring import ROWS_AT_A_TIME, Sums, describe
from tertium.errors import InputError
from tertium.measures.base import Measure, Segments
from tertium.measures.marks import by_system, identified, language_warnings, uses_model
from tertium.measures.scores import ScoreTable
from tertium.models.cache.memo import Tally

log = logging.getLogger(__name__)

SYSTEM, SEGMENT = "system", "segment"
"""Columns of the segment scores of several systems."""


@dataclass(frozen=True)
class SystemsResult:
    """The scores of all systems, and the rows with their segment scores."""

    table: ScoreTable
    segments: Sequence[Mapping[str, Any]]
    rows: int
    """Rows of each system."""
    scored: int
    """Rows of each system that could be scored."""
    cut: int
    """Rows of all systems with text that is longer than the model reads."""
    tally: Tally | None = None
    notes: Sequence[str] = ()
    marks: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """The number of rows of each system with each mark."""
    identified: Mapping[str, int] = field(default_factory=dict)
    """Identified languages of hypotheses without a given language, and how many are in each."""
    warnings: Sequence[str] = ()
    """What is wrong with the texts of a system as a whole: their languages."""
    reasons: Sequence[str] = ()
    """Why rows could not be scored; of many, the first."""


@dataclass(frozen=True)
class SystemsJob:
    """Any number of measures over the outputs of one or more systems.

    Systems take turns, some rows at a time: what the model says about their common references is
    computed once. All scores are kept in memory, so that they can be resampled.
    """

    systems: Mapping[str, Pairs]
    measures: Sequence[Measure]
    output: Output | None = None
    scores_only: bool = False
    rows_at_a_time: int = ROWS_AT_A_TIME
    tally: Tally | None = None
    bad: BadRows = field(default_factory=BadRows)

    def count(self) -> int | None:
        """The number of rows of all systems, if it is known beforehand."""
        counts = [pairs.count() for pairs in self.systems.values()]
        known = [count for count in counts if count is not None]
        return sum(known) if len(known) == len(counts) else None

    def run(self, progress: JobProgress = NO_PROGRESS) -> SystemsResult:
        """Score everything, and write the rows to the output, if there is one."""
        try:
            return self._run(progress)
        finally:
            if self.output is not None:
                self.output.close()

    def _run(self, progress: JobProgress) -> SystemsResult:
        scorers = {
            name: TolerantScorer(pairs, self.measures, self.scores_only, self.bad)
            for name, pairs in self.systems.items()
        }
        several = len(scorers) > 1
        for scorer in scorers.values():
            scorer.check()
            columns = scorer.columns()
        every = [SYSTEM, SEGMENT, *columns] if several else columns
        if self.output is not None:
            self.output.begin(describe(self.measures, every, self.rows_at_a_time), every)
        whole = any(measure.needs_all_rows for measure in self.measures)
        size = None if whole else self.rows_at_a_time
        sums = {name: Sums.of(self.measures) for name in scorers}
        found: dict[tuple[str, str], list[Segments]] = {}
        marks: dict[str, list[tuple[str, ...]]] = {name: [] for name in scorers}
        rows: list[dict[str, Any]] = []
        streams = [batches(pairs, size) for pairs in self.systems.values()]
        for blocks in zip(*streams, strict=True):
            for (name, scorer), items in zip(scorers.items(), blocks, strict=True):
                scored = scorer.score(items, columns, progress.detail)
                sums[name].add(scored.sums)
                marks[name] += scored.marks
                for column, segments in scored.segments.items():
                    found.setdefault((name, column), []).append(segments)
                new = _labelled(name, items, scored.rows) if several else scored.rows
                rows += new
                if self.output is not None:
                    self.output.add(new, {"rows": sum(each.rows for each in sums.values())})
                progress.advance(sum(each.rows for each in sums.values()))
                log.info("scored %d rows of %s", sums[name].rows, name or "the input")
        counts = {each.rows for each in sums.values()}
        if counts == {0}:
            raise InputError("there is nothing to score: the input is empty")
        for each in sums.values():
            self.bad.check(each)
        scores = {
            (name, measure.column): measure.scores(
                sums[name].totals[measure.column],
                _joined(found[name, measure.column]),
                marks[name],
            )
            for name in scorers
            for measure in self.measures
        }
        columns_of_measures = tuple(measure.column for measure in self.measures)
        languages = sum((identified(each.languages) for each in sums.values()), Counter[str]())
        first = next(iter(sums.values()))
        result = SystemsResult(
            ScoreTable(tuple(scorers), columns_of_measures, scores),
            rows,
            max(counts),
            first.scored,
            sum(each.cut for each in sums.values()),
            self.tally,
            self.bad.notes(first),
            {name: each.marks for name, each in sums.items()},
            languages if uses_model(self.measures) else {},
            by_system(
                {
                    name: language_warnings(each.languages, self.measures)
                    for name, each in sums.items()
                }
            ),
            self.bad.reasons,
        )
        if self.output is not None:
            self.output.finish({})
        return result


def _labelled(
    system: str, items: Sequence[Item], rows: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    return [
        {SYSTEM: system, SEGMENT: item.number, **row} for item, row in zip(items, rows, strict=True)
    ]


def _joined(parts: Sequence[Segments]) -> Segments:
    best: list[int | None] = []
    for part in parts:
        best += part.best_reference or [None] * len(part.scores)
    return Segments(
        [score for part in parts for score in part.scores],
        [numbers for part in parts for numbers in part.statistics],
        [cut for part in parts for cut in part.cut],
        best,
    )
