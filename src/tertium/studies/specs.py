"""Which measures a study compares: ``chrf``, ``cross@m2m100_418M``, ``direct:normalized=no``.

The model of a measure by vectors is an encoder: ``bertscore@xlm-roberta-large:layer=17``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tertium.errors import SettingError
from tertium.measures.base import Measure, ModelKind
from tertium.measures.registry import ROLES, kinds_of, load, load_any, settings_of
from tertium.measures.settings import parse_setting
from tertium.measures.signature import spell
from tertium.models.catalog import DEFAULT_MODEL

TOKENIZERS = {"zh": "zh", "ja": "ja-mecab", "ko": "ko-mecab"}
"""The tokenizers that BLEU needs for languages without spaces, as sacrebleu recommends."""
LAYER = "layer"
"""A setting of the encoder, not of the measure."""
SENTENCES = "sentence_encoder"
"""Another encoder for the sentences, as in ``sentsim@xlm-roberta-base:sentence_encoder=LaBSE``."""

ModelSource = Callable[[ModelKind, str | None, int | None], Any]
"""Gives the model of a kind: by its name (None: the default), and an encoder up to a layer."""


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


@dataclass(frozen=True)
class ModelSettings:
    """The models that measures use unless their spec names another, and how models are run."""

    model: str = DEFAULT_MODEL
    encoder: str | None = None
    sentence_encoder: str | None = None
    layer: int | None = None
    compute_type: str = "auto"
    threads: int | None = None
    cache: bool | Path = True


class ModelPool:
    """Loads models by name, each once, so that measures share them and their cached results."""

    def __init__(self, settings: ModelSettings | None = None) -> None:
        self.settings = settings or ModelSettings()
        self._loaded: dict[tuple[object, ...], Any] = {}

    def __call__(self, kind: ModelKind, name: str | None = None, layer: int | None = None) -> Any:
        """Load the model of a kind, or return the one that is loaded."""
        settings = self.settings
        if name is None:
            name = settings.model
            if kind != "translation":
                name = settings.encoder or name
        key = (kind == "translation", name, layer)
        if key not in self._loaded:
            self._loaded[key] = load_any(
                kind,
                name,
                layer,
                cache=settings.cache,
                compute_type=settings.compute_type,
                threads=settings.threads,
            )
        return self._loaded[key]


def read_specs(texts: Sequence[str]) -> tuple[MeasureSpec, ...]:
    """Read specs; each may occur once."""
    specs = tuple(MeasureSpec.parse(text) for text in texts)
    names = [str(spec) for spec in specs]
    for name in names:
        if names.count(name) > 1:
            raise SettingError(f"measure {name} is given twice")
    return specs


def make_measure(spec: MeasureSpec, models: ModelSource, *, lang: str | None = None) -> Measure:
    """Make a measure from its spec; BLEU takes its tokenizer from the language."""
    settings: dict[str, Any] = dict(spec.settings)
    if "tokenize" in settings_of(spec.measure) and lang in TOKENIZERS:
        settings.setdefault("tokenize", TOKENIZERS[lang])
    layer, sentences = settings.pop(LAYER, None), settings.pop(SENTENCES, None)
    loaded = {}
    for kind in kinds_of(spec.measure):
        if kind == "sentences" and sentences is not None:
            loaded[ROLES[kind]] = models(kind, sentences, None)
        else:
            loaded[ROLES[kind]] = models(kind, spec.model, layer)
    return load(spec.measure, **loaded, **settings)
