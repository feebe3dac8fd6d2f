"""Options that several commands share."""

from __future__ import annotations

from dataclasses import field
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeVar

import typer

INPUT, MEASURES, OUTPUT, ENGINE = "Input", "Measures", "Output", "Engine"

OPTION = "option"
"""The key of an option in the metadata of its field."""
Value = TypeVar("Value")


class OptionAbout(NamedTuple):
    """The flags of an option, and the settings that typer takes."""

    flags: tuple[str, ...]
    settings: dict[str, Any]


def option(
    default: Value,
    help: str = "",  # noqa: A002
    *flags: str,
    panel: str | None = None,
    **settings: Any,
) -> Value:
    """A field of a group of options, or a parameter of a command: its default, help and flags.

    Without flags, there is one of its name; a bool has no opposite unless its flag names one, as in
    ``"--header/--no-header"``. The panel is, if not given, that of the group (``panel``).
    """
    about = OptionAbout(flags, {"help": help or None, "rich_help_panel": panel, **settings})
    found: Value = field(default=default, metadata={OPTION: about})
    return found


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
SrcLang = Annotated[str | None, typer.Option("--src-lang", help="Language of the sources.")]
HtmlFile = Annotated[Path | None, typer.Option("--html", help="Write an HTML page to this file.")]

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
ReplaceInvalid = Annotated[
    bool,
    typer.Option(
        "--replace-invalid",
        help="Replace invalid bytes and surrogates by U+FFFD.",
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
NoCache = Annotated[
    bool,
    typer.Option(
        "--no-cache",
        help="Do not cache model results.",
        rich_help_panel=ENGINE,
    ),
]
