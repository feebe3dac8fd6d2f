"""``tertium study correlate`` and ``tertium study layers``."""

from __future__ import annotations

import re
from typing import Annotated

import typer

from tertium.cli.options import DEFAULT_MODEL
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
from tertium.errors import SettingError

DEFAULT_MEASURES = ("bleu", "smd", "bertscore", "sss", "sss+smd", "sss+bertscore")
RANGE = re.compile(r"(\d+)(?:-(\d+))?")


@study_command()
def correlate(
    options: StudyOptions,
    dataset: Datasets,
    langs: Langs = None,
    score: Score = None,
    against_source: AgainstSource = False,
) -> None:
    """Which measure correlates with human scores, segment by segment? (SentSim, section 5.)

    Pearson, Spearman and Kendall, by dataset and language pair, against references (MT-REF) or,
    with --against-source, against sources (SRC-MT). Sums of measures are written sss+wmd. With
    --output, an interrupted study resumes.
    """
    from tertium.studies.correlation import correlation_report
    from tertium.studies.judgements.study import JudgementStudy

    specs = options.specs(DEFAULT_MEASURES)
    sets = judged_sets(dataset, langs, score, options.limit)
    study = JudgementStudy(sets, specs, against_source, options.models(), options.runner())
    scores = options.run(study)
    report = correlation_report(sets, scores, samples=options.samples, seed=options.seed)
    options.finish(report, study.runner)


@study_command("samples", "seed", "model", "no_cache")
def layers(
    options: StudyOptions,
    dataset: Datasets,
    encoder: Annotated[
        str, typer.Option(help="An encoder, with all of its layers.")
    ] = DEFAULT_MODEL,
    measure: Annotated[
        str, typer.Option("--measure", "-m", help="A measure that uses token vectors.")
    ] = "bertscore",
    only: Annotated[
        str | None, typer.Option("--layers", help="Only these, as in 8-12 or 1,6,12.")
    ] = None,
    langs: Langs = None,
    score: Score = None,
    statistic: Annotated[str, typer.Option(help="pearson, spearman or kendall.")] = "pearson",
    against_source: AgainstSource = False,
) -> None:
    """Which layer of an encoder correlates best with human scores? (SentSim, figures 3 and 4.)"""
    from tertium.studies.correlation import layer_report, layer_specs
    from tertium.studies.judgements.agreement import SegmentStatistic
    from tertium.studies.judgements.study import JudgementStudy

    options.specs(())
    chosen_statistic = check_choice(statistic, SegmentStatistic)
    sets = judged_sets(dataset, langs, score, options.limit)
    models = options.models(cache=False)
    layer_specs(measure, encoder, ())  # a measure without layers is refused before loading
    chosen = _layers(only, deepest=int(models("tokens", encoder).settings["layer"]))
    specs = layer_specs(measure, encoder, chosen)
    study = JudgementStudy(sets, specs, against_source, models, options.runner())
    scores = options.run(study)
    title = f"{measure} with each layer of {encoder}: {statistic}"
    report = layer_report(sets, scores, specs, chosen, chosen_statistic, title)
    options.finish(report, study.runner)


def _layers(only: str | None, *, deepest: int) -> list[int]:
    """All layers, or those of ``--layers``."""
    if only is None:
        return list(range(1, deepest + 1))
    chosen: list[int] = []
    for part in only.split(","):
        if (match := RANGE.fullmatch(part.strip())) is None:
            raise SettingError(f"--layers {only}: write it as 8-12 or 1,6,12")
        chosen += range(int(match[1]), int(match[2] or match[1]) + 1)
    return chosen
