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
from tertium.cli.inputs import refuse_as_output, refuse_both
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
    ReplaceInvalid,
    Resume,
    SentenceEncoder,
    Source,
    Threads,
)
from tertium.cli.progress import progress_bar
from tertium.data.bitext import Bitext, ParallelBitext, TableBitext, TmxBitext, bitext_columns
from tertium.data.lines import OPENERS, STDIN
from tertium.data.records import open_table
from tertium.errors import InputError
from tertium.filters.pieces import WORDS, unit_for
from tertium.filters.registry import FILTERS, PRISM
from tertium.filters.sequence import ROWS_AT_A_TIME, Count
from tertium.measures.loading import ModelPool, ModelSettings
from tertium.models.threads import available_cores

if TYPE_CHECKING:
    from tertium.engines.local.filtered import Sink
    from tertium.engines.local.filtering import FilterJob

FILTER = "Filters"


def filter_command(
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FILE]",
            help="Pairs: TSV, CSV, JSONL, Parquet or TMX, plain or packed; - for standard input.",
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
        Path | None, typer.Option(help="Plain text, a target a line.", rich_help_panel=INPUT)
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
            help="tsv, csv, jsonl, parquet or tmx; default: by the name.", rich_help_panel=INPUT
        ),
    ] = None,
    header: Header = True,
    replace_invalid: ReplaceInvalid = False,
    filters: Annotated[
        str,
        typer.Option(
            "--filters",
            "-f",
            help=f"Which, in which order; of {', '.join(FILTERS)}.",
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
            help="What lengths and n-grams are counted in: a model's pieces (its name, or a "
            "SentencePiece file), or words. Default: the pieces of --model if it has the "
            "languages, otherwise words.",
            rich_help_panel=FILTER,
        ),
    ] = None,
    measure: Annotated[
        str | None,
        typer.Option(
            "--measure", "-m", help="The measure of the filter measure.", rich_help_panel=FILTER
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
            help="A .tsv, .csv, .jsonl or .parquet file; or, said twice, two plain text files.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    rejected: Annotated[
        Path | None,
        typer.Option(
            help="Write what is removed, with the reason, to this file.", rich_help_panel=OUTPUT
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
            min=1, help="Rows that are judged, and saved, together.", rich_help_panel=OUTPUT
        ),
    ] = ROWS_AT_A_TIME,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="No counts, no bar.", rich_help_panel=OUTPUT)
    ] = False,
    processes: Annotated[
        int | None,
        typer.Option(min=1, help="Default: the cores this process has.", rich_help_panel=ENGINE),
    ] = None,
    model: Model = DEFAULT_MODEL,
    encoder: Encoder = None,
    sentence_encoder: SentenceEncoder = None,
    layer: Layer = None,
    compute_type: ComputeType = "auto",
    threads: Threads = None,
) -> None:
    """Drop the bad pairs of a bitext, and say how many each filter has dropped, and why.

    [bold]tertium filter pairs.tsv --src-lang de --tgt-lang en -o clean.tsv[/bold]
    """
    from tertium.engines.local.filtered import TableFile, rejected_columns, write_filtered
    from tertium.engines.local.filtering import FilterJob
    from tertium.engines.local.workfolder import WorkFolder

    started = time.monotonic()
    outputs = output or []
    if not outputs and (resume or overwrite):
        raise InputError("--resume and --overwrite are about a file: name it with --output")
    if resume and STDIN in (file, src, tgt):
        raise InputError("standard input cannot be read again: --resume needs a file")
    refuse_both(resume=resume, overwrite=overwrite)
    _check_outputs([*outputs, *([rejected] if rejected else [])], [file, src, tgt])
    with tempfile.TemporaryDirectory() as scratch:
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
        names = [name.strip() for name in filters.split(",") if name.strip()]
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
        removed = None if rejected is None else TableFile(rejected, rejected_columns(bitext))
        beside = outputs[0] if outputs else Path(scratch) / "out"
        work = WorkFolder(beside.with_name(beside.name + ".part"))
        job = FilterJob(
            bitext,
            made,
            work,
            processes or available_cores(),
            rows_at_a_time,
            resume=resume,
            overwrite=overwrite,
        )
        try:
            with progress_bar(
                lambda: len(job.stages) * sum(1 for _ in bitext), shown=not quiet
            ) as bar:
                if bar is not None:
                    job.advance, job.progress = bar.advance, bar.detail
                counts = job.run()
                write_filtered(bitext, made, work, kept, removed)
        except KeyboardInterrupt:
            saved = f"; go on with --resume ({outputs[0]} is not finished)" if outputs else ""
            print(f"tertium: stopped{saved}", file=sys.stderr)
            raise typer.Exit(130) from None
        work.remove()
    if as_json:
        _print_json(job, counts, to_errors=not outputs)
    elif not quiet:
        fallen_back = unit is None and counted_in == WORDS
        _print_counts(job, counts, time.monotonic() - started, model if fallen_back else None)


def _check_outputs(outputs: Sequence[Path], inputs: Sequence[Path | None]) -> None:
    """Outputs must be different from each other, and from the inputs."""
    if len({path.absolute() for path in outputs}) < len(outputs):
        raise InputError("two outputs have the same name")
    for path in outputs:
        refuse_as_output(path, [other for other in inputs if other is not None])


def _spooled(path: Path | None, scratch: Path) -> Path | None:
    """Put standard input into a file, since it is read more than once."""
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
            raise InputError("which languages of the TMX? say --src-lang and --tgt-lang")
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


def _sink(outputs: Sequence[Path], bitext: Bitext) -> Sink:
    from tertium.engines.local.filtered import ParallelFiles, StandardOutput, TableFile

    if not outputs:
        return StandardOutput(bitext.columns)
    if len(outputs) == 1:
        return TableFile(outputs[0], bitext.columns)
    if len(outputs) > 2:
        raise InputError("--output is one table, or two plain text files")
    return ParallelFiles(outputs[0], outputs[1])


def _print_counts(
    job: FilterJob, counts: Sequence[Count], seconds: float, pieces_lacking: str | None
) -> None:
    from rich.console import Console

    console = Console(stderr=True, highlight=False, soft_wrap=True)
    width = max(len("filter"), *(len(count.filter) for count in counts))
    digits = max(len("removed"), len(str(job.rows)))
    console.print(
        f"{'filter':<{width}}  {'removed':>{digits}}  {'left':>{digits}}  why", style="dim"
    )
    for count in counts:
        why = ", ".join(f"{reason} {many}" for reason, many in count.reasons.items())
        line = f"{count.filter:<{width}}  {count.removed:>{digits}}  {count.after:>{digits}}  {why}"
        console.print(line.rstrip(), markup=False)
    kept = counts[-1].after
    share = f"{100 * kept / job.rows:.1f} %"
    note = f"{kept} of {job.rows} rows kept ({share}) in {seconds:.1f} s"
    if job.resumed:
        note += f"; {job.resumed} of them judged before"
    console.print(note)
    if pieces_lacking is not None:
        console.print(
            f"lengths and n-grams were counted in words: {pieces_lacking} does not have both "
            "languages (see --unit)",
            style="yellow",
        )


def _print_json(job: FilterJob, counts: Sequence[Count], *, to_errors: bool) -> None:
    document = {
        "rows": job.rows,
        "kept": counts[-1].after,
        "filters": [
            {"filter": count.filter, "removed": count.removed, "reasons": count.reasons}
            for count in counts
        ],
    }
    print(json.dumps(document, indent=1), file=sys.stderr if to_errors else sys.stdout)
