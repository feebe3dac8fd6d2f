"""Runs a function in other processes ahead of time, with the results in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any, TypeVar

from tertium.processes import follow_parent

Task = TypeVar("Task")
Query = TypeVar("Query")
Result = TypeVar("Result")

IN_FLIGHT = 2
"""Tasks queued per process: none waits for work, and memory stays bounded."""


def work_ahead(
    tasks: Iterable[Task],
    query: Callable[[Task], Query | None],
    function: Callable[[Query], Result],
    processes: int = 1,
) -> Iterator[tuple[Task, Result | None]]:
    """Pair each task with ``function(query(task))``; every process is sent the function once.

    A query of None is not computed: its result is None.

    >>> list(work_ahead([3, 1], query=float, function=abs))
    [(3, 3.0), (1, 1.0)]
    """
    if processes == 1:
        for task in tasks:
            asked = query(task)
            yield task, None if asked is None else function(asked)
        return
    pending: deque[tuple[Task, Future[Result] | None]] = deque()

    def first() -> tuple[Task, Result | None]:
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
