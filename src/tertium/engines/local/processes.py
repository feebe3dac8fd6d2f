"""Runs a function in other processes ahead of time, with the results in order."""

from __future__ import annotations

import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import get_context, parent_process
from typing import TypeVar

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


def follow_parent() -> None:
    """Leave Ctrl-C to the parent, and exit when it has ended, which a pool does not notice."""

    def watch() -> None:
        parent = parent_process()
        if parent is not None:
            parent.join()
            os._exit(1)

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=watch, daemon=True).start()
