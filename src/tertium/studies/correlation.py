"""Correlation with human judgements, segment by segment (SentSim)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from tertium.report.plots import grouped_bars, overlay, r_label, scatter
from tertium.report.tables import Table
from tertium.stats.arrays import Counts, Floats
from tertium.stats.bands import line_band
from tertium.stats.conventions import SAMPLES
from tertium.stats.correlation import pearson
from tertium.stats.resampling import bootstrap_counts, spawn
from tertium.studies.columns import Column, agreement_table, finding, with_averages
from tertium.studies.judgements.agreement import SegmentStatistic, judged_places, segment_column
from tertium.studies.judgements.sets import JudgedSet
from tertium.studies.judgements.study import ScoresByMeasure
from tertium.studies.published import PUBLISHED, published_table
from tertium.studies.report import Figure, Report, file_name

STATISTICS: tuple[SegmentStatistic, ...] = ("pearson", "kendall", "spearman")
Points = Callable[[Sequence[str]], tuple[Floats, list[Floats]]]
"""The scores of people, and of each of some measures, of the same outputs."""
Sampling = Callable[[int], Counts]
"""The bootstrap samples of this many outputs."""


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
    for judged, own_seed in zip(sets, seeds, strict=True):
        names = list(scores[judged.name])
        points = partial(_points, judged, scores[judged.name])
        counts = partial(bootstrap_counts, samples=samples, seed=own_seed)
        for name in names:
            stem = file_name(f"{judged.name}-{name}")
            draw = partial(_draw_scatter, points, counts, name)
            figures[f"scatter/{stem}"] = Figure(draw, f"{judged.name}, {name}")
        if len(names) > 1:
            both = (names[0], names[-1])
            draw = partial(_draw_overlay, points, counts, both)
            title = f"{judged.name}, {' and '.join(both)}"
            figures[f"overlay/{file_name(judged.name)}"] = Figure(draw, title)
    lead = (
        "Do measures score single outputs as people do? 1 is full agreement in order or in "
        "distance, 0 is none."
    )
    title = "Correlation with human judgements"
    return Report(title, tables, figures, lead=lead, findings=findings)


def _draw_bars(columns: Sequence[Column], out: Path) -> None:
    names = list(dict.fromkeys(name for column in columns for name in column.values))
    heights = {name: [column.values.get(name) for column in columns] for name in names}
    limits = {name: [column.limits(name) for column in columns] for name in names}
    headings = [column.heading for column in columns]
    grouped_bars(headings, heights, out, label="Pearson's r", intervals=limits)


def _draw_scatter(points: Points, counts: Sampling, name: str, out: Path) -> None:
    human, [values] = points([name])
    drawn = counts(len(human))
    scatter(
        human.tolist(),
        values.tolist(),
        out,
        labels=("people's score", name),
        band=line_band(human, values, drawn),
        title=r_label(pearson(human, values), pearson(human, values, counts=drawn)),
    )


def _draw_overlay(points: Points, counts: Sampling, names: Sequence[str], out: Path) -> None:
    human, values = points(names)
    drawn = counts(len(human))
    scaled = {name: _scaled(own) for name, own in zip(names, values, strict=True)}
    overlay(
        human.tolist(),
        {name: own.tolist() for name, own in scaled.items()},
        out,
        labels=("people's score", "score, scaled to 0..1"),
        bands={name: line_band(human, own, drawn) for name, own in scaled.items()},
    )


def _points(
    judged: JudgedSet, scores: ScoresByMeasure, names: Sequence[str]
) -> tuple[Floats, list[Floats]]:
    """The scores of people, and of each measure."""
    places, human = judged_places(judged)
    return human, [np.array([scores[name].segments[n] for n in places]) for name in names]


def _scaled(values: Floats) -> Floats:
    """Scaled by the lowest and the highest; equal values are 1."""
    low, high = values.min(), values.max()
    return np.asarray((values - low) / (high - low)) if high > low else np.ones(len(values))
