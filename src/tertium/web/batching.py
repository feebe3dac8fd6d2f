"""Batches the queries of several clients for one engine.

Every request runs in its own thread and waits for its results; one thread collects the queries
that arrive within a short window and calls the engine. Results do not depend on the other
clients: batching never changes a number, and a query that fails fails only for its own request.
"""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from tertium.errors import TertiumError

BYTES_PER_TOKEN = 4

Engine = Callable[[Hashable, Sequence[Any]], Sequence[Any]]
"""Takes an operation and its queries, and returns as many results."""


class StoppedError(TertiumError):
    """The client has disconnected, the time is up, or the server is closing."""


class Call:
    """A client's request: it has a deadline, and the client may disconnect before that."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._cancelled = False
        self.renew()

    def renew(self) -> None:
        """Begin the time again: some rows of a stream are done."""
        self._end = time.monotonic() + self._seconds

    @property
    def seconds_left(self) -> float:
        """Seconds until the deadline; 0 once the request is cancelled."""
        return 0.0 if self._cancelled else max(0.0, self._end - time.monotonic())

    def cancel(self) -> None:
        """Stop the work on this request."""
        self._cancelled = True

    def check(self) -> None:
        """Raise :class:`StoppedError` if the request is cancelled or out of time."""
        if not self.seconds_left:
            raise StoppedError("the request was cancelled or has timed out")


@dataclass(eq=False)
class PendingQueries:
    """The queries of one call for one operation, and their results so far."""

    operation: Hashable
    queries: Sequence[Any]
    tokens: Sequence[int]
    call: Call
    arrived: float
    results: list[Any] = field(default_factory=list)
    future: Future[list[Any]] = field(default_factory=Future)

    @property
    def tokens_left(self) -> int:
        return sum(self.tokens[len(self.results) :])


@dataclass(frozen=True)
class BatchSlice:
    """The queries of a call that are in the current batch."""

    pending: PendingQueries
    end: int

    @property
    def queries(self) -> Sequence[Any]:
        return self.pending.queries[len(self.pending.results) : self.end]


class Batcher:
    """A queue of queries for an engine; one thread processes it in batches of limited size.

    Every call in the queue gets a part of each batch, so that a short request does not have to
    wait for the end of a long one.

    >>> batcher = Batcher(lambda operation, queries: [len(each) for each in queries])
    >>> batcher.submit("length", ["one", "three"], [1, 1], Call(seconds=5))
    [3, 5]
    >>> batcher.close()
    """

    def __init__(
        self,
        engine: Engine,
        *,
        window: float = 0.0,
        budget: int = 8192,
        callers: Callable[[], float] = lambda: math.inf,
    ) -> None:
        self.engine = engine
        self.window = window
        self.budget = budget
        self.callers = callers
        """Returns the number of calls: once all of them are in the queue, the window ends."""
        self._queue: deque[PendingQueries] = deque()
        self._changed = threading.Condition()
        self._closed = False
        self._thread = threading.Thread(target=self._work, name="tertium-batcher", daemon=True)
        self._thread.start()

    @property
    def alive(self) -> bool:
        return self._thread.is_alive()

    def submit(
        self, operation: Hashable, queries: Sequence[Any], tokens: Sequence[int], call: Call
    ) -> list[Any]:
        """Add queries to the queue, and wait for their results until the deadline of the call."""
        call.check()
        if not queries:
            return []
        pending = PendingQueries(operation, queries, tokens, call, time.monotonic())
        with self._changed:
            if self._closed:
                raise StoppedError("the server is closing")
            self._queue.append(pending)
            self._changed.notify()
        left = call.seconds_left
        try:
            return pending.future.result(timeout=None if math.isinf(left) else left)
        except TimeoutError:
            call.cancel()
            raise StoppedError("the time for this request is up") from None

    def close(self) -> None:
        """Finish the current batch, and fail all others."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join()

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._queue or self._closed)
                self._wait_for_others()
                if self._closed:
                    for pending in self._queue:
                        pending.future.set_exception(StoppedError("the server is closing"))
                    return
                batch = self._next_batch()
            if batch:
                self._process(batch)

    def _wait_for_others(self) -> None:
        end = self._queue[0].arrived + self.window if self._queue else 0.0
        while not self._closed and (rest := end - time.monotonic()) > 0:
            full = sum(pending.tokens_left for pending in self._queue) >= self.budget
            if full or len(self._queue) >= self.callers():
                return
            self._changed.wait(rest)

    def _next_batch(self) -> list[BatchSlice]:
        """Take from the queue what fits the budget, for the operation that is first in it."""
        for pending in [pending for pending in self._queue if not pending.call.seconds_left]:
            self._queue.remove(pending)
            pending.future.set_exception(StoppedError("the request was cancelled or has timed out"))
        if not self._queue:
            return []
        operation = self._queue[0].operation
        together = [pending for pending in self._queue if pending.operation == operation]
        self._queue = deque(each for each in self._queue if each.operation != operation)
        ends = [len(pending.results) + 1 for pending in together]  # at least one, however long
        left = self.budget - sum(
            pending.tokens[end - 1] for pending, end in zip(together, ends, strict=True)
        )
        for share in (max(left, 0) // len(together), max(left, 0)):
            for place, pending in enumerate(together):
                room = min(share, left)
                while ends[place] < len(pending.queries) and pending.tokens[ends[place]] <= room:
                    room -= pending.tokens[ends[place]]
                    left -= pending.tokens[ends[place]]
                    ends[place] += 1
        return [BatchSlice(pending, end) for pending, end in zip(together, ends, strict=True)]

    def _process(self, batch: Sequence[BatchSlice]) -> None:
        queries = [query for part in batch for query in part.queries]
        try:
            results = iter(self._call_engine(batch[0].pending.operation, queries))
        except Exception as error:
            if len(batch) == 1:
                batch[0].pending.future.set_exception(error)
                return
            for part in batch:  # one at a time, to find which one fails
                self._process([part])
            return
        unfinished = []
        for part in batch:
            pending = part.pending
            pending.results += [next(results) for _ in part.queries]
            if len(pending.results) == len(pending.queries):
                pending.future.set_result(pending.results)
            else:
                unfinished.append(pending)
        with self._changed:
            self._queue.extend(unfinished)

    def _call_engine(self, operation: Hashable, queries: Sequence[Any]) -> Sequence[Any]:
        results = self.engine(operation, queries)
        if len(results) != len(queries):
            raise RuntimeError(f"{len(results)} results for {len(queries)} queries")
        return results


def estimated_tokens(*texts: str) -> int:
    """Estimate the number of tokens in some texts, at four bytes per token.

    >>> estimated_tokens("Good morning!", "")
    4
    """
    return 1 + sum(len(text.encode("utf-8", "replace")) for text in texts) // BYTES_PER_TOKEN
