"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tertium.models.catalog import DEFAULT_MODEL

Model = Annotated[
    str, typer.Option("--model", help="A model's name (see `tertium models`) or its folder.")
]
Encoder = Annotated[
    str | None,
    typer.Option(
        "--encoder", help="For measures by vectors: an encoder. Default: that of the model."
    ),
]
SentenceEncoder = Annotated[
    str | None,
    typer.Option("--sentence-encoder", help="For sss and sentsim: an encoder of sentences."),
]
Layer = Annotated[
    int | None,
    typer.Option("--layer", min=1, help="The layer of the encoder. Default: its last."),
]
ComputeType = Annotated[
    str, typer.Option("--compute-type", help="auto (as the weights are), float32 or int8.")
]
Threads = Annotated[
    int | None, typer.Option("--threads", min=1, help="Default: the cores this process has.")
]
Lang = Annotated[
    str | None,
    typer.Option("--lang", "-l", help="Language (ISO 639) of the texts, or of the hypotheses."),
]
RefLang = Annotated[
    str | None, typer.Option("--ref-lang", help="Language of the references, if it is another.")
]
SrcLang = Annotated[str | None, typer.Option("--src-lang", help="Language of the sources.")]
HtmlFile = Annotated[Path | None, typer.Option("--html", help="Write a page to this file.")]

__all__ = [
    "DEFAULT_MODEL",
    "ComputeType",
    "Encoder",
    "HtmlFile",
    "Lang",
    "Layer",
    "Model",
    "RefLang",
    "SentenceEncoder",
    "SrcLang",
    "Threads",
]
