"""The commands."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

import tertium
from tertium.cli.doctor import doctor
from tertium.cli.explain import explain
from tertium.cli.models import models
from tertium.cli.score import score
from tertium.errors import TertiumError

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="How far do two texts mean the same? In one language or across two.",
)
app.command()(score)
app.command()(explain)
app.command()(models)
app.command()(doctor)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"tertium {tertium.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """How far do two texts mean the same? In one language or across two."""


def main() -> None:
    """Run the command line; what is wrong with the input is said in one line, with exit code 2."""
    try:
        app()
    except TertiumError as error:
        print(f"tertium: {error}", file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(141)  # as if SIGPIPE had ended us: the reader has had enough
