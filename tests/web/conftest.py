"""A server with fake models, and clients for it."""

from __future__ import annotations

import os
import shutil
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from tertium import load_encoder, load_model
from tertium.web.app import create_app
from tertium.web.limits import Limits
from tertium.web.lists import available_measures
from tertium.web.models import Loaded
from tertium.web.server import server

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

from ..cli.conftest import tertium  # noqa: F401  (a fixture)
from ..fakes import FakeEncoder, FakeModel

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
NO_BROWSER = "THE PAGE IS NOT TESTED: there is no Chromium (apt-get install chromium)"
NO_PLAYWRIGHT = "THE PAGE IS NOT TESTED: pip install playwright"
PATIENCE = 30_000
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


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """The Chromium of the system; its event loop must not run while other tests start theirs."""
    if CHROMIUM is None:
        pytest.skip(NO_BROWSER)
    playwright = pytest.importorskip("playwright.sync_api", reason=NO_PLAYWRIGHT)
    with playwright.sync_playwright() as started:
        made = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield made
        made.close()


@pytest.fixture(scope="session")
def served() -> Iterator[Running]:
    """The server with the bundled model, as ``tertium serve`` starts it."""
    encoder = load_encoder()
    app = create_app(Loaded(load_model(cache=False), encoder, encoder))
    app.state.service.warm_up(available_measures())
    made = Running(app)
    yield made
    made.close()


@pytest.fixture
def faults() -> list[str]:
    """What the browser reports: failing scripts, violations of the content policy."""
    return []


@pytest.fixture
def open_page(
    browser: Browser, served: Running, faults: list[str]
) -> Iterator[Callable[..., Page]]:
    """Open an address of the server; in the end, the browser must have nothing to report."""
    contexts: list[Any] = []

    def visit(address: str = "", **settings: Any) -> Page:
        context = browser.new_context(**settings)
        context.set_default_timeout(PATIENCE)
        context.grant_permissions(["clipboard-read", "clipboard-write"], origin=served.address)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on(
            "console",
            lambda message: faults.append(message.text) if message.type == "error" else None,
        )
        page.on(
            "request", lambda request: faults.append(request.url) if outside(request.url) else None
        )
        page.goto(f"{served.address}/{address}")
        if not address.startswith("docs"):
            page.locator("#score:enabled").wait_for()
        return page

    def outside(url: str) -> bool:
        return not url.startswith((served.address, "blob:", "data:"))

    yield visit
    for context in contexts:
        context.close()
    assert faults == []
