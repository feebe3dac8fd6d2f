"""The tables and figures of the agreement with human judgements."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from tertium.errors import DataWarning, InputError
from tertium.report.plots import forest
from tertium.report.tables import Table
from tertium.stats.conventions import SAMPLES
from tertium.stats.resampling import spawn
from tertium.studies.columns import (
    BOOTSTRAP,
    Column,
    agreement_table,
    finding,
    interval_table,
    with_averages,
)
from tertium.studies.judgements.agreement import (
    FEWEST,
    AverageBy,
    SegmentStatistic,
    SystemStatistic,
    Test,
    ranking_column,
    segment_column,
    system_column,
    system_judgements,
)
from tertium.studies.judgements.self_preference import own_name, preference_table
from tertium.studies.judgements.sets import JudgedSet
from tertium.studies.judgements.study import ScoresByMeasure
from tertium.studies.judgements.sweep import Sweep
from tertium.studies.judgements.thresholds import Good, filtering_table, reranking_table
from tertium.studies.report import Figure, Report, file_name

TESTS = {
    "bootstrap": BOOTSTRAP,
    "permutation": f"permutation test; averages: {BOOTSTRAP}",
    "williams": f"Williams test; averages: {BOOTSTRAP}",
}


def judgement_report(
    sets: Sequence[JudgedSet],
    scores: Mapping[str, ScoresByMeasure],
    *,
    segment: SegmentStatistic = "kendall",
    system: SystemStatistic = "pearson",
    average_by: AverageBy = "none",
    test: Test = "bootstrap",
    top: int | None = None,
    samples: int = SAMPLES,
    seed: int = 0,
    sweep: Sweep | None = None,
    good: Good | None = None,
    intervals: bool = False,
) -> Report:
    """Every table that the judgements allow: of segments, of rankings, of systems.

    ``sweep`` adds tables by the values of a setting, ``good`` those of decisions by a threshold,
    ``intervals`` the same tables with the significance of the Prism paper.
    """
    averaged = "" if average_by == "none" else f", averaged by {average_by}"
    titles = {
        "segments": f"Segments: {segment}{averaged}",
        "rankings": "Segments: Kendall-like tau of relative rankings",
        "systems": f"Systems: {system}",
        "top-systems": f"The best {top} systems: {system}",
    }
    columns: dict[str, list[tuple[str, Column]]] = {name: [] for name in titles}
    for judged, own_seed in zip(sets, spawn(seed, len(sets)), strict=True):
        common: dict[str, Any] = {"samples": samples, "seed": own_seed}

        def add(
            name: str,
            column: Callable[..., Column],
            judged: JudgedSet = judged,
            common: dict[str, Any] = common,
            **settings: Any,
        ) -> None:
            """Add a column; one that is undefined must not cost the other tables."""
            try:
                made = column(judged, scores[judged.name], **common, **settings)
                columns[name].append((judged.group, made))
            except InputError as error:
                text = f"{judged.name} is left out of the table {name}: {error}"
                warnings.warn(text, DataWarning, stacklevel=2)

        if sum(each.score is not None for each in judged.segments) >= FEWEST:
            add("segments", segment_column, statistic=segment, average_by=average_by, test=test)
        if judged.rankings:
            add("rankings", ranking_column)
        if len(system_judgements(judged)) >= FEWEST:
            add("systems", system_column, statistic=system)
            if top is not None:
                add("top-systems", system_column, statistic=system, top=top)
    tables: dict[str, Table] = {}
    details: dict[str, Table] = {}
    figures: dict[str, Figure] = {}
    findings: list[str] = []
    for name, own in columns.items():
        if not own:
            continue
        shown = with_averages(own)
        used = TESTS[test] if name == "segments" else BOOTSTRAP
        plain = shown if sweep is None else [sweep.without(column) for column in shown]
        if any(column.values for column in plain):
            tables[name] = agreement_table(plain, titles[name], test=used)
            findings.append(finding(plain, titles[name]))
            if intervals:
                tables[f"{name}-by-intervals"] = agreement_table(plain, titles[name], overlap=True)
        if sweep is not None:
            tables[f"{name}-{sweep.setting}"] = sweep.table(shown, titles[name])
            figures |= sweep.figures(shown, name, titles[name])
        details[f"{name}-intervals"] = interval_table(shown, titles[name])
        for column in plain:
            if not column.values:
                continue
            stem = file_name(f"{name}-{column.heading}")
            caption = f"{titles[name]}, {column.heading}"
            figures[stem] = Figure(partial(_draw_intervals, column, titles[name]), caption)
    if not tables:
        raise InputError("nothing is judged: neither segments, nor pairs, nor three systems")
    if good is not None:
        tables["filtering"] = filtering_table(sets, scores, good)
        if (reranking := reranking_table(sets, scores, good)) is not None:
            tables["reranking"] = reranking
    if any(own_name(judged) in scores for judged in sets):
        tables["self-preference"] = preference_table(sets, scores, samples=samples, seed=seed)
    lead = "Do measures rank systems, and single outputs, as people do? 1 is full agreement."
    title = "Agreement with human judgements"
    return Report(title, tables, figures, details, lead, findings=findings)


def _draw_intervals(column: Column, title: str, out: Path) -> None:
    values = {
        measure: (value, (interval.low, interval.high))
        for measure, value in column.values.items()
        for interval in [column.interval(measure)]
        if interval is not None
    }
    forest(values, out, label=title, top=column.top())
