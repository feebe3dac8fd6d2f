"""``tertium paraphrase``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, Annotated, Any

import typer

from tertium.cli.options import (
    DEFAULT_MODEL,
    AsText,
    ComputeType,
    Encoder,
    Lang,
    Model,
    Threads,
)
from tertium.cli.progress import progress_bar
from tertium.data.codes import language_code
from tertium.data.lines import STDIN, read_lines, without_trailing_blanks
from tertium.data.records import exists, looks_like_path
from tertium.errors import InputError, LanguageError
from tertium.jobs.output import JsonLinesLayout, Layout, TsvLayout, layout_for
from tertium.jobs.task import JobProgress
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
    as_text: AsText = False,
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
    texts = Texts(text, as_text)
    if lang is None:
        raise LanguageError("the language of the text is missing: use --lang")
    lang = language_code(lang)
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
    with progress_bar(texts.count, shown=True, what="texts") as progress:
        rows = _rows(paraphraser, texts, lang, progress)
        if output is not None:
            _to_file(rows, output)
        elif sys.stdout.isatty():
            _to_terminal(rows, texts.several, measure, progress)
        else:
            _to_stream(rows, sys.stdout, TsvLayout())


@dataclass(frozen=True)
class Texts:
    """The texts to paraphrase: an argument itself, or the lines of a file that it names."""

    argument: str
    as_text: bool = False

    def __post_init__(self) -> None:
        if not self.as_text and not self._is_file and looks_like_path(self.argument):
            raise InputError(
                f"{self.argument}: there is no such file (if it is meant as a text, add --text)"
            )

    def __iter__(self) -> Iterator[str]:
        if self.as_text or not self._is_file:
            return iter([self.argument])
        return without_trailing_blanks(read_lines(Path(self.argument)))

    @property
    def _is_file(self) -> bool:
        path = Path(self.argument)
        return path == STDIN or (exists(self.argument) and path.is_file())

    @property
    def several(self) -> bool:
        """Whether there is more than one text; standard input can be read only once."""
        return self.argument == "-" or len(list(islice(self, 2))) > 1

    def count(self) -> int | None:
        """The number of texts; unknown for standard input."""
        return None if self.argument == "-" else sum(1 for _ in self)


Rows = Iterator[list[dict[str, Any]]]


def _rows(paraphraser: Paraphraser, texts: Texts, lang: str, progress: JobProgress) -> Rows:
    """The rows of the output, for a batch of texts at a time."""
    stream = iter(texts)
    done = 0
    while batch := list(islice(stream, TEXTS_AT_A_TIME)):
        found = paraphraser(batch, lang, progress.detail)
        done += len(batch)
        progress.advance(done)
        yield [
            dict(zip(COLUMNS, (source, rank, *candidate), strict=True))
            for source, candidates in zip(batch, found, strict=True)
            for rank, candidate in enumerate(candidates, start=1)
        ]


def _to_stream(batches: Rows, stream: IO[str], layout: Layout) -> None:
    stream.write(layout.head(COLUMNS))
    for rows in batches:
        stream.write(layout.body(rows))
        stream.flush()


def _to_file(batches: Rows, output: Path) -> None:
    layout = layout_for(output, {".tsv": TsvLayout, ".jsonl": JsonLinesLayout})
    with replacing_text(output, output.with_name(output.name + ".part")) as stream:
        _to_stream(batches, stream, layout)


def _to_terminal(batches: Rows, several: bool, measure: str, progress: JobProgress) -> None:
    from rich.console import Console

    console = Console(highlight=False, soft_wrap=True)
    for rows in batches:
        progress.hide()
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
