"""``tertium study prism``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tertium.cli.options import option
from tertium.cli.studies.options import StudyOptions, study_command
from tertium.errors import SettingError


@study_command()
def prism(
    options: StudyOptions,
    package: Annotated[
        Path, typer.Argument(help="The unpacked package of a WMT metrics task, 2018 or 2019.")
    ],
    year: int = option(2019, "2019 (tables 2 to 4, 11 to 25) or 2018 (7 to 10)."),
    langs: str | None = option(None, "Only these pairs, as in de-en,fi-en. Default: all."),
    submitted: list[Path] | None = option(
        None, "Scores of submitted metrics, as for `tertium study judgements`."
    ),
) -> None:
    """The tables and figures of the Prism paper, from a package of WMT, beside the paper's values.

    Every table is shown with the paired bootstrap and with the significance of the paper. Figure 2
    (2019) and figure 5 (2018) are made as tables, and with --plots or --html as figures.
    """
    from tertium.studies.judgements.sets import read_sets
    from tertium.studies.judgements.study import JudgementStudy
    from tertium.studies.judgements.submitted import add_submitted
    from tertium.studies.prism import MEASURES, pairs_of, prism_report, with_figures
    from tertium.studies.prism_figures import (
        DEVELOPMENT,
        TEST,
        bias_study,
        figure_2,
        figure_5,
        sweeps,
    )

    if year not in (DEVELOPMENT, TEST):
        raise SettingError(f"the tables of the paper are of 2018 and 2019, not of {year}")
    pairs = langs.split(",") if langs is not None else pairs_of(package, year)
    read = [each.limited(options.limit) for each in read_sets(f"wmt{year % 100}", package, pairs)]
    specs, models = options.specs(MEASURES), options.models()
    swept = sweeps(specs) if year == DEVELOPMENT else {}
    variants = [variant.spec for sweep in swept.values() for variant in sweep.variants]
    runner = options.runner()
    scores = options.run(JudgementStudy(read, [*specs, *variants], models=models, runner=runner))
    statistics = {"samples": options.samples, "seed": options.seed}
    figures = [figure_5(read, scores, swept, **statistics)]
    if year == TEST:
        bias_runner = options.runner()
        study = bias_study(
            package, pairs, specs, models, bias_runner, limit=options.limit, **statistics
        )
        figures += [figure_2(options.run(study))] if study is not None else []
    only_swept = {str(spec) for spec in variants} - {str(spec) for spec in specs}
    scores = {
        name: {measure: each for measure, each in own.items() if measure not in only_swept}
        for name, own in scores.items()
    }
    if submitted:
        add_submitted(read, scores, submitted)
    report = prism_report(dict(zip(pairs, read, strict=True)), scores, year, **statistics)
    options.finish(with_figures(report, figures), runner)
