"""The names of the measures, and how to make one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import Any, overload

from tertium.errors import SettingError
from tertium.measures.base import Measure, ModelKind
from tertium.measures.inputs import References
from tertium.models.base import Languages, SentenceEncoder, TextEncoder, TranslationModel

MEASURES = {
    "direct": "translation:Direct",
    "pivot": "translation:Pivot",
    "cross": "translation:Cross",
    "prism-ref": "translation:PrismRef",
    "prism-src": "translation:PrismSrc",
    "bertscore": "bertscore:BertScore",
    "sss": "embedding:SemanticSentenceSimilarity",
    "wmd": "movers:WordMoversDistance",
    "wmdo": "movers:OrderedWordMoversDistance",
    "smd": "embedding:SentenceMoversDistance",
    "bleu": "surface:Bleu",
    "chrf": "surface:ChrF",
    "ter": "surface:Ter",
    "nist": "nist:Nist",
    "bleu-nltk": "bleu_nltk:BleuNltk",
    "chrf-nltk": "chrf_nltk:ChrFNltk",
}
SUMS = {"sentsim": ("sss", "bertscore")}
"""Sums that have a name of their own; any others are spelt with a plus."""
SUM_SETTINGS = ("weights", "scale")
DEFAULT_MEASURE = "cross"

AnyModel = str | Path | TranslationModel | SentenceEncoder
PROTOCOLS: dict[ModelKind, tuple[type, str]] = {
    "translation": (TranslationModel, "a translation model"),
    "tokens": (TextEncoder, "an encoder that gives vectors of pieces"),
    "sentences": (SentenceEncoder, "an encoder that gives vectors of sentences"),
}
ROLES: dict[ModelKind, str] = {
    "translation": "model",
    "tokens": "encoder",
    "sentences": "sentence_encoder",
}
"""By which argument :func:`load` is given a model of each kind."""


def parts_of(measure: str) -> tuple[str, ...]:
    """The measures that a name stands for: one, or those that are summed.

    >>> parts_of("cross"), parts_of("sss+wmd"), parts_of("sentsim")
    (('cross',), ('sss', 'wmd'), ('sss', 'bertscore'))
    """
    return SUMS.get(measure) or tuple(measure.split("+"))


def measure_class(name: str) -> type[Measure]:
    """Look up a measure, not a sum, by name."""
    if name not in MEASURES:
        near = get_close_matches(name, [*MEASURES, *SUMS], n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        names = ", ".join([*MEASURES, *SUMS])
        raise SettingError(
            f"no measure {name!r}: there are {names}, and sums of them like 'sss+wmd'{hint}"
        )
    module, _, cls = MEASURES[name].partition(":")
    found: type[Measure] = getattr(import_module(f"tertium.measures.{module}"), cls)
    return found


def settings_of(measure: str) -> dict[str, object]:
    """The settings of a measure, or of all parts of a sum, with their defaults."""
    parts = parts_of(measure)
    found: dict[str, object] = {"weights": (), "scale": "fixed"} if len(parts) > 1 else {}
    for part in parts:
        for setting in fields(measure_class(part)):  # type: ignore[arg-type]
            if setting.name != "model":
                found[setting.name] = setting.default
    return found


def kinds_of(measure: str) -> set[ModelKind]:
    """What kinds of model a measure, or a part of a sum, asks."""
    kinds = {measure_class(part).model_kind for part in parts_of(measure)}
    return {kind for kind in kinds if kind is not None}


def load(
    measure: str = DEFAULT_MEASURE,
    *,
    model: AnyModel | None = None,
    encoder: str | Path | SentenceEncoder | None = None,
    sentence_encoder: str | Path | SentenceEncoder | None = None,
    layer: int | None = None,
    **settings: object,
) -> Measure:
    """Make a measure, or a sum of measures, from its name and its settings.

    ``model`` is the translation model and, unless it is given apart, the encoder of those measures
    that compare vectors; ``sentence_encoder`` gives ``sss`` an encoder of its own; ``layer`` is the
    encoder's.

    >>> import tertium
    >>> direct = tertium.load("direct", model="tertium-mini", base="e")
    >>> direct("The same.", "The same.", lang="en")
    1.0
    >>> both = tertium.load("sss+chrf", weights=(0.7, 0.3))
    >>> both.name, round(both("The same.", "The same."), 4)
    ('sss+chrf', 2.7183)
    """
    _check_settings(measure, settings)
    kinds = kinds_of(measure)
    if not kinds and (model is not None or encoder is not None or sentence_encoder is not None):
        raise SettingError(f"{measure} compares the surface and takes no model")
    given: dict[ModelKind, AnyModel | None] = {
        "translation": model,
        "tokens": encoder if encoder is not None else model,
        "sentences": next((m for m in (sentence_encoder, encoder, model) if m is not None), None),
    }
    models = {kind: _load_model(kind, given[kind], layer, measure) for kind in kinds}
    made = [_make(part, models, settings) for part in parts_of(measure)]
    if len(made) == 1:
        return made[0]
    from tertium.measures.compound import Compound

    own = {name: settings[name] for name in SUM_SETTINGS if name in settings}
    return Compound(tuple(made), title=measure if measure in SUMS else "", **own)  # type: ignore[arg-type]


def _check_settings(measure: str, settings: dict[str, object]) -> None:
    known = settings_of(measure)
    for name in settings:
        if name not in known:
            names = ", ".join(known) or "none"
            raise SettingError(f"{measure} has no setting {name!r}; its settings are {names}")


def _make(part: str, models: dict[ModelKind, object], settings: dict[str, object]) -> Measure:
    """Make a measure with those settings that are its own."""
    cls = measure_class(part)
    names = {setting.name for setting in fields(cls)}  # type: ignore[arg-type]
    own = {name: value for name, value in settings.items() if name in names}
    if cls.model_kind is not None:
        own["model"] = models[cls.model_kind]
    return cls(**own)


def load_any(
    kind: ModelKind,
    name: str | Path,
    layer: int | None = None,
    *,
    cache: bool | Path = True,
    **settings: Any,
) -> Any:
    """Load a model of a kind by name: a translation model, or an encoder up to a layer.

    ``cache`` is about the answers of a translation model; ``settings`` concern either.
    """
    if kind == "translation":
        from tertium.models.catalog import load_model

        return load_model(name, cache=cache, **settings)
    from tertium.models.encoders.catalog import load_encoder

    return load_encoder(name, layer=layer, **settings)


def _load_model(kind: ModelKind, model: AnyModel | None, layer: int | None, measure: str) -> object:
    from tertium.models.catalog import DEFAULT_MODEL

    name = DEFAULT_MODEL if model is None else model
    if isinstance(name, str | Path):
        return load_any(kind, name, layer)
    protocol, description = PROTOCOLS[kind]
    if not isinstance(name, protocol):
        raise SettingError(
            f"{measure} needs {description}, and {type(name).__name__} is none; "
            "give it a model by name, or an encoder (encoder=, see tertium.load_encoder)"
        )
    return name


@overload
def score(  # type: ignore[overload-overlap]  # a string is no list here
    hypotheses: str,
    references: References,
    *,
    measure: str = ...,
    model: AnyModel | None = ...,
    lang: Languages = ...,
    reference_lang: Languages = ...,
    **settings: object,
) -> float: ...
@overload
def score(
    hypotheses: Sequence[str],
    references: References,
    *,
    measure: str = ...,
    model: AnyModel | None = ...,
    lang: Languages = ...,
    reference_lang: Languages = ...,
    **settings: object,
) -> list[float]: ...
def score(
    hypotheses: str | Sequence[str],
    references: References,
    *,
    measure: str = DEFAULT_MEASURE,
    model: AnyModel | None = None,
    lang: Languages = None,
    reference_lang: Languages = None,
    **settings: object,
) -> float | list[float]:
    """Score hypotheses against references, by any measure; higher is better.

    One string in, one number out; a list in, a list out. ``settings`` are those of :func:`load`.

    >>> import tertium
    >>> tertium.score(["Good morning!"], ["Good morning!"], measure="cross")
    [1.0]
    """
    made = load(measure, model=model, **settings)  # type: ignore[arg-type]
    return made(hypotheses, references, lang=lang, reference_lang=reference_lang)
