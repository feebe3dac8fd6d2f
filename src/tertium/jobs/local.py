"""Runs jobs in this process: part by part, each saved before the next."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, nullcontext, suppress
from dataclasses import dataclass, field
from itertools import chain, count, islice
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from tertium.errors import ResumeError, TertiumError
from tertium.jobs.output import Fields, FileOutput, Output
from tertium.jobs.task import (
    NO_PROGRESS,
    Finished,
    Job,
    JobProgress,
    Loaded,
    Outcome,
    Part,
    Plan,
    Preparing,
    Result,
    Rows,
    digest_of,
)
from tertium.models.base import Progress
from tertium.processes import follow_parent
from tertium.storage.resume import check_same_job, input_changed

log = logging.getLogger(__name__)
Piece = TypeVar("Piece")
Query = TypeVar("Query")
Answer = TypeVar("Answer")

IN_FLIGHT = 2
"""Tasks queued per process: none waits for work, and memory stays bounded."""
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
        parts = job.parts()
        if not several:
            parts = ahead(parts, loaded, len(self.saved) - self.number)
        for step, done in work_ahead(
            self._steps(job, parts, about), _Step.todo, process, self.processes if several else 1
        ):
            if done is None:
                outcome = Outcome(**step.saved)
                finished.resumed += outcome.rows
            else:
                rows, outcome = done
                if self.output.hides_progress:
                    self.progress.hide()
                self.output.add(rows, {**vars(outcome), **step.about})
            finished.outcomes.append(outcome)
            self.done += outcome.rows
            self.progress.advance(self.done)
            of = job.inputs[outcome.input]
            log.info("%s %d rows of %s", job.task.done, self.done, of.system or of.source.name)
        if not job.followed and self.number < len(self.saved):
            raise _changed(job)
        return finished

    def _steps(self, job: Job, parts: Iterator[Part], about: Fields) -> Iterator[_Step]:
        """The parts of a job, with what was saved of those that were done before."""
        saved = self.saved or []
        for part in parts:
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


def ahead(parts: Iterator[Part], loaded: Loaded, done: int) -> Iterator[Part]:
    """The parts; while one is processed, the next one is prepared in another thread.

    The first ``done`` parts were processed before. An error while the next part is read is raised
    after the one before it.
    """
    if not isinstance(loaded, Preparing):
        yield from parts
        return
    with ThreadPoolExecutor(1) as pool:
        part, error = next(parts, None), None
        for number in count(1):
            if part is None:
                return
            following, ready = None, None
            try:
                following = next(parts, None)
            except Exception as failure:
                error = failure
            if following is not None and number >= done:
                ready = pool.submit(loaded.prepare, following.rows)
            yield part
            if error is not None:
                raise error
            if ready is not None:
                with suppress(TertiumError):
                    ready.result()
            part = following


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


def work_ahead(
    tasks: Iterable[Piece],
    query: Callable[[Piece], Query | None],
    function: Callable[[Query], Answer],
    processes: int = 1,
) -> Iterator[tuple[Piece, Answer | None]]:
    """Pair each task with ``function(query(task))``; every process is sent the function once.

    A query of None is not computed: its result is None.

    >>> list(work_ahead([3, 1], query=float, function=abs))
    [(3, 3.0), (1, 1.0)]
    """
    if processes > 1:
        rest = iter(tasks)
        begin = list(islice(rest, 2))
        processes = processes if len(begin) > 1 else 1  # one is not worth the start of a process
        tasks = chain(begin, rest)
    if processes == 1:
        for task in tasks:
            asked = query(task)
            yield task, None if asked is None else function(asked)
        return
    pending: deque[tuple[Piece, Future[Answer] | None]] = deque()

    def first() -> tuple[Piece, Answer | None]:
        task, future = pending.popleft()
        return task, None if future is None else future.result()

    start = (_start, (function,))
    with ProcessPoolExecutor(processes, get_context("spawn"), *start) as pool:
        try:
            for task in tasks:
                asked = query(task)
                pending.append((task, None if asked is None else pool.submit(_call, asked)))
                if len(pending) > IN_FLIGHT * processes:
                    yield first()
            while pending:
                yield first()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _start(function: Callable[[Any], Any]) -> None:
    follow_parent()
    _FUNCTION.append(function)


def _call(asked: Any) -> Any:
    return _FUNCTION[0](asked)


_FUNCTION: list[Callable[[Any], Any]] = []
"""That of a process of the pool."""
