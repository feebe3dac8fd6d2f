"""``tertium serve``."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from threading import Thread
from typing import TYPE_CHECKING, Annotated

import typer

from tertium.cli.groups import ModelOptions, grouped
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

    host: Annotated[
        str,
        typer.Option(
            help="An address that other machines can reach needs --token.", rich_help_panel=SERVER
        ),
    ] = "127.0.0.1"
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="0 chooses a free port.", rich_help_panel=SERVER)
    ] = 8310
    token: Annotated[
        str | None,
        typer.Option(
            envvar="TERTIUM_TOKEN",
            help="Required from clients, as Authorization: Bearer TOKEN.",
            rich_help_panel=SERVER,
        ),
    ] = None
    log: Annotated[
        bool,
        typer.Option("--log", help="Log requests without their texts.", rich_help_panel=SERVER),
    ] = False
    log_texts: Annotated[
        bool,
        typer.Option("--log-texts", help="Log requests with their texts.", rich_help_panel=SERVER),
    ] = False

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

    queue: Annotated[
        int, typer.Option(min=1, help="Requests in progress or waiting.", rich_help_panel=LIMITS)
    ] = 64
    pairs: Annotated[
        int, typer.Option(min=1, help="Pairs in a request.", rich_help_panel=LIMITS)
    ] = 1000
    characters: Annotated[
        int, typer.Option(min=1, help="Characters in a text.", rich_help_panel=LIMITS)
    ] = 5000
    seconds: Annotated[
        float, typer.Option(min=0.1, help="Time for a response.", rich_help_panel=LIMITS)
    ] = 60.0
    window: Annotated[
        float,
        typer.Option(
            min=0,
            help="Milliseconds to wait for queries to batch together.",
            rich_help_panel=LIMITS,
        ),
    ] = 4.0
    budget: Annotated[
        int, typer.Option(min=1, help="Estimated tokens in a batch.", rich_help_panel=LIMITS)
    ] = 8192

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
    from tertium.web.engines import Loaded
    from tertium.web.lists import available_measures
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
