"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tertium.measures.registry import DEFAULT_MEASURE
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
    str, typer.Option("--compute-type", help="float32 (auto is the same), or int8.")
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

INPUT, MEASURES, OUTPUT, ENGINE = "Input", "Measures", "Output", "Engine"

Measures = Annotated[
    list[str] | None,
    typer.Option(
        "--measure",
        "-m",
        help="A measure, or several: -m direct -m chrf; sums with a plus: -m sss+wmd. "
        f"Default: {DEFAULT_MEASURE}.",
        rich_help_panel=MEASURES,
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="A setting of a measure: --set base=2 --set tokenize=zh.",
        rich_help_panel=MEASURES,
    ),
]
References = Annotated[
    list[Path] | None,
    typer.Option(
        "--ref", help="Plain text, a reference a line; may be repeated.", rich_help_panel=INPUT
    ),
]
Source = Annotated[
    Path | None,
    typer.Option("--src", help="Plain text, a source a line.", rich_help_panel=INPUT),
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format", help="tsv, csv, jsonl or parquet; default: by the name.", rich_help_panel=INPUT
    ),
]
Header = Annotated[
    bool,
    typer.Option(
        "--header/--no-header",
        help="Whether the first line names the columns; if not, they are 1, 2, ...",
        rich_help_panel=INPUT,
    ),
]
ReplaceInvalid = Annotated[
    bool,
    typer.Option(
        "--replace-invalid",
        help="Put U+FFFD for bytes and surrogates that are no characters.",
        rich_help_panel=INPUT,
    ),
]
Resume = Annotated[
    bool,
    typer.Option("--resume", help="Go on where a killed run stopped.", rich_help_panel=OUTPUT),
]
Overwrite = Annotated[
    bool,
    typer.Option(
        "--overwrite", help="Drop an unfinished run, and begin anew.", rich_help_panel=OUTPUT
    ),
]
NoCache = Annotated[
    bool,
    typer.Option(
        "--no-cache",
        help="Neither use nor keep the answers of the model.",
        rich_help_panel=ENGINE,
    ),
]

__all__ = [
    "DEFAULT_MODEL",
    "ENGINE",
    "INPUT",
    "MEASURES",
    "OUTPUT",
    "ComputeType",
    "Encoder",
    "Format",
    "Header",
    "HtmlFile",
    "Lang",
    "Layer",
    "Measures",
    "Model",
    "NoCache",
    "Overwrite",
    "RefLang",
    "References",
    "ReplaceInvalid",
    "Resume",
    "SentenceEncoder",
    "Settings",
    "Source",
    "SrcLang",
    "Threads",
]
