"""Runs jobs in this process: part by part, each saved before the next."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import asdict, dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tertium.errors import ResumeError
from tertium.jobs.output import Fields, FileOutput, Output
from tertium.jobs.processes import work_ahead
from tertium.jobs.progress import NO_PROGRESS, JobProgress
from tertium.jobs.task import Finished, Job, Loaded, Outcome, Part, Plan, Result, Rows, digest_of
from tertium.models.base import Progress
from tertium.storage.resume import check_same_job, input_changed

log = logging.getLogger(__name__)
DIGEST, DESCRIPTION = "digest", "description"


def run_here(
    plan: Plan[Result], output: Output, progress: JobProgress = NO_PROGRESS, processes: int = 1
) -> Result:
    """Run the jobs of a plan and write everything; returns the result of the plan.

    Memory does not grow with the rows, except for the notes on them, unless a task must see all
    rows at once. An error leaves the output as it is, to be resumed. Portable tasks run in several
    processes.
    """
    with ExitStack() as stack:
        stack.callback(output.close)
        result = plan(_LocalRun(output, progress, processes, stack))
        output.finish(result.summary())
    return result


@dataclass
class _LocalRun:
    """A run in this process."""

    output: Output
    progress: JobProgress
    processes: int
    stack: ExitStack
    saved: list[Fields] | None = None
    """The outcomes that an unfinished run has saved, of all jobs; None: it has not begun."""
    number: int = 0
    """The parts that were met so far."""
    done: int = 0
    scratch: Path | None = field(default=None, init=False)

    @property
    def folder(self) -> Path:
        if isinstance(self.output, FileOutput):
            return self.output.run.part
        if self.scratch is None:
            # a file that is still mapped cannot be deleted on Windows
            made = TemporaryDirectory(prefix="tertium-", ignore_cleanup_errors=True)
            self.scratch = Path(self.stack.enter_context(made))
        return self.scratch

    def explaining(self) -> AbstractContextManager[None]:
        output = self.output
        return output.run.explaining() if isinstance(output, FileOutput) else nullcontext()

    def __call__(self, job: Job, loaded: Loaded | None = None) -> Finished:
        loaded = loaded or job.task.load()
        described = job.describe(loaded.description)
        about: dict[str, Any] = {}
        if self.saved is None:
            self.saved = self.output.begin(described, job.columns)
        else:
            about[DESCRIPTION] = described
        finished = Finished([], loaded.description, loaded.tally)
        several = self.processes > 1 and job.task.portable
        process = _Process(job, loaded, None if several else self.progress.detail)
        for step, done in work_ahead(
            self._steps(job, about), _Step.todo, process, self.processes if several else 1
        ):
            if done is None:
                outcome = Outcome(**step.saved)
                finished.resumed += outcome.rows
            else:
                rows, outcome = done
                if self.output.hides_progress:
                    self.progress.hide()
                self.output.add(rows, {**asdict(outcome), **step.about})
            finished.outcomes.append(outcome)
            self.done += outcome.rows
            self.progress.advance(self.done)
            of = job.inputs[outcome.input]
            log.info("%s %d rows of %s", job.task.done, self.done, of.system or of.source.name)
        if not job.followed and self.number < len(self.saved):
            raise _changed(job)
        return finished

    def _steps(self, job: Job, about: Fields) -> Iterator[_Step]:
        """The parts of a job, with what was saved of those that were done before."""
        saved = self.saved or []
        for part in job.parts():
            now = {DIGEST: digest_of(part.rows), **about} if self.output.resumable else {}
            step = _Step(part, now)
            if self.number < len(saved):
                fields = dict(saved[self.number])
                if fields.pop(DIGEST) != now[DIGEST]:
                    raise _changed(job)
                if DESCRIPTION in about:
                    check_same_job(self.folder, fields.pop(DESCRIPTION, {}), about[DESCRIPTION])
                step.saved = fields
            self.number += 1
            yield step


@dataclass
class _Step:
    """A part; its outcome, if it was saved; and what is saved with the outcome."""

    part: Part
    about: Fields
    saved: dict[str, Any] = field(default_factory=dict)

    def todo(self) -> Part | None:
        return None if self.saved else self.part


@dataclass(frozen=True)
class _Process:
    """Processes parts, perhaps in another process."""

    job: Job
    loaded: Loaded
    progress: Progress | None

    def __call__(self, part: Part) -> tuple[Rows, Outcome]:
        return self.job.process(self.loaded, part, self.progress)


def _changed(job: Job) -> ResumeError:
    return input_changed(
        job.inputs[0].source.name,
        "rows that were done before differ in text or language, or there are more or fewer rows, "
        "or it is read with other columns",
    )
