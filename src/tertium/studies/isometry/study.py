"""The isometry of translation models (Shankar, 2020): translate paraphrases, and judge both sides.

A model is isometric on a pair if texts that mean the same still do when they are translated.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from tertium._version import __version__
from tertium.data.datasets.isometry import Judged, Predictions, TextPair
from tertium.data.datasets.values import text
from tertium.data.pairs import ALIASES
from tertium.data.records import open_table
from tertium.errors import CutWarning, InputError
from tertium.models.base import ParaphraseDetector, Progress, TranslationModel
from tertium.studies.cells import CellFolder, Scored

PAIRS_AT_A_TIME = 128
TRANSLATE, JUDGE = "translation", "judgement"


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
    names = table.columns()
    if columns is None:
        found = [
            next((alias for alias in ALIASES[role] if alias in names), "")
            for role in ("hyp", "ref")
        ]
        columns = (found[0], found[1])
    for column in columns:
        if column not in names:
            raise InputError(
                f"{path}: which columns are the pairs? It has {', '.join(names)}; say --columns "
                "NAME=FIRST,SECOND"
            )
    pairs = [
        (text(record, columns[0], path, row), text(record, columns[1], path, row))
        for row, record in enumerate(islice(table, limit), start=1)
    ]
    if not pairs:
        raise InputError(f"{path} holds no pairs")
    return PairSet(name or path.name.partition(".")[0], lang, pairs)


@dataclass
class IsometryStudy:
    """Models and detectors over sets of paraphrases; ``cells`` keeps what is done."""

    sets: Sequence[PairSet]
    models: Mapping[str, TranslationModel]
    detectors: Sequence[ParaphraseDetector]
    target_lang: str
    ready: Mapping[tuple[str, str], Sequence[TextPair]] = field(default_factory=dict)
    """Translations that are there already, by the name of their model and of the set."""
    beam_size: int = 5
    cells: CellFolder | None = None
    progress: Progress | None = None
    advance: Callable[[int], None] | None = None
    done: int = field(default=0, init=False)
    reused: int = field(default=0, init=False)
    cut: int = field(default=0, init=False)

    @property
    def names(self) -> list[str]:
        """The models, also those of whose translations only the text is there."""
        return list(dict.fromkeys([*self.models, *(model for model, _ in self.ready)]))

    @property
    def size(self) -> int:
        """How many pairs there are to translate and to judge."""
        pairs = sum(len(each.pairs) for each in self.sets)
        return pairs * (len(self.models) + len(self.detectors) * (1 + len(self.names)))

    def run(self) -> list[Predictions]:
        """Translate and judge what was not yet, and put it together."""
        found = []
        for each in self.sets:
            sources = {d.name: self._judge(d, each.name, each.lang, each.pairs) for d in self._own}
            for model in self.names:
                targets = self._targets(model, each)
                judged = {}
                for detector in self._own:
                    task = f"{each.name} {model}"
                    after = self._judge(detector, task, self.target_lang, targets)
                    judged[detector.name] = Judged(sources[detector.name], after)
                langs = (each.lang, self.target_lang)
                found.append(Predictions(model, each.name, each.pairs, targets, judged, langs))
        if self.cut:
            warnings.warn(
                f"{self.cut} pairs are longer than a model or a detector reads: only their "
                "beginning counts",
                CutWarning,
                stacklevel=2,
            )
        return found

    @property
    def _own(self) -> Sequence[ParaphraseDetector]:
        names = [detector.name for detector in self.detectors]
        if not names:
            raise InputError("there is no detector")
        twice = {name for name in names if names.count(name) > 1}
        if twice:
            raise InputError(f"two detectors have the same name: {', '.join(sorted(twice))}")
        return self.detectors

    def _targets(self, model: str, own: PairSet) -> list[TextPair]:
        if (model, own.name) in self.ready:
            ready = list(self.ready[model, own.name])
            if len(ready) < len(own.pairs):
                raise InputError(
                    f"{model}: {len(ready)} translations for {len(own.pairs)} pairs of {own.name}"
                )
            return ready[: len(own.pairs)]
        if model not in self.models:
            raise InputError(f"there are no translations of {own.name} by {model}")
        engine = self.models[model]
        signature = _signature(
            engine, into=self.target_lang, of=own.lang, beam_size=str(self.beam_size)
        )

        def translate(pairs: Sequence[TextPair]) -> Scored:
            texts = [text for pair in pairs for text in pair]
            made = engine.translate(
                texts,
                target_lang=self.target_lang,
                source_lang=own.lang,
                beam_size=self.beam_size,
                progress=self.progress,
            )
            both = [[made[at].text, made[at + 1].text] for at in range(0, len(made), 2)]
            cut = sum(made[at].cut or made[at + 1].cut for at in range(0, len(made), 2))
            return Scored({"test": both}, cut)

        found = self._parts(TRANSLATE, f"{own.name} {model}", signature, own.pairs, translate)
        return [(str(a), str(b)) for a, b in found]

    def _judge(
        self, detector: ParaphraseDetector, task: str, lang: str, pairs: Sequence[TextPair]
    ) -> list[float]:
        def judge(some: Sequence[TextPair]) -> Scored:
            found = detector.detect(
                [a for a, _ in some], [b for _, b in some], lang=lang, progress=self.progress
            )
            return Scored({"test": list(found.probabilities)}, sum(found.cut))

        signature = _signature(detector, lang=lang)
        return self._parts(f"{JUDGE} {detector.name}", task, signature, pairs, judge)

    def _parts(
        self,
        what: str,
        task: str,
        signature: str,
        pairs: Sequence[TextPair],
        make: Callable[[Sequence[TextPair]], Scored],
    ) -> list[Any]:
        """Do some pairs at a time; those that were done before are not done again."""
        found: list[Any] = []
        for start in range(0, len(pairs), PAIRS_AT_A_TIME):
            some = pairs[start : start + PAIRS_AT_A_TIME]
            data = hashlib.sha256(json.dumps(some).encode()).hexdigest()
            key = (task, f"{what} {start}", signature, data)
            scored = None if self.cells is None else self.cells.get(*key)
            if scored is None:
                scored = make(some)
                if self.cells is not None:
                    self.cells.put(*key, scored)
            else:
                self.reused += len(some)
            found += scored.parts["test"]
            self.cut += scored.cut
            self.done += len(some)
            if self.advance is not None:
                self.advance(self.done)
        return found


def _signature(engine: TranslationModel | ParaphraseDetector, **choices: str) -> str:
    told = [engine.fingerprint, dict(engine.settings), choices, __version__]
    return json.dumps(told, sort_keys=True)
