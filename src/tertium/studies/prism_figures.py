"""Figures 2 and 5 of the Prism paper, from the packages of the metrics tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from tertium.measures.loading import MeasureSpec, ModelSource
from tertium.stats.conventions import SAMPLES
from tertium.stats.resampling import spawn
from tertium.studies.bias import OVERLAP, BiasStudy, package_pairs
from tertium.studies.columns import average_column
from tertium.studies.judgements.agreement import ranking_column
from tertium.studies.judgements.sets import JudgedSet
from tertium.studies.judgements.study import ScoresByMeasure
from tertium.studies.judgements.sweep import Sweep
from tertium.studies.report import Report
from tertium.studies.runner import Runner

DEVELOPMENT, TEST = 2018, 2019
"""The years of figure 5 and of figure 2."""
ALPHA = "alpha"
PANELS = {"with-references": "prism-ref", "without-references": "prism-src"}
"""The halves of figure 5, and the measure whose directions are weighted in each."""
KINDS: tuple[Mapping[str, object], ...] = ({}, {"aggregate": "G"})
TITLE = "Segments, Kendall-like tau, average over the language pairs"


def bias_study(
    package: Path,
    pairs: Sequence[str],
    specs: Sequence[MeasureSpec],
    models: ModelSource,
    runner: Runner,
    *,
    limit: int | None = None,
    samples: int = SAMPLES,
    seed: int = 0,
) -> BiasStudy | None:
    """Figure 2: H(sys|ref) by overlap, of all outputs in English and each model of prism-ref.

    None if no measure is prism-ref, or no pair is into English.
    """
    into_english = [pair for pair in pairs if pair.endswith("-en")]
    names = dict.fromkeys(spec.model for spec in specs if spec.measure == "prism-ref")
    if not names or not into_english:
        return None
    loaded = {name: models("translation", name, None) for name in names}
    return BiasStudy(
        {name or model.name: model for name, model in loaded.items()},
        package_pairs(package, into_english)[:limit],
        runner=runner,
        smoothing="floor",
        samples=samples,
        seed=seed,
    )


def figure_2(report: Report) -> Report:
    """Name the table and the figure of a bias study after the figure of the paper."""
    stem = "figure-2"
    table = replace(report.tables[OVERLAP], title=f"Figure 2: {report.tables[OVERLAP].title}")
    return replace(report, tables={stem: table}, figures={stem: report.figures[OVERLAP]})


def sweeps(specs: Sequence[MeasureSpec]) -> dict[str, Sweep]:
    """The measures of figure 5 with each weight, by the half of the figure.

    Prism in both directions, with H and with G, for each measure of Prism; and sums of a cosine
    and a language model, where they are among the measures.
    """
    found = {}
    for panel, name in PANELS.items():
        against = {} if name == "prism-ref" else {"against": "source"}
        models = dict.fromkeys(spec.model for spec in specs if spec.measure == name)
        swept = [
            MeasureSpec("prism-ref", model, {**against, **kind})
            for model in models
            for kind in KINDS
        ]
        swept += [
            spec
            for spec in specs
            if spec.measure == "cosine-lm"
            and ALPHA not in spec.settings
            and (spec.settings.get("against") == "source") == bool(against)
        ]
        if swept:
            found[panel] = Sweep.parse(ALPHA, swept)
    return found


def figure_5(
    sets: Sequence[JudgedSet],
    scores: Mapping[str, ScoresByMeasure],
    swept: Mapping[str, Sweep],
    *,
    samples: int = SAMPLES,
    seed: int = 0,
) -> Report:
    """The average tau over the language pairs by the weight of a direction, for each half."""
    tables, figures = {}, {}
    ranked = [judged for judged in sets if judged.rankings]
    for panel, sweep in swept.items():
        names = {str(variant.spec) for variant in sweep.variants}
        columns = []
        for judged, own_seed in zip(ranked, spawn(seed, len(ranked)), strict=True):
            own = {name: each for name, each in scores[judged.name].items() if name in names}
            if len(own) == len(names):
                columns.append(ranking_column(judged, own, samples=samples, seed=own_seed))
        if columns:
            column = average_column(panel.replace("-", " "), columns)
            column = replace(column, n=sum(each.n or 0 for each in columns))
            title = f"Figure 5, {column.heading}: {TITLE} ({len(columns)})"
            stem = f"figure-5-{panel}"
            tables[stem] = sweep.table([column], title)
            [figures[stem]] = sweep.figures([column], stem, "average Kendall-like tau").values()
    return Report("Figure 5", tables, figures)
