"""Runs a job where the options say, writes where they say, and shows what is done."""

from __future__ import annotations

import logging
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from tertium.cli.inputs import refuse_without_output
from tertium.errors import InputError
from tertium.jobs.local import run_here
from tertium.jobs.output import LAYOUTS, FileOutput, KeptRows, Layout, Output, StreamOutput
from tertium.jobs.task import NO_PROGRESS, Finished, Job, JobProgress, Loaded, Plan, Result, Run
from tertium.measures.loading import ModelSettings

if TYPE_CHECKING:
    from tertium.jobs.ray.cluster import ClusterSettings


class EngineName(StrEnum):
    """Where a job runs."""

    local = "local"
    ray = "ray"


def cluster_settings(
    address: str | None, workers: int | None, threads: int | None
) -> ClusterSettings:
    """The cluster of the options; a missing package is reported here."""
    from tertium.jobs.ray.cluster import ClusterSettings, import_ray

    settings = ClusterSettings(address or os.environ.get("RAY_ADDRESS"), workers, threads)
    import_ray()
    return settings


def chosen_cluster(
    engine: EngineName, address: str | None, workers: int | None, threads: int | None
) -> ClusterSettings | None:
    """The cluster of the options; None for this process, which takes no options of a cluster."""
    if engine is EngineName.ray:
        return cluster_settings(address, workers, threads)
    refuse_without_ray(address, workers)
    return None


def refuse_without_ray(address: str | None, workers: int | None) -> None:
    """Refuse options of a cluster for a run in this process."""
    if address or workers:
        raise InputError("--address and --workers need --engine ray")


@dataclass(frozen=True)
class Running:
    """The options of a run: its output, how it is resumed, and its cluster."""

    output: Path | None = None
    resume: bool = False
    overwrite: bool = False
    quiet: bool = False
    cluster: ClusterSettings | None = None
    """None runs in this process."""
    what: str = "rows"
    force: bool = False
    """Whether a finished output is replaced; it discards an unfinished one as well."""

    def __post_init__(self) -> None:
        if self.output is None:
            refuse_without_output(resume=self.resume, overwrite=self.overwrite)

    def models(self, settings: ModelSettings) -> ModelSettings:
        """Without a cache, keep model results until the run is finished, so that it can resume."""
        if self.output is None or settings.cache or self.cluster is not None:
            return settings
        part = self.output.with_name(f"{self.output.name}.part")
        return replace(settings, cache=part / FileOutput.CACHE)

    def __call__(
        self,
        job: Job,
        conclude: Callable[[Job, Finished], Result],
        *,
        shown: Layout | None = None,
        layouts: Mapping[str, type[Layout]] = LAYOUTS,
        loaded: Callable[[], Loaded] | None = None,
    ) -> Result:
        """Run a job; without an output, its rows are ``shown`` in a layout, or not at all.

        ``loaded`` gives the task with its models where they are loaded before.
        """

        def plan(run: Run) -> Result:
            return conclude(job, run(job, None if loaded is None else loaded()))

        return self.run(plan, job.count, shown=shown, layouts=layouts)

    def run(
        self,
        plan: Plan[Result],
        count: Callable[[], int | None],
        *,
        shown: Layout | None = None,
        layouts: Mapping[str, type[Layout]] = LAYOUTS,
        notes_only: bool = False,
        processes: int = 1,
    ) -> Result:
        """Run the jobs of a plan; with ``notes_only``, the plan itself writes the output."""
        # before the progress bar, which puts another stream in the place of standard output
        stream = None if shown is None else StreamOutput(sys.stdout, shown)
        ways: dict[str, Any] = {**self._ways, "layouts": layouts, "notes_only": notes_only}
        with (
            interruptible(self.output),
            progress_bar(count, shown=not self.quiet, what=self.what) as progress,
        ):
            if self.cluster is None:
                sink: Output = stream or KeptRows()
                if self.output is not None:
                    sink = FileOutput(self.output, **ways)
                return run_here(plan, sink, progress, processes)
            from tertium.jobs.ray.run import run_on_cluster
            from tertium.jobs.ray.shards import ShardFolder

            folder: ShardFolder | StreamOutput | None = stream
            if self.output is not None:
                folder = ShardFolder(self.output, **ways)
            return run_on_cluster(plan, folder, self.cluster, progress)

    @property
    def _ways(self) -> dict[str, bool]:
        replaced = self.overwrite or (self.force and not self.resume)
        return {"resume": self.resume, "overwrite": replaced}


class _Terminal(logging.Handler):
    """Writes log messages to what is standard error at the time."""

    def emit(self, record: logging.LogRecord) -> None:
        print(self.format(record), file=sys.stderr)


def log_to_terminal(verbose: bool) -> None:
    """Log what is done to standard error, if requested."""
    logger = logging.getLogger("tertium")
    for handler in logger.handlers[:]:
        if isinstance(handler, _Terminal):
            logger.removeHandler(handler)
    if verbose:
        handler = _Terminal()
        handler.setFormatter(logging.Formatter("%(asctime)s %(message)s", "%H:%M:%S"))
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)


@contextmanager
def progress_bar(
    total: Callable[[], int | None], *, shown: bool, what: str = "rows"
) -> Iterator[JobProgress]:
    """Show how many of ``total`` are done (counted only if shown), and what is done to the next."""
    if not shown or not sys.stderr.isatty():
        yield NO_PROGRESS
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    with Progress(
        TextColumn(what),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(elapsed_when_finished=True),
        TextColumn("{task.fields[detail]}"),
        console=Console(stderr=True),
        transient=True,
    ) as bar:
        task = bar.add_task(what, total=total(), detail="", rate="")
        started = time.monotonic()

        def advance(done: int, count: int | None = None) -> None:
            speed = rate(done, time.monotonic() - started)
            bar.update(task, completed=done, total=count, detail="", rate=speed)

        def detail(what: str, done: int, count: int) -> None:
            bar.update(task, detail=f"{what} {done}/{count}")

        yield JobProgress(advance, detail, bar.stop)


def rate(done: int, seconds: float) -> str:
    """How many are done per second, or per minute if they are few.

    >>> rate(300, 2.0), rate(1, 20.0), rate(0, 1.0)
    ('150/s', '3/min', '')
    """
    if not done or seconds <= 0:
        return ""
    speed = done / seconds
    return f"{speed:.0f}/s" if speed >= 1 else f"{60 * speed:.0f}/min"


@contextmanager
def interruptible(output: Path | None) -> Iterator[None]:
    """On Ctrl-C, say how to resume a run that writes to a file."""
    try:
        yield
    except KeyboardInterrupt:
        resume = "" if output is None else f"; continue with --resume ({output} is not finished)"
        print(f"tertium: stopped{resume}", file=sys.stderr)
        raise typer.Exit(130) from None
