"""Where the app listens, and how it is run."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fastapi import FastAPI

SECONDS_TO_CLOSE = 5
SPARE_CONNECTIONS = 64
"""For pages, facts and refusals, which take no place among the requests."""


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address.

    >>> [is_loopback(host) for host in ("localhost", "127.0.0.2", "::1", "0.0.0.0", "a.example")]
    [True, True, True, False, False]
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def listen(host: str, port: int) -> socket.socket:
    """Take the address, before anything is loaded that would have been loaded in vain."""
    [(family, *_, address), *_] = socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )
    return socket.create_server(address[:2], family=family, backlog=256)


def run(app: FastAPI, listening: socket.socket, tell: Callable[[str], None], *, queue: int) -> None:
    """Serve until somebody says stop."""
    import uvicorn

    host, port, *_ = listening.getsockname()
    name = f"[{host}]" if ":" in host else host
    config = uvicorn.Config(
        app,
        log_level="error",
        access_log=False,  # the guard keeps the log
        server_header=False,
        timeout_graceful_shutdown=SECONDS_TO_CLOSE,
        limit_concurrency=2 * queue + SPARE_CONNECTIONS,
    )
    tell(f"http://{name}:{port}/")
    uvicorn.Server(config).run(sockets=[listening])
