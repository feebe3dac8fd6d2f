"""Work done ahead in other processes, with the results in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import get_context
from typing import TypeVar

from tertium.processes import follow_parent

Task = TypeVar("Task")
Question = TypeVar("Question")
Answer = TypeVar("Answer")

IN_FLIGHT = 2
"""Tasks queued for each process: none waits for work, and memory stays bounded."""


def work_ahead(
    tasks: Iterable[Task],
    question: Callable[[Task], Question],
    answer: Callable[[Question], Answer],
    processes: int = 1,
) -> Iterator[tuple[Task, Answer]]:
    """Pair each task with the answer to its question; ``answer`` must be known by its name.

    >>> list(work_ahead([3, 1], question=float, answer=abs))
    [(3, 3.0), (1, 1.0)]
    """
    if processes == 1:
        for task in tasks:
            yield task, answer(question(task))
        return
    flying: deque[tuple[Task, Future[Answer]]] = deque()
    with ProcessPoolExecutor(processes, get_context("spawn"), follow_parent) as pool:
        try:
            for task in tasks:
                flying.append((task, pool.submit(answer, question(task))))
                if len(flying) > IN_FLIGHT * processes:
                    done, future = flying.popleft()
                    yield done, future.result()
            while flying:
                done, future = flying.popleft()
                yield done, future.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)

