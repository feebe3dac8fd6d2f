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

from tertium.cli.filters import load_filters
from tertium.cli.inputs import refuse_as_output, refuse_without_output
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
    ReplaceInvalid,
    Resume,
    SentenceEncoder,
    Source,
    Threads,
)
from tertium.cli.progress import interruptible, progress_bar
from tertium.data.bitext import Bitext, ParallelBitext, TableBitext, TmxBitext, bitext_columns
from tertium.data.lines import OPENERS, STDIN
from tertium.data.records import open_table
from tertium.errors import InputError
from tertium.filters.registry import FILTERS, PRISM
from tertium.filters.sequence import ROWS_AT_A_TIME
from tertium.filters.units import WORDS, unit_for
from tertium.measures.loading import ModelPool, ModelSettings
from tertium.models.threads import available_cores

if TYPE_CHECKING:
    from tertium.jobs.filtering import FilterResult
    from tertium.jobs.output import RowSink

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
    replace_invalid: ReplaceInvalid = False,
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
    ] = ROWS_AT_A_TIME,
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
) -> None:
    """Remove bad pairs from a bitext, and report how many each filter removed, and why.

    [bold]tertium filter pairs.tsv --src-lang de --tgt-lang en -o clean.tsv[/bold]
    """
    from tertium.jobs.filtering import FilterJob, filter_run, removed_columns
    from tertium.jobs.output import TableSink

    started = time.monotonic()
    outputs = output or []
    if not outputs:
        refuse_without_output(resume=resume, overwrite=overwrite)
    if resume and STDIN in (file, src, tgt):
        raise InputError("standard input cannot be read again: --resume needs a file")
    _check_outputs([*outputs, *([rejected] if rejected else [])], [file, src, tgt])
    with tempfile.TemporaryDirectory() as scratch:
        target = outputs[0] if outputs else Path(scratch) / "out"
        unfinished = filter_run(target, resume=resume, overwrite=overwrite)
        file, src, tgt = (_spooled(path, Path(scratch)) for path in (file, src, tgt))
        bitext = _bitext(
            file,
            (src, tgt),
            langs=(src_lang, tgt_lang),
            columns=(src_column, tgt_column),
            format=format,
            header=header,
            replace_invalid=replace_invalid,
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
        if measure is not None and "measure" not in names:
            names.append("measure")
        counted_in = unit or unit_for(model, [src_lang, tgt_lang])
        made = load_filters(
            names,
            ModelPool(models),
            settings or [],
            counted_in,
            (measure, at_least, at_most),
        )
        kept = _sink(outputs, bitext)
        removed = None if rejected is None else TableSink(rejected, removed_columns(bitext))
        job = FilterJob(
            bitext,
            made,
            unfinished,
            kept,
            removed,
            processes or available_cores(),
            rows_at_a_time,
        )
        with (
            interruptible(outputs[0] if outputs else None),
            progress_bar(job.count, shown=not quiet) as progress,
        ):
            result = job.run(progress)
    if as_json:
        _print_json(result, to_stderr=not outputs)
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


def _bitext(
    file: Path | None,
    parallel: tuple[Path | None, Path | None],
    *,
    langs: tuple[str | None, str | None],
    columns: tuple[str | None, str | None],
    format: str | None,  # noqa: A002
    header: bool,
    replace_invalid: bool,
) -> Bitext:
    src, tgt = parallel
    if (file is None) == (src is None) or (src is None) != (tgt is None):
        raise InputError("give either a file of pairs, or --src and --tgt")
    if src is not None and tgt is not None:
        return ParallelBitext(src, tgt, *langs, replace_invalid=replace_invalid)
    assert file is not None
    suffixes = [suffix for suffix in file.suffixes if suffix not in OPENERS]
    if format == "tmx" or (format is None and suffixes[-1:] == [".tmx"]):
        if langs[0] is None or langs[1] is None:
            raise InputError("a TMX file may have several languages; use --src-lang and --tgt-lang")
        return TmxBitext(file, langs[0], langs[1])
    table = open_table(
        file,
        format=format,  # type: ignore[arg-type]
        header=header,
        replace_invalid=replace_invalid,
    )
    roles = bitext_columns(
        table, source_lang=langs[0], target_lang=langs[1], source=columns[0], target=columns[1]
    )
    return TableBitext(table, roles, *langs)


def _sink(outputs: Sequence[Path], bitext: Bitext) -> RowSink:
    from tertium.jobs.output import ParallelSink, StreamSink, TableSink

    if not outputs:
        return StreamSink(sys.stdout, bitext.columns)
    if len(outputs) == 1:
        return TableSink(outputs[0], bitext.columns)
    if len(outputs) > 2:
        raise InputError("--output is one table, or two plain text files")
    return ParallelSink(outputs[0], outputs[1])


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


def _print_json(result: FilterResult, *, to_stderr: bool) -> None:
    document = {
        "rows": result.rows,
        "kept": result.counts[-1].after,
        "filters": [
            {"filter": count.filter, "removed": count.removed, "reasons": count.reasons}
            for count in result.counts
        ],
    }
    print(json.dumps(document, indent=1), file=sys.stderr if to_stderr else sys.stdout)
