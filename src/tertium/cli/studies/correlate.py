"""``tertium study correlate``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tertium.cli.options import DEFAULT_MODEL, ComputeType, Model, NoCache, Threads
from tertium.cli.studies.judged import (
    SEGMENT_STATISTICS,
    AgainstSource,
    Datasets,
    Langs,
    Score,
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
from tertium.stats.conventions import SAMPLES

if TYPE_CHECKING:
    from tertium.studies.columns import Column
    from tertium.studies.judgements.sets import JudgedSet
    from tertium.studies.judgements.study import ScoresByMeasure

DEFAULT_MEASURES = ("bleu", "smd", "bertscore", "sss", "sss+smd", "sss+bertscore")
DRAWN = "pearson"
UNSAFE = re.compile(r"[^\w.+-]+")


def correlate(
    dataset: Datasets,
    measure: StudyMeasures = None,
    langs: Langs = None,
    score: Score = None,
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
    """Which measure goes with people's scores, segment by segment? (SentSim, section 5.)

    Pearson, Spearman and Kendall, by dataset and language pair, against references (MT-REF) or,
    with --against-source, against sources (SRC-MT). Sums of measures are spelt sss+wmd. With
    --output, a study that was stopped goes on where it was.
    """
    from tertium.stats.resampling import spawn
    from tertium.studies.cells import CellFolder
    from tertium.studies.columns import with_averages
    from tertium.studies.judgements.agreement import segment_column
    from tertium.studies.judgements.study import JudgementStudy
    from tertium.studies.judgements.tables import agreement_table

    check_plots(plots, output)
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
    seeds = spawn(seed, len(sets))
    tables = {}
    for statistic in (DRAWN, *(each for each in SEGMENT_STATISTICS if each != DRAWN)):
        columns = []
        for judged, own in zip(sets, seeds, strict=True):
            column = segment_column(
                judged,
                scores[judged.name],
                statistic=statistic,  # type: ignore[arg-type]
                samples=samples,
                seed=own,
            )
            columns.append((judged.group, column))
        averaged = with_averages(columns)
        tables[statistic] = agreement_table(averaged, statistic.capitalize())
        if plots and output is not None and statistic == DRAWN:
            _draw(sets, scores, averaged, output)
    show_tables(tables, output)


def _draw(
    sets: Sequence[JudgedSet],
    scores: dict[str, ScoresByMeasure],
    columns: Sequence[Column],
    folder: Path,
) -> None:
    """Bars as in the paper's appendix, and for each set and measure what figures 1 and 2 show."""
    from tertium.report.plots import grouped_bars, scatter
    from tertium.studies.judgements.agreement import judged_places

    names = list(dict.fromkeys(name for column in columns for name in column.values))
    heights = {name: [column.values.get(name) for column in columns] for name in names}
    headings = [column.heading for column in columns]
    grouped_bars(headings, heights, folder / f"{DRAWN}.svg", label="Pearson's r")
    for judged in sets:
        places, human = judged_places(judged)
        for name, found in scores[judged.name].items():
            out = folder / "scatter" / f"{UNSAFE.sub('-', f'{judged.name}-{name}')}.svg"
            own = [found.segments[n] for n in places]
            scatter(human.tolist(), own, out, labels=("people's score", name))
