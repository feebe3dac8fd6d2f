"""``tertium paraphrase``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import IO, Annotated, Any

import typer

from tertium.cli.options import DEFAULT_MODEL, ComputeType, Encoder, Lang, Model, Threads
from tertium.data.lines import STDIN, read_lines
from tertium.engines.output import JsonLinesLayout, Layout, TsvLayout, layout_for
from tertium.errors import LanguageError
from tertium.measures.loading import ModelPool, ModelSettings, make_measure, read_specs
from tertium.measures.registry import DEFAULT_MEASURE
from tertium.paraphrasing.generation import Paraphraser
from tertium.paraphrasing.penalties import NgramPenalty, usual_unit
from tertium.storage.atomic import replacing_text

TEXTS_AT_A_TIME = 16
COLUMNS = ("text", "rank", "paraphrase", "similarity", "diversity", "via")


def paraphrase(
    text: Annotated[
        str, typer.Argument(help="A text, or a file with one text per line; - for standard input.")
    ],
    lang: Lang = None,
    a: Annotated[
        float,
        typer.Option("-a", "--a", min=0, help="The penalty of an n-gram of length n is a n^b."),
    ] = NgramPenalty.a,
    b: Annotated[
        float, typer.Option("-b", "--b", help="The exponent of the penalty.")
    ] = NgramPenalty.b,
    longest: Annotated[
        int, typer.Option(min=1, help="The longest n-gram that is penalised.")
    ] = NgramPenalty.longest,
    pivot: Annotated[
        list[str] | None,
        typer.Option(
            help="Translate via this language; may be repeated; 'none' is without a pivot."
        ),
    ] = None,
    beam_size: Annotated[int, typer.Option(min=1)] = 5,
    count: Annotated[
        int, typer.Option("--count", "-n", min=1, help="The number of paraphrases.")
    ] = 5,
    least_diversity: Annotated[
        float, typer.Option(min=0, max=100, help="The lowest diversity (100 - chrF).")
    ] = 0.0,
    measure: Annotated[
        str, typer.Option("--measure", "-m", help="The measure that ranks them.")
    ] = DEFAULT_MEASURE,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write to a .tsv or .jsonl file.")
    ] = None,
    model: Model = DEFAULT_MODEL,
    encoder: Encoder = None,
    compute_type: ComputeType = "auto",
    threads: Threads = None,
) -> None:
    """Paraphrase a text; shows the similarity in meaning and the diversity of each candidate.

    [bold]tertium paraphrase "I have to go now." --lang en[/bold]
    """
    if lang is None:
        raise LanguageError("the language of the text is missing: use --lang")
    models = ModelPool(
        ModelSettings(model, encoder=encoder, compute_type=compute_type, threads=threads)
    )
    [spec] = read_specs([measure])
    made = make_measure(spec, models)
    pivots = ["" if pivot_lang == "none" else pivot_lang for pivot_lang in pivot or ["none"]]
    paraphraser = Paraphraser(
        models("translation"),
        made,
        NgramPenalty(a, b, longest, usual_unit(lang)),
        pivots,
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
    except (OSError, ValueError):  # too long for a name, or with a null character
        is_file = False
    return read_lines(path) if is_file else iter([text])


def _rows(paraphraser: Paraphraser, text: str, lang: str) -> Iterator[list[dict[str, Any]]]:
    """The rows of the output, for a batch of texts at a time."""
    stream = _texts(text)
    while texts := list(islice(stream, TEXTS_AT_A_TIME)):
        yield [
            dict(zip(COLUMNS, (source, rank, *candidate), strict=True))
            for source, candidates in zip(texts, paraphraser(texts, lang), strict=True)
            for rank, candidate in enumerate(candidates, start=1)
        ]


def _to_stream(
    paraphraser: Paraphraser, text: str, lang: str, stream: IO[str], layout: Layout
) -> None:
    stream.write(layout.head(COLUMNS))
    for rows in _rows(paraphraser, text, lang):
        stream.write(layout.body(rows))
        stream.flush()


def _to_file(paraphraser: Paraphraser, text: str, lang: str, output: Path) -> None:
    layout = layout_for(output, {".tsv": TsvLayout, ".jsonl": JsonLinesLayout})
    with replacing_text(output, output.with_name(output.name + ".part")) as stream:
        _to_stream(paraphraser, text, lang, stream, layout)


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
            console.print("no paraphrase was found", style="yellow")


def _several(text: str) -> bool:
    return len(list(islice(_texts(text), 2))) > 1 if text != "-" else True
