"""Runs a task on a Ray cluster: each worker reads its rows and writes them as Parquet shards."""

from __future__ import annotations

import json
import logging
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import tertium.errors
from tertium.data.pairs import StoredPairs
from tertium.engines.parquet import schema_of
from tertium.engines.progress import JobProgress
from tertium.engines.ray.cluster import (
    QUIET,
    ClusterSettings,
    connected,
    error_line,
    workers_and_threads,
)
from tertium.engines.ray.shards import Shard, ShardFolder
from tertium.engines.ray.worker import Part, ShardWorker, Task, Work
from tertium.errors import CacheWarning, ClusterError, InputError, ResumeWarning, TertiumError
from tertium.models.cache.memo import Tally


@dataclass
class Gathered:
    """What is known of a finished run, apart from the notes of its shards."""

    rows: int = 0
    resumed: int = 0
    """Rows of shards that existed before."""
    tally: Tally = field(default_factory=Tally)
    lost: int = 0
    """How often a worker was lost."""

    @property
    def notes(self) -> list[str]:
        times = "once" if self.lost == 1 else f"{self.lost} times"
        return [f"workers were lost {times}; others did their rows"] if self.lost else []


@dataclass(frozen=True)
class ShardedRun:
    """A task over the rows of any number of files, one shard at a time.

    A finished shard is on disk: a worker that is lost loses no more than its current shard.
    """

    inputs: Sequence[StoredPairs]
    task: Task
    output: ShardFolder
    cluster: ClusterSettings
    rows_at_a_time: int
    description: Mapping[str, Any]
    """That of the loaded task."""
    new_columns: Mapping[str, type]
    """The columns that the task adds, with the types of their values."""
    columns: Sequence[str]
    purpose: str
    """For messages: what is done with the rows, such as ``score``."""

    def __call__(self, add: Callable[[Mapping[str, Any]], None], progress: JobProgress) -> Gathered:
        """Process and write everything; ``add`` is given the note of each shard, in any order."""
        parts = self._parts()
        job = {**self.description, "rows": sum(part.stop - part.start for part in parts)}
        try:
            with connected(self.cluster) as ray:
                nodes = [node for node in ray.nodes() if node["Alive"]]
                cores = [int(node["Resources"].get("CPU", 0)) for node in nodes]
                workers, threads = workers_and_threads(self.cluster, cores, len(parts))
                folder = self.output.begin(job)
                work = Work(
                    inputs=self.inputs,
                    task=self.task,
                    threads=threads,
                    job=job,
                    schema=self._schema(),
                    folder=folder,
                    home=Path.cwd(),
                    finished=folder == self.output.path,
                )
                gathered = self._gather(ray, work, parts, workers, add, progress)
            self.output.finish()
        finally:
            self.output.close()
        return gathered

    def _gather(
        self,
        ray: Any,
        work: Work,
        parts: Sequence[Part],
        workers: int,
        add: Callable[[Mapping[str, Any]], None],
        progress: JobProgress,
    ) -> Gathered:
        existing = {part.number for part in parts if Shard(work.folder, part.number).path.exists()}
        gathered = Gathered()
        for outcome in outcomes(ray, work, parts, workers):
            for message in outcome["warnings"]:
                warnings.warn(message, CacheWarning, stacklevel=2)
            if "error" in outcome:
                error: TertiumError = getattr(tertium.errors, outcome["error"])(outcome["message"])
                raise error
            add(outcome)
            gathered.rows += outcome["rows"]
            gathered.lost += outcome["lost"]
            if outcome["damage"]:
                warnings.warn(f"{outcome['damage']}: done again", ResumeWarning, stacklevel=2)
            elif outcome["number"] in existing:
                gathered.resumed += outcome["rows"]
            for name, count in outcome["queries"].items():
                setattr(gathered.tally, name, getattr(gathered.tally, name) + count)
            progress.advance(gathered.rows)
        return gathered

    def _parts(self) -> list[Part]:
        """Divide the inputs into parts, each within one file."""
        bounds = [
            (place, start, min(start + self.rows_at_a_time, count))
            for place, count in enumerate(pairs.count() or 0 for pairs in self.inputs)
            for start in range(0, count, self.rows_at_a_time)
        ]
        if not bounds:
            raise InputError(f"{self.inputs[0].name} is empty: there is nothing to {self.purpose}")
        return [Part(number, *bound) for number, bound in enumerate(bounds)]

    def _schema(self) -> Any:
        """The types of the columns, the same in all shards."""
        kinds: dict[str, set[type]] = {name: set() for name in self.columns}
        for pairs in self.inputs:
            for name, types in pairs.kinds().items():
                if name in kinds:
                    kinds[name] |= types
        return schema_of(kinds | {name: {kind} for name, kind in self.new_columns.items()})


def merged_columns(found: Sequence[Sequence[str]], new: Sequence[str]) -> list[str]:
    """The columns of several outputs, if they differ, with the new ones at the end.

    >>> merged_columns([["a", "b", "x"], ["b", "c", "x"]], ["x"])
    ['a', 'b', 'c', 'x']
    """
    names = dict.fromkeys(name for columns in found for name in columns)
    return [*(name for name in names if name not in new), *new]


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
