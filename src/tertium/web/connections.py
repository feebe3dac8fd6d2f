"""HTTP connections with limits: unfinished requests are closed after some time, or when too many.

uvicorn limits the time of an idle connection, but not the time in which a client sends the headers
of a request, and its limit on connections counts unfinished ones: a few hundred of them would keep
everybody else out. Its protocol class may be replaced (``uvicorn.Config(http=...)``); this one adds
both limits to uvicorn's own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEADER_SECONDS = 10.0
"""For the headers of a request, from their first byte or from the beginning of the connection."""
WAITING_PER_ADDRESS = 64
WAITING = 512


@dataclass
class Waiting:
    """The connections without a complete request, oldest first.

    If there are too many, from one address or from all, the oldest is closed: whoever sends a
    complete request at once is not affected.
    """

    per_address: int = WAITING_PER_ADDRESS
    total: int = WAITING
    addresses: dict[TimedProtocol, str] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)

    def add(self, protocol: TimedProtocol, address: str) -> None:
        """Add a connection, and close the oldest one if there are too many."""
        if protocol in self.addresses:
            return
        self.addresses[protocol] = address
        self.counts[address] = self.counts.get(address, 0) + 1
        if self.counts[address] > self.per_address:
            self._close(lambda other: self.addresses[other] == address)
        elif len(self.addresses) > self.total:
            self._close(lambda _: True)

    def discard(self, protocol: TimedProtocol) -> None:
        """Remove a connection that has a complete request, or is closed."""
        address = self.addresses.pop(protocol, None)
        if address is not None:
            self.counts[address] -= 1
            if not self.counts[address]:
                del self.counts[address]

    def _close(self, wanted: Callable[[TimedProtocol], bool]) -> None:
        oldest = next(filter(wanted, self.addresses))
        self.discard(oldest)
        oldest.transport.close()


class TimedProtocol(H11Protocol):
    """Closes a connection whose request headers do not arrive in time."""

    waiting: Waiting
    header_seconds: float

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._header_timer: asyncio.TimerHandle | None = None
        self._wait()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._check_state()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        # uvicorn closes idle connections; the time for headers begins with their first byte.
        if not self.transport.is_closing() and self.conn.their_state is h11.IDLE:
            self.waiting.add(self, self._address())

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def _check_state(self) -> None:
        if self.transport.is_closing() or self.conn.their_state is not h11.IDLE:
            self._stop_waiting()
        else:
            self._wait()

    def _wait(self) -> None:
        if self._header_timer is None:
            self._header_timer = self.loop.call_later(self.header_seconds, self.transport.close)
        self.waiting.add(self, self._address())

    def _stop_waiting(self) -> None:
        if self._header_timer is not None:
            self._header_timer.cancel()
            self._header_timer = None
        self.waiting.discard(self)

    def _address(self) -> str:
        return self.client[0] if self.client else ""


def timed_protocol(header_seconds: float = HEADER_SECONDS) -> type[TimedProtocol]:
    """Make the protocol of one server, whose connections are counted together."""
    members: dict[str, Any] = {"waiting": Waiting(), "header_seconds": header_seconds}
    return type("ServerProtocol", (TimedProtocol,), members)
