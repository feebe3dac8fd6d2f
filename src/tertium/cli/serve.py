"""``tertium serve``."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from threading import Thread
from typing import TYPE_CHECKING, ClassVar

import typer

from tertium.cli.groups import ModelOptions, grouped
from tertium.cli.options import option
from tertium.errors import SettingError
from tertium.measures.loading import ModelPool
from tertium.registry import Extra, check_extras

if TYPE_CHECKING:
    from tertium.web.limits import Limits

SERVER, LIMITS = "Server", "Limits"
MIN_TOKEN_LENGTH = 16
LONGEST_BATCH = 5.0
"""Seconds to wait for what is being computed when the server ends."""
WEB = Extra("web", ("fastapi", "uvicorn"))


@dataclass(frozen=True)
class ServerOptions:
    """Where it listens, who may ask, and what is logged."""

    panel: ClassVar[str] = SERVER

    host: str = option("127.0.0.1", "An address that other machines can reach needs --token.")
    port: int = option(8310, "0 chooses a free port.", min=0, max=65535)
    token: str | None = option(
        None, "Required from clients, as Authorization: Bearer TOKEN.", envvar="TERTIUM_TOKEN"
    )
    log: bool = option(False, "Log requests without their texts.")
    log_texts: bool = option(False, "Log requests with their texts.")

    def check(self, *, reachable: bool) -> None:
        """Refuse a server that anybody could use, and set up its log."""
        if self.token is None and reachable:
            raise SettingError(
                f"--host {self.host} can be reached from other machines: a token is required; use "
                "--token or TERTIUM_TOKEN"
            )
        if self.token is not None and (
            len(self.token) < MIN_TOKEN_LENGTH or not self.token.isascii()
        ):
            raise SettingError(f"--token: at least {MIN_TOKEN_LENGTH} characters, ASCII only")
        if self.log or self.log_texts:
            logging.basicConfig(format="%(asctime)s %(message)s")
            logging.getLogger("tertium.web").setLevel(logging.INFO)


@dataclass(frozen=True)
class LimitOptions:
    """How much a request may hold, and how many there may be."""

    panel: ClassVar[str] = LIMITS

    queue: int = option(64, "Requests in progress or waiting.", min=1)
    pairs: int = option(1000, "Pairs in a request.", min=1)
    characters: int = option(5000, "Characters in a text.", min=1)
    seconds: float = option(60.0, "Time for a response.", min=0.1)
    window: float = option(4.0, "Milliseconds to wait for queries to batch together.", min=0)
    budget: int = option(8192, "Estimated tokens in a batch.", min=1)

    @property
    def chosen(self) -> Limits:
        """The limits of the server."""
        from tertium.web.limits import Limits

        return Limits(
            pairs=self.pairs,
            text_characters=self.characters,
            explained_characters=min(self.characters, Limits.explained_characters),
            seconds=self.seconds,
            queue=self.queue,
            window=self.window / 1000,
            budget=self.budget,
        )


@grouped()
def serve(server: ServerOptions, limits: LimitOptions, options: ModelOptions) -> None:
    """Serve a web page and an HTTP API for the measures (needs tertium\\[web])."""
    check_extras("the server", [WEB])
    from tertium.web.app import LOOPBACK_NAMES, create_app
    from tertium.web.lists import available_measures
    from tertium.web.models import Loaded
    from tertium.web.server import is_loopback, listen, run

    server.check(reachable=not is_loopback(server.host))
    with listen(server.host, server.port) as socket:
        models = ModelPool(options.chosen)
        loaded = Loaded(models("translation"), models("tokens"), models("sentences"))
        app = create_app(
            loaded,
            limits=limits.chosen,
            token=server.token,
            hosts={*LOOPBACK_NAMES, server.host} if server.token is None else (),
            log_texts=server.log_texts,
        )
        # in the background: some measures import large packages
        warm_up = Thread(
            target=app.state.service.warm_up, args=(available_measures(),), daemon=True
        )
        warm_up.start()
        try:
            run(app, socket, lambda address: typer.echo(f"Tertium is running at {address}"))
        finally:  # a thread inside of an engine would abort the process when it ends
            app.state.service.close()
            warm_up.join(LONGEST_BATCH)
