"""``tertium filter``."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tertium.cli.engines import Address, Engine, EngineName, Workers, chosen_cluster
from tertium.cli.inputs import is_tmx, refuse_as_output
from tertium.cli.options import (
    DEFAULT_MODEL,
    ENGINE,
    INPUT,
    OUTPUT,
    ComputeType,
    Encoder,
    Header,
    Layer,
    Model,
    Overwrite,
    Quiet,
    Quoting,
    ReplaceInvalid,
    Resume,
    SentenceEncoder,
    Source,
    Threads,
)
from tertium.cli.running import Running
from tertium.data.lines import STDIN
from tertium.data.pairs import FilePairs, Languages, TablePairs, bitext_columns
from tertium.data.pairs import Source as Rows
from tertium.data.records import open_table
from tertium.data.tmx import TmxPairs
from tertium.errors import InputError
from tertium.filters.loading import FilterLoader
from tertium.filters.prism import prism_filters
from tertium.filters.registry import FILTERS, PRISM
from tertium.filters.units import WORDS, unit_for
from tertium.jobs.task import OnError
from tertium.measures.loading import ModelSettings
from tertium.models.threads import available_cores

if TYPE_CHECKING:
    from tertium.jobs.output import RowSink
    from tertium.jobs.tasks.filter import FilterResult

FILTER = "Filters"


def filter_command(
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FILE]",
            help="Pairs: TSV, CSV, JSONL, Parquet or TMX, also compressed; - for standard input.",
        ),
    ] = None,
    src_lang: Annotated[
        str | None, typer.Option(help="Language of the sources.", rich_help_panel=INPUT)
    ] = None,
    tgt_lang: Annotated[
        str | None, typer.Option(help="Language of the targets.", rich_help_panel=INPUT)
    ] = None,
    src: Source = None,
    tgt: Annotated[
        Path | None, typer.Option(help="Plain text, one target per line.", rich_help_panel=INPUT)
    ] = None,
    src_column: Annotated[
        str | None,
        typer.Option(help="Default: named by the language, or src.", rich_help_panel=INPUT),
    ] = None,
    tgt_column: Annotated[
        str | None,
        typer.Option(help="Default: named by the language, or tgt.", rich_help_panel=INPUT),
    ] = None,
    format: Annotated[  # noqa: A002
        str | None,
        typer.Option(
            help="tsv, csv, jsonl, parquet or tmx. Default: by the file name.",
            rich_help_panel=INPUT,
        ),
    ] = None,
    header: Header = True,
    quoting: Quoting = None,
    replace_invalid: ReplaceInvalid = False,
    on_error: Annotated[
        OnError,
        typer.Option(
            help="What to do with a row that cannot be judged: stop, skip it, or mark it in "
            "--rejected.",
            rich_help_panel=INPUT,
        ),
    ] = OnError.stop,
    filters: Annotated[
        str,
        typer.Option(
            "--filters",
            "-f",
            help=f"Filters in the order of application: {', '.join(FILTERS.builtin_names())}.",
            rich_help_panel=FILTER,
        ),
    ] = ",".join(PRISM),
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="FILTER.NAME=VALUE",
            help="A setting of a filter: --set length.longest=100 --set overlap.four=0.5.",
            rich_help_panel=FILTER,
        ),
    ] = None,
    prism: Annotated[
        bool,
        typer.Option(
            "--prism",
            help="Exactly the filters of the Prism paper, instead of --filters; margin needs an "
            "--encoder and is left out without one.",
            rich_help_panel=FILTER,
        ),
    ] = False,
    unit: Annotated[
        str | None,
        typer.Option(
            help="The unit of lengths and n-grams: the tokens of a model (its name, or a "
            "SentencePiece file), or words. Default: the tokens of --model if it supports the "
            "languages, otherwise words.",
            rich_help_panel=FILTER,
        ),
    ] = None,
    measure: Annotated[
        str | None,
        typer.Option(
            "--measure",
            "-m",
            help="The measure that the filter measure uses.",
            rich_help_panel=FILTER,
        ),
    ] = None,
    at_least: Annotated[
        float | None, typer.Option(help="Its lowest score.", rich_help_panel=FILTER)
    ] = None,
    at_most: Annotated[
        float | None, typer.Option(help="Its highest score.", rich_help_panel=FILTER)
    ] = None,
    output: Annotated[
        list[Path] | None,
        typer.Option(
            "--output",
            "-o",
            help="A .tsv, .csv, .jsonl or .parquet file; or, given twice, two plain text files.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    rejected: Annotated[
        Path | None,
        typer.Option(
            help="Write removed rows, with the reason, to this file.", rich_help_panel=OUTPUT
        ),
    ] = None,
    as_json: Annotated[
        bool,
        typer.Option("--json", help="Print the counts as JSON.", rich_help_panel=OUTPUT),
    ] = False,
    resume: Resume = False,
    overwrite: Overwrite = False,
    rows_at_a_time: Annotated[
        int,
        typer.Option(
            min=1, help="Rows that are judged and saved together.", rich_help_panel=OUTPUT
        ),
    ] = 4096,
    quiet: Quiet = False,
    processes: Annotated[
        int | None,
        typer.Option(
            min=1, help="Default: the cores available to this process.", rich_help_panel=ENGINE
        ),
    ] = None,
    model: Model = DEFAULT_MODEL,
    encoder: Encoder = None,
    sentence_encoder: SentenceEncoder = None,
    layer: Layer = None,
    compute_type: ComputeType = "auto",
    threads: Threads = None,
    engine: Engine = EngineName.local,
    address: Address = None,
    workers: Workers = None,
) -> None:
    """Remove bad pairs from a bitext, and report how many each filter removed, and why.

    [bold]tertium filter pairs.tsv --src-lang de --tgt-lang en -o clean.tsv[/bold]
    """
    from tertium.jobs.output import TableSink
    from tertium.jobs.tasks.filter import FilterPlan, removed_columns

    started = time.monotonic()
    outputs = output or []
    if resume and STDIN in (file, src, tgt):
        raise InputError("standard input cannot be read again: --resume needs a file")
    cluster = chosen_cluster(engine, address, workers, threads)
    running = Running(outputs[0] if outputs else None, resume, overwrite, quiet, cluster)
    _check_outputs([*outputs, *([rejected] if rejected else [])], [file, src, tgt])
    with tempfile.TemporaryDirectory() as scratch:
        file, src, tgt = (_spooled(path, Path(scratch)) for path in (file, src, tgt))
        rows = _rows(
            file,
            (src, tgt),
            Languages(hyp=tgt_lang, src=src_lang),
            columns=(src_column, tgt_column),
            format=format,
            header=header,
            quoting=quoting,
            replace_invalid=replace_invalid,
            tolerant=on_error is not OnError.stop,
        )
        models = ModelSettings(
            model,
            encoder=encoder,
            sentence_encoder=sentence_encoder,
            layer=layer,
            compute_type=compute_type,
            threads=threads,
            cache=False,
        )
        names = [name.strip().lower() for name in filters.split(",") if name.strip()]
        counted_in = unit or unit_for(model, [src_lang, tgt_lang])
        if prism:
            with_margin = bool(encoder or sentence_encoder)
            preset = prism_filters(counted_in, settings=settings or (), with_margin=with_margin)
            names, settings = list(preset[0]), list(preset[1])
            if not with_margin:
                print("tertium: without --encoder, the filter margin is left out", file=sys.stderr)
        if measure is not None and "measure" not in names:
            names.append("measure")
        loader = FilterLoader(
            tuple(dict.fromkeys(names)),
            models,
            tuple(settings or ()),
            counted_in,
            measure,
            at_least,
            at_most,
        )
        kept = _sink(outputs, rows)
        removed = None if rejected is None else TableSink(rejected, removed_columns(rows))
        plan = FilterPlan(rows, loader.outlines(), kept, removed, rows_at_a_time, on_error, loader)
        result = running.run(
            plan, plan.count, notes_only=True, processes=processes or available_cores()
        )
    for message in result.messages:
        print(f"tertium: {message}", file=sys.stderr)
    if as_json:
        stream = sys.stdout if outputs else sys.stderr
        print(json.dumps(result.summary(), indent=1), file=stream)
    elif not quiet:
        fallen_back = unit is None and counted_in == WORDS
        _print_counts(result, time.monotonic() - started, model if fallen_back else None)


def _check_outputs(outputs: Sequence[Path], inputs: Sequence[Path | None]) -> None:
    """Refuse outputs that are the same file, or one of the inputs."""
    if len({path.absolute() for path in outputs}) < len(outputs):
        raise InputError("two outputs have the same name")
    for path in outputs:
        refuse_as_output(path, [other for other in inputs if other is not None])


def _spooled(path: Path | None, scratch: Path) -> Path | None:
    """Copy standard input to a file, since it is read more than once."""
    if path != STDIN:
        return path
    spool = scratch / "standard-input.tsv"
    with spool.open("wb") as stream:
        shutil.copyfileobj(sys.stdin.buffer, stream)
    return spool


def _rows(
    file: Path | None,
    parallel: tuple[Path | None, Path | None],
    languages: Languages,
    *,
    columns: tuple[str | None, str | None],
    format: str | None,  # noqa: A002
    header: bool,
    quoting: bool | None,
    replace_invalid: bool,
    tolerant: bool,
) -> Rows:
    src, tgt = parallel
    if (file is None) == (src is None) or (src is None) != (tgt is None):
        raise InputError("give either a file of pairs, or --src and --tgt")
    if src is not None and tgt is not None:
        return FilePairs(tgt, (), src, languages, replace_invalid, bitext=True)
    assert file is not None
    if format == "tmx" or (format is None and is_tmx(file)):
        return TmxPairs(file, languages)
    table = open_table(
        file,
        format=format,  # type: ignore[arg-type]
        header=header,
        replace_invalid=replace_invalid,
        quoting=quoting,
    )
    roles = bitext_columns(table, src=columns[0], tgt=columns[1], langs=languages)
    return TablePairs(table, roles, languages, tolerant)


def _sink(outputs: Sequence[Path], rows: Rows) -> RowSink:
    from tertium.jobs.output import ParallelSink, StreamSink, TableSink

    if not outputs:
        return StreamSink(sys.stdout, rows.columns)
    if len(outputs) == 1:
        return TableSink(outputs[0], rows.columns)
    if len(outputs) > 2:
        raise InputError("--output is one table, or two plain text files")
    names = list(rows.columns)
    if isinstance(rows, TablePairs):
        names = [str(rows.roles.src), str(rows.roles.hyp)]
    return ParallelSink(outputs[0], outputs[1], names)


def _print_counts(result: FilterResult, seconds: float, unsupporting_model: str | None) -> None:
    from rich.console import Console

    console = Console(stderr=True, highlight=False, soft_wrap=True)
    width = max(len("filter"), *(len(count.filter) for count in result.counts))
    digits = max(len("removed"), len(str(result.rows)))
    console.print(
        f"{'filter':<{width}}  {'removed':>{digits}}  {'left':>{digits}}  why", style="dim"
    )
    for count in result.counts:
        why = ", ".join(f"{reason} {many}" for reason, many in count.reasons.items())
        line = f"{count.filter:<{width}}  {count.removed:>{digits}}  {count.after:>{digits}}  {why}"
        console.print(line.rstrip(), markup=False)
    kept = result.counts[-1].after
    share = f"{100 * kept / result.rows:.1f} %"
    rows = "row" if result.rows == 1 else "rows"
    summary = f"{kept} of {result.rows} {rows} kept ({share}) in {seconds:.1f} s"
    if result.resumed:
        summary += f"; {result.resumed} of them judged before"
    console.print(summary)
    if unsupporting_model is not None:
        console.print(
            f"lengths and n-grams were counted in words: {unsupporting_model} does not support "
            "both languages (see --unit)",
            style="yellow",
        )
