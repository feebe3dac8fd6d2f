"""``tertium study isometry``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tertium.cli.options import DEFAULT_MODEL, ComputeType, HtmlFile, NoCache, Threads
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
    from tertium.data.datasets.isometry import Predictions, TextPair
    from tertium.models.base import ParaphraseDetector
    from tertium.studies.isometry.study import IsometryStudy, PairSet
    from tertium.studies.specs import ModelLoader

DEFAULT_MEASURES = ("chrf", "bleu")
ENDINGS = ("majority", "pooled")


def isometry(
    pairs: Annotated[
        Path | None,
        typer.Argument(help="Paraphrases in the source language: sentence1 and sentence2."),
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(help="NAME=FIRST,SECOND: a data set by its two columns; again for more."),
    ] = None,
    lang: Annotated[str, typer.Option("--lang", "-l", help="Of the pairs.")] = "de",
    target_lang: Annotated[str, typer.Option(help="To translate into.")] = "en",
    model: Annotated[
        list[str] | None, typer.Option("--model", help="A translation model, again for more.")
    ] = None,
    translations: Annotated[
        list[str] | None,
        typer.Option(help="NAME=FILE: ready translations, in the columns of their sources."),
    ] = None,
    detector: Annotated[
        list[str] | None,
        typer.Option(
            help="A detector's folder or name, or one for each language: de=ONE,en=OTHER; again "
            "for more."
        ),
    ] = None,
    both_orders: Annotated[
        bool, typer.Option("--both-orders", help="Let detectors judge each pair both ways round.")
    ] = False,
    measure_detector: Annotated[
        list[str] | None,
        typer.Option(help="A measure as a detector, its threshold learnt on --validation."),
    ] = None,
    validation: Annotated[
        list[str] | None,
        typer.Option(help="LANG=FILE: labelled pairs for --measure-detector; for both languages."),
    ] = None,
    predictions: Annotated[
        list[str] | None,
        typer.Option(
            help="MODEL,DATASET=FILE: translations and judgements as they were published, "
            "instead of PAIRS; again for more."
        ),
    ] = None,
    threshold: Annotated[
        float, typer.Option(min=0, max=1, help="From which P(paraphrase) on S is 1.")
    ] = 0.5,
    measure: StudyMeasures = None,
    protocol: Annotated[
        list[str] | None,
        typer.Option(help="Of the correlations: majority or pooled. Default: both."),
    ] = None,
    examples: Annotated[int, typer.Option(min=0, help="So many pairs of each behaviour.")] = 1,
    beam_size: Annotated[int, typer.Option(min=1)] = 5,
    output: Output = None,
    html: HtmlFile = None,
    limit: Limit = None,
    samples: Samples = SAMPLES,
    seed: Seed = 0,
    plots: Plots = False,
    quiet: Quiet = False,
    compute_type: ComputeType = "auto",
    threads: Threads = None,
    no_cache: NoCache = False,
) -> None:
    """Do texts that mean the same still do so when they are translated? (Shankar, 2020.)

    Translates paraphrases, lets detectors judge them before and after, and counts: isometric,
    ambiguous, type 1, type 2. With --output, a study that was stopped goes on where it was.
    """
    from tertium.data.datasets.isometry import write_predictions
    from tertium.studies.isometry.correlation import protocols
    from tertium.studies.isometry.report import analyse

    check_plots(plots, output)
    specs = measure_specs(measure, DEFAULT_MEASURES)
    chosen = protocols(protocol or ENDINGS)
    load = model_loader(compute_type, threads, cache=not no_cache)
    facts = [f"threshold {threshold:g}; {samples} bootstrap samples, seed {seed}"]
    if predictions:
        if pairs is not None or detector or translations or measure_detector:
            raise SettingError("--predictions has it all; leave out PAIRS and detectors")
        found = _published(predictions, (lang, target_lang), limit)
    else:
        from tertium.studies.cells import CellFolder
        from tertium.studies.isometry.study import IsometryStudy

        sets = _sets(pairs, columns or [], lang, limit)
        ready = _ready(translations or [], sets, columns or [])
        names = model or ([] if ready else [DEFAULT_MODEL])
        detectors = _detectors(detector or [], both_orders, compute_type, threads)
        detectors += _learnt(measure_detector or [], validation or [], load)
        if not detectors:
            raise InputError(
                "which detector? Say --detector FOLDER, or --measure-detector MEASURE with "
                "--validation"
            )
        study = IsometryStudy(
            sets,
            {name: load("translation", name, None) for name in names},
            detectors,
            target_lang,
            ready=ready,
            beam_size=beam_size,
            cells=CellFolder(output / "scores") if output is not None else None,
        )
        with progress_bar(lambda: study.size, shown=not quiet, what="pairs") as bar:
            if bar is not None:
                study.advance, study.progress = bar.advance, bar.detail
            found = study.run()
        if output is not None:
            for each in found:
                write_predictions(output / f"{each.model}.{each.dataset}.json", each)
        facts += _facts(study)
        if study.reused:
            print(f"tertium: {study.reused} of {study.size} were done before", file=sys.stderr)
    result = analyse(
        found,
        specs,
        protocols=chosen,
        threshold=threshold,
        examples=examples,
        samples=samples,
        seed=seed,
        load_model=load,
    )
    show_tables(result.tables(), output)
    drawn = result.draw(output) if plots and output is not None else None
    if html is not None:
        from tertium.storage.atomic import write_text

        write_text(html, result.page(facts, drawn))


def _published(
    given: Sequence[str], langs: tuple[str, str], limit: int | None
) -> list[Predictions]:
    from tertium.data.datasets.isometry import first_predictions, read_predictions

    found = []
    for option in given:
        names, equals, file = option.partition("=")
        model, comma, dataset = names.partition(",")
        if not equals or not comma:
            raise SettingError(f"--predictions {option}: write it as MODEL,DATASET=FILE")
        read = read_predictions(Path(file), model=model, dataset=dataset, langs=langs)
        found.append(first_predictions(read, limit))
    return found


def _sets(path: Path | None, columns: Sequence[str], lang: str, limit: int | None) -> list[PairSet]:
    from tertium.studies.isometry.study import read_pair_set

    if path is None:
        raise InputError("which pairs? Name a file of paraphrases, or say --predictions")
    if not columns:
        return [read_pair_set(path, lang=lang, limit=limit)]
    return [
        read_pair_set(path, lang=lang, name=name, columns=both, limit=limit)
        for name, both in map(_named_columns, columns)
    ]


def _named_columns(option: str) -> tuple[str, tuple[str, str]]:
    name, equals, both = option.partition("=")
    first, comma, second = both.partition(",")
    if not equals or not comma:
        raise SettingError(f"--columns {option}: write it as NAME=FIRST,SECOND")
    return name, (first, second)


def _ready(
    given: Sequence[str], sets: Sequence[PairSet], columns: Sequence[str]
) -> dict[tuple[str, str], Sequence[TextPair]]:
    from tertium.studies.isometry.study import read_pair_set

    found = {}
    for option in given:
        name, equals, file = option.partition("=")
        if not equals:
            raise SettingError(f"--translations {option}: write it as NAME=FILE")
        wanted: list[tuple[str, Any]] = [_named_columns(each) for each in columns]
        for dataset, both in wanted or [(sets[0].name, None)]:
            read = read_pair_set(Path(file), lang="", name=dataset, columns=both)
            found[name, dataset] = read.pairs
    return found


def _detectors(
    given: Sequence[str], both_orders: bool, compute_type: Any, threads: int | None
) -> list[ParaphraseDetector]:
    from tertium.models.detectors.catalog import load_detector
    from tertium.models.detectors.model import ByLanguage

    def load(name: str) -> ParaphraseDetector:
        settings: dict[str, Any] = {"compute_type": compute_type, "threads": threads}
        return load_detector(name, both_orders=both_orders, **settings)

    found: list[ParaphraseDetector] = []
    for option in given:
        if "=" not in option or Path(option).is_dir():
            found.append(load(option))
            continue
        parts = [part.partition("=") for part in option.split(",")]
        found.append(ByLanguage({lang: load(name) for lang, _, name in parts}))
    return found


def _learnt(
    given: Sequence[str], validation: Sequence[str], load: ModelLoader
) -> list[ParaphraseDetector]:
    if not given:
        return []
    from tertium.data.datasets.plain import read_pairs
    from tertium.studies.isometry.measure_detector import learn_detector
    from tertium.studies.specs import MeasureSpec

    pairs = {}
    for option in validation:
        lang, equals, file = option.partition("=")
        if not equals:
            raise SettingError(f"--validation {option}: write it as LANG=FILE")
        pairs[lang] = read_pairs(Path(file), lang=lang)
    return [learn_detector(MeasureSpec.parse(text), pairs, load_model=load) for text in given]


def _facts(study: IsometryStudy) -> list[str]:
    """What the numbers depend on."""
    import tertium

    told = [f"tertium {tertium.__version__}; beam {study.beam_size}"]
    for name, model in study.models.items():
        settings = ", ".join(f"{key} {value}" for key, value in model.settings.items())
        told.append(f"model {name}: {model.fingerprint[:12]}, {settings}")
    for detector in study.detectors:
        settings = ", ".join(f"{key} {value}" for key, value in detector.settings.items())
        told.append(f"detector {detector.name}: {detector.fingerprint[:12]}, {settings}")
    return told
