"""Runs requests in threads: so many at a time, for so long, and no longer than somebody waits."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from tertium.text import Row, Text
from tertium.web.batching import Call, StoppedError
from tertium.web.engines import Engines, Loaded
from tertium.web.limits import Limits

Answer = TypeVar("Answer")


class FullError(Exception):
    """There are as many requests as are taken at a time."""


class Service:
    """The engines, and room for a number of requests."""

    def __init__(self, models: Loaded, limits: Limits) -> None:
        self.limits = limits
        self.engines = Engines(models, limits, lambda: self._waiting)
        self._pool = ThreadPoolExecutor(limits.queue, thread_name_prefix="tertium-request")
        self._lock = threading.Lock()
        self._waiting = 0

    @property
    def waiting(self) -> int:
        """How many requests are being answered or wait for it."""
        return self._waiting

    async def run(
        self, work: Callable[[Call], Answer], gone: Callable[[], Awaitable[object]]
    ) -> Answer:
        """Answer a request in a thread; when ``gone`` returns or time is up, give it up.

        Its place is free again when its thread has ended, not before.
        """
        call = Call(self.limits.seconds)
        future = self._submit(work, call)
        answer: asyncio.Future[Answer] = asyncio.wrap_future(future)
        answer.add_done_callback(lambda done: done.cancelled() or done.exception())
        leaving: asyncio.Future[object] = asyncio.ensure_future(gone())
        either: set[asyncio.Future[Any]] = {answer, leaving}
        try:
            await asyncio.wait(
                either,
                timeout=self.limits.seconds,
                return_when=asyncio.FIRST_COMPLETED,
            )
            if answer.done():
                return answer.result()
            raise StoppedError(f"no answer within {self.limits.seconds:g} seconds")
        finally:
            call.give_up()
            future.cancel()
            leaving.cancel()

    def warm_up(self, measures: Sequence[str]) -> None:
        """Load what each measure needs before the first client has to wait for it."""
        lang = min(self.engines.models.translation.languages.target)
        call = Call(self.limits.seconds)
        for measure in self.engines.measures(measures, {}, call):
            measure.segments([Row(1, Text("A.", lang), (Text("A.", lang),))])

    def close(self) -> None:
        """Finish what the engines are at, and nothing else."""
        self.engines.close()
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _submit(self, work: Callable[[Call], Answer], call: Call) -> Future[Answer]:
        with self._lock:
            if self._waiting >= self.limits.queue:
                raise FullError
            self._waiting += 1
        try:
            future = self._pool.submit(work, call)
        except BaseException:
            self._leave()
            raise
        future.add_done_callback(self._leave)
        return future

    def _leave(self, _: object = None) -> None:
        with self._lock:
            self._waiting -= 1
