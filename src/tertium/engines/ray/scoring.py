"""Scores files on a Ray cluster: each worker reads its rows, and writes them as a Parquet shard."""

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
from tertium.engines.layouts import CUT
from tertium.engines.local.scoring import Advance
from tertium.engines.parquet import schema_of
from tertium.engines.ray.cluster import (
    QUIET,
    ClusterSettings,
    connected,
    what_happened,
    workers_and_threads,
)
from tertium.engines.ray.shards import Shard, ShardFolder
from tertium.engines.ray.worker import Part, ShardWorker, Work
from tertium.engines.scoring import ROWS_AT_A_TIME, Result, Scorer, describe, results
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
from tertium.measures.totals import Totals
from tertium.models.cache.memo import Tally


@dataclass
class DistributedJob:
    """Any number of measures over the rows of any number of files, a shard at a time.

    What a worker has finished is on disk, so nothing but the shard that it was at is lost with it.
    """

    inputs: Sequence[StoredPairs]
    measures: Sequence[Measure]
    load: MeasureLoader
    """Loads the same measures in another process."""
    output: ShardFolder
    cluster: ClusterSettings = field(default_factory=ClusterSettings)
    scores_only: bool = False
    rows_at_a_time: int = ROWS_AT_A_TIME
    advance: Advance | None = None
    totals: dict[str, Totals] = field(default_factory=dict)
    tally: Tally = field(default_factory=Tally)
    rows: int = 0
    resumed: int = 0
    cut: int = 0
    lost: int = 0
    """How often a worker was lost over a shard that another then did."""

    def count(self) -> int | None:
        """How many rows there are."""
        return sum(pairs.count() or 0 for pairs in self.inputs)

    def run(self) -> dict[str, Result]:
        """Score everything; returns the system scores."""
        self._check()
        parts = self._parts()
        columns = self._columns()
        job = {
            **describe(self.measures, columns, self.rows_at_a_time),
            "rows": sum(part.stop - part.start for part in parts),
        }
        self.totals = {measure.name: Totals() for measure in self.measures}
        with connected(self.cluster) as ray:
            cores = [int(node["Resources"].get("CPU", 0)) for node in ray.nodes() if node["Alive"]]
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
            there = {part.number for part in parts if Shard(folder, part.number).path.exists()}
            try:
                for outcome in outcomes(ray, work, parts, workers):
                    self._take(outcome, there)
            except BaseException:
                self.output.give_up()
                raise
        self.output.finish()
        return results(self.measures, self.totals)

    def _take(self, outcome: dict[str, Any], there: set[int]) -> None:
        """Add up what came of a part; ``there`` are those that a run before had finished."""
        for message in outcome["warnings"]:
            warnings.warn(message, CacheWarning, stacklevel=2)
        if "error" in outcome:
            error: TertiumError = getattr(tertium.errors, outcome["error"])(outcome["message"])
            raise error
        self.rows += outcome["rows"]
        self.cut += outcome["cut"]
        self.lost += outcome["lost"]
        if outcome["damage"]:
            warnings.warn(f"{outcome['damage']}: scored again", ResumeWarning, stacklevel=2)
        elif outcome["number"] in there:
            self.resumed += outcome["rows"]
        for name, totals in outcome["totals"].items():
            self.totals[name].merge(Totals(**totals))
        for name, count in outcome["questions"].items():
            setattr(self.tally, name, getattr(self.tally, name) + count)
        if self.advance is not None:
            self.advance(self.rows)

    def _parts(self) -> list[Part]:
        """Cut the inputs into parts; none reaches over the end of a file."""
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
                    f"{measure.name} with these settings scores all rows in one go, and a worker "
                    "sees some of them; use --engine local, or settings by which each row has a "
                    "score of its own"
                )
        for pairs in self.inputs:
            Scorer(pairs, self.measures, self.scores_only).check()
            if pairs.has_references != self.inputs[0].has_references:
                raise InputError(
                    f"{pairs.name} and {self.inputs[0].name} differ: only one of them has "
                    "references; score them apart"
                )

    def _columns(self) -> list[str]:
        """The columns of the output: of files that differ in their fields, all."""
        found: dict[str, None] = {}
        for pairs in self.inputs:
            columns = Scorer(pairs, self.measures, self.scores_only).columns()
            found.update(dict.fromkeys(columns))
        new = [*(measure.name for measure in self.measures), CUT]
        return [*(name for name in found if name not in new), *new]

    def _schema(self, columns: Sequence[str]) -> Any:
        """The types of the columns, which are the same in all shards."""
        kinds: dict[str, set[type]] = {name: set() for name in columns}
        for pairs in self.inputs:
            for name, types in pairs.kinds().items():
                if name in kinds:
                    kinds[name] |= types
        kinds |= {measure.name: {float} for measure in self.measures}
        kinds[CUT] = {bool}
        return schema_of(kinds)


def outcomes(ray: Any, work: Work, parts: Sequence[Part], workers: int) -> Iterator[dict[str, Any]]:
    """Give the parts to a pool of actors; what comes of each, in any order.

    An actor whose process or node is lost is started again where there is room, and does again what
    it was at. That is Ray Data's own rule, and it has no limit: whether a worker is away for a
    moment or for good cannot be told, and every attempt to reach it would count. Each actor has one
    task at a time, because what waits in line behind a lost actor is lost with it.
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
            f"the cluster has given up: {what_happened(error)}; go on with --resume"
        ) from error
