"""The command line."""

from __future__ import annotations

import io
import sys
import warnings
from typing import Annotated

import typer

from tertium._version import __version__
from tertium.cli.align import align
from tertium.cli.compare import compare
from tertium.cli.data import data
from tertium.cli.doctor import doctor
from tertium.cli.explain import explain
from tertium.cli.filter import filter_command
from tertium.cli.habits import HabitCommand
from tertium.cli.measures import measures
from tertium.cli.mine import mine
from tertium.cli.models import models
from tertium.cli.paraphrase import paraphrase
from tertium.cli.rerank import rerank
from tertium.cli.score import score
from tertium.cli.serve import serve
from tertium.cli.study import study
from tertium.cli.train import train
from tertium.cli.translate import translate
from tertium.errors import TertiumError

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="How similar in meaning are two texts? In one language or across two.",
    epilog="Exit codes: 0 done; 2 something is wrong, and one line says what; "
    "3 below --fail-under; 130 stopped with Ctrl-C.",
)
app.command(cls=HabitCommand)(score)
app.command(cls=HabitCommand)(compare)
app.command()(explain)
app.command("filter")(filter_command)
app.command()(mine)
app.command()(align)
app.command()(translate)
app.command(cls=HabitCommand)(rerank)
app.command()(paraphrase)
app.command()(serve)
app.command()(measures)
app.add_typer(models, name="models")
app.command()(doctor)
app.add_typer(train, name="train")
app.add_typer(study, name="study")
app.add_typer(data, name="data")


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
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            app()
    except (TertiumError, OSError) as error:
        print(f"tertium: {error}", file=sys.stderr)
        sys.exit(2)


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    print(f"tertium: {message}", file=sys.stderr)
