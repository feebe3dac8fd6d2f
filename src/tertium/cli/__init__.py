"""The command line."""

from __future__ import annotations

import io
import sys
import warnings
from typing import Annotated

import typer

from tertium._version import __version__
from tertium.cli.commands import RUNNING, LazyGroup, as_option
from tertium.errors import TertiumError, TertiumWarning

app = typer.Typer(
    cls=LazyGroup,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="How similar in meaning are two texts? In one language or across two.",
    epilog="Exit codes: 0 done; 2 something is wrong, and one line says what; "
    "3 below --fail-under; 130 stopped with Ctrl-C.",
)


@app.callback(invoke_without_command=True)
def _options(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", help="Show the version, with --verbose for a bug report.")
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", hidden=True)] = False,
) -> None:
    """How similar in meaning are two texts? In one language or across two."""
    if version:
        from tertium.cli.version import describe

        typer.echo(describe() if verbose else f"tertium {__version__}")
        raise typer.Exit
    if verbose:
        context.fail("--verbose belongs after the command, or to --version")
    if context.invoked_subcommand is None:
        context.fail("Missing command.")


def main() -> None:
    """Run the command line; an error is reported in one line, with exit code 2."""
    if sys.stdout is None:
        print("tertium: standard output is closed; write to a file with --output", file=sys.stderr)
        sys.exit(2)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")  # as the input
    RUNNING.set(None)
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            app()
    except TertiumError as error:
        print(f"tertium: {error.said(as_option)}", file=sys.stderr)
        sys.exit(2)
    except OSError as error:
        print(f"tertium: {error}", file=sys.stderr)
        sys.exit(2)


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    said = message.said(as_option) if isinstance(message, TertiumWarning) else message
    print(f"tertium: {said}", file=sys.stderr)
