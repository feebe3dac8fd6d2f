"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tertium.measures.registry import DEFAULT_MEASURE
from tertium.models.catalog import DEFAULT_MODEL

INPUT, MEASURES, OUTPUT, ENGINE = "Input", "Measures", "Output", "Engine"

RARE = frozenset(
    {
        *("--sentence-encoder", "--layer", "--compute-type", "--no-cache", "--long"),
        *("--header", "--replace-invalid", "--quoting", "--hyp-column", "--ref-column"),
        *("--src-column", "--lang-column", "--ref-lang-column", "--src-lang-column"),
        *("--overwrite", "--address", "--workers"),
    }
)
"""Options that only ``--help-all`` shows."""
Model = Annotated[
    str,
    typer.Option(
        "--model",
        metavar="NAME",
        help="Name (`tertium models`) or folder of a model, or A+B for both directions.",
    ),
]
Encoder = Annotated[
    str | None,
    typer.Option(
        "--encoder",
        metavar="NAME",
        help="Encoder of embedding-based measures. Default: the bundled one for sentences, the "
        "encoder of the model for tokens.",
        rich_help_panel=ENGINE,
    ),
]
SentenceEncoder = Annotated[
    str | None,
    typer.Option(
        "--sentence-encoder",
        metavar="NAME",
        help="Sentence encoder of sss and sentsim.",
        rich_help_panel=ENGINE,
    ),
]
Layer = Annotated[
    int | None,
    typer.Option(
        "--layer",
        min=1,
        metavar="N",
        help="Layer of the encoder. Default: the last.",
        rich_help_panel=ENGINE,
    ),
]
ComputeType = Annotated[
    str,
    typer.Option(
        "--compute-type", metavar="TYPE", help="float32 (auto) or int8.", rich_help_panel=ENGINE
    ),
]
Threads = Annotated[
    int | None,
    typer.Option(
        "--threads",
        min=1,
        metavar="N",
        help="Default: all available cores.",
        rich_help_panel=ENGINE,
    ),
]
Lang = Annotated[
    str | None,
    typer.Option("--lang", "-l", help="Language (ISO 639) of the texts, or of the hypotheses."),
]
LangOrPair = Annotated[
    str | None,
    typer.Option(
        "--lang", "-l", help="Language (ISO 639), or a pair with the source first: de-en."
    ),
]
RefLang = Annotated[
    str | None, typer.Option("--ref-lang", help="Language of the references, if different.")
]
SrcLang = Annotated[str | None, typer.Option("--src-lang", help="Language of the sources.")]
TgtLang = Annotated[
    str | None,
    typer.Option("--tgt-lang", hidden=True, help="The same as --lang, beside --src-lang."),
]
HtmlFile = Annotated[Path | None, typer.Option("--html", help="Write an HTML page to this file.")]

Measures = Annotated[
    list[str] | None,
    typer.Option(
        "--measure",
        "-m",
        metavar="NAME...",
        help="One or several measures: -m bleu chrf. With model and settings: "
        f"cross@MODEL:beam_size=1. `tertium measures` lists them. Default: {DEFAULT_MEASURE}.",
    ),
]
Against = Annotated[
    str | None,
    typer.Option(
        help="Compare with the reference (default) or with the source.", rich_help_panel=MEASURES
    ),
]
Long = Annotated[
    str | None,
    typer.Option(
        hidden=True,
        help="Texts beyond the model's length: split into aligned sentences (default), or cut; "
        "always: split all texts.",
        rich_help_panel=MEASURES,
        metavar="split|cut|always",
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
Hyp = Annotated[
    list[Path] | None,
    typer.Option(
        "--hyp",
        "-t",
        metavar="FILE...",
        help="Hypotheses, one per line. Several files are several systems.",
    ),
]
References = Annotated[
    list[Path] | None,
    typer.Option(
        "--ref",
        "-r",
        metavar="FILE...",
        help="References, one per line. Several files are several references.",
    ),
]
Source = Annotated[
    Path | None,
    typer.Option("--src", "-s", metavar="FILE", help="Sources, one per line."),
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
        help="Whether fields of TSV may be quoted, as pandas writes them. Default: an error.",
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
HypColumn = Annotated[
    str | None,
    typer.Option("--hyp-column", help="The column of the hypotheses.", rich_help_panel=INPUT),
]
RefColumn = Annotated[
    list[str] | None,
    typer.Option(
        "--ref-column", help="A column of references; may be repeated.", rich_help_panel=INPUT
    ),
]
SrcColumn = Annotated[
    str | None,
    typer.Option("--src-column", help="The column of the sources.", rich_help_panel=INPUT),
]
LangColumn = Annotated[
    str | None,
    typer.Option(
        "--lang-column", help="The column of the hypotheses' language.", rich_help_panel=INPUT
    ),
]
RefLangColumn = Annotated[
    str | None,
    typer.Option(
        "--ref-lang-column", help="The column of the references' language.", rich_help_panel=INPUT
    ),
]
SrcLangColumn = Annotated[
    str | None,
    typer.Option(
        "--src-lang-column", help="The column of the sources' language.", rich_help_panel=INPUT
    ),
]
Force = Annotated[
    bool,
    typer.Option("--force", help="Replace existing output files.", rich_help_panel=OUTPUT),
]
Quiet = Annotated[
    bool,
    typer.Option("--quiet", "-q", help="No summary, no progress bar.", rich_help_panel=OUTPUT),
]
Verbose = Annotated[
    bool,
    typer.Option("--verbose", "-v", help="Log what is done.", rich_help_panel=OUTPUT),
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
    "RARE",
    "Against",
    "AsText",
    "ComputeType",
    "Encoder",
    "Force",
    "Format",
    "Header",
    "HtmlFile",
    "Hyp",
    "HypColumn",
    "Lang",
    "LangColumn",
    "LangOrPair",
    "Layer",
    "Measures",
    "Model",
    "NoCache",
    "Overwrite",
    "Quiet",
    "Quoting",
    "RefColumn",
    "RefLang",
    "RefLangColumn",
    "References",
    "ReplaceInvalid",
    "Resume",
    "SentenceEncoder",
    "Settings",
    "Source",
    "SrcColumn",
    "SrcLang",
    "SrcLangColumn",
    "TgtLang",
    "Threads",
    "Verbose",
]
