"""``tertium study correlate``."""

from __future__ import annotations

from tertium.cli.studies.options import AsPublished, JudgedOptions, StudyOptions, study_command

DEFAULT_MEASURES = ("bleu", "smd", "bertscore", "sss", "sss+smd", "sss+bertscore")


@study_command()
def correlate(data: JudgedOptions, options: StudyOptions, published: AsPublished = False) -> None:
    """Which measure correlates with human scores, segment by segment? (SentSim, section 5.)

    Pearson, Spearman and Kendall, by dataset and language pair, against references (MT-REF) or,
    with --against-source, against sources (SRC-MT). Sums of measures are written sss+wmd. With
    --output, an interrupted study resumes.
    """
    from tertium.studies.correlation import correlation_report
    from tertium.studies.judgements.study import JudgementStudy
    from tertium.studies.published import as_published

    specs = options.specs(DEFAULT_MEASURES)
    if published:
        specs = as_published("correlate", specs)
    sets = data.sets(options.limit)
    study = JudgementStudy(sets, specs, data.against_source, options.models(), options.runner())
    scores = options.run(study)
    report = correlation_report(
        sets,
        scores,
        samples=options.samples,
        seed=options.seed,
        published=("source" if data.against_source else "reference") if published else None,
    )
    options.finish(report, study.runner)
