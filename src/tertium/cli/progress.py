"""A progress bar with a rate, on a terminal only, and what Ctrl-C prints."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import typer

from tertium.jobs.task import NO_PROGRESS, JobProgress


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
