"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tertium.measures.registry import DEFAULT_MEASURE
from tertium.models.catalog import DEFAULT_MODEL

Model = Annotated[
    str, typer.Option("--model", help="Name (see `tertium models`) or folder of a model.")
]
Encoder = Annotated[
    str | None,
    typer.Option(
        "--encoder", help="Encoder of embedding-based measures. Default: the encoder of the model."
    ),
]
SentenceEncoder = Annotated[
    str | None,
    typer.Option("--sentence-encoder", help="Sentence encoder of sss and sentsim."),
]
Layer = Annotated[
    int | None,
    typer.Option("--layer", min=1, help="Layer of the encoder. Default: the last."),
]
ComputeType = Annotated[str, typer.Option("--compute-type", help="float32 (auto) or int8.")]
Threads = Annotated[
    int | None, typer.Option("--threads", min=1, help="Default: all available cores.")
]
Lang = Annotated[
    str | None,
    typer.Option("--lang", "-l", help="Language (ISO 639) of the texts, or of the hypotheses."),
]
RefLang = Annotated[
    str | None, typer.Option("--ref-lang", help="Language of the references, if different.")
]
SrcLang = Annotated[str | None, typer.Option("--src-lang", help="Language of the sources.")]
HtmlFile = Annotated[Path | None, typer.Option("--html", help="Write an HTML page to this file.")]

INPUT, MEASURES, OUTPUT, ENGINE = "Input", "Measures", "Output", "Engine"

Measures = Annotated[
    list[str] | None,
    typer.Option(
        "--measure",
        "-m",
        help="A measure; may be repeated. With model and settings: cross@MODEL:beam_size=1. "
        f"Sums: sss+wmd. Default: {DEFAULT_MEASURE}.",
        rich_help_panel=MEASURES,
    ),
]
Against = Annotated[
    str | None,
    typer.Option(
        help="Compare with the reference (default) or with the source.", rich_help_panel=MEASURES
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
        "--ref", help="Plain text, one reference per line; may be repeated.", rich_help_panel=INPUT
    ),
]
Source = Annotated[
    Path | None,
    typer.Option("--src", help="Plain text, one source per line.", rich_help_panel=INPUT),
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        help="tsv, csv, jsonl or parquet. Default: by file name.",
        rich_help_panel=INPUT,
    ),
]
Header = Annotated[
    bool,
    typer.Option(
        "--header/--no-header",
        help="Whether the first line names the columns; otherwise they are 1, 2, ...",
        rich_help_panel=INPUT,
    ),
]
ReplaceInvalid = Annotated[
    bool,
    typer.Option(
        "--replace-invalid",
        help="Replace invalid bytes and surrogates by U+FFFD.",
        rich_help_panel=INPUT,
    ),
]
Quoting = Annotated[
    bool | None,
    typer.Option(
        "--quoting/--no-quoting",
        help="Whether fields of TSV may be quoted, as pandas writes them. Default: no, and quoted "
        "fields are an error.",
        rich_help_panel=INPUT,
    ),
]
AsText = Annotated[
    bool,
    typer.Option(
        "--text",
        help="The arguments are texts, even if they look like names of files.",
        rich_help_panel=INPUT,
    ),
]
Resume = Annotated[
    bool,
    typer.Option("--resume", help="Resume an interrupted run.", rich_help_panel=OUTPUT),
]
Overwrite = Annotated[
    bool,
    typer.Option(
        "--overwrite", help="Discard an interrupted run and start over.", rich_help_panel=OUTPUT
    ),
]
NoCache = Annotated[
    bool,
    typer.Option(
        "--no-cache",
        help="Do not cache model results.",
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
