"""Run the app on a socket."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fastapi import FastAPI

SHUTDOWN_SECONDS = 5
SPARE_CONNECTIONS = 64
"""For pages, lists and refusals, which are not in the queue of requests."""


def is_loopback(host: str) -> bool:
    """Whether an address can be reached from this machine only.

    >>> [is_loopback(host) for host in ("localhost", "127.0.0.2", "::1", "0.0.0.0", "a.example")]
    [True, True, True, False, False]
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def listen(host: str, port: int) -> socket.socket:
    """Bind the address: if it is in use, that is reported before models are loaded."""
    [(family, *_, address), *_] = socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )
    return socket.create_server(address[:2], family=family, backlog=256)


def run(
    app: FastAPI, listening: socket.socket, announce: Callable[[str], None], *, queue: int
) -> None:
    """Serve until interrupted."""
    import uvicorn

    host, port, *_ = listening.getsockname()
    name = f"[{host}]" if ":" in host else host
    config = uvicorn.Config(
        app,
        log_level="error",
        access_log=False,  # the guard logs requests
        server_header=False,
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
        limit_concurrency=2 * queue + SPARE_CONNECTIONS,
    )
    announce(f"http://{name}:{port}/")
    uvicorn.Server(config).run(sockets=[listening])
