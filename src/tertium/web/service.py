"""Run requests in threads, with a limit on their number and on their time."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from tertium.text import Row, Text
from tertium.web.batching import Call, StoppedError
from tertium.web.engines import BatchedEngines, Loaded
from tertium.web.limits import Limits

Result = TypeVar("Result")


class FullError(Exception):
    """The queue of requests is full."""


class Service:
    """The engines, and a bounded pool of threads for requests."""

    def __init__(self, models: Loaded, limits: Limits) -> None:
        self.limits = limits
        self.engines = BatchedEngines(models, limits, lambda: self._waiting)
        self._pool = ThreadPoolExecutor(limits.queue, thread_name_prefix="tertium-request")
        self._lock = threading.Lock()
        self._waiting = 0

    @property
    def waiting(self) -> int:
        """The number of requests in progress or waiting."""
        return self._waiting

    async def run(
        self, work: Callable[[Call], Result], disconnected: Callable[[], Awaitable[object]]
    ) -> Result:
        """Run a request in a thread; cancel it when ``disconnected`` returns or time is up.

        Its place in the queue is free again only when its thread has ended.
        """
        call = Call(self.limits.seconds)
        future = self._submit(work, call)
        result: asyncio.Future[Result] = asyncio.wrap_future(future)
        result.add_done_callback(lambda done: done.cancelled() or done.exception())
        disconnect: asyncio.Future[object] = asyncio.ensure_future(disconnected())
        either: set[asyncio.Future[Any]] = {result, disconnect}
        try:
            await asyncio.wait(
                either,
                timeout=self.limits.seconds,
                return_when=asyncio.FIRST_COMPLETED,
            )
            if result.done():
                return result.result()
            raise StoppedError(f"no result within {self.limits.seconds:g} seconds")
        finally:
            call.cancel()
            future.cancel()
            disconnect.cancel()

    def warm_up(self, measures: Sequence[str]) -> None:
        """Use each measure once, so that the first client does not have to wait."""
        lang = min(self.engines.models.translation.languages.target)
        call = Call(self.limits.seconds)
        for measure in self.engines.measures(measures, {}, call):
            measure.segments([Row(1, Text("A.", lang), (Text("A.", lang),))])

    def close(self) -> None:
        """Finish the current batches, and cancel all else."""
        self.engines.close()
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _submit(self, work: Callable[[Call], Result], call: Call) -> Future[Result]:
        with self._lock:
            if self._waiting >= self.limits.queue:
                raise FullError
            self._waiting += 1
        try:
            future = self._pool.submit(work, call)
        except BaseException:
            self._release()
            raise
        future.add_done_callback(self._release)
        return future

    def _release(self, _: object = None) -> None:
        with self._lock:
            self._waiting -= 1
