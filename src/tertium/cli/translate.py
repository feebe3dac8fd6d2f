"""``tertium translate``."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from tertium.cli.habits import split_pair
from tertium.cli.inputs import is_tmx, refuse_as_output, suffix_of
from tertium.cli.options import (
    DEFAULT_MODEL,
    OUTPUT,
    AsText,
    ComputeType,
    Force,
    Format,
    Header,
    LangOrPair,
    Model,
    NoCache,
    Overwrite,
    Quiet,
    Quoting,
    ReplaceInvalid,
    Resume,
    SrcColumn,
    SrcLang,
    SrcLangColumn,
    Threads,
)
from tertium.cli.running import Running
from tertium.cli.systems import refuse_existing
from tertium.data.codes import language_code
from tertium.data.lines import STDIN
from tertium.data.pairs import (
    FilePairs,
    Languages,
    Source,
    TablePairs,
    single_row,
    source_columns,
)
from tertium.data.records import SUFFIXES, counted, exists, looks_like_path, open_table
from tertium.errors import InputError

SAMPLING = "Sampling"


def translate(
    text: Annotated[
        str,
        typer.Argument(
            metavar="FILE | TEXT",
            help="One text per line (- for standard input), a table with a column src (.tsv, .csv, "
            ".jsonl, .parquet), or a text.",
        ),
    ],
    lang: LangOrPair = None,
    src_lang: SrcLang = None,
    count: Annotated[
        int | None,
        typer.Option("--count", "-n", min=1, help="Candidates per text. Default: 1."),
    ] = None,
    beam_size: Annotated[
        int | None,
        typer.Option(min=1, help="Default: 5, or the number of candidates if that is more."),
    ] = None,
    sample: Annotated[
        bool,
        typer.Option(
            "--sample",
            help="Sample candidates; --epsilon 0.02 leaves out improbable words.",
            rich_help_panel=SAMPLING,
        ),
    ] = False,
    temperature: Annotated[
        float,
        typer.Option(help="Below 1, probable tokens get more probable.", rich_help_panel=SAMPLING),
    ] = 1.0,
    top_k: Annotated[
        int,
        typer.Option(min=0, help="Only the K most probable tokens.", rich_help_panel=SAMPLING),
    ] = 0,
    top_p: Annotated[
        float,
        typer.Option(
            help="Only the most probable tokens that together have probability P.",
            rich_help_panel=SAMPLING,
        ),
    ] = 1.0,
    epsilon: Annotated[
        float,
        typer.Option(
            help="Only tokens with at least this probability, such as 0.02.",
            rich_help_panel=SAMPLING,
        ),
    ] = 0.0,
    seed: Annotated[int, typer.Option(min=0, rich_help_panel=SAMPLING)] = 0,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="A .txt file (one translation per line), a .tsv, .csv or .parquet file (one row "
            "per candidate), a .jsonl file (with lists of candidates), or an .nbest file (Moses). "
            "Default: standard output.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    force: Force = False,
    resume: Resume = False,
    overwrite: Overwrite = False,
    rows_at_a_time: Annotated[int, typer.Option(min=1, hidden=True)] = 64,
    quiet: Quiet = False,
    format: Format = None,  # noqa: A002
    header: Header = True,
    src_column: SrcColumn = None,
    src_lang_column: SrcLangColumn = None,
    replace_invalid: ReplaceInvalid = False,
    quoting: Quoting = None,
    as_text: AsText = False,
    model: Model = DEFAULT_MODEL,
    compute_type: ComputeType = "auto",
    threads: Threads = None,
    no_cache: NoCache = False,
) -> None:
    """Translate texts: the best translation, n-best lists, or samples.

    [bold]tertium translate src.txt -l en-de -o hyp.txt[/bold];
    [bold]tertium translate src.txt -l en-de -n 16 --sample --epsilon 0.02 -o samples.jsonl[/bold]
    """
    from tertium.jobs.output import CANDIDATE_LAYOUTS, TextLayout, TsvLayout
    from tertium.jobs.task import Input, Job
    from tertium.jobs.tasks.translate import TranslateTask, translated
    from tertium.measures.loading import ModelSettings
    from tertium.models.translation.translate import make_search

    started = time.monotonic()
    lang, src_lang = split_pair(lang, src_lang)
    src_lang = None if src_lang is None else language_code(src_lang)
    given = {} if beam_size is None else {"beam_size": beam_size}
    if sample and beam_size is not None:
        raise InputError("--beam-size is for beam search, --sample is without it: use one of them")
    search = make_search(
        count or 1,
        sampling=sample,
        temperature=temperature,
        top_k=top_k,
        top_p=top_p,
        epsilon=epsilon,
        seed=seed,
        **given,
    )
    source: Source
    languages = Languages(src=src_lang)
    path = Path(text)
    if not as_text and (path == STDIN or (exists(text) and path.is_file())):
        if format == "tmx" or (format is None and is_tmx(path)):
            from tertium.data.tmx import TmxPairs

            source = TmxPairs(path, Languages(hyp=lang, src=src_lang))
        elif _is_table(path, format):
            table = open_table(
                path,
                format=format,  # type: ignore[arg-type]
                header=header,
                replace_invalid=replace_invalid,
                quoting=quoting,
            )
            columns = source_columns(table, src=src_column, src_lang=src_lang_column)
            source = TablePairs(table, columns, languages)
        else:
            source = FilePairs(
                src=path, languages=languages, replace_invalid=replace_invalid, alone=True
            )
    elif not as_text and looks_like_path(text):
        raise InputError(f"{text}: there is no such file (if it is meant as a text, add --text)")
    else:
        source = single_row(languages, src=text)
    if output is not None:
        refuse_as_output(output, [text])
        refuse_existing(output, force=force or resume or overwrite)
        if output.suffix == ".txt" and search.count > 1:
            raise InputError(
                f"{output} has one line per text, and there are {search.count} candidates; write "
                "a .tsv, .csv, .jsonl, .parquet or .nbest file"
            )
    running = Running(output, resume, overwrite, quiet, what="texts")
    models = ModelSettings(model, compute_type=compute_type, threads=threads, cache=not no_cache)
    nested = output is not None and output.suffix == ".jsonl"
    task = TranslateTask(running.models(models), lang, search, nested)
    result = running(
        Job(task, [Input(source)], rows_at_a_time),
        translated,
        shown=TextLayout() if count is None else TsvLayout(),
        layouts=CANDIDATE_LAYOUTS,
    )
    if quiet:
        return
    if output is not None:
        facts = [f"{counted(result.rows, 'text')} in {time.monotonic() - started:.1f} s"]
        if result.finished.resumed:
            facts.append(f"{result.finished.resumed} of them before")
        if search.count > 1:
            facts.append(counted(result.candidates, "candidate"))
        print("; ".join(facts), file=sys.stderr)
    if result.cut:
        print(
            f"tertium: {counted(result.cut, 'text')} marked as cut: longer than the model reads, "
            "or with a translation that did not end",
            file=sys.stderr,
        )


def _is_table(path: Path, table_format: str | None) -> bool:
    """Whether a file has columns: by its format or its name; plain text is .txt or any other."""
    if table_format is not None:
        return True
    return suffix_of(path) in SUFFIXES and suffix_of(path) != ".txt"
