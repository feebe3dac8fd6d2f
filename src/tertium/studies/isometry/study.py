"""The isometry of translation models (Shankar, 2020): translate paraphrases, and judge both sides.

A model is isometric on a pair of paraphrases if their translations are paraphrases as well.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from tertium._version import __version__
from tertium.data.datasets.isometry import Judged, Predictions, TextPair
from tertium.data.pairs import ALIASES, ColumnChooser, Columns, TablePairs
from tertium.data.records import open_table
from tertium.errors import InputError, LanguageError
from tertium.models.base import ParaphraseDetector, Progress, TranslationModel
from tertium.models.languages import source_language, target_language
from tertium.studies.runner import Runner, Scored, in_parts

PAIRS_AT_A_TIME = 128
TRANSLATE, JUDGE = "translation", "judgement"
PART = "pairs"


@dataclass(frozen=True)
class PairSet:
    """Paraphrases in the source language."""

    name: str
    lang: str
    pairs: Sequence[TextPair]


def read_pair_set(
    path: Path,
    *,
    lang: str,
    name: str | None = None,
    columns: tuple[str, str] | None = None,
    limit: int | None = None,
) -> PairSet:
    """Read paraphrases from two columns: by default sentence1 and sentence2, or hyp and ref."""
    table = open_table(path)
    first, second = (None, None) if columns is None else columns
    pick = ColumnChooser(table, "translate")
    try:
        chosen = pick(ALIASES["hyp"], first), pick(ALIASES["ref"], second)
    except InputError:
        chosen = None, None
    if None in chosen:
        raise InputError(
            f"which columns hold the pairs? {pick.there}", cure="use {columns:NAME=FIRST,SECOND}"
        )
    roles = Columns(hyp=chosen[0], refs=(str(chosen[1]),))
    rows = islice(TablePairs(table, roles), limit)
    pairs = [(row.hypothesis.text, row.references[0].text) for row in rows]
    if not pairs:
        raise InputError(f"{path} has no pairs")
    return PairSet(name or path.name.partition(".")[0], lang, pairs)


@dataclass
class IsometryStudy:
    """Models and detectors over sets of paraphrases."""

    sets: Sequence[PairSet]
    models: Mapping[str, TranslationModel]
    detectors: Sequence[ParaphraseDetector]
    target_lang: str
    ready: Mapping[tuple[str, str], Sequence[TextPair]] = field(default_factory=dict)
    """Existing translations, by the name of their model and of the set."""
    beam_size: int = 5
    runner: Runner = field(default_factory=Runner)

    @property
    def names(self) -> list[str]:
        """The models, including those of existing translations."""
        return list(dict.fromkeys([*self.models, *(model for model, _ in self.ready)]))

    @property
    def size(self) -> int:
        """How many pairs there are to translate and to judge."""
        pairs = sum(len(each.pairs) for each in self.sets)
        return pairs * (len(self.models) + len(self.detectors) * (1 + len(self.names)))

    def run(self) -> list[Predictions]:
        """Translate and judge every pair that is not done yet."""
        self._check()
        predictions = []
        for each in self.sets:
            sources = self._judge(each.name, each.lang, each.pairs)
            for model in self.names:
                targets = self._targets(model, each)
                after = self._judge(f"{each.name} {model}", self.target_lang, targets)
                judged = {name: Judged(sources[name], after[name]) for name in sources}
                langs = (each.lang, self.target_lang)
                predictions.append(
                    Predictions(model, each.name, each.pairs, targets, judged, langs)
                )
        self.runner.warn_partly()
        return predictions

    def facts(self) -> list[str]:
        """Everything that the numbers depend on."""
        facts = [f"tertium {__version__}; beam {self.beam_size}"]
        engines: list[tuple[str, TranslationModel | ParaphraseDetector]] = [
            *((f"model {name}", model) for name, model in self.models.items()),
            *((f"detector {each.name}", each) for each in self.detectors),
        ]
        for name, engine in engines:
            settings = ", ".join(f"{key} {value}" for key, value in engine.settings.items())
            facts.append(f"{name}: {engine.fingerprint[:12]}, {settings}")
        return facts

    def _check(self) -> None:
        """Refuse before any work what cannot be translated or judged."""
        names = [detector.name for detector in self.detectors]
        if not names:
            raise InputError("there is no detector")
        twice = {name for name in names if names.count(name) > 1}
        if twice:
            raise InputError(f"two detectors have the same name: {', '.join(sorted(twice))}")
        for each in self.sets:
            for engine in self.models.values():
                source_language(engine, each.lang)
                target_language(engine, self.target_lang)
            for model in self.names:
                ready = self.ready.get((model, each.name))
                if ready is None and model not in self.models:
                    raise InputError(f"there are no translations of {each.name} by {model}")
                if ready is not None and len(ready) < len(each.pairs):
                    raise InputError(
                        f"{model}: {len(ready)} translations for {len(each.pairs)} pairs of "
                        f"{each.name}"
                    )

    def _targets(self, model: str, own: PairSet) -> list[TextPair]:
        if (model, own.name) in self.ready:
            return list(self.ready[model, own.name])[: len(own.pairs)]
        engine = self.models[model]
        into, beam_size = self.target_lang, self.beam_size

        def translate(pairs: Sequence[TextPair], progress: Progress | None) -> Scored:
            texts = [text for pair in pairs for text in pair]
            made = engine.translate(
                texts,
                target_lang=into,
                source_lang=own.lang,
                beam_size=beam_size,
                progress=progress,
            )
            both = list(zip(made[::2], made[1::2], strict=True))
            cut = [place for place, (a, b) in enumerate(both) if a.cut or b.cut]
            return Scored({PART: [[a.text, b.text] for a, b in both]}, cut)

        signature = _signature(engine, into=into, of=own.lang, beam_size=str(beam_size))
        task = f"{own.name} {model}"
        return [
            (str(a), str(b))
            for a, b in self._parts(task, TRANSLATE, signature, own.pairs, translate)
        ]

    def _judge(self, task: str, lang: str, pairs: Sequence[TextPair]) -> dict[str, list[float]]:
        """The probabilities that each detector gives the pairs."""
        judged = {}
        for detector in self.detectors:

            def judge(
                some: Sequence[TextPair],
                progress: Progress | None,
                detector: ParaphraseDetector = detector,
            ) -> Scored:
                first, second = [a for a, _ in some], [b for _, b in some]
                result = detector.detect(first, second, lang=lang, progress=progress)
                cut = [place for place, mark in enumerate(result.cut) if mark]
                return Scored({PART: list(result.probabilities)}, cut)

            label, signature = f"{JUDGE} {detector.name}", _signature(detector, lang=lang)
            judged[detector.name] = self._parts(task, label, signature, pairs, judge)
        return judged

    def _parts(
        self,
        task: str,
        label: str,
        signature: str,
        pairs: Sequence[TextPair],
        make: Callable[[Sequence[TextPair], Progress | None], Scored],
    ) -> list[Any]:
        """Do some pairs at a time."""
        jobs = in_parts(task, label, signature, pairs, make, size=PAIRS_AT_A_TIME)
        scored = self.runner.run(jobs)
        if (task, label) not in scored:
            raise LanguageError(self.runner.left_out[task, label])
        return scored[task, label].parts[PART]


def _signature(engine: TranslationModel | ParaphraseDetector, **choices: str) -> str:
    return json.dumps([engine.fingerprint, dict(engine.settings), choices], sort_keys=True)
