"""``tertium serve``."""

from __future__ import annotations

import logging
from threading import Thread
from typing import Annotated

import typer

from tertium.cli.options import (
    DEFAULT_MODEL,
    ComputeType,
    Encoder,
    Layer,
    Model,
    NoCache,
    SentenceEncoder,
    Threads,
)
from tertium.errors import SettingError
from tertium.measures.loading import ModelPool, ModelSettings
from tertium.registry import Extra, check_extras

SERVER, LIMITS = "Server", "Limits"
MIN_TOKEN_LENGTH = 16
WEB = Extra("web", ("fastapi", "uvicorn"))


def serve(
    host: Annotated[
        str,
        typer.Option(
            help="An address that other machines can reach needs --token.", rich_help_panel=SERVER
        ),
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="0 chooses a free port.", rich_help_panel=SERVER)
    ] = 8310,
    token: Annotated[
        str | None,
        typer.Option(
            envvar="TERTIUM_TOKEN",
            help="Required from clients, as Authorization: Bearer TOKEN.",
            rich_help_panel=SERVER,
        ),
    ] = None,
    log: Annotated[
        bool,
        typer.Option("--log", help="Log requests without their texts.", rich_help_panel=SERVER),
    ] = False,
    log_texts: Annotated[
        bool,
        typer.Option("--log-texts", help="Log requests with their texts.", rich_help_panel=SERVER),
    ] = False,
    queue: Annotated[
        int, typer.Option(min=1, help="Requests in progress or waiting.", rich_help_panel=LIMITS)
    ] = 64,
    pairs: Annotated[
        int, typer.Option(min=1, help="Pairs in a request.", rich_help_panel=LIMITS)
    ] = 1000,
    characters: Annotated[
        int, typer.Option(min=1, help="Characters in a text.", rich_help_panel=LIMITS)
    ] = 5000,
    seconds: Annotated[
        float, typer.Option(min=0.1, help="Time for a response.", rich_help_panel=LIMITS)
    ] = 60.0,
    window: Annotated[
        float,
        typer.Option(
            min=0,
            help="Milliseconds to wait for queries to batch together.",
            rich_help_panel=LIMITS,
        ),
    ] = 4.0,
    budget: Annotated[
        int, typer.Option(min=1, help="Estimated tokens in a batch.", rich_help_panel=LIMITS)
    ] = 8192,
    model: Model = DEFAULT_MODEL,
    encoder: Encoder = None,
    sentence_encoder: SentenceEncoder = None,
    layer: Layer = None,
    compute_type: ComputeType = "auto",
    threads: Threads = None,
    no_cache: NoCache = False,
) -> None:
    """Serve a web page and an HTTP API for the measures (needs tertium\\[web])."""
    check_extras("the server", [WEB])
    from tertium.web.app import LOOPBACK_NAMES, create_app
    from tertium.web.engines import Loaded
    from tertium.web.limits import Limits
    from tertium.web.lists import available_measures
    from tertium.web.server import is_loopback, listen, run

    if token is None and not is_loopback(host):
        raise SettingError(
            f"--host {host} can be reached from other machines: a token is required; use --token "
            "or TERTIUM_TOKEN"
        )
    if token is not None and (len(token) < MIN_TOKEN_LENGTH or not token.isascii()):
        raise SettingError(f"--token: at least {MIN_TOKEN_LENGTH} characters, ASCII only")
    if log or log_texts:
        logging.basicConfig(format="%(asctime)s %(message)s")
        logging.getLogger("tertium.web").setLevel(logging.INFO)
    limits = Limits(
        pairs=pairs,
        text_characters=characters,
        explained_characters=min(characters, Limits.explained_characters),
        seconds=seconds,
        queue=queue,
        window=window / 1000,
        budget=budget,
    )
    with listen(host, port) as socket:
        settings = ModelSettings(
            model,
            encoder=encoder,
            sentence_encoder=sentence_encoder,
            layer=layer,
            compute_type=compute_type,
            threads=threads,
            cache=not no_cache,
        )
        models = ModelPool(settings)
        loaded = Loaded(models("translation"), models("tokens"), models("sentences"))
        app = create_app(
            loaded,
            limits=limits,
            token=token,
            hosts={*LOOPBACK_NAMES, host} if token is None else (),
            log_texts=log_texts,
        )
        # in the background: some measures import large packages
        warm_up = Thread(
            target=app.state.service.warm_up, args=(available_measures(),), daemon=True
        )
        warm_up.start()
        run(app, socket, lambda address: typer.echo(f"Tertium is running at {address}"))
