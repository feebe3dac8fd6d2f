"""``tertium study judgements``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tertium.cli.studies.options import (
    AgainstSource,
    Datasets,
    Langs,
    Score,
    StudyOptions,
    check_choice,
    judged_sets,
    study_command,
)

if TYPE_CHECKING:
    from tertium.measures.loading import MeasureSpec

DEFAULT_MEASURES = ("chrf", "bleu", "direct", "pivot", "cross")


@study_command()
def judgements(
    options: StudyOptions,
    dataset: Datasets,
    langs: Langs = None,
    score: Score = None,
    segment: Annotated[
        str, typer.Option(help="Segments: kendall (tau-b), pearson or spearman.")
    ] = "kendall",
    average_by: Annotated[
        str,
        typer.Option(
            help="Segments: correlate all outputs at once (none), or within each input or each "
            "system and average."
        ),
    ] = "none",
    system: Annotated[
        str, typer.Option(help="Systems: pearson, spearman, kendall or accuracy (of pairs).")
    ] = "pearson",
    top: Annotated[
        int | None,
        typer.Option(min=3, help="Also for so many of the best systems, by human score."),
    ] = None,
    test: Annotated[
        str,
        typer.Option(
            help="The test between measures on segments: bootstrap, permutation (PERM-BOTH) or "
            "williams (of pearson)."
        ),
    ] = "bootstrap",
    darr: Annotated[
        float | None,
        typer.Option(
            min=0,
            help="Also rank outputs of a segment whose raw human scores differ by so many points "
            "(daRR; WMT 2017 to 2019: 25).",
        ),
    ] = None,
    submitted: Annotated[
        list[Path] | None,
        typer.Option(
            "--submitted",
            help="Scores of other metrics, as rows of every table: a file *.seg.score or "
            "*.sys.score of WMT or mt-metrics-eval, or a folder of them; may be repeated.",
        ),
    ] = None,
    intervals: Annotated[
        bool,
        typer.Option(
            "--intervals",
            help="Also show every table with the significance of the Prism paper: 95 % intervals "
            "that do not overlap.",
        ),
    ] = False,
    against_source: AgainstSource = False,
    sweep: Annotated[
        str | None,
        typer.Option(
            help="Vary a setting of those measures that have it: alpha (0 to 1), layer (all of an "
            "encoder), or SETTING=VALUE,VALUE. A table and, with --plots, a figure show the curve."
        ),
    ] = None,
    good: Annotated[
        str | None,
        typer.Option(
            help="Outputs from this human score on are good, or this share of the best (25%): "
            "precision, recall and F1 of a threshold, for filtering and for reranking."
        ),
    ] = None,
    own_translations: Annotated[
        bool,
        typer.Option(
            "--own-translations",
            help="Also translate the sources with --model: do the measures prefer its "
            "translations to those of the systems?",
        ),
    ] = False,
) -> None:
    """How well do measures agree with people? (NMTScore, section 5; Prism, section 5.)

    direct, pivot and cross are reported as hyp|ref, ref|hyp and both. Of several references the
    best counts. With --output, an interrupted study resumes.
    """
    from tertium.studies.judgements.agreement import (
        AverageBy,
        SegmentStatistic,
        SystemStatistic,
        Test,
        check_test,
    )
    from tertium.studies.judgements.report import judgement_report
    from tertium.studies.judgements.sets import ranked_by_difference
    from tertium.studies.judgements.study import JudgementStudy
    from tertium.studies.judgements.submitted import add_submitted
    from tertium.studies.judgements.sweep import Sweep
    from tertium.studies.judgements.thresholds import Good

    specs = options.specs(DEFAULT_MEASURES)
    models = options.models()

    def deepest(spec: MeasureSpec) -> int:
        return int(models("tokens", spec.model).settings["layer"])

    swept = None if sweep is None else Sweep.parse(sweep, specs, deepest)
    limit = None if good is None else Good.parse(good)
    protocol = {
        "segment": check_choice(segment, SegmentStatistic),
        "system": check_choice(system, SystemStatistic),
        "average_by": check_choice(average_by, AverageBy),
        "test": check_choice(test, Test),
    }
    check_test(protocol["test"], protocol["segment"], protocol["average_by"])
    sets = judged_sets(dataset, langs, score, options.limit)
    if darr is not None:
        sets = [ranked_by_difference(each, darr) for each in sets]
    if limit is not None:
        for each in sets:
            limit.labels(each)  # refused before any work
    study = JudgementStudy(
        sets,
        specs if swept is None else swept.specs(specs),
        against_source,
        models,
        options.runner(),
        own_translations,
    )
    scores = options.run(study)
    if submitted:
        add_submitted(sets, scores, submitted)
    settings = {
        "top": top,
        "samples": options.samples,
        "seed": options.seed,
        "sweep": swept,
        "good": limit,
        "intervals": intervals,
    }
    options.finish(judgement_report(sets, scores, **protocol, **settings), study.runner)  # type: ignore[arg-type]
