"""``tertium study judgements``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tertium.cli.options import option
from tertium.cli.studies.options import (
    AsPublished,
    JudgedOptions,
    StudyOptions,
    check_choice,
    study_command,
)

if TYPE_CHECKING:
    from tertium.measures.loading import MeasureSpec

DEFAULT_MEASURES = ("chrf", "bleu", "direct", "pivot", "cross")


@dataclass(frozen=True)
class ProtocolOptions:
    """How agreement is measured."""

    segment: str = option("kendall", "Segments: kendall (tau-b), pearson or spearman.")
    average_by: str = option(
        "none",
        "Segments: correlate all outputs at once (none), or within each input or each "
        "system and average.",
    )
    system: str = option("pearson", "Systems: pearson, spearman, kendall or accuracy (of pairs).")
    test: str = option(
        "bootstrap",
        "The test between measures on segments: bootstrap, permutation (PERM-BOTH) or "
        "williams (of pearson).",
    )

    @property
    def chosen(self) -> dict[str, Any]:
        """The protocol, checked."""
        from tertium.studies.judgements import agreement

        segment = check_choice(self.segment, agreement.SegmentStatistic)
        average_by = check_choice(self.average_by, agreement.AverageBy)
        test = check_choice(self.test, agreement.Test)
        agreement.check_test(test, segment, average_by)
        system = check_choice(self.system, agreement.SystemStatistic)
        return {"segment": segment, "system": system, "average_by": average_by, "test": test}


@dataclass(frozen=True)
class AgreementOptions:
    """What is shown beside the agreement of all outputs."""

    top: int | None = option(None, "Also for this many of the best systems, by human score.", min=3)
    intervals: bool = option(
        False,
        "Also show every table with the significance of the Prism paper: 95 % intervals "
        "that do not overlap.",
    )
    sweep: str | None = option(
        None,
        "Vary a setting of those measures that have it: alpha (0 to 1), layer (all of an "
        "encoder), or SETTING=VALUE,VALUE. A table and, with --plots, a figure show the curve.",
    )
    good: str | None = option(
        None,
        "Outputs with this human score or more are good, or this share of the best (25%): "
        "precision, recall and F1 of a threshold, for filtering and for reranking.",
    )
    published: AsPublished = False

    def as_published(self, specs: list[MeasureSpec]) -> list[MeasureSpec]:
        """The measures, with the settings of the authors if that is chosen."""
        from tertium.studies.published import as_published

        return as_published("judgements", specs) if self.published else specs


@study_command()
def judgements(
    data: JudgedOptions,
    protocol: ProtocolOptions,
    analysis: AgreementOptions,
    options: StudyOptions,
    darr: float | None = option(
        None,
        "Also rank outputs of a segment whose raw human scores differ by this many points "
        "(daRR; WMT 2017 to 2019: 25).",
        min=0,
    ),
    submitted: list[Path] | None = option(
        None,
        "Scores of other metrics, as rows of every table: a file *.seg.score or "
        "*.sys.score of WMT or mt-metrics-eval, or a folder of them; may be repeated.",
    ),
    own_translations: bool = option(
        False,
        "Also translate the sources with --model: do the measures prefer its "
        "translations to those of the systems?",
    ),
) -> None:
    """How well do measures agree with people? (NMTScore, section 5; Prism, section 5.)

    direct, pivot and cross are reported as hyp|ref, ref|hyp and both. Of several references the
    best counts. With --output, an interrupted study resumes.
    """
    from tertium.studies.judgements.report import judgement_report
    from tertium.studies.judgements.sets import ranked_by_difference
    from tertium.studies.judgements.study import JudgementStudy
    from tertium.studies.judgements.submitted import add_submitted
    from tertium.studies.judgements.sweep import Sweep
    from tertium.studies.judgements.thresholds import Good

    specs = analysis.as_published(options.specs(DEFAULT_MEASURES))
    models = options.models()

    def deepest(spec: MeasureSpec) -> int:
        return int(models("tokens", spec.model).settings["layer"])

    swept = None if analysis.sweep is None else Sweep.parse(analysis.sweep, specs, deepest)
    limit = None if analysis.good is None else Good.parse(analysis.good)
    agreement = protocol.chosen
    sets = data.sets(options.limit)
    if darr is not None:
        sets = [ranked_by_difference(each, darr) for each in sets]
    if limit is not None:
        for each in sets:
            limit.labels(each)  # refused before any work
    study = JudgementStudy(
        sets,
        specs if swept is None else swept.specs(specs),
        data.against_source,
        models,
        options.runner(),
        own_translations,
    )
    scores = options.run(study)
    if submitted:
        add_submitted(sets, scores, submitted)
    report = judgement_report(
        sets,
        scores,
        **agreement,
        top=analysis.top,
        samples=options.samples,
        seed=options.seed,
        sweep=swept,
        good=limit,
        intervals=analysis.intervals,
    )
    options.finish(report, study.runner)
