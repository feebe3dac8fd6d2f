"""``tertium study paraphrase-id``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tertium.cli.options import DEFAULT_MODEL, ComputeType, Model, NoCache, Threads
from tertium.cli.progress import progress_bar
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
from tertium.errors import InputError, SettingError
from tertium.stats.conventions import SAMPLES

if TYPE_CHECKING:
    from tertium.report.tables import Table
    from tertium.studies.paraphrase_id.study import Results
    from tertium.studies.paraphrase_id.tasks import Source, Task
    from tertium.studies.specs import MeasureSpec

HUB = "hub"
DEFAULT_MEASURES = ("chrf", "bleu", "direct", "pivot", "cross")


def paraphrase_id(
    data: Annotated[
        Path | None,
        typer.Argument(help="A folder with folders named mrpc, paraphraser, turku or pawsx."),
    ] = None,
    dataset: Annotated[
        list[str] | None,
        typer.Option(
            help="NAME=FOLDER, a dataset by itself, again for more; NAME=hub downloads it. A name "
            "of your own has LANG.test.tsv and LANG.dev.tsv (sentence1, sentence2, label)."
        ),
    ] = None,
    measure: StudyMeasures = None,
    ablation: Annotated[
        bool, typer.Option("--ablation", help="Also without normalization (table 4).")
    ] = False,
    crosslingual: Annotated[
        bool, typer.Option("--cross-lingual", help="Also PAWS-X across languages (table 2).")
    ] = False,
    langs: Annotated[str | None, typer.Option(help="Only these languages, as in de,es,zh.")] = None,
    output: Output = None,
    limit: Limit = None,
    samples: Samples = SAMPLES,
    seed: Seed = 0,
    correlate: Annotated[
        bool,
        typer.Option("--correlations/--no-correlations", help="Between measures (table 3)."),
    ] = True,
    examples: Annotated[
        int, typer.Option(min=0, help="So many disagreements of each class (tables A9 to A11).")
    ] = 0,
    compare: Annotated[
        str | None, typer.Option(help="ONE,TWO: whose disagreements. Default: first and last.")
    ] = None,
    timing: Annotated[
        int, typer.Option(min=0, help="Take the time over so many pairs (table A1).")
    ] = 0,
    plots: Plots = False,
    quiet: Quiet = False,
    model: Model = DEFAULT_MODEL,
    compute_type: ComputeType = "auto",
    threads: Threads = None,
    no_cache: NoCache = False,
) -> None:
    """How well do measures tell paraphrases from other pairs? (NMTScore, section 4.)

    The threshold is found on the validation set and applied to the test set; without a validation
    set, AUC is reported. With --output, a study that was stopped goes on where it was.
    """
    from tertium.studies.cells import CellFolder
    from tertium.studies.paraphrase_id.study import ParaphraseStudy
    from tertium.studies.paraphrase_id.tables import disagreements, timing_table
    from tertium.studies.paraphrase_id.tasks import PAWSX

    check_plots(plots, output)
    specs = measure_specs(measure, DEFAULT_MEASURES)
    if ablation:
        specs += _without_normalization(specs)
    sources = _sources(data, dataset or [])
    if crosslingual and PAWSX not in sources:
        raise InputError(f"--cross-lingual needs {PAWSX}: say --dataset {PAWSX}=FOLDER")
    tasks, across = _tasks(sources, langs.split(",") if langs else None, crosslingual, limit)
    study = ParaphraseStudy(
        [*tasks, *across],
        specs,
        model=model,
        cells=CellFolder(output / "scores") if output is not None else None,
        samples=samples,
        seed=seed,
        load_model=model_loader(compute_type, threads, cache=not no_cache),
    )
    with progress_bar(lambda: study.size, shown=not quiet) as bar:
        if bar is not None:
            study.advance, study.progress = bar.advance, bar.detail
        results = study.run()
    tables = _tables(results, tasks, across, correlate, output if plots else None)
    if timing and tasks:
        pairs = (tasks[0].validation or tasks[0].test)[:timing]
        study.load_model = model_loader(compute_type, threads, cache=False, once=False)
        tables["time"] = timing_table(study.time_per_pair(pairs), len(pairs))
    if examples:
        one, two = _compared(compare, results.measures)
        for task in results.tasks:
            table = disagreements(results, task, one, two, count=examples)
            tables[f"disagreements-{task.name}"] = table
    show_tables(tables, output)
    if study.reused:
        cells = len(specs) * len(study.tasks)
        print(f"tertium: {study.reused} of {cells} cells were scored before", file=sys.stderr)


def _sources(data: Path | None, given: Sequence[str]) -> dict[str, Source]:
    """Which datasets, and where; in the order of the paper's tables."""
    from tertium.studies.paraphrase_id.tasks import KNOWN

    found: dict[str, Source] = {}
    if data is not None:
        if not data.is_dir():
            raise InputError(f"there is no folder {data}")
        found = {name: data / name for name in KNOWN if (data / name).is_dir()}
        if not found:
            raise InputError(
                f"{data} has none of the folders {', '.join(KNOWN)}; "
                "say --dataset NAME=FOLDER for others"
            )
    for option in given:
        name, equals, place = option.partition("=")
        if not equals:
            raise SettingError(f"--dataset {option}: write it as NAME=FOLDER or NAME={HUB}")
        found[name] = None if place == HUB else Path(place).expanduser()
    if not found:
        raise InputError("which data? Name a folder, or say --dataset NAME=FOLDER")
    order = {name: place for place, name in enumerate(KNOWN)}
    return dict(sorted(found.items(), key=lambda item: order.get(item[0], len(order))))


