"""Correlation with human judgements, segment by segment (SentSim)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from tertium.report.plots import grouped_bars, overlay, scatter
from tertium.report.tables import Table
from tertium.stats.conventions import SAMPLES
from tertium.stats.resampling import spawn
from tertium.studies.columns import Column, agreement_table, finding, with_averages
from tertium.studies.judgements.agreement import SegmentStatistic, judged_places, segment_column
from tertium.studies.judgements.sets import JudgedSet
from tertium.studies.judgements.study import ScoresByMeasure
from tertium.studies.published import PUBLISHED, published_table
from tertium.studies.report import Figure, Report, file_name

STATISTICS: tuple[SegmentStatistic, ...] = ("pearson", "kendall", "spearman")


def correlation_report(
    sets: Sequence[JudgedSet],
    scores: Mapping[str, ScoresByMeasure],
    *,
    samples: int = SAMPLES,
    seed: int = 0,
    published: str | None = None,
) -> Report:
    """A table for each coefficient; figures as in the paper (1, 2 and 5 to 7).

    Figures 1 and 2 lay the first and the last measure over each other.

    With ``published`` (``reference`` or ``source``: what the measures read), also the numbers of
    the paper.
    """
    seeds = spawn(seed, len(sets))
    tables: dict[str, Table] = {}
    figures: dict[str, Figure] = {}
    findings: list[str] = []
    for statistic in STATISTICS:
        columns = []
        for judged, own_seed in zip(sets, seeds, strict=True):
            column = segment_column(
                judged, scores[judged.name], statistic=statistic, samples=samples, seed=own_seed
            )
            columns.append((judged.group, column))
        shown = with_averages(columns)
        tables[statistic] = agreement_table(shown, statistic.capitalize())
        findings.append(finding(shown, f"{statistic.capitalize()} correlation with people"))
        if statistic == "pearson":
            figures[statistic] = Figure(partial(_draw_bars, shown), "Pearson's r")
            if published is not None:
                tables[PUBLISHED] = published_table("correlate", shown, against=published)
    for judged in sets:
        for name in scores[judged.name]:
            stem = file_name(f"{judged.name}-{name}")
            draw = partial(_draw_scatter, judged, scores[judged.name], name)
            figures[f"scatter/{stem}"] = Figure(draw, f"{judged.name}, {name}")
        names = list(scores[judged.name])
        if len(names) > 1:
            both = (names[0], names[-1])
            draw = partial(_draw_overlay, judged, scores[judged.name], both)
            title = f"{judged.name}, {' and '.join(both)}"
            figures[f"overlay/{file_name(judged.name)}"] = Figure(draw, title)
    return Report("Correlation with human judgements", tables, figures, findings=findings)


def _draw_bars(columns: Sequence[Column], out: Path) -> None:
    names = list(dict.fromkeys(name for column in columns for name in column.values))
    heights = {name: [column.values.get(name) for column in columns] for name in names}
    limits = {name: [column.limits(name) for column in columns] for name in names}
    headings = [column.heading for column in columns]
    grouped_bars(headings, heights, out, label="Pearson's r", intervals=limits)


def _draw_scatter(judged: JudgedSet, scores: ScoresByMeasure, name: str, out: Path) -> None:
    places, human = judged_places(judged)
    own = [scores[name].segments[n] for n in places]
    scatter(human.tolist(), own, out, labels=("people's score", name))


def _draw_overlay(
    judged: JudgedSet, scores: ScoresByMeasure, names: tuple[str, str], out: Path
) -> None:
    places, human = judged_places(judged)
    series = {name: [scores[name].segments[n] for n in places] for name in names}
    overlay(human.tolist(), series, out, labels=("people's score", "score, scaled to 0..1"))
