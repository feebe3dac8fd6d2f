"""``tertium score``."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from tertium.cli.inputs import Inputs, refuse_as_output, refuse_both
from tertium.cli.options import (
    DEFAULT_MODEL,
    ENGINE,
    INPUT,
    MEASURES,
    OUTPUT,
    Against,
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
from tertium.cli.progress import progress_bar
from tertium.cli.summary import print_json, print_summary
from tertium.data.pairs import Languages
from tertium.engines.layouts import JsonDocumentLayout, Layout, PeopleLayout, TsvLayout
from tertium.engines.local.scoring import ScoringJob
from tertium.engines.outputs import FileOutput, Output, StreamOutput
from tertium.engines.ray.cluster import ClusterSettings, import_ray
from tertium.engines.ray.scoring import DistributedJob
from tertium.engines.ray.shards import ShardFolder
from tertium.engines.scoring import ROWS_AT_A_TIME
from tertium.errors import InputError
from tertium.measures.loading import MeasureLoader, ModelSettings, read_specs
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
        typer.Option(help="Plain text, a hypothesis a line.", rich_help_panel=INPUT),
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
    normalized: Annotated[
        bool | None,
        typer.Option(
            "--normalized/--not-normalized",
            help="Relative to an identical text, or not.",
            rich_help_panel=MEASURES,
        ),
    ] = None,
    both_directions: Annotated[
        bool | None,
        typer.Option("--both-directions/--one-way", rich_help_panel=MEASURES),
    ] = None,
    base: Annotated[
        str | None,
        typer.Option(help="e, as in the paper, or 2, as in nmtscore.", rich_help_panel=MEASURES),
    ] = None,
    aggregate: Annotated[
        str | None,
        typer.Option(help="H (mean over tokens) or G (sum).", rich_help_panel=MEASURES),
    ] = None,
    references: Annotated[
        str | None,
        typer.Option(help="Over several references: max or mean.", rich_help_panel=MEASURES),
    ] = None,
    pivot_lang: Annotated[str | None, typer.Option(rich_help_panel=MEASURES)] = None,
    target_lang: Annotated[
        str | None,
        typer.Option(help="The language that cross translates to.", rich_help_panel=MEASURES),
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
            min=1, help="Rows that are scored, and saved, together.", rich_help_panel=OUTPUT
        ),
    ] = ROWS_AT_A_TIME,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="No summary, no bar.", rich_help_panel=OUTPUT)
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
        typer.Option(help="This process, or a Ray cluster.", rich_help_panel=ENGINE),
    ] = EngineName.local,
    address: Annotated[
        str | None,
        typer.Option(
            help="Of a Ray cluster (or $RAY_ADDRESS); else Ray is started on this machine.",
            rich_help_panel=ENGINE,
        ),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(min=1, help="Default: as many as there is room for.", rich_help_panel=ENGINE),
    ] = None,
) -> None:
    """Score pairs of texts, row by row and all together. Higher is better.

    [bold]tertium score pairs.tsv[/bold] looks for the columns hyp, ref, src and lang.
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
    )
    if output is not None:
        refuse_as_output(output, inputs.names)
    refuse_both(resume=resume, overwrite=overwrite)
    models = ModelSettings(
        model,
        encoder=encoder,
        sentence_encoder=sentence_encoder,
        layer=layer,
        compute_type=compute_type,
        threads=threads,
        cache=not no_cache,
    )
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
    job: ScoringJob | DistributedJob
    if engine is EngineName.ray:
        load = MeasureLoader(specs, models)
        import_ray()  # a missing package is reported before any model is loaded
        measures, pool = load.load()
        job = DistributedJob(
            inputs.stored_pairs(),
            measures,
            load,
            _shards(output, resume=resume, overwrite=overwrite),
            ClusterSettings(address or os.environ.get("RAY_ADDRESS"), workers, threads),
        )
    else:
        if address or workers:
            raise InputError("--address and --workers are about a cluster: say --engine ray")
        layout = _layout([spec.measure for spec in specs], as_json)
        sink = _sink(output, layout, resume=resume, overwrite=overwrite)
        if isinstance(sink, FileOutput) and no_cache:
            # kept until the run is finished, so that it can be resumed
            models = replace(models, cache=sink.answers)
        pairs = inputs.pairs()
        measures, pool = MeasureLoader(specs, models).load()
        job = ScoringJob(pairs, measures, sink)
    job.scores_only, job.rows_at_a_time = scores_only, rows_at_a_time
    try:
        with progress_bar(job.count, shown=not quiet) as bar:
            if bar is not None:
                job.advance = bar.advance
                if isinstance(job, ScoringJob):
                    job.progress = bar.detail
                    if isinstance(job.output, StreamOutput) and sys.stdout.isatty():
                        job.output.before_rows = bar.hide
            results = job.run()
    except KeyboardInterrupt:
        saved = f"; go on with --resume ({output} is not finished)" if output is not None else ""
        print(f"tertium: stopped{saved}", file=sys.stderr)
        raise typer.Exit(130) from None
    tally = pool.tally
    if isinstance(job, DistributedJob) and tally is not None:
        tally = job.tally
    if as_json:
        print_json(job, results, tally, closing=output is None)
    elif not quiet:
        print_summary(job, results, tally, time.monotonic() - started)
        if isinstance(job, DistributedJob) and job.lost:
            print(f"workers were lost {job.lost} times; others did their work", file=sys.stderr)


def _sink(output: Path | None, layout: Layout, *, resume: bool, overwrite: bool) -> Output:
    if output is not None:
        return FileOutput(output, resume=resume, overwrite=overwrite)
    if resume or overwrite:
        raise InputError("--resume and --overwrite are about a file: name it with --output")
    return StreamOutput(sys.stdout, layout)


def _shards(output: Path | None, *, resume: bool, overwrite: bool) -> ShardFolder:
    if output is None:
        raise InputError("--engine ray writes a folder of Parquet shards: name it with --output")
    return ShardFolder(output, resume=resume, overwrite=overwrite)


def _layout(names: Sequence[str], as_json: bool) -> Layout:
    if as_json:
        return JsonDocumentLayout()
    return PeopleLayout(names) if sys.stdout.isatty() else TsvLayout()
