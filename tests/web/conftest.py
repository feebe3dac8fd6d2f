"""A server with fake models, and clients for it."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from tertium.web.app import create_app
from tertium.web.engines import Loaded
from tertium.web.limits import Limits
from tertium.web.server import server

from ..cli.conftest import tertium  # noqa: F401  (a fixture)
from ..fakes import FakeEncoder, FakeModel

VECTORS = {"a": (1.0, 0.0), "b": (0.0, 1.0), "c": (0.6, 0.8)}


def fake_models(model: Any = None) -> Loaded:
    encoder = FakeEncoder(VECTORS)
    return Loaded(model or FakeModel(), encoder, encoder)


@pytest.fixture
def client() -> Iterator[Callable[..., TestClient]]:
    """Make clients, each with its own app; all are closed at the end."""
    with ExitStack() as stack:

        def make(model: Any = None, *, limits: Limits | None = None, **settings: Any) -> TestClient:
            app = create_app(fake_models(model), limits=limits, **settings)
            made = TestClient(app, base_url="http://localhost", raise_server_exceptions=False)
            return stack.enter_context(made)

        yield make


class Running:
    """An app behind a socket, in a thread."""

    def __init__(self, app: FastAPI, **settings: float) -> None:
        self.app = app
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port: int = self.socket.getsockname()[1]
        self.address = f"http://127.0.0.1:{self.port}"
        self._server = server(app, **settings)
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [self.socket]}, daemon=True
        )
        self._thread.start()
        while not self._server.started:
            time.sleep(0.01)

    def close(self) -> None:
        self._server.should_exit = True
        self._thread.join(10)
        self.socket.close()


@pytest.fixture
def running() -> Iterator[Callable[..., Running]]:
    """Run apps behind sockets."""
    made: list[Running] = []

    def run(app: FastAPI, **settings: float) -> Running:
        made.append(Running(app, **settings))
        return made[-1]

    yield run
    for each in made:
        each.close()
