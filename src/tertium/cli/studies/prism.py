"""``tertium study prism``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tertium.cli.studies.options import StudyOptions, study_command
from tertium.errors import SettingError


@study_command()
def prism(
    options: StudyOptions,
    package: Annotated[
        Path, typer.Argument(help="The unpacked package of a WMT metrics task, 2018 or 2019.")
    ],
    year: Annotated[int, typer.Option(help="2019 (tables 2 to 4, 11 to 25) or 2018 (7 to 10).")] = (
        2019
    ),
    langs: Annotated[
        str | None, typer.Option(help="Only these pairs, as in de-en,fi-en. Default: all.")
    ] = None,
    submitted: Annotated[
        list[Path] | None,
        typer.Option(help="Scores of submitted metrics, as for `tertium study judgements`."),
    ] = None,
) -> None:
    """The tables of the Prism paper, from a package of WMT, beside the paper's values.

    Every table is shown with the paired bootstrap and with the significance of the paper.
    """
    from tertium.studies.judgements.sets import read_sets
    from tertium.studies.judgements.study import JudgementStudy
    from tertium.studies.judgements.submitted import add_submitted
    from tertium.studies.prism import MEASURES, pairs_of, prism_report

    if year not in (2018, 2019):
        raise SettingError(f"--year {year}: the tables of the paper are of 2018 and 2019")
    pairs = langs.split(",") if langs is not None else pairs_of(package, year)
    read = [each.limited(options.limit) for each in read_sets(f"wmt{year % 100}", package, pairs)]
    study = JudgementStudy(
        read, options.specs(MEASURES), models=options.models(), runner=options.runner()
    )
    scores = options.run(study)
    if submitted:
        add_submitted(read, scores, submitted)
    sets = dict(zip(pairs, read, strict=True))
    report = prism_report(sets, scores, year, samples=options.samples, seed=options.seed)
    options.finish(report, study.runner)
