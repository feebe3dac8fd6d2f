"""Run requests in threads, with a limit on their number and on their time."""

from __future__ import annotations

import asyncio
import math
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from tertium.web.batching import Call, StoppedError
from tertium.web.explaining import review_once
from tertium.web.limits import Limits
from tertium.web.models import BatchedEngines, Loaded
from tertium.web.scale import reference_scale

Result = TypeVar("Result")
Line = Mapping[str, Any]
"""An object of JSON, which is one line of a stream."""
Emit = Callable[[Line], None]


class FullError(Exception):
    """The queue of requests is full."""


class LeftError(Exception):
    """The client has disconnected: nobody is there to be answered."""


class Service:
    """The engines, and a bounded pool of threads for requests."""

    def __init__(self, models: Loaded, limits: Limits) -> None:
        self.limits = limits
        self.engines = BatchedEngines(models, limits, lambda: self._waiting)
        self._pool = ThreadPoolExecutor(limits.queue, thread_name_prefix="tertium-request")
        self.scale: dict[str, dict[str, float]] = {}
        """The reference scale of each measure, once the server has warmed up."""
        self._warming = Call(math.inf)
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
            if disconnect.done():
                raise LeftError
            raise StoppedError(f"no result within {self.limits.seconds:g} seconds")
        finally:
            call.cancel()
            future.cancel()
            disconnect.cancel()

    async def stream(self, work: Callable[[Call, Emit], None]) -> AsyncIterator[Line]:
        """Run a request in a thread, and yield the lines that it emits as they come.

        There is a time limit for each line. What the work raises is raised here, after the lines
        before; a client that leaves closes the generator, which cancels the work.
        """
        call = Call(self.limits.seconds)
        loop = asyncio.get_running_loop()
        lines: asyncio.Queue[Line | None] = asyncio.Queue()

        def emit(line: Line) -> None:
            call.check()
            call.renew()
            loop.call_soon_threadsafe(lines.put_nowait, line)

        future = self._submit(lambda call: work(call, emit), call)
        done = asyncio.wrap_future(future)
        done.add_done_callback(lambda _: lines.put_nowait(None))
        try:
            while True:
                try:
                    line = await asyncio.wait_for(lines.get(), self.limits.seconds)
                except TimeoutError:
                    seconds = f"{self.limits.seconds:g} seconds"
                    raise StoppedError(f"no further result within {seconds}") from None
                if line is None:
                    done.result()
                    return
                yield line
        finally:
            call.cancel()
            future.cancel()
            if done.done() and not done.cancelled():
                done.exception()  # it was raised, or nobody is there to see it

    def warm_up(self, measures: Sequence[str]) -> None:
        """Review a pair and score a few, for the reference scale and to load everything.

        Nobody waits for it: a large model may take longer than a request may. It ends when the
        service is closed.
        """
        call = self._warming
        languages = self.engines.models.translation.languages
        try:
            review_once(self.engines, self.limits, call)
            made = self.engines.measures(measures, {}, call)
            for name, measure in zip(measures, made, strict=True):
                call.check()
                self.scale[name] = reference_scale(measure, languages)
        except StoppedError:
            pass

    def close(self) -> None:
        """Finish the current batches, and cancel all else."""
        self._warming.cancel()
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