def _tasks(
    sources: dict[str, Source], langs: list[str] | None, crosslingual: bool, limit: int | None
) -> tuple[list[Task], list[Task]]:
    """The tasks in one language, and those across two."""
    from tertium.studies.paraphrase_id.tasks import (
        NOT_MONOLINGUAL,
        PAWSX,
        read_crosslingual,
        read_tasks,
    )

    tasks = [task for name, source in sources.items() for task in read_tasks(name, source, langs)]
    across: list[Task] = []
    if crosslingual:
        across = read_crosslingual(sources[PAWSX], langs)
        for_pairs = {f"{PAWSX}-{lang}" for lang in NOT_MONOLINGUAL}  # named for the pairs alone
        tasks = [task for task in tasks if task.name not in for_pairs]
    if not tasks and not across:
        raise InputError(f"there is nothing in {', '.join(langs or [])}")
    return [task.limited(limit) for task in tasks], [task.limited(limit) for task in across]


def _without_normalization(specs: Sequence[MeasureSpec]) -> list[MeasureSpec]:
    from tertium.studies.specs import MeasureSpec

    added = []
    for spec in specs:
        if spec.measure in ("direct", "pivot", "cross") and "normalized" not in spec.settings:
            settings = {**spec.settings, "normalized": False}
            added.append(MeasureSpec(spec.measure, spec.model, settings))
    if not added:
        raise SettingError("--ablation concerns direct, pivot and cross, and none of them is there")
    return [spec for spec in added if spec not in specs]


def _tables(
    results: Results,
    tasks: Sequence[Task],
    across: Sequence[Task],
    correlate: bool,
    pictures: Path | None,
) -> dict[str, Table]:
    from tertium.studies.paraphrase_id.tables import ablation_table, accuracy_table, correlations

    tables: dict[str, Table] = {}
    if tasks:
        tables["monolingual"] = accuracy_table(results, tasks, "Paraphrase identification")
    if across:
        title = "Paraphrase identification across languages (PAWS-X)"
        tables["cross-lingual"] = accuracy_table(results, across, title)
    if correlate and len(results.measures) > 1 and tasks:
        found = correlations(results, tasks)
        if len(found.measures) > 1:
            tables["correlations"] = found.table()
            if pictures is not None:
                from tertium.report.plots import heat_map

                out = pictures / "correlations.svg"
                heat_map(found.measures, found.values.tolist(), out, label="Kendall's tau-b")
    ablation = ablation_table(results, tasks) if tasks else None
    if ablation is not None:
        tables["ablation"] = ablation
    if pictures is not None:
        _draw_roc(results, pictures)
    return tables


def _draw_roc(results: Results, folder: Path) -> None:
    from tertium.report.plots import roc
    from tertium.stats.classification import auc, roc_curve
    from tertium.studies.paraphrase_id.study import labels

    for task in results.tasks:
        curves = {}
        for measure in results.measures:
            if (task.name, measure) in results.outcomes:
                truth, scores = labels(task.test), results.outcomes[task.name, measure].scores
                curve = roc_curve(truth, scores)
                rates = (curve.false_positive_rate.tolist(), curve.true_positive_rate.tolist())
                curves[measure] = (*rates, auc(truth, scores))
        roc(curves, folder / f"roc-{task.name}.svg")


def _compared(given: str | None, measures: Sequence[str]) -> tuple[str, str]:
    names = given.split(",") if given is not None else [measures[0], measures[-1]]
    if len(names) != 2 or any(name not in measures for name in names) or names[0] == names[1]:
        raise SettingError(f"--compare: name two of {', '.join(measures)}")
    return names[0], names[1]
