"""A progress bar, on a terminal only."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

Advance = Callable[..., None]
"""Called with how many are done, and with how many there are, if that is known only now."""
Detail = Callable[[str, int, int], None]


class Bar(NamedTuple):
    """What can be done to a bar."""

    advance: Advance
    detail: Detail
    hide: Callable[[], None]
    """Take it away for good, since something else is about to be shown in its place."""


@contextmanager
def progress_bar(
    total: Callable[[], int | None], *, shown: bool, what: str = "rows"
) -> Iterator[Bar | None]:
    """Show rows done of ``total`` (counted only if it is shown), and what is done to the next."""
    if not shown or not sys.stderr.isatty():
        yield None
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
        TimeRemainingColumn(),
        TextColumn("{task.fields[detail]}"),
        console=Console(stderr=True),
        transient=True,
    ) as bar:
        task = bar.add_task(what, total=total(), detail="")

        def advance(done: int, count: int | None = None) -> None:
            bar.update(task, completed=done, total=count, detail="")

        def detail(what: str, done: int, count: int) -> None:
            bar.update(task, detail=f"{what} {done}/{count}")

        yield Bar(advance, detail, bar.stop)
