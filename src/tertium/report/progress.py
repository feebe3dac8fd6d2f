"""Progress of calls from Python: a line on standard error, or what the caller does with it."""

from __future__ import annotations

import sys
from collections.abc import Callable

Report = Callable[[str, int, int], None]
"""Called with what is done, how much of it is done, and of how much."""


def as_progress(progress: bool | Report | None) -> Report | None:
    """What reports progress: True prints a line, a function is called, and None does nothing."""
    if progress is True:
        return print_progress
    return None if progress is None or progress is False else progress


def print_progress(what: str, done: int, count: int) -> None:
    """Print what is done in one line, which the next call replaces."""
    end = "\n" if done >= count else ""
    print(f"\r{what} {done}/{count}", end=end, file=sys.stderr, flush=True)
