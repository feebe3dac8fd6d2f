"""``tertium study isometry``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tertium.cli.options import option
from tertium.cli.studies.options import StudyOptions, named, study_command
from tertium.errors import InputError, SettingError
from tertium.models.catalog import DEFAULT_MODEL

if TYPE_CHECKING:
    from tertium.data.datasets.isometry import Predictions, TextPair
    from tertium.measures.loading import MeasureSpec, ModelSource
    from tertium.models.base import ParaphraseDetector
    from tertium.studies.isometry.measure_detector import MeasureDetector
    from tertium.studies.isometry.study import IsometryStudy, PairSet
    from tertium.studies.runner import Runner, SharedModels

DEFAULT_MEASURES = ("chrf", "bleu")
PROTOCOLS = ("majority", "pooled")


@dataclass(frozen=True)
class ParaphraseOptions:
    """Paraphrases and their translations, as they are or ready-made."""

    pairs: Annotated[
        Path | None,
        typer.Argument(help="Paraphrases in the source language: sentence1 and sentence2."),
    ] = None
    columns: list[str] | None = option(
        None, "NAME=FIRST,SECOND: a data set by its two columns; may be repeated."
    )
    lang: str = option("de", "The language of the pairs.", "--lang", "-l")
    target_lang: str = option("en", "The language to translate into.")
    translators: list[str] | None = option(None, "A translation model; may be repeated.", "--model")
    beam_size: int = option(5, "The beam size of translation.", min=1)
    translations: list[str] | None = option(
        None, "NAME=FILE: existing translations, in the same columns as their sources."
    )
    predictions: list[str] | None = option(
        None,
        "MODEL,DATASET=FILE: translations and judgements in the published layout, "
        "instead of PAIRS; may be repeated.",
    )
    predictions_folder: Path | None = option(
        None, "A folder of such files: MODEL/DATASET.json, as published, or MODEL.DATASET.json."
    )
    originals: str | None = option(
        None,
        "The texts in the target language that the pairs are translations of: a column of "
        "PAIRS, or a file with one per line. Then isometry is compared with the quality of the "
        "models.",
    )

    @property
    def are_published(self) -> bool:
        """Whether translations and judgements are given."""
        return bool(self.predictions) or self.predictions_folder is not None

    def published(self, limit: int | None) -> list[Predictions]:
        """Read translations and judgements in the published layout."""
        from tertium.data.datasets.isometry import first_predictions, read_predictions

        langs = (self.lang, self.target_lang)
        return [
            first_predictions(read_predictions(file, model=model, dataset=name, langs=langs), limit)
            for model, name, file in _files(self.predictions or [], self.predictions_folder)
        ]

    def sets(self, limit: int | None) -> list[PairSet]:
        """Read the paraphrases."""
        from tertium.studies.isometry.study import read_pair_set

        if self.pairs is None:
            raise InputError("which pairs? Give a file of paraphrases, or --predictions")
        wanted: list[dict[str, Any]] = [
            {"name": name, "columns": both}
            for name, both in map(_named_columns, self.columns or ())
        ]
        return [
            read_pair_set(self.pairs, lang=self.lang, limit=limit, **each)
            for each in wanted or [{}]
        ]

    def read_originals(self, limit: int | None) -> list[str] | None:
        """Read the texts that the pairs are translations of, if they are given."""
        from tertium.data.lines import read_lines
        from tertium.data.records import open_table

        if self.originals is None:
            return None
        table = None if self.pairs is None else open_table(self.pairs)
        if table is not None and self.originals in table.columns():
            return [str(record[self.originals]) for record in islice(table, limit)]
        if not Path(self.originals).is_file():
            columns = (
                "" if table is None else f"neither a column ({', '.join(table.columns())}) nor"
            )
            raise InputError(f"the originals {self.originals!r} are {columns or 'not'} a file")
        return list(islice(read_lines(Path(self.originals)), limit))

    def ready(self, sets: Sequence[PairSet]) -> dict[tuple[str, str], Sequence[TextPair]]:
        """Read existing translations."""
        from tertium.studies.isometry.study import read_pair_set

        found = {}
        for text in self.translations or ():
            name, file = named(text, "--translations", "NAME=FILE")
            wanted: list[tuple[str, Any]] = [*map(_named_columns, self.columns or ())]
            for dataset, both in wanted or [(sets[0].name, None)]:
                read = read_pair_set(Path(file), lang="", name=dataset, columns=both)
                found[name, dataset] = read.pairs
        return found


@dataclass(frozen=True)
class DetectorOptions:
    """What judges whether two texts are paraphrases."""

    detector: list[str] | None = option(
        None,
        "The folder or name of a detector, or one per language: de=ONE,en=OTHER; may be repeated.",
    )
    both_orders: bool = option(False, "Detectors judge each pair in both orders.")
    measure_detector: list[str] | None = option(
        None, "A measure as a detector, its threshold learned on --validation."
    )
    validation: list[str] | None = option(
        None, "LANG=FILE: labeled pairs for --measure-detector; for both languages."
    )

    @property
    def are_given(self) -> bool:
        """Whether there is any."""
        return bool(self.detector or self.measure_detector)

    def load(self, **settings: Any) -> list[ParaphraseDetector]:
        """Load the detectors."""
        from tertium.models.catalog import load_detector
        from tertium.models.detectors.model import ByLanguage

        def load(name: str) -> ParaphraseDetector:
            return load_detector(name, both_orders=self.both_orders, **settings)

        found: list[ParaphraseDetector] = []
        for text in self.detector or ():
            if "=" not in text or Path(text).is_dir():
                found.append(load(text))
                continue
            parts = [part.partition("=") for part in text.split(",")]
            found.append(ByLanguage({lang: load(name) for lang, _, name in parts}))
        return found

    def learned(self, models: ModelSource) -> list[MeasureDetector]:
        """Learn the thresholds of measures."""
        if not self.measure_detector:
            return []
        from tertium.data.datasets.plain import read_pairs
        from tertium.measures.loading import MeasureSpec
        from tertium.studies.isometry.measure_detector import learn_detector

        pairs = {}
        for text in self.validation or ():
            lang, file = named(text, "--validation", "LANG=FILE")
            pairs[lang] = read_pairs(Path(file), lang=lang)
        specs = map(MeasureSpec.parse, self.measure_detector)
        return [learn_detector(spec, pairs, models=models) for spec in specs]


@dataclass(frozen=True)
class BehaviourOptions:
    """What is counted, correlated and shown."""

    threshold: float = option(0.5, "S is 1 with at least this P(paraphrase).", min=0, max=1)
    sweep: bool = option(False, "Also count at thresholds from 0.1 to 0.9.")
    protocol: list[str] | None = option(
        None, "Of the correlations: majority or pooled. Default: both."
    )
    examples: int = option(1, "The number of examples of each behaviour.", min=0)
    numbers: str | None = option(
        None, "Show the pairs of these numbers (from 0), as in 22,307.", "--pairs"
    )

    @property
    def chosen(self) -> dict[str, Any]:
        """Arguments of :func:`tertium.studies.isometry.report.analyse`."""
        from tertium.studies.isometry.correlation import protocols
        from tertium.studies.isometry.frequencies import SWEEP

        return {
            "protocols": protocols(self.protocol or PROTOCOLS),
            "threshold": self.threshold,
            "examples": self.examples,
            "thresholds": SWEEP if self.sweep else (),
        }


@study_command("model")
def isometry(
    data: ParaphraseOptions,
    judges: DetectorOptions,
    analysis: BehaviourOptions,
    options: StudyOptions,
) -> None:
    """Are translations of paraphrases still paraphrases? (Shankar, 2020.)

    Translates paraphrases, lets detectors judge them before and after translation, and counts
    behaviours: isometric, ambiguous, type 1, type 2. With --output, an interrupted study resumes.
    """
    from tertium.studies.isometry.measure_detector import MeasureDetector
    from tertium.studies.isometry.report import analyse

    specs, chosen = options.specs(DEFAULT_MEASURES), analysis.chosen
    numbers = _numbers(analysis.numbers)
    models, runner = options.models(), options.runner()
    facts = [
        f"threshold {analysis.threshold:g}; {options.samples} bootstrap samples, "
        f"seed {options.seed}"
    ]
    accuracies = {}
    if data.are_published:
        if data.pairs is not None or data.translations or judges.are_given:
            raise SettingError("--predictions replaces PAIRS and detectors; leave them out")
        results = data.published(options.limit)
    else:
        study = _study(data, judges, options, specs, models, runner)
        results = options.run(study, "pairs")
        _write_predictions(options.output, results)
        facts += study.facts()
        learned = [each for each in study.detectors if isinstance(each, MeasureDetector)]
        accuracies = {each.name: each.accuracies for each in learned}
    result = analyse(
        results,
        specs,
        **chosen,
        accuracies=accuracies,
        originals=data.read_originals(options.limit),
        samples=options.samples,
        seed=options.seed,
        models=models,
        runner=runner,
    )
    result = replace(result, chosen=numbers)
    options.finish(result.report(facts), runner)
    if options.output is not None:
        result.write_pairs(options.output)


def _study(
    data: ParaphraseOptions,
    judges: DetectorOptions,
    options: StudyOptions,
    specs: Sequence[MeasureSpec],
    models: SharedModels,
    runner: Runner,
) -> IsometryStudy:
    """The study of translations that are yet to be made or judged."""
    from tertium.studies.isometry.study import IsometryStudy
    from tertium.studies.runner import check_measures

    sets = data.sets(options.limit)
    ready = data.ready(sets)
    names = data.translators or ([] if ready else [DEFAULT_MODEL])
    check_measures(specs, models, (data.lang, data.target_lang))
    detectors = judges.load(compute_type=options.compute_type, threads=options.threads)
    detectors += judges.learned(models)
    if not detectors:
        raise InputError(
            "which detector? Give --detector FOLDER, or --measure-detector MEASURE with "
            "--validation"
        )
    engines = {}
    for name in names:
        label = Path(name).name if Path(name).is_dir() else name
        if label in engines:
            raise SettingError(f"two models are called {label}: rename one of the folders")
        engines[label] = models("translation", name)
    return IsometryStudy(
        sets,
        engines,
        detectors,
        data.target_lang,
        ready,
        beam_size=data.beam_size,
        runner=runner,
    )


def _write_predictions(folder: Path | None, results: Sequence[Predictions]) -> None:
    from tertium.data.datasets.isometry import write_predictions

    if folder is not None:
        for each in results:
            name = f"{each.model}.{each.dataset}.json".replace("/", "-")
            write_predictions(folder / name, each)


def _files(given: Sequence[str], folder: Path | None) -> list[tuple[str, str, Path]]:
    from tertium.data.datasets.isometry import find_predictions

    found = find_predictions(folder) if folder is not None else []
    for text in given:
        names, file = named(text, "--predictions", "MODEL,DATASET=FILE")
        model, comma, dataset = names.partition(",")
        if not comma:
            raise SettingError(f"--predictions {option}: write it as MODEL,DATASET=FILE")
        found.append((model, dataset, Path(file)))
    return found


def _numbers(text: str | None) -> list[int]:
    try:
        return [int(part) for part in text.split(",")] if text is not None else []
    except ValueError:
        raise SettingError(f"--pairs {text}: write it as 22,307,527") from None


def _named_columns(option: str) -> tuple[str, tuple[str, str]]:
    name, both = named(option, "--columns", "NAME=FIRST,SECOND")
    first, comma, second = both.partition(",")
    if not comma:
        raise SettingError(f"--columns {option}: write it as NAME=FIRST,SECOND")
    return name, (first, second)
