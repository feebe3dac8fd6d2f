"""``tertium study``: a command for each study."""

from __future__ import annotations

from typing import Annotated

import typer

from tertium.cli.studies.bias import bias
from tertium.cli.studies.correlate import correlate
from tertium.cli.studies.isometry import isometry
from tertium.cli.studies.judgements import judgements
from tertium.cli.studies.paraphrase_id import paraphrase_id
from tertium.cli.studies.prism import prism
from tertium.cli.studies.rephrasing import rephrasing
from tertium.cli.studies.spans import spans
from tertium.errors import InputError

study = typer.Typer(
    no_args_is_help=True,
    help="Which measure to trust: the studies of the papers, for any measures and models.",
)
study.command("paraphrase-id")(paraphrase_id)
study.command("judgements")(judgements)
study.command("correlate")(correlate)
study.command("bias")(bias)
study.command("prism")(prism)
study.command("rephrasing")(rephrasing)
study.command("isometry")(isometry)
study.command("spans")(spans)


@study.command("layers", hidden=True, context_settings={"ignore_unknown_options": True})
def layers(arguments: Annotated[list[str] | None, typer.Argument()] = None) -> None:
    """Say what has taken its place."""
    raise InputError(
        "layers are studied by another command: tertium study judgements --sweep layer, with "
        "--segment for --statistic"
    )


@study.callback()
def _group() -> None:
    """Which measure to trust: the studies of the papers, for any measures and models."""
