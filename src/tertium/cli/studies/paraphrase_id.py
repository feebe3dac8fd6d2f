"""``tertium study paraphrase-id``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tertium.cli.options import option
from tertium.cli.studies.options import AsPublished, StudyOptions, named, study_command
from tertium.errors import InputError, SettingError

if TYPE_CHECKING:
    from tertium.measures.loading import MeasureSpec
    from tertium.studies.paraphrase_id.tasks import Source, Task

DEFAULT_MEASURES = ("chrf", "bleu", "direct", "pivot", "cross")


@study_command()
def paraphrase_id(
    options: StudyOptions,
    data: Annotated[
        Path | None,
        typer.Argument(help="A folder with folders named mrpc, paraphraser, turku or pawsx."),
    ] = None,
    dataset: list[str] | None = option(
        None,
        "NAME=FOLDER; may be repeated; NAME=hub downloads it. Besides registered "
        "datasets (tertium data list), a folder may have LANG.test.tsv and LANG.dev.tsv "
        "(sentence1, sentence2, label).",
    ),
    ablation: bool = option(False, "Also without normalization (table 4)."),
    crosslingual: bool = option(
        False, "Also PAWS-X across languages (table 2).", "--cross-lingual"
    ),
    langs: str | None = option(None, "Only these languages, as in de,es,zh."),
    correlate: bool = option(
        True, "Between measures (table 3).", "--correlations/--no-correlations"
    ),
    examples: int = option(0, "So many disagreements of each class (tables A9 to A11).", min=0),
    compare: str | None = option(
        None, "ONE,TWO: the measures that disagree. Default: the first and the last."
    ),
    timing: int = option(0, "Measure the time over this many pairs (table A1).", min=0),
    published: AsPublished = False,
) -> None:
    """How well do measures separate paraphrases from other pairs? (NMTScore, section 4.)

    The threshold is chosen on the validation set and applied to the test set; without a validation
    set, AUC is reported. With --output, an interrupted study resumes.
    """
    from tertium.studies.paraphrase_id.study import ParaphraseStudy
    from tertium.studies.paraphrase_id.tables import paraphrase_report, timing_table
    from tertium.studies.paraphrase_id.tasks import PAWSX
    from tertium.studies.published import as_published
    from tertium.studies.runner import uncached

    specs = options.specs(DEFAULT_MEASURES)
    if published:
        specs = as_published("paraphrase-id", specs)
    if ablation:
        specs += _without_normalization(specs)
    compared = _compared(compare, [str(spec) for spec in specs]) if examples else None
    sources = _sources(data, dataset or [])
    if crosslingual and PAWSX not in sources:
        raise InputError(f"--cross-lingual needs {PAWSX}: use --dataset {PAWSX}=FOLDER")
    tasks, across = _tasks(sources, langs, crosslingual, options.limit)
    samples, seed = options.samples, options.seed
    study = ParaphraseStudy(
        [*tasks, *across], specs, options.models(), options.runner(), samples, seed
    )
    results = options.run(study)
    report = paraphrase_report(
        results,
        tasks,
        across,
        correlated=correlate,
        examples=examples,
        compared=compared,
        published=published,
    )
    if timing and tasks:
        pairs = (tasks[0].validation or tasks[0].test)[:timing]
        seconds = study.time_per_pair(pairs, lambda: uncached(options.models().settings))
        table = timing_table(seconds, len(pairs))
        report = replace(report, tables={**report.tables, "time": table})
    options.finish(report, study.runner)


def _sources(data: Path | None, given: Sequence[str]) -> dict[str, Source]:
    """The datasets and their folders, in the order of the paper's tables."""
    from tertium.studies.paraphrase_id.tasks import HUB, known_datasets

    known = known_datasets()
    sources: dict[str, Source] = {}
    if data is not None:
        if not data.is_dir():
            raise InputError(f"the folder {data} does not exist")
        sources = {name: data / name for name in known if (data / name).is_dir()}
        if not sources:
            raise InputError(
                f"{data} has none of the folders {', '.join(known)}; "
                "use --dataset NAME=FOLDER for others"
            )
    for text in given:
        name, place = named(text, "--dataset", f"NAME=FOLDER or NAME={HUB}")
        sources[name] = None if place == HUB else Path(place).expanduser()
    if not sources:
        raise InputError("which data? Give a folder, or --dataset NAME=FOLDER")
    order = {name: place for place, name in enumerate(known)}
    return dict(sorted(sources.items(), key=lambda item: order.get(item[0], len(order))))


def _tasks(
    sources: dict[str, Source], given: str | None, crosslingual: bool, limit: int | None
) -> tuple[list[Task], list[Task]]:
    """The tasks in one language, and those across two."""
    from tertium.studies.paraphrase_id.tasks import (
        NOT_MONOLINGUAL,
        PAWSX,
        read_crosslingual,
        read_tasks,
    )

    langs = given.split(",") if given else None
    tasks = [task for name, source in sources.items() for task in read_tasks(name, source, langs)]
    across: list[Task] = []
    if crosslingual:
        across = read_crosslingual(sources[PAWSX], langs)
        only_in_pairs = {f"{PAWSX}-{lang}" for lang in NOT_MONOLINGUAL}
        tasks = [task for task in tasks if task.name not in only_in_pairs]
    if not tasks and not across:
        raise InputError(f"the data have nothing in {given}")
    return [task.limited(limit) for task in tasks], [task.limited(limit) for task in across]


def _without_normalization(specs: Sequence[MeasureSpec]) -> list[MeasureSpec]:
    added = [
        replace(spec, settings={**spec.settings, "normalized": False})
        for spec in specs
        if spec.measure in ("direct", "pivot", "cross") and "normalized" not in spec.settings
    ]
    if not added:
        raise SettingError("--ablation is for direct, pivot and cross, and none of them is given")
    return [spec for spec in added if spec not in specs]


def _compared(given: str | None, measures: Sequence[str]) -> tuple[str, str]:
    names = given.split(",") if given is not None else [measures[0], measures[-1]]
    if len(names) != 2 or any(name not in measures for name in names) or names[0] == names[1]:
        raise SettingError(f"--compare: name two of {', '.join(measures)}")
    return names[0], names[1]
