"""What a job reports while it runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from tertium.models.base import Progress

Advance = Callable[..., None]
"""Called with the number of rows that are done, and with their total if it is known only now."""


def _ignore(*_: object) -> None:
    """Report nothing."""


class JobProgress(NamedTuple):
    """Called by a job while it runs; by default, nothing is shown."""

    advance: Advance = _ignore
    detail: Progress = _ignore
    """Called with what is done to the next rows, how much of it is done, and of how much."""
    hide: Callable[[], None] = _ignore
    """Called before something else is printed to the terminal."""


NO_PROGRESS = JobProgress()
