"""Correlation with human judgements, segment by segment (SentSim): by measure, and by layer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from tertium.errors import InputError, SettingError
from tertium.measures.loading import MeasureSpec
from tertium.measures.registry import kinds_of
from tertium.report.plots import grouped_bars, lines, scatter
from tertium.report.tables import Cell, Table
from tertium.stats.conventions import SAMPLES
from tertium.stats.correlation import CORRELATIONS
from tertium.stats.resampling import spawn
from tertium.studies.columns import Column, agreement_table, with_averages
from tertium.studies.judgements.agreement import SegmentStatistic, judged_places, segment_column
from tertium.studies.judgements.sets import JudgedSet
from tertium.studies.judgements.study import ScoresByMeasure
from tertium.studies.runner import Figure, Report, file_name

STATISTICS: tuple[SegmentStatistic, ...] = ("pearson", "kendall", "spearman")
AVERAGE = "Avg"
Curves = Mapping[str, Sequence[float]]
"""By set, a correlation for each layer."""


def correlation_report(
    sets: Sequence[JudgedSet],
    scores: Mapping[str, ScoresByMeasure],
    *,
    samples: int = SAMPLES,
    seed: int = 0,
) -> Report:
    """A table for each coefficient; figures of Pearson's r as in the paper (1, 2 and 5 to 7)."""
    seeds = spawn(seed, len(sets))
    tables: dict[str, Table] = {}
    figures: dict[str, Figure] = {}
    for statistic in STATISTICS:
        columns = []
        for judged, own_seed in zip(sets, seeds, strict=True):
            column = segment_column(
                judged, scores[judged.name], statistic=statistic, samples=samples, seed=own_seed
            )
            columns.append((judged.group, column))
        shown = with_averages(columns)
        tables[statistic] = agreement_table(shown, statistic.capitalize())
        if statistic == "pearson":
            figures[statistic] = Figure(partial(_draw_bars, shown), "Pearson's r")
    for judged in sets:
        for name in scores[judged.name]:
            stem = file_name(f"{judged.name}-{name}")
            draw = partial(_draw_scatter, judged, scores[judged.name], name)
            figures[f"scatter/{stem}"] = Figure(draw, f"{judged.name}, {name}")
    return Report("Correlation with human judgements", tables, figures)


def layer_specs(measure: str, encoder: str, layers: Sequence[int]) -> list[MeasureSpec]:
    """The measure once for each layer.

    >>> [str(spec) for spec in layer_specs("wmd:mass=idf", "xlm-roberta-base", [8, 9])]
    ['wmd@xlm-roberta-base:mass=idf,layer=8', 'wmd@xlm-roberta-base:mass=idf,layer=9']
    """
    given = MeasureSpec.parse(measure)
    if "tokens" not in kinds_of(given.measure):
        raise SettingError(f"{measure} does not use token vectors, so no layer matters")
    return [
        MeasureSpec(given.measure, given.model or encoder, {**given.settings, "layer": layer})
        for layer in layers
    ]


def layer_report(
    sets: Sequence[JudgedSet],
    scores: Mapping[str, ScoresByMeasure],
    specs: Sequence[MeasureSpec],
    layers: Sequence[int],
    statistic: SegmentStatistic,
    title: str,
) -> Report:
    """Which layer of an encoder agrees best with people? (SentSim, figures 3 and 4.)"""
    scored = [each for each in sets if scores[each.name]]
    if not scored:
        raise InputError("the encoder has none of the languages of the data")
    curves = layer_curves(scored, scores, specs, statistic)
    labels = ("layer", statistic)

    def draw(out: Path) -> None:
        lines([str(layer) for layer in layers], curves, out, axes_labels=labels)

    tables = {"layers": layer_table(curves, layers, title)}
    return Report("Layers of an encoder", tables, {"layers": Figure(draw, title)})


def layer_curves(
    sets: Sequence[JudgedSet],
    scores: Mapping[str, ScoresByMeasure],
    specs: Sequence[MeasureSpec],
    statistic: SegmentStatistic = "pearson",
) -> dict[str, list[float]]:
    """The correlation of every layer with people, by set, and on average if there are several."""
    correlate = CORRELATIONS[statistic]
    curves: dict[str, list[float]] = {}
    for judged in sets:
        places, human = judged_places(judged)
        own = scores[judged.name]
        curves[judged.name] = [
            float(correlate([own[str(spec)].segments[n] for n in places], human)) for spec in specs
        ]
    if len(sets) > 1:
        columns = zip(*curves.values(), strict=True)
        curves[AVERAGE] = [sum(column) / len(column) for column in columns]
    return curves


def layer_table(curves: Curves, layers: Sequence[int], title: str) -> Table:
    """One row per layer, one column per set; the best layer of each set in bold."""
    rows = [
        [Cell(str(layer))]
        + [Cell(curve[n], ".3f", curve[n] == max(curve)) for curve in curves.values()]
        for n, layer in enumerate(layers)
    ]
    return Table(["layer", *curves], rows, title, "Bold, *: the best layer.")


def _draw_bars(columns: Sequence[Column], out: Path) -> None:
    names = list(dict.fromkeys(name for column in columns for name in column.values))
    heights = {name: [column.values.get(name) for column in columns] for name in names}
    grouped_bars([column.heading for column in columns], heights, out, label="Pearson's r")


def _draw_scatter(judged: JudgedSet, scores: ScoresByMeasure, name: str, out: Path) -> None:
    places, human = judged_places(judged)
    own = [scores[name].segments[n] for n in places]
    scatter(human.tolist(), own, out, labels=("people's score", name))
