"""Unfinished requests: they are closed in time, and keep nobody out."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from contextlib import ExitStack

import httpx

from tertium.web.app import create_app
from tertium.web.connections import WAITING_PER_ADDRESS

from .conftest import Running, fake_models

HALF = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Unfinished: "


def connect(server: Running) -> socket.socket:
    made = socket.create_connection(("127.0.0.1", server.port))
    made.settimeout(20)
    return made


def is_closed(connection: socket.socket) -> bool:
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


def test_two_hundred_half_open_connections_keep_nobody_out(
    running: Callable[..., Running],
) -> None:
    server = running(create_app(fake_models()))
    with ExitStack() as stack:
        halves = [stack.enter_context(connect(server)) for _ in range(200)]
        for half in halves:
            half.sendall(HALF)
        started = time.monotonic()
        response = httpx.get(f"{server.address}/healthz", timeout=20)
        assert response.status_code == 200
        assert time.monotonic() - started < 10  # without limits, it would be refused or wait
        # The oldest were closed at once; the time for headers is not over yet.
        assert all(is_closed(half) for half in halves[: 200 - WAITING_PER_ADDRESS])


def test_headers_must_come_in_time(running: Callable[..., Running]) -> None:
    server = running(create_app(fake_models()), header_seconds=0.3)
    with connect(server) as silent, connect(server) as slow:
        slow.sendall(HALF)
        assert is_closed(silent)
        assert is_closed(slow)


def test_a_connection_may_be_used_again(running: Callable[..., Running]) -> None:
    """The time for headers begins anew with each request, and does not end a response."""
    server = running(create_app(fake_models()), header_seconds=1.0)
    with connect(server) as kept:
        for _ in range(3):
            kept.sendall(HALF)
            time.sleep(0.1)
            kept.sendall(b"x\r\n\r\n")
            response = b""
            while not response.endswith(b'"waiting":0}'):
                response += kept.recv(65536)
            assert response.startswith(b"HTTP/1.1 200")
            time.sleep(0.5)
        kept.sendall(HALF)
        assert is_closed(kept)


def test_large_headers_are_refused(running: Callable[..., Running]) -> None:
    server = running(create_app(fake_models()))
    with connect(server) as greedy:
        greedy.sendall(HALF + b"x" * 40_000)
        assert greedy.recv(65536).split()[1] == b"400"
