"""Which measures a study compares: ``chrf``, ``cross@m2m100_418M``, ``direct:normalized=no``.

The model of a measure by vectors is an encoder: ``bertscore@xlm-roberta-large:layer=17``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import tertium
from tertium.errors import SettingError
from tertium.measures.base import Measure, ModelKind, Segments
from tertium.measures.registry import ROLES, kinds_of, load, settings_of
from tertium.measures.settings import parse_setting
from tertium.measures.signature import spell
from tertium.measures.translation import NMTScore, PrismRef
from tertium.models.base import Progress
from tertium.text import Row, Text

TOKENIZERS = {"zh": "zh", "ja": "ja-mecab", "ko": "ko-mecab"}
"""The tokenizers that BLEU needs for languages without spaces, as sacrebleu recommends."""
LAYER = "layer"
"""A setting of the encoder, not of the measure."""
SENTENCES = "sentence_encoder"
"""Another encoder for the sentences, as in ``sentsim@xlm-roberta-base:sentence_encoder=LaBSE``."""

ModelLoader = Callable[[ModelKind, str, int | None], Any]
"""Loads a model of a kind by its name; an encoder, up to a layer."""


@dataclass(frozen=True)
class MeasureSpec:
    """A measure by name, with a model and with settings where they are not the usual ones.

    >>> MeasureSpec.parse("direct@prism:normalized=no")
    MeasureSpec(measure='direct', model='prism', settings={'normalized': False})
    >>> str(MeasureSpec("pivot", settings={"beam_size": 1}))
    'pivot:beam_size=1'
    """

    measure: str
    model: str | None = None
    settings: Mapping[str, object] = field(default_factory=dict)

    @classmethod
    def parse(cls, text: str) -> MeasureSpec:
        """Read a spec: NAME, then @MODEL, then :SETTING=VALUE,SETTING=VALUE."""
        head, _, tail = text.partition(":") if "=" in text else (text, "", "")
        name, _, model = head.partition("@")
        known = settings_of(name)
        if kinds_of(name) & {"tokens", "sentences"}:
            known |= {LAYER: 0, SENTENCES: ""}
        settings: dict[str, object] = {}
        for part in filter(None, tail.split(",")):
            written, equals, value = part.partition("=")
            setting = written.replace("-", "_")
            if not equals:
                raise SettingError(f"{text}: {part!r} is no setting; write SETTING=VALUE")
            if setting not in known:
                raise SettingError(f"{name} has no setting {setting!r}: it has {', '.join(known)}")
            settings[setting] = parse_setting(setting, value, known[setting])
        if model and not kinds_of(name):
            raise SettingError(f"{text}: {name} takes no model")
        return cls(name, model or None, settings)

    def __str__(self) -> str:
        model = f"@{self.model}" if self.model else ""
        settings = ",".join(f"{name}={spell(value)}" for name, value in self.settings.items())
        return f"{self.measure}{model}{':' if settings else ''}{settings}"

    def make(self, lang: str, load_model: ModelLoader, default_model: str) -> Measure:
        """Make the measure for hypotheses in a language: BLEU takes the tokenizer from it."""
        settings: dict[str, Any] = dict(self.settings)
        if "tokenize" in settings_of(self.measure) and lang in TOKENIZERS:
            settings.setdefault("tokenize", TOKENIZERS[lang])
        layer, sentences = settings.pop(LAYER, None), settings.pop(SENTENCES, None)
        models = {}
        for kind in kinds_of(self.measure):
            if kind == "sentences" and sentences is not None:
                models[ROLES[kind]] = load_model(kind, sentences, None)
            else:
                models[ROLES[kind]] = load_model(kind, self.model or default_model, layer)
        return load(self.measure, **models, **settings)


@dataclass(frozen=True)
class Similarity:
    """A measure of two texts whose order does not matter: the mean of both orders.

    So the NMTScore paper uses all measures for paraphrases (sections 2.4 and 4.1). ``forth`` has
    the settings of the first text's language, ``back`` those of the second's.
    """

    forth: Measure
    back: Measure

    def segments(
        self, pairs: Sequence[tuple[Text, Text]], progress: Progress | None = None
    ) -> Segments:
        """Score pairs of texts."""
        rows = [Row(number, a, (b,)) for number, (a, b) in enumerate(pairs, start=1)]
        one = self.forth.segments(rows, progress)
        if is_symmetric(self.forth):
            return one
        rows = [Row(number, b, (a,)) for number, (a, b) in enumerate(pairs, start=1)]
        two = self.back.segments(rows, progress)
        return Segments(
            [(x + y) / 2 for x, y in zip(one.scores, two.scores, strict=True)],
            one.statistics,
            [x or y for x, y in zip(one.cut, two.cut, strict=True)],
        )

    @property
    def needs_all_rows(self) -> bool:
        """Whether a score depends on the other pairs that are scored with it."""
        return self.forth.needs_all_rows or self.back.needs_all_rows

    @property
    def signature(self) -> str:
        """Everything that can change a score."""
        told = [
            [measure.name, {name: spell(value) for name, value in measure.choices().items()}]
            for measure in (self.forth, self.back)
        ]
        return json.dumps([*told, tertium.__version__], sort_keys=True)


def is_symmetric(measure: Measure) -> bool:
    """Whether a measure asks both ways by itself."""
    if isinstance(measure, NMTScore):
        return measure.both_directions
    return isinstance(measure, PrismRef)
