"""What the studies of people's judgements share: which datasets, and the run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tertium.cli.progress import progress_bar
from tertium.errors import InputError, SettingError

if TYPE_CHECKING:
    from tertium.studies.judgements.sets import JudgedSet
    from tertium.studies.judgements.study import JudgementStudy, ScoresByMeasure

Datasets = Annotated[
    list[str],
    typer.Option(
        "--dataset",
        help="NAME=FOLDER, again for more: plain files (LANG.tsv or SRC-TGT.tsv), outputs in "
        "columns with human.tsv, or webnlg, amr, mlqe, multi30k, wmt as published.",
    ),
]
Langs = Annotated[
    str | None,
    typer.Option("--langs", help="Only these languages or pairs, as in en or de-en,fi-en."),
]
Score = Annotated[
    str | None, typer.Option("--score", help="The column with the judgement, in plain files.")
]
AgainstSource = Annotated[
    bool,
    typer.Option("--against-source", help="Quality estimation as a metric: no references."),
]
SEGMENT_STATISTICS = ("kendall", "pearson", "spearman")


def judged_sets(
    datasets: Sequence[str], langs: str | None, score: str | None, limit: int | None
) -> list[JudgedSet]:
    """Read what was named."""
    from tertium.studies.judgements.sets import read_sets

    chosen = langs.split(",") if langs is not None else None
    sets: list[JudgedSet] = []
    for option in datasets:
        name, equals, place = option.partition("=")
        if not equals:
            raise SettingError(f"--dataset {option}: write it as NAME=FOLDER")
        sets += read_sets(name, Path(place).expanduser(), chosen, score)
    if not sets:
        raise InputError(f"there is nothing in {langs}")
    return [each.limited(limit) for each in sets]


def run_study(study: JudgementStudy, *, quiet: bool) -> dict[str, ScoresByMeasure]:
    """Score everything, with a bar."""
    with progress_bar(lambda: study.size, shown=not quiet) as bar:
        if bar is not None:
            study.advance, study.progress = bar.advance, bar.detail
        return study.run()


def check_choice(value: str, allowed: Sequence[str]) -> None:
    """Refuse what is none of the allowed ones."""
    if value not in allowed:
        raise SettingError(f"{value}: it must be one of {', '.join(allowed)}")
