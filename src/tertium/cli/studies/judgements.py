"""``tertium study judgements``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tertium.cli.options import DEFAULT_MODEL, ComputeType, Model, NoCache, Threads
from tertium.cli.studies.judged import (
    SEGMENT_STATISTICS,
    AgainstSource,
    Datasets,
    Langs,
    Score,
    check_choice,
    judged_sets,
    run_study,
)
from tertium.cli.studies.options import (
    Limit,
    Output,
    Plots,
    Quiet,
    Samples,
    Seed,
    StudyMeasures,
    check_plots,
    measure_specs,
    model_loader,
    show_tables,
)
from tertium.errors import InputError
from tertium.stats.conventions import SAMPLES

if TYPE_CHECKING:
    from tertium.studies.columns import Column
    from tertium.studies.judgements.sets import JudgedSet
    from tertium.studies.judgements.study import ScoresByMeasure

SYSTEM_STATISTICS = ("pearson", "spearman", "kendall", "accuracy")
FEWEST_SYSTEMS = 3
DEFAULT_MEASURES = ("chrf", "bleu", "direct", "pivot", "cross")


def judgements(
    dataset: Datasets,
    measure: StudyMeasures = None,
    langs: Langs = None,
    score: Score = None,
    segment: Annotated[
        str, typer.Option(help="Segments: kendall (tau-b), pearson or spearman.")
    ] = "kendall",
    system: Annotated[
        str, typer.Option(help="Systems: pearson, spearman, kendall or accuracy (of pairs).")
    ] = "pearson",
    top: Annotated[
        int | None,
        typer.Option(min=FEWEST_SYSTEMS, help="Also the systems that people find best: so many."),
    ] = None,
    against_source: AgainstSource = False,
    output: Output = None,
    limit: Limit = None,
    samples: Samples = SAMPLES,
    seed: Seed = 0,
    plots: Plots = False,
    quiet: Quiet = False,
    model: Model = DEFAULT_MODEL,
    compute_type: ComputeType = "auto",
    threads: Threads = None,
    no_cache: NoCache = False,
) -> None:
    """How far do measures agree with people? (NMTScore, section 5; Prism, section 5.)

    direct, pivot and cross are reported as hyp|ref, ref|hyp and both. Of several references the
    best counts. With --output, a study that was stopped goes on where it was.
    """
    from tertium.studies.cells import CellFolder
    from tertium.studies.judgements.study import JudgementStudy
    from tertium.studies.judgements.tables import agreement_table, interval_table

    check_plots(plots, output)
    check_choice(segment, SEGMENT_STATISTICS)
    check_choice(system, SYSTEM_STATISTICS)
    sets = judged_sets(dataset, langs, score, limit)
    study = JudgementStudy(
        sets,
        measure_specs(measure, DEFAULT_MEASURES),
        against_source=against_source,
        model=model,
        cells=CellFolder(output / "scores") if output is not None else None,
        load_model=model_loader(compute_type, threads, cache=not no_cache),
    )
    scores = run_study(study, quiet=quiet)
    found = _columns(sets, scores, segment, system, top, samples, seed)
    if not found:
        raise InputError("nothing is judged: neither segments, nor pairs, nor three systems")
    tables = {}
    for name, (title, columns) in found.items():
        tables[name] = agreement_table(columns, title)
        if output is not None:
            interval_table(columns, title).save(output, f"{name}-intervals")
            if plots:
                _draw(columns, output, name, title)
    show_tables(tables, output)
    if study.reused:
        cells = len(study.specs) * len(sets)
        print(f"tertium: {study.reused} of {cells} cells were scored before", file=sys.stderr)


def _columns(
    sets: Sequence[JudgedSet],
    scores: dict[str, ScoresByMeasure],
    segment: str,
    system: str,
    top: int | None,
    samples: int,
    seed: int,
) -> dict[str, tuple[str, list[Column]]]:
    """The columns of each table that the judgements allow."""
    from tertium.stats.resampling import spawn
    from tertium.studies.columns import with_averages
    from tertium.studies.judgements.agreement import (
        ranking_column,
        segment_column,
        system_column,
        system_judgements,
    )

    tables: dict[str, tuple[str, list[tuple[str, Column]]]] = {
        "segments": (f"Segments: {segment}", []),
        "rankings": ("Segments: Kendall-like tau of relative rankings", []),
        "systems": (f"Systems: {system}", []),
        "top-systems": (f"The best {top} systems: {system}", []),
    }
    for judged, own in zip(sets, spawn(seed, len(sets)), strict=True):
        found = scores[judged.name]
        common: dict[str, Any] = {"samples": samples, "seed": own}
        if sum(each.score is not None for each in judged.segments) >= FEWEST_SYSTEMS:
            column = segment_column(judged, found, statistic=segment, **common)  # type: ignore[arg-type]
            tables["segments"][1].append((judged.group, column))
        if judged.rankings:
            tables["rankings"][1].append((judged.group, ranking_column(judged, found, **common)))
        systems = len(system_judgements(judged))
        if systems >= FEWEST_SYSTEMS:
            column = system_column(judged, found, statistic=system, **common)  # type: ignore[arg-type]
            tables["systems"][1].append((judged.group, column))
            if top is not None:
                column = system_column(judged, found, statistic=system, top=top, **common)  # type: ignore[arg-type]
                tables["top-systems"][1].append((judged.group, column))
    return {
        name: (title, with_averages(columns))
        for name, (title, columns) in tables.items()
        if columns
    }


def _draw(columns: Sequence[Column], folder: Path, name: str, title: str) -> None:
    from tertium.report.plots import forest
    from tertium.stats.resampling import percentile_interval

    for column in columns:
        values = {
            measure: (value, (interval.low, interval.high))
            for measure, value in column.values.items()
            for interval in [percentile_interval(column.replicates[measure])]
        }
        out = folder / f"{name}-{column.heading.replace(' ', '-')}.svg"
        forest(values, out, label=title, top=column.top())
