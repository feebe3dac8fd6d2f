"""Scores files on a Ray cluster: each worker reads its rows and writes them as Parquet shards."""

from __future__ import annotations

import json
import logging
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import tertium.errors
from tertium.data.pairs import StoredPairs
from tertium.engines.output import CUT, MARKS
from tertium.engines.parquet import schema_of
from tertium.engines.progress import NO_PROGRESS, JobProgress
from tertium.engines.ray.cluster import (
    QUIET,
    ClusterSettings,
    connected,
    error_line,
    workers_and_threads,
)
from tertium.engines.ray.shards import Shard, ShardFolder
from tertium.engines.ray.worker import Part, ShardWorker, Work
from tertium.engines.scoring import (
    ROWS_AT_A_TIME,
    Scorer,
    ScoringResult,
    Sums,
    describe,
    results,
)
from tertium.errors import (
    CacheWarning,
    ClusterError,
    InputError,
    ResumeWarning,
    SettingError,
    TertiumError,
)
from tertium.measures.base import Measure
from tertium.measures.loading import MeasureLoader
from tertium.measures.marks import identified, language_warnings, uses_model
from tertium.models.cache.memo import Tally


@dataclass(frozen=True)
class DistributedJob:
    """Any number of measures over the rows of any number of files, one shard at a time.

    A finished shard is on disk: a worker that is lost loses no more than its current shard.
    """

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
        parts = self._parts()
        columns = self._columns()
        job = {
            **describe(self.measures, columns, self.rows_at_a_time),
            "rows": sum(part.stop - part.start for part in parts),
        }
        try:
            with connected(self.cluster) as ray:
                nodes = [node for node in ray.nodes() if node["Alive"]]
                cores = [int(node["Resources"].get("CPU", 0)) for node in nodes]
                workers, threads = workers_and_threads(self.cluster, cores, len(parts))
                folder = self.output.begin(job)
                work = Work(
                    inputs=self.inputs,
                    load=self.load,
                    threads=threads,
                    job=job,
                    columns=columns,
                    schema=self._schema(columns),
                    scores_only=self.scores_only,
                    folder=folder,
                    home=Path.cwd(),
                    finished=folder == self.output.path,
                )
                result = self._gather(ray, work, parts, workers, progress)
            self.output.finish()
        finally:
            self.output.close()
        return result

    def _gather(
        self, ray: Any, work: Work, parts: Sequence[Part], workers: int, progress: JobProgress
    ) -> ScoringResult:
        """Have the parts scored, and add up their outcomes."""
        existing = {part.number for part in parts if Shard(work.folder, part.number).path.exists()}
        sums, tally, resumed, lost = Sums.of(self.measures), Tally(), 0, 0
        for outcome in outcomes(ray, work, parts, workers):
            for message in outcome["warnings"]:
                warnings.warn(message, CacheWarning, stacklevel=2)
            if "error" in outcome:
                error: TertiumError = getattr(tertium.errors, outcome["error"])(outcome["message"])
                raise error
            sums.add(Sums.from_state(outcome))
            lost += outcome["lost"]
            if outcome["damage"]:
                warnings.warn(f"{outcome['damage']}: scored again", ResumeWarning, stacklevel=2)
            elif outcome["number"] in existing:
                resumed += outcome["rows"]
            for name, count in outcome["queries"].items():
                setattr(tally, name, getattr(tally, name) + count)
            progress.advance(sums.rows)
        times = "once" if lost == 1 else f"{lost} times"
        return ScoringResult(
            results(self.measures, sums.totals),
            sums.rows,
            sums.scored,
            sums.cut,
            resumed,
            None if self.tally is None else tally,
            [f"workers were lost {times}; others scored their rows"] if lost else [],
            sums.marks,
            identified(sums.languages) if uses_model(self.measures) else {},
            language_warnings(sums.languages, self.measures),
        )

    def _parts(self) -> list[Part]:
        """Divide the inputs into parts, each within one file."""
        bounds = [
            (place, start, min(start + self.rows_at_a_time, count))
            for place, count in enumerate(pairs.count() or 0 for pairs in self.inputs)
            for start in range(0, count, self.rows_at_a_time)
        ]
        if not bounds:
            raise InputError(f"{self.inputs[0].name} is empty: there is nothing to score")
        return [Part(number, *bound) for number, bound in enumerate(bounds)]

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

    def _columns(self) -> list[str]:
        """The columns of the output: those of all files, if they differ."""
        found: dict[str, None] = {}
        for pairs in self.inputs:
            columns = Scorer(pairs, self.measures, self.scores_only).columns()
            found.update(dict.fromkeys(columns))
        new = [*(measure.column for measure in self.measures), CUT, MARKS]
        return [*(name for name in found if name not in new), *new]

    def _schema(self, columns: Sequence[str]) -> Any:
        """The types of the columns, the same in all shards."""
        kinds: dict[str, set[type]] = {name: set() for name in columns}
        for pairs in self.inputs:
            for name, types in pairs.kinds().items():
                if name in kinds:
                    kinds[name] |= types
        kinds |= {measure.column: {float} for measure in self.measures}
        kinds[CUT] = {bool}
        kinds[MARKS] = {str}
        return schema_of(kinds)


def outcomes(ray: Any, work: Work, parts: Sequence[Part], workers: int) -> Iterator[dict[str, Any]]:
    """Give the parts to a pool of actors; yields the outcome of each, in any order.

    An actor whose process or node is lost is restarted where there is room, and repeats its task.
    Ray Data does so without a limit: it cannot tell whether a worker is away for a moment or for
    good, and every attempt to reach it would count. Each actor has one task at a time, because the
    tasks queued for a lost actor are lost with it.
    """
    logging.getLogger("ray.data").setLevel(QUIET)
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    context.print_on_execution_start = False
    rows = [asdict(part) for part in parts]
    done = ray.data.from_items(rows, override_num_blocks=len(rows)).map_batches(
        ShardWorker,
        batch_size=1,
        fn_constructor_args=(work,),
        compute=ray.data.ActorPoolStrategy(size=workers, max_tasks_in_flight_per_actor=1),
        num_cpus=work.threads,
    )
    try:
        for row in done.iter_rows():
            yield json.loads(row["outcome"])
    except ray.exceptions.RayError as error:
        raise ClusterError(
            f"the cluster has failed: {error_line(error)}; continue with --resume"
        ) from error
