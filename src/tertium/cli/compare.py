"""``tertium compare``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from tertium.cli.habits import split_pair
from tertium.cli.options import (
    DEFAULT_MODEL,
    INPUT,
    OUTPUT,
    Against,
    ComputeType,
    Encoder,
    Force,
    Format,
    Header,
    LangColumn,
    LangOrPair,
    Layer,
    Measures,
    Model,
    NoCache,
    Quiet,
    Quoting,
    RefColumn,
    References,
    RefLang,
    RefLangColumn,
    ReplaceInvalid,
    SentenceEncoder,
    Settings,
    Source,
    SrcColumn,
    SrcLang,
    SrcLangColumn,
    Threads,
)
from tertium.cli.running import Running
from tertium.cli.systems import refuse_existing
from tertium.comparison.result import SEGMENTS_SHOWN
from tertium.data.pairs import Languages
from tertium.data.records import open_table
from tertium.data.systems import SystemOutputs, outputs_from_files, outputs_from_table
from tertium.errors import InputError
from tertium.jobs.output import check_output_file, to_json
from tertium.measures.loading import MeasureLoader, ModelSettings, read_specs
from tertium.measures.registry import DEFAULT_MEASURE
from tertium.report.tables import FORMATS
from tertium.stats.conventions import ALPHA, SAMPLES
from tertium.storage.atomic import write_text

TESTS = "Tests"
PIPED_WIDTH = 1000


def compare(
    table: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FILE]",
            help="A table (TSV, CSV, JSONL, Parquet) with one column per system.",
        ),
    ] = None,
    hyp: Annotated[
        list[Path] | None,
        typer.Option(
            "--hyp",
            "-t",
            metavar="FILE...",
            help="Outputs, one per line; one file for each system.",
        ),
    ] = None,
    ref: References = None,
    src: Source = None,
    measure: Measures = None,
    lang: LangOrPair = None,
    ref_lang: RefLang = None,
    src_lang: SrcLang = None,
    systems: Annotated[
        str | None,
        typer.Option(
            help="The columns of the systems, separated by commas. Default: all other columns of "
            "text.",
            rich_help_panel=INPUT,
        ),
    ] = None,
    format: Format = None,  # noqa: A002
    header: Header = True,
    ref_column: RefColumn = None,
    src_column: SrcColumn = None,
    lang_column: LangColumn = None,
    ref_lang_column: RefLangColumn = None,
    src_lang_column: SrcLangColumn = None,
    replace_invalid: ReplaceInvalid = False,
    quoting: Quoting = None,
    against: Against = None,
    settings: Settings = None,
    baseline: Annotated[
        str | None,
        typer.Option(
            help="Compare all others with this system. Default: the best system.",
            rich_help_panel=TESTS,
        ),
    ] = None,
    samples: Annotated[
        int,
        typer.Option(
            min=1, help="Number of bootstrap and permutation samples.", rich_help_panel=TESTS
        ),
    ] = SAMPLES,
    seed: Annotated[int, typer.Option(min=0, rich_help_panel=TESTS)] = 0,
    alpha: Annotated[
        float, typer.Option(help="Significance level.", rich_help_panel=TESTS)
    ] = ALPHA,
    segments: Annotated[
        int,
        typer.Option(
            min=0, help="How many of the segments that differ most to show.", rich_help_panel=OUTPUT
        ),
    ] = SEGMENTS_SHOWN,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Write a table of all systems and measures to a .csv, .md, .tex or .txt file.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    force: Force = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON document.", rich_help_panel=OUTPUT)
    ] = False,
    html: Annotated[
        Path | None,
        typer.Option(help="Write an HTML page with plots to this file.", rich_help_panel=OUTPUT),
    ] = None,
    quiet: Quiet = False,
    model: Model = DEFAULT_MODEL,
    encoder: Encoder = None,
    sentence_encoder: SentenceEncoder = None,
    layer: Layer = None,
    compute_type: ComputeType = "auto",
    threads: Threads = None,
    no_cache: NoCache = False,
) -> None:
    """Compare two or more systems on one test set: which is better, and is it significant?

    A table has one column per system; references, sources, languages and metadata are recognised.
    """
    from tertium.comparison.significance import check_comparison, compare_scores
    from tertium.jobs.task import Input, Job
    from tertium.jobs.tasks.score import ROWS_AT_A_TIME, ScoreTask, score_table

    lang, src_lang = split_pair(lang, src_lang)
    if output is not None:
        if output.suffix not in FORMATS:
            raise InputError(
                f"{output}: cannot infer the format from the file name; use {', '.join(FORMATS)}"
            )
        check_output_file(output)
        refuse_existing(output, force=force)
    outputs = _outputs(
        table,
        hyp or [],
        ref or [],
        src,
        Languages(hyp=lang, ref=ref_lang or lang, src=src_lang),
        format=format,
        header=header,
        systems=[name for name in (systems or "").split(",") if name],
        columns={
            "lang": lang_column,
            "ref_lang": ref_lang_column,
            "src_lang": src_lang_column,
            "src": src_column,
        },
        refs=ref_column or [],
        replace_invalid=replace_invalid,
        quoting=quoting,
    )
    models = ModelSettings(
        model,
        encoder=encoder,
        sentence_encoder=sentence_encoder,
        layer=layer,
        compute_type=compute_type,
        threads=threads,
        cache=not no_cache,
    )
    specs = read_specs(
        measure or [DEFAULT_MEASURE], given={"against": against}, written=settings or []
    )
    check_comparison(outputs, baseline=baseline, samples=samples, alpha=alpha)
    loader = MeasureLoader(specs, models, lang)
    task = ScoreTask.requested(loader, scores_only=True, segments=True)
    for source in outputs.sources.values():
        task.check(source)
    if not quiet and not as_json:
        print(f"systems: {', '.join(outputs.systems)}", file=sys.stderr)
        if outputs.left_out:
            print(
                f"left out, as numbers or metadata: {', '.join(outputs.left_out)} (to choose the "
                "systems, use --systems)",
                file=sys.stderr,
            )
    inputs = [Input(source, system) for system, source in outputs.sources.items()]
    scores = Running(quiet=quiet)(Job(task, inputs, ROWS_AT_A_TIME), score_table)
    result = compare_scores(
        scores, outputs, baseline=baseline, samples=samples, seed=seed, alpha=alpha
    )
    if output is not None:
        write_text(output, result.table().as_format(output.suffix))
    if html is not None:
        from tertium.comparison.page import comparison_page

        write_text(html, comparison_page(result, segments=segments))
    if as_json:
        print(to_json(result.document(count=segments)))
    elif not (quiet and (output is not None or html is not None)):
        from rich.console import Console

        from tertium.comparison.text import print_comparison

        console = Console(highlight=False)
        if not console.is_terminal:  # names of systems are not broken
            console.width = PIPED_WIDTH
        print_comparison(result, console, segments=segments)
    if scores.tally is not None and not quiet and not as_json:
        print(scores.tally, file=sys.stderr)


def _outputs(
    path: Path | None,
    hyps: list[Path],
    refs_files: list[Path],
    src_file: Path | None,
    languages: Languages,
    *,
    format: str | None,  # noqa: A002
    header: bool,
    systems: list[str],
    columns: dict[str, str | None],
    refs: list[str],
    replace_invalid: bool,
    quoting: bool | None,
) -> SystemOutputs:
    if hyps or refs_files or src_file is not None:
        if path is not None:
            raise InputError("give either a table, or --hyp with --ref or --src")
        if len(hyps) < 2:
            raise InputError("give --hyp at least twice, once for each system")
        return outputs_from_files(
            hyps, refs_files, src_file, languages, replace_invalid=replace_invalid
        )
    if path is None:
        raise InputError("give a table with one column per system, or --hyp with --ref or --src")
    opened = open_table(
        path,
        format=format,  # type: ignore[arg-type]
        header=header,
        replace_invalid=replace_invalid,
        quoting=quoting,
    )
    return outputs_from_table(opened, languages, systems=systems, refs=refs, **columns)
