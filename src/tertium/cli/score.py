"""``tertium score``."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from tertium.cli.inputs import Inputs, refuse_as_output, refuse_without_output
from tertium.cli.options import (
    DEFAULT_MODEL,
    ENGINE,
    INPUT,
    MEASURES,
    OUTPUT,
    Against,
    AsText,
    ComputeType,
    Encoder,
    Format,
    Header,
    Lang,
    Layer,
    Measures,
    Model,
    NoCache,
    Overwrite,
    Quoting,
    References,
    RefLang,
    ReplaceInvalid,
    Resume,
    SentenceEncoder,
    Settings,
    Source,
    SrcLang,
    Threads,
)
from tertium.cli.progress import interruptible, progress_bar
from tertium.data.pairs import Languages
from tertium.engines.local.scoring import ScoringJob
from tertium.engines.output import (
    FileOutput,
    JsonDocumentLayout,
    Layout,
    Output,
    StreamOutput,
    TerminalLayout,
    TsvLayout,
)
from tertium.engines.ray.cluster import ClusterSettings, import_ray
from tertium.engines.ray.scoring import DistributedJob
from tertium.engines.ray.shards import ShardFolder
from tertium.engines.scoring import ROWS_AT_A_TIME, Job, ScoringResult
from tertium.errors import InputError
from tertium.measures.loading import MeasureLoader, ModelSettings, read_specs
from tertium.measures.marks import describe_languages, describe_marks
from tertium.measures.registry import DEFAULT_MEASURE


class EngineName(StrEnum):
    """Where a job runs."""

    local = "local"
    ray = "ray"


def score(
    texts: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FILE | TEXT TEXT]",
            help="A file of pairs (TSV, CSV, JSONL, Parquet; - for standard input), or two texts; "
            "with --engine ray, any number of files, folders and patterns.",
        ),
    ] = None,
    measure: Measures = None,
    lang: Lang = None,
    ref_lang: RefLang = None,
    src_lang: SrcLang = None,
    hyp: Annotated[
        Path | None,
        typer.Option(help="Plain text, one hypothesis per line.", rich_help_panel=INPUT),
    ] = None,
    ref: References = None,
    src: Source = None,
    format: Format = None,  # noqa: A002
    header: Header = True,
    hyp_column: Annotated[str | None, typer.Option(rich_help_panel=INPUT)] = None,
    ref_column: Annotated[
        list[str] | None, typer.Option(help="May be repeated.", rich_help_panel=INPUT)
    ] = None,
    src_column: Annotated[str | None, typer.Option(rich_help_panel=INPUT)] = None,
    lang_column: Annotated[
        str | None, typer.Option(help="The column with the language.", rich_help_panel=INPUT)
    ] = None,
    ref_lang_column: Annotated[str | None, typer.Option(rich_help_panel=INPUT)] = None,
    src_lang_column: Annotated[str | None, typer.Option(rich_help_panel=INPUT)] = None,
    replace_invalid: ReplaceInvalid = False,
    quoting: Quoting = None,
    as_text: AsText = False,
    normalized: Annotated[
        bool | None,
        typer.Option(
            "--normalized/--not-normalized",
            help="Relative to the score of identical texts, or not.",
            rich_help_panel=MEASURES,
        ),
    ] = None,
    both_directions: Annotated[
        bool | None,
        typer.Option("--both-directions/--one-way", rich_help_panel=MEASURES),
    ] = None,
    base: Annotated[
        str | None,
        typer.Option(
            help="Base of the logarithm: e (as in the paper) or 2 (as in nmtscore).",
            rich_help_panel=MEASURES,
        ),
    ] = None,
    aggregate: Annotated[
        str | None,
        typer.Option(help="H (mean over tokens) or G (sum over tokens).", rich_help_panel=MEASURES),
    ] = None,
    references: Annotated[
        str | None,
        typer.Option(
            help="Maximum (max) or mean over several references.", rich_help_panel=MEASURES
        ),
    ] = None,
    pivot_lang: Annotated[str | None, typer.Option(rich_help_panel=MEASURES)] = None,
    target_lang: Annotated[
        str | None,
        typer.Option(help="The language that cross translates into.", rich_help_panel=MEASURES),
    ] = None,
    beam_size: Annotated[int | None, typer.Option(min=1, rich_help_panel=MEASURES)] = None,
    tokenize: Annotated[
        str | None, typer.Option(help="The tokenizer of BLEU.", rich_help_panel=MEASURES)
    ] = None,
    against: Against = None,
    settings: Settings = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Write the rows to a .tsv, .csv, .jsonl or .parquet file, or (--engine ray) to a "
            "folder of Parquet shards.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    scores_only: Annotated[
        bool,
        typer.Option(
            "--scores-only", help="Leave out the columns of the input.", rich_help_panel=OUTPUT
        ),
    ] = False,
    as_json: Annotated[
        bool,
        typer.Option("--json", help="Print one JSON document.", rich_help_panel=OUTPUT),
    ] = False,
    resume: Resume = False,
    overwrite: Overwrite = False,
    rows_at_a_time: Annotated[
        int,
        typer.Option(
            min=1, help="Rows that are scored and saved together.", rich_help_panel=OUTPUT
        ),
    ] = ROWS_AT_A_TIME,
    quiet: Annotated[
        bool,
        typer.Option("--quiet", "-q", help="No summary, no progress bar.", rich_help_panel=OUTPUT),
    ] = False,
    model: Model = DEFAULT_MODEL,
    encoder: Encoder = None,
    sentence_encoder: SentenceEncoder = None,
    layer: Layer = None,
    compute_type: ComputeType = "auto",
    threads: Threads = None,
    no_cache: NoCache = False,
    engine: Annotated[
        EngineName,
        typer.Option(help="Run in this process, or on a Ray cluster.", rich_help_panel=ENGINE),
    ] = EngineName.local,
    address: Annotated[
        str | None,
        typer.Option(
            help="Address of a Ray cluster (or $RAY_ADDRESS). Default: start Ray on this machine.",
            rich_help_panel=ENGINE,
        ),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Number of workers. Default: as many as there is room for.",
            rich_help_panel=ENGINE,
        ),
    ] = None,
) -> None:
    """Score pairs of texts: each row, and all rows together. Higher is better.

    [bold]tertium score pairs.tsv[/bold] reads the columns hyp, ref, src and lang.
    """
    started = time.monotonic()
    inputs = Inputs(
        texts or [],
        hyp=hyp,
        refs=tuple(ref or ()),
        src=src,
        languages=Languages(hyp=lang, ref=ref_lang or lang, src=src_lang),
        format=format,
        header=header,
        columns={
            "hyp": hyp_column,
            "refs": ref_column or [],
            "src": src_column,
            "lang": lang_column,
            "ref_lang": ref_lang_column,
            "src_lang": src_lang_column,
        },
        replace_invalid=replace_invalid,
        quoting=quoting,
        as_text=as_text,
    )
    if output is not None:
        refuse_as_output(output, inputs.names)
    names = measure or [DEFAULT_MEASURE]
    given = {
        "normalized": normalized,
        "both_directions": both_directions,
        "base": base,
        "aggregate": aggregate,
        "references": references,
        "pivot_lang": pivot_lang,
        "target_lang": target_lang,
        "beam_size": beam_size,
        "tokenize": tokenize,
        "against": against,
    }
    specs = read_specs(names, given=given, written=settings or [])
    models = ModelSettings(
        model,
        encoder=encoder,
        sentence_encoder=sentence_encoder,
        layer=layer,
        compute_type=compute_type,
        threads=threads,
        cache=not no_cache,
    )
    job: Job
    if engine is EngineName.ray:
        cluster = ClusterSettings(address or os.environ.get("RAY_ADDRESS"), workers, threads)
        if output is None:
            raise InputError("--engine ray writes a folder of Parquet shards: use --output")
        shards = ShardFolder(output, resume=resume, overwrite=overwrite)
        import_ray()  # a missing package is reported before any model is loaded
        files = inputs.stored_pairs()
        load = MeasureLoader(specs, models)
        measures, pool = load.load()
        job = DistributedJob(
            files, measures, load, shards, cluster, scores_only, rows_at_a_time, pool.tally
        )
    else:
        if address or workers:
            raise InputError("--address and --workers need --engine ray")
        sink: Output
        if output is not None:
            sink = file = FileOutput(output, resume=resume, overwrite=overwrite)
            if no_cache:  # cached until the run is finished, so that it can be resumed
                models = replace(models, cache=file.cache)
        else:
            refuse_without_output(resume=resume, overwrite=overwrite)
            sink = StreamOutput(sys.stdout, _layout([spec.measure for spec in specs], as_json))
        pairs = inputs.pairs()
        measures, pool = MeasureLoader(specs, models).load()
        job = ScoringJob(pairs, measures, sink, scores_only, rows_at_a_time, pool.tally)
    with interruptible(output), progress_bar(job.count, shown=not quiet) as progress:
        result = job.run(progress)
    if as_json and output is not None:
        print(json.dumps(result.document(), indent=1, ensure_ascii=False))
    elif not as_json and not quiet:
        _print_summary(result, time.monotonic() - started)


def _layout(names: Sequence[str], as_json: bool) -> Layout:
    if as_json:
        return JsonDocumentLayout()
    return TerminalLayout(names) if sys.stdout.isatty() else TsvLayout()


def _print_summary(result: ScoringResult, seconds: float) -> None:
    """Print the system scores and their signatures to standard error."""
    from rich.console import Console

    console = Console(stderr=True, highlight=False, soft_wrap=True)
    for name, measure in result.measures.items():
        console.print(f"[bold]{name}[/bold] {measure.system:.4f}")
        console.print(measure.signature.short, style="dim", markup=False)
    rows = "1 row" if result.rows == 1 else f"{result.rows} rows"
    facts = [f"{rows} in {seconds:.1f} s"]
    if result.resumed:
        facts.append(f"{result.resumed} of them scored before")
    if result.tally is not None:
        facts.append(str(result.tally))
    console.print("; ".join(facts))
    for message in describe_marks(result.marks, result.rows):
        console.print(message, style="yellow", markup=False)
    if languages := describe_languages(result.identified):
        console.print(languages, markup=False)
    for note in result.notes:
        console.print(note, markup=False)
