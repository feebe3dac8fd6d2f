"""``tertium paraphrase``."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import IO, Annotated, Any

import typer

from tertium.cli.options import DEFAULT_MODEL, ComputeType, Encoder, Lang, Model, Threads
from tertium.data.lines import STDIN, read_lines
from tertium.engines.layouts import JsonLinesLayout, Layout, TsvLayout
from tertium.errors import InputError, LanguageError
from tertium.measures.loading import ModelPool, ModelSettings, make_measure, read_specs
from tertium.measures.registry import DEFAULT_MEASURE
from tertium.paraphrasing.generation import Paraphraser
from tertium.paraphrasing.penalties import NgramPenalty, usual_unit

TEXTS_AT_A_TIME = 16
COLUMNS = ("text", "rank", "paraphrase", "similarity", "diversity", "via")


def paraphrase(
    text: Annotated[
        str, typer.Argument(help="A text; or a file, a text a line; - for standard input.")
    ],
    lang: Lang = None,
    a: Annotated[
        float, typer.Option("-a", "--a", min=0, help="The penalty of an n-gram is a n^b.")
    ] = NgramPenalty.a,
    b: Annotated[float, typer.Option("-b", "--b", help="The exponent.")] = NgramPenalty.b,
    longest: Annotated[
        int, typer.Option(min=1, help="The longest n-gram that is penalised.")
    ] = NgramPenalty.longest,
    pivot: Annotated[
        list[str] | None,
        typer.Option(help="Go through this language; again for more, 'none' for straight too."),
    ] = None,
    beam_size: Annotated[int, typer.Option(min=1)] = 5,
    count: Annotated[int, typer.Option("--count", "-n", min=1, help="How many to show.")] = 5,
    least_diversity: Annotated[
        float, typer.Option(min=0, max=100, help="Drop what differs less (100 - chrF).")
    ] = 0.0,
    measure: Annotated[
        str, typer.Option("--measure", "-m", help="Which measure puts them in order.")
    ] = DEFAULT_MEASURE,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write to a .tsv or .jsonl file.")
    ] = None,
    model: Model = DEFAULT_MODEL,
    encoder: Encoder = None,
    compute_type: ComputeType = "auto",
    threads: Threads = None,
) -> None:
    """Say it in other words; shows how near each candidate is in meaning, and how far in words.

    [bold]tertium paraphrase "I have to go now." --lang en[/bold]
    """
    if lang is None:
        raise LanguageError("the language of the text is needed (--lang)")
    models = ModelPool(
        ModelSettings(model, encoder=encoder, compute_type=compute_type, threads=threads)
    )
    [spec] = read_specs([measure])
    made = make_measure(spec, models)
    ways = ["" if way == "none" else way for way in pivot or ["none"]]
    paraphraser = Paraphraser(
        models("translation"),
        made,
        NgramPenalty(a, b, longest, usual_unit(lang)),
        ways,
        beam_size,
        count,
        least_diversity,
    )
    if output is not None:
        _to_file(paraphraser, text, lang, output)
    elif sys.stdout.isatty():
        _to_terminal(paraphraser, text, lang, measure)
    else:
        _to_stream(paraphraser, text, lang, sys.stdout, TsvLayout())


def _texts(text: str) -> Iterator[str]:
    path = Path(text)
    try:
        is_file = path == STDIN or path.is_file()
    except (OSError, ValueError):  # too long for a name, or with a null in it
        is_file = False
    return read_lines(path) if is_file else iter([text])


def _rows(paraphraser: Paraphraser, text: str, lang: str) -> Iterator[list[dict[str, Any]]]:
    """The rows of the output, those of some texts at a time."""
    stream = _texts(text)
    while texts := list(islice(stream, TEXTS_AT_A_TIME)):
        yield [
            dict(zip(COLUMNS, (source, rank, *found), strict=True))
            for source, some in zip(texts, paraphraser(texts, lang), strict=True)
            for rank, found in enumerate(some, start=1)
        ]


def _to_stream(
    paraphraser: Paraphraser, text: str, lang: str, stream: IO[str], layout: Layout
) -> None:
    stream.write(layout.head(COLUMNS))
    for rows in _rows(paraphraser, text, lang):
        stream.write(layout.body(rows))
        stream.flush()


def _to_file(paraphraser: Paraphraser, text: str, lang: str, output: Path) -> None:
    layouts: dict[str, type[Layout]] = {".tsv": TsvLayout, ".jsonl": JsonLinesLayout}
    if output.suffix not in layouts:
        raise InputError(f"{output}: its name does not tell the format; use {', '.join(layouts)}")
    scratch = output.with_name(output.name + ".part")
    with scratch.open("w", encoding="utf-8", newline="") as stream:
        _to_stream(paraphraser, text, lang, stream, layouts[output.suffix]())
        os.fsync(stream.fileno())
    os.replace(scratch, output)


def _to_terminal(paraphraser: Paraphraser, text: str, lang: str, measure: str) -> None:
    from rich.console import Console

    console = Console(highlight=False, soft_wrap=True)
    several = _several(text)
    for rows in _rows(paraphraser, text, lang):
        before = None
        for row in rows:
            if row["text"] != before:
                before = row["text"]
                if several:
                    console.print(before, markup=False, style="bold")
                console.print(f"{measure:>9} {'diversity':>9}", style="dim")
            via = f"  (via {row['via']})" if row["via"] else ""
            line = f"{row['similarity']:9.4f} {row['diversity']:9.1f}  {row['paraphrase']}{via}"
            console.print(line, markup=False)
        if not rows:
            console.print("nothing but the input itself was found", style="yellow")


def _several(text: str) -> bool:
    return len(list(islice(_texts(text), 2))) > 1 if text != "-" else True
