"""Scores files on a Ray cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tertium.data.pairs import Item, StoredPairs
from tertium.engines.output import CUT, MARKS
from tertium.engines.progress import NO_PROGRESS, JobProgress
from tertium.engines.ray.cluster import ClusterSettings
from tertium.engines.ray.job import ShardedRun, merged_columns
from tertium.engines.ray.shards import ShardFolder
from tertium.engines.ray.worker import LoadedTask
from tertium.engines.scoring import (
    ROWS_AT_A_TIME,
    Scorer,
    ScoringResult,
    Sums,
    describe,
    results,
)
from tertium.errors import InputError, SettingError
from tertium.measures.base import Measure
from tertium.measures.loading import MeasureLoader
from tertium.measures.marks import identified, language_warnings, uses_model
from tertium.measures.totals import Totals
from tertium.models.cache.memo import Tally


@dataclass(frozen=True)
class ScoringTask:
    """Scores rows by measures."""

    measures: MeasureLoader
    names: Sequence[str]
    """Of the measures' columns."""
    columns: Sequence[str]
    scores_only: bool
    rows_at_a_time: int

    def load(self, threads: int) -> LoadedTask:
        measures, models = self.measures.load(threads=threads)

        def process(
            pairs: StoredPairs, items: Sequence[Item]
        ) -> tuple[list[dict[str, Any]], dict[str, Any]]:
            scored = Scorer(pairs, measures, self.scores_only).score(items, self.columns)
            return scored.rows, scored.sums.state()

        description = describe(measures, self.columns, self.rows_at_a_time)
        return LoadedTask(description, process, models.tally or Tally())

    def check_note(self, note: Mapping[str, Any]) -> None:
        sums = Sums.from_state(note)
        if not isinstance(sums.cut, int) or set(sums.totals) != set(self.names):
            raise ValueError
        for totals in sums.totals.values():
            Totals().merge(totals)


@dataclass(frozen=True)
class DistributedJob:
    """Any number of measures over the rows of any number of files, one shard at a time."""

    inputs: Sequence[StoredPairs]
    measures: Sequence[Measure]
    load: MeasureLoader
    """Loads the same measures in another process."""
    output: ShardFolder
    cluster: ClusterSettings = field(default_factory=ClusterSettings)
    scores_only: bool = False
    rows_at_a_time: int = ROWS_AT_A_TIME
    tally: Tally | None = None
    """As for a local job: None if no measure uses a translation model."""

    def count(self) -> int | None:
        """The number of rows."""
        return sum(pairs.count() or 0 for pairs in self.inputs)

    def run(self, progress: JobProgress = NO_PROGRESS) -> ScoringResult:
        """Score and write everything."""
        self._check()
        names = [measure.column for measure in self.measures]
        columns = merged_columns(
            [Scorer(pairs, self.measures, self.scores_only).columns() for pairs in self.inputs],
            [*names, CUT, MARKS],
        )
        run = ShardedRun(
            self.inputs,
            ScoringTask(self.load, names, columns, self.scores_only, self.rows_at_a_time),
            self.output,
            self.cluster,
            self.rows_at_a_time,
            describe(self.measures, columns, self.rows_at_a_time),
            {**dict.fromkeys(names, float), CUT: bool, MARKS: str},
            columns,
            "score",
        )
        sums = Sums.of(self.measures)
        gathered = run(lambda note: sums.add(Sums.from_state(note)), progress)
        return ScoringResult(
            results(self.measures, sums.totals),
            sums.rows,
            sums.scored,
            sums.cut,
            gathered.resumed,
            None if self.tally is None else gathered.tally,
            gathered.notes,
            sums.marks,
            identified(sums.languages) if uses_model(self.measures) else {},
            language_warnings(sums.languages, self.measures),
        )

    def _check(self) -> None:
        for measure in self.measures:
            if measure.needs_all_rows:
                raise SettingError(
                    f"{measure.name} with these settings scores all rows at once, and a worker "
                    "sees only some of them; use --engine local, or settings with which each row "
                    "is scored independently"
                )
        for pairs in self.inputs:
            Scorer(pairs, self.measures, self.scores_only).check()
            if pairs.has_references != self.inputs[0].has_references:
                raise InputError(
                    f"{pairs.name} and {self.inputs[0].name} differ: only one of them has "
                    "references; score them separately"
                )
