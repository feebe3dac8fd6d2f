"""Run the app on a socket."""

from __future__ import annotations

import errno
import ipaddress
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING

from tertium.errors import OutputError
from tertium.web.connections import HEADER_SECONDS, timed_protocol

if TYPE_CHECKING:
    import uvicorn
    from fastapi import FastAPI

SHUTDOWN_SECONDS = 5
IDLE_SECONDS = 5
HEADER_BYTES = 16 << 10


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
    try:
        listening = socket.create_server(address[:2], family=family, backlog=256)
    except OSError as error:
        name = f"[{host}]" if ":" in host else host
        if error.errno == errno.EADDRINUSE:
            fact = f"another program listens at {name}:{port}; it may be a server that still runs"
        elif error.errno == errno.EACCES:
            fact = f"you may not listen at {name}:{port}: ports below 1024 belong to the system"
        else:
            reason = (error.strerror or str(error)).partition(" (while")[0]
            fact = f"the server cannot listen at {name}:{port}: {reason}"
        raise OutputError(fact, cure="choose another {port}") from None
    # asyncio sets this for its own sockets only; without it, a response waits 40 ms for the client
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def server(app: FastAPI, *, header_seconds: float = HEADER_SECONDS) -> uvicorn.Server:
    """Make the server: its limits on time, on connections and on headers."""
    import uvicorn

    config = uvicorn.Config(
        app,
        http=timed_protocol(header_seconds),
        log_level="error",
        access_log=False,  # the guard logs requests
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
        h11_max_incomplete_event_size=HEADER_BYTES,
    )
    return uvicorn.Server(config)


def run(app: FastAPI, listening: socket.socket, announce: Callable[[str], None]) -> None:
    """Serve until interrupted."""
    host, port, *_ = listening.getsockname()
    name = f"[{host}]" if ":" in host else host
    announce(f"http://{name}:{port}/")
    server(app).run(sockets=[listening])
