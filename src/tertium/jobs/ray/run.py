"""Runs jobs on a Ray cluster: each worker reads its rows and writes them as Parquet shards."""

from __future__ import annotations

import json
import logging
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import tertium.errors
from tertium.data.lines import STDIN
from tertium.errors import (
    CacheWarning,
    ClusterError,
    InputError,
    Message,
    ResumeWarning,
    TertiumError,
)
from tertium.jobs.output import StreamOutput, write_all
from tertium.jobs.parquet import schema_of
from tertium.jobs.ray.cluster import (
    QUIET,
    ClusterSettings,
    connected,
    error_line,
    workers_and_threads,
)
from tertium.jobs.ray.shards import Shard, ShardFolder
from tertium.jobs.ray.worker import ShardWorker, Span, Work, outcome_of
from tertium.jobs.task import NO_PROGRESS, Fields, Finished, Job, JobProgress, Loaded, Plan, Result
from tertium.models.cached import Tally
from tertium.storage.resume import START_OVER, check_same_job

SHARDS = "shards"


def run_on_cluster(
    plan: Plan[Result],
    output: ShardFolder | StreamOutput | None,
    cluster: ClusterSettings,
    progress: JobProgress = NO_PROGRESS,
) -> Result:
    """Run the jobs of a plan and write everything; returns the result of the plan.

    A finished shard is on disk: a worker that is lost loses no more than its current shard. The
    models are loaded by the workers only. Without a folder, shards are in a temporary one.
    """
    with ExitStack() as stack:
        if isinstance(output, ShardFolder):
            folder = output
        else:
            scratch = stack.enter_context(tempfile.TemporaryDirectory(prefix="tertium-"))
            folder = ShardFolder(Path(scratch, SHARDS))
        stack.callback(folder.close)
        with ExitStack() as connection:
            run = _ClusterRun(folder, cluster, progress, connection)
            result = plan(run)
        kinds = {} if run.job is None else run.job.kinds
        if isinstance(output, StreamOutput) and run.job is not None:
            progress.hide()
            rows = folder.rows(kinds)
            write_all(output.stream, output.layout, run.job.columns, rows, result.summary())
        folder.finish(kinds, result.summary())
    return result


@dataclass
class _ClusterRun:
    """A run on a cluster, which is reached when the first job starts."""

    output: ShardFolder
    cluster: ClusterSettings
    progress: JobProgress
    connection: ExitStack
    ray: Any = None
    working: Path | None = None
    """The folder of the shards, when the run has begun."""
    job: Job | None = None
    """The latest job."""
    shards: int = 0
    rows: int = 0

    @property
    def folder(self) -> Path:
        return self.output.run.part

    def explaining(self) -> AbstractContextManager[None]:
        return self.output.run.explaining()

    def __call__(self, job: Job, loaded: Loaded | None = None) -> Finished:
        self.job = job
        spans = list(_spans(job, self.shards))
        total = sum(span.stop - span.start for span in spans)
        if self.ray is None:
            self.ray = self.connection.enter_context(connected(self.cluster))
        nodes = [node for node in self.ray.nodes() if node["Alive"]]
        cores = [int(node["Resources"].get("CPU", 0)) for node in nodes]
        workers, threads = workers_and_threads(self.cluster, cores, len(spans))
        if self.working is None:
            self.working = self.output.begin({**job.describe(job.task.request), "rows": total})
        work = Work(
            job=job,
            threads=threads,
            schema=schema_of(job.kinds),
            folder=self.working,
            home=Path.cwd(),
            finished=self.working == self.output.path,
        )
        existing = {span.number for span in spans if Shard(work.folder, span.number).path.exists()}
        gathering = _Gathering(work.folder, existing, {})
        for found in outcomes(self.ray, work, spans, workers):
            gathering.add(found)
            self.progress.advance(self.rows + gathering.rows)
        self.shards += len(spans)
        self.rows += total
        return gathering.finished()


@dataclass
class _Gathering:
    """What has come from the workers so far."""

    folder: Path
    existing: set[int]
    """The numbers of shards that existed before."""
    notes: dict[int, dict[str, Any]]
    description: Fields | None = None
    tally: Tally | None = None
    rows: int = 0
    resumed: int = 0
    lost: int = 0

    def add(self, found: dict[str, Any]) -> None:
        for message in found["warnings"]:
            warnings.warn(message, CacheWarning, stacklevel=2)
        if "error" in found:
            error: TertiumError = getattr(tertium.errors, found["error"])()
            said = found["message"]
            raise error.saying(Message(**{**said, "cures": tuple(said["cures"])}))
        if self.description is None:
            self.description = found["description"]
        check_same_job(
            Path(f"{self.folder}, on {found['host']}"),
            self.description,
            found["description"],
            ("install the same versions and models on all nodes", START_OVER),
        )
        self.notes[found["number"]] = found
        self.rows += found["rows"]
        self.lost += found["lost"]
        if found["damage"]:
            warnings.warn(f"{found['damage']}: done again", ResumeWarning, stacklevel=2)
        elif found["number"] in self.existing:
            self.resumed += found["rows"]
        if found["queries"] is not None:
            self.tally = self.tally or Tally()
            for name, count in found["queries"].items():
                setattr(self.tally, name, getattr(self.tally, name) + count)

    def finished(self) -> Finished:
        times = "once" if self.lost == 1 else f"{self.lost} times"
        messages = [f"workers were lost {times}; others did their rows"] if self.lost else []
        outcomes = [outcome_of(self.notes[number]) for number in sorted(self.notes)]
        return Finished(outcomes, self.description or {}, self.tally, self.resumed, messages)


def _spans(job: Job, first: int) -> Iterator[Span]:
    """Divide the inputs, each into ranges of rows; the spans are numbered from ``first``."""
    counts = []
    for each in job.inputs:
        if STDIN in each.source.paths:
            raise InputError(
                f"{each.source.name}: a cluster reads files, so that every node can read a part; "
                "write it to a file"
            )
        counts.append(each.source.count() or 0)
    if not sum(counts):
        name = job.inputs[0].source.name
        raise InputError(f"{name} is empty: there is nothing to {job.task.verb}")
    size = job.size or max(counts)
    ranges = job.in_turn(
        lambda place: (
            (place, start, min(start + size, counts[place]))
            for start in range(0, counts[place], size)
        ),
        lambda span: span[2] - span[1],
    )
    return (Span(number, *each) for number, each in enumerate(ranges, first))


def outcomes(ray: Any, work: Work, spans: Sequence[Span], workers: int) -> Iterator[dict[str, Any]]:
    """Give the spans to a pool of actors; yields the outcome of each, in any order.

    An actor whose process or node is lost is restarted where there is room, and repeats its task.
    Ray Data does so without a limit: it cannot tell whether a worker is away for a moment or for
    good, and every attempt to reach it would count. Each actor has one task at a time, because the
    tasks queued for a lost actor are lost with it.
    """
    logging.getLogger("ray.data").setLevel(QUIET)
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    context.print_on_execution_start = False
    rows = [asdict(span) for span in spans]
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
            f"the cluster has failed: {error_line(error)}", cure="continue with {resume:True}"
        ) from error
