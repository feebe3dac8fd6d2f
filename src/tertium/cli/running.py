"""Runs a job where the options say, and writes where they say."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tertium.cli.inputs import refuse_without_output
from tertium.cli.progress import interruptible, progress_bar
from tertium.jobs.local import run_here
from tertium.jobs.output import LAYOUTS, FileOutput, KeptRows, Layout, Output, StreamOutput
from tertium.jobs.task import Finished, Job, Loaded, Plan, Result, Run
from tertium.measures.loading import ModelSettings

if TYPE_CHECKING:
    from tertium.jobs.ray.cluster import ClusterSettings


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
