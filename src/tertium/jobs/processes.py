"""Runs a function in other processes ahead of time, with the results in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import get_context
from typing import TypeVar

from tertium.processes import follow_parent

Task = TypeVar("Task")
Query = TypeVar("Query")
Result = TypeVar("Result")

IN_FLIGHT = 2
"""Tasks queued per process: none waits for work, and memory stays bounded."""


def work_ahead(
    tasks: Iterable[Task],
    query: Callable[[Task], Query],
    function: Callable[[Query], Result],
    processes: int = 1,
) -> Iterator[tuple[Task, Result]]:
    """Pair each task with ``function(query(task))``; the function must be importable by name.

    >>> list(work_ahead([3, 1], query=float, function=abs))
    [(3, 3.0), (1, 1.0)]
    """
    if processes == 1:
        for task in tasks:
            yield task, function(query(task))
        return
    pending: deque[tuple[Task, Future[Result]]] = deque()
    with ProcessPoolExecutor(processes, get_context("spawn"), follow_parent) as pool:
        try:
            for task in tasks:
                pending.append((task, pool.submit(function, query(task))))
                if len(pending) > IN_FLIGHT * processes:
                    done, future = pending.popleft()
                    yield done, future.result()
            while pending:
                done, future = pending.popleft()
                yield done, future.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
