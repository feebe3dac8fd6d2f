"""Runs a job in this process: part by part, each saved before the next."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict
from itertools import count
from typing import Protocol, TypeVar

from tertium.errors import ResumeError, TertiumError
from tertium.jobs.output import Fields, Output
from tertium.jobs.progress import NO_PROGRESS, JobProgress
from tertium.jobs.task import Finished, Job, Loaded, Outcome, Part, Preparing, digest_of
from tertium.storage.resume import input_changed

log = logging.getLogger(__name__)
DIGEST = "digest"


class Summarized(Protocol):
    """A result that can be written as one JSON object."""

    def summary(self) -> Fields: ...


Result = TypeVar("Result", bound=Summarized)


def run_here(
    job: Job,
    loaded: Loaded,
    output: Output,
    conclude: Callable[[Finished], Result],
    progress: JobProgress = NO_PROGRESS,
) -> Result:
    """Process and write everything; ``conclude`` turns the notes on all parts into the result.

    Memory does not grow with the rows, except for the notes on them, unless a task must see all
    rows at once. An error leaves the output as it is, to be resumed.
    """
    try:
        result = conclude(_run(job, loaded, output, progress))
        output.finish(result.summary())
    finally:
        output.close()
    return result


def _run(job: Job, loaded: Loaded, output: Output, progress: JobProgress) -> Finished:
    saved = output.begin(job.describe(loaded.description), job.columns)
    finished = Finished([], loaded.description, loaded.tally)
    done = 0
    for number, part in enumerate(ahead(job.parts(), loaded, len(saved))):
        digest = {DIGEST: digest_of(part.rows)} if output.resumable else {}
        if number < len(saved):
            outcome = _restored(job, saved[number], digest)
            finished.resumed += outcome.rows
        else:
            rows, outcome = job.process(loaded, part, progress.detail)
            if output.hides_progress:
                progress.hide()
            output.add(rows, {**asdict(outcome), **digest})
        finished.outcomes.append(outcome)
        done += outcome.rows
        progress.advance(done)
        about = job.inputs[part.input]
        log.info("%s %d rows of %s", job.task.done, done, about.system or about.source.name)
    if len(finished.outcomes) < len(saved):
        raise _changed(job, sum(each["rows"] for each in saved))
    return finished


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


def _restored(job: Job, saved: Fields, digest: Fields) -> Outcome:
    """The outcome of a part that was done before; its rows must be the same."""
    fields = dict(saved)
    if fields.pop(DIGEST) != digest[DIGEST]:
        raise _changed(job, fields["rows"])
    return Outcome(**fields)


def _changed(job: Job, rows: int) -> ResumeError:
    return input_changed(
        job.inputs[0].source.name,
        "rows that were done before differ in text or language, or there are more or fewer rows, "
        "or it is read with other columns",
    )
