"""``tertium study isometry``."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tertium.cli.options import DEFAULT_MODEL
from tertium.cli.studies.options import StudyOptions, named, study_command
from tertium.errors import InputError, SettingError

if TYPE_CHECKING:
    from tertium.data.datasets.isometry import Predictions, TextPair
    from tertium.measures.loading import ModelSource
    from tertium.models.base import ParaphraseDetector
    from tertium.studies.isometry.measure_detector import MeasureDetector
    from tertium.studies.isometry.study import PairSet

DEFAULT_MEASURES = ("chrf", "bleu")
PROTOCOLS = ("majority", "pooled")


@study_command()
def isometry(
    options: StudyOptions,
    pairs: Annotated[
        Path | None,
        typer.Argument(help="Paraphrases in the source language: sentence1 and sentence2."),
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(help="NAME=FIRST,SECOND: a data set by its two columns; may be repeated."),
    ] = None,
    lang: Annotated[str, typer.Option("--lang", "-l", help="The language of the pairs.")] = "de",
    target_lang: Annotated[str, typer.Option(help="The language to translate into.")] = "en",
    model: Annotated[
        list[str] | None, typer.Option("--model", help="A translation model; may be repeated.")
    ] = None,
    translations: Annotated[
        list[str] | None,
        typer.Option(
            help="NAME=FILE: existing translations, in the same columns as their sources."
        ),
    ] = None,
    detector: Annotated[
        list[str] | None,
        typer.Option(
            help="The folder or name of a detector, or one per language: de=ONE,en=OTHER; may be "
            "repeated."
        ),
    ] = None,
    both_orders: Annotated[
        bool, typer.Option("--both-orders", help="Detectors judge each pair in both orders.")
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
            help="MODEL,DATASET=FILE: translations and judgements in the published layout, "
            "instead of PAIRS; may be repeated."
        ),
    ] = None,
    predictions_folder: Annotated[
        Path | None,
        typer.Option(
            help="A folder of such files: MODEL/DATASET.json, as published, or MODEL.DATASET.json."
        ),
    ] = None,
    threshold: Annotated[
        float, typer.Option(min=0, max=1, help="S is 1 from this P(paraphrase) on.")
    ] = 0.5,
    protocol: Annotated[
        list[str] | None,
        typer.Option(help="Of the correlations: majority or pooled. Default: both."),
    ] = None,
    examples: Annotated[
        int, typer.Option(min=0, help="The number of examples of each behaviour.")
    ] = 1,
    numbers: Annotated[
        str | None,
        typer.Option("--pairs", help="Show the pairs of these numbers, as in 22,307; from 0 on."),
    ] = None,
    sweep: Annotated[
        bool, typer.Option("--sweep", help="Also count at thresholds from 0.1 to 0.9.")
    ] = False,
    beam_size: Annotated[int, typer.Option(min=1, help="The beam size of translation.")] = 5,
    originals: Annotated[
        str | None,
        typer.Option(
            help="The texts in the target language that the pairs are translations of: a column of "
            "PAIRS, or a file with one per line. Then isometry is compared with the quality of the "
            "models."
        ),
    ] = None,
) -> None:
    """Are translations of paraphrases still paraphrases? (Shankar, 2020.)

    Translates paraphrases, lets detectors judge them before and after translation, and counts
    behaviours: isometric, ambiguous, type 1, type 2. With --output, an interrupted study resumes.
    """
    from tertium.data.datasets.isometry import write_predictions
    from tertium.studies.isometry.correlation import protocols
    from tertium.studies.isometry.frequencies import SWEEP
    from tertium.studies.isometry.report import analyse
    from tertium.studies.isometry.study import IsometryStudy
    from tertium.studies.runner import check_measures

    specs = options.specs(DEFAULT_MEASURES)
    chosen = protocols(protocol or PROTOCOLS)
    models, runner = options.models(), options.runner()
    facts = [f"threshold {threshold:g}; {options.samples} bootstrap samples, seed {options.seed}"]
    places, accuracies = _numbers(numbers), {}
    if predictions or predictions_folder is not None:
        if pairs is not None or detector or translations or measure_detector:
            raise SettingError("--predictions replaces PAIRS and detectors; leave them out")
        files = _files(predictions or [], predictions_folder)
        results = _published(files, (lang, target_lang), options.limit)
    else:
        sets = _sets(pairs, columns or [], lang, options.limit)
        ready = _ready(translations or [], sets, columns or [])
        names = model or ([] if ready else [DEFAULT_MODEL])
        check_measures(specs, models, (lang, target_lang))
        detectors = _detectors(detector or [], both_orders, options)
        learnt = _learnt(measure_detector or [], validation or [], models)
        accuracies = {each.name: each.accuracies for each in learnt}
        detectors += learnt
        if not detectors:
            raise InputError(
                "which detector? Give --detector FOLDER, or --measure-detector MEASURE with "
                "--validation"
            )
        engines = {name: models("translation", name) for name in names}
        study = IsometryStudy(
            sets, engines, detectors, target_lang, ready, beam_size=beam_size, runner=runner
        )
        results = options.run(study, "pairs")
        if options.output is not None:
            for each in results:
                write_predictions(options.output / f"{each.model}.{each.dataset}.json", each)
        facts += study.facts()
    result = analyse(
        results,
        specs,
        protocols=chosen,
        threshold=threshold,
        examples=examples,
        chosen=places,
        thresholds=SWEEP if sweep else (),
        accuracies=accuracies,
        originals=_originals(originals, pairs, options.limit),
        samples=options.samples,
        seed=options.seed,
        models=models,
        runner=runner,
    )
    options.finish(result.report(facts), runner)
    if options.output is not None:
        result.write_pairs(options.output)


def _files(given: Sequence[str], folder: Path | None) -> list[tuple[str, str, Path]]:
    from tertium.data.datasets.isometry import find_predictions

    found = find_predictions(folder) if folder is not None else []
    for option in given:
        names, file = named(option, "--predictions", "MODEL,DATASET=FILE")
        model, comma, dataset = names.partition(",")
        if not comma:
            raise SettingError(f"--predictions {option}: write it as MODEL,DATASET=FILE")
        found.append((model, dataset, Path(file)))
    return found


def _published(
    files: Sequence[tuple[str, str, Path]], langs: tuple[str, str], limit: int | None
) -> list[Predictions]:
    from tertium.data.datasets.isometry import first_predictions, read_predictions

    return [
        first_predictions(read_predictions(file, model=model, dataset=name, langs=langs), limit)
        for model, name, file in files
    ]


def _originals(given: str | None, pairs: Path | None, limit: int | None) -> list[str] | None:
    from tertium.data.lines import read_lines
    from tertium.data.records import open_table

    if given is None:
        return None
    table = None if pairs is None else open_table(pairs)
    if table is not None and given in table.columns():
        return [str(record[given]) for record in islice(table, limit)]
    if not Path(given).is_file():
        where = "" if table is None else f"neither a column ({', '.join(table.columns())}) nor "
        raise InputError(f"the originals {given!r} are {where}{'' if where else 'not '}a file")
    return list(islice(read_lines(Path(given)), limit))


def _numbers(text: str | None) -> list[int]:
    try:
        return [int(part) for part in text.split(",")] if text is not None else []
    except ValueError:
        raise SettingError(f"--pairs {text}: write it as 22,307,527") from None


def _sets(path: Path | None, columns: Sequence[str], lang: str, limit: int | None) -> list[PairSet]:
    from tertium.studies.isometry.study import read_pair_set

    if path is None:
        raise InputError("which pairs? Give a file of paraphrases, or --predictions")
    if not columns:
        return [read_pair_set(path, lang=lang, limit=limit)]
    return [
        read_pair_set(path, lang=lang, name=name, columns=both, limit=limit)
        for name, both in map(_named_columns, columns)
    ]


def _named_columns(option: str) -> tuple[str, tuple[str, str]]:
    name, both = named(option, "--columns", "NAME=FIRST,SECOND")
    first, comma, second = both.partition(",")
    if not comma:
        raise SettingError(f"--columns {option}: write it as NAME=FIRST,SECOND")
    return name, (first, second)


def _ready(
    given: Sequence[str], sets: Sequence[PairSet], columns: Sequence[str]
) -> dict[tuple[str, str], Sequence[TextPair]]:
    from tertium.studies.isometry.study import read_pair_set

    found = {}
    for option in given:
        name, file = named(option, "--translations", "NAME=FILE")
        wanted: list[tuple[str, Any]] = [_named_columns(each) for each in columns]
        for dataset, both in wanted or [(sets[0].name, None)]:
            read = read_pair_set(Path(file), lang="", name=dataset, columns=both)
            found[name, dataset] = read.pairs
    return found


def _detectors(
    given: Sequence[str], both_orders: bool, options: StudyOptions
) -> list[ParaphraseDetector]:
    from tertium.models.catalog import load_detector
    from tertium.models.detectors.model import ByLanguage

    def load(name: str) -> ParaphraseDetector:
        settings: dict[str, Any] = {
            "compute_type": options.compute_type,
            "threads": options.threads,
        }
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
    given: Sequence[str], validation: Sequence[str], models: ModelSource
) -> list[MeasureDetector]:
    if not given:
        return []
    from tertium.data.datasets.plain import read_pairs
    from tertium.measures.loading import MeasureSpec
    from tertium.studies.isometry.measure_detector import learn_detector

    pairs = {}
    for option in validation:
        lang, file = named(option, "--validation", "LANG=FILE")
        pairs[lang] = read_pairs(Path(file), lang=lang)
    return [learn_detector(MeasureSpec.parse(text), pairs, models=models) for text in given]
