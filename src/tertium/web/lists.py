"""What the server has: its models, and its measures with their settings and a reference scale."""

from __future__ import annotations

import math
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

from tertium.measures.loading import known_settings
from tertium.measures.registry import (
    SUMS,
    VARIANTS,
    bounds_of,
    extras_of,
    kinds_of,
    measure_class,
    measure_names,
    range_of,
    summary_of,
)
from tertium.measures.totals import spell
from tertium.models.base import SentenceEncoder, TranslationModel
from tertium.models.catalog import DEFAULT_MODEL
from tertium.web import schema
from tertium.web.models import Loaded

SMALL = (
    "This model is small and was trained on short sentences: its scores are a first impression. "
    "For more languages and better scores, start the server with a larger one."
)
VARIANT = "chrf++"
"""The one spelling of a variant that is listed."""


def available_measures() -> list[str]:
    """List the measures whose packages are installed."""
    return [
        name
        for name in [*measure_names(), VARIANT]
        if "language" not in kinds_of(_base(name))
        and all(find_spec(module) for extra in extras_of(_base(name)) for module in extra.modules)
    ]


def models_response(models: Loaded) -> schema.ModelsResponse:
    """Describe the models."""
    translation = models.translation
    return schema.ModelsResponse(
        models=[
            _model(
                "translation",
                translation,
                source_languages=sorted(translation.languages.source),
                target_languages=sorted(translation.languages.target),
                needs_source_language=translation.needs_source_language,
                note=SMALL if translation.name == DEFAULT_MODEL else "",
            ),
            _model("tokens", models.tokens),
            _model("sentences", models.sentences),
        ]
    )


def _model(
    role: schema.Role, model: TranslationModel | SentenceEncoder, **more: Any
) -> schema.ModelResponse:
    return schema.ModelResponse(
        role=role,
        name=model.name,
        fingerprint=model.fingerprint,
        settings=dict(model.settings),
        **more,
    )


def measure_response(
    name: str, models: Loaded, scale: Mapping[str, float]
) -> schema.MeasureResponse:
    """Describe a measure."""
    base, variant = _base(name), VARIANTS.get(name, ("", {}))[1]
    kinds = kinds_of(base)
    bounds = bounds_of(name) or (-math.inf, math.inf)
    low, high = (bound if math.isfinite(bound) else None for bound in bounds)
    needs_source = models.translation.needs_source_language
    model: Any = min(kinds, default=None)  # of the kinds that a server has
    return schema.MeasureResponse(
        name=name,
        about=summary_of(name),
        group="translation" if "translation" in kinds else "embeddings" if kinds else "surface",
        range=range_of(name),
        compares_with="reference" if base in SUMS else measure_class(base).against,
        model=model,
        low=low,
        high=high,
        needs_languages="translation" in kinds and (base != "cross" or needs_source),
        settings=[
            _setting(setting, variant.get(setting, known_settings(base)[setting].default))
            for setting in setting_names(name)
        ],
        scale=dict(scale),
    )


def setting_names(name: str) -> list[str]:
    """The settings of a measure that a client may choose."""
    return [each for each in known_settings(_base(name)) if each in schema.Settings.model_fields]


def _setting(name: str, default: object) -> schema.SettingResponse:
    """Describe a setting by the schema of requests."""
    described = schema.Settings.model_json_schema()["properties"][name]
    [kind, *_] = [each for each in described["anyOf"] if each.get("type") != "null"]
    values = [str(value) for value in kind.get("enum", ())]
    kinds = {
        "boolean": "yes or no",
        "integer": "number",
        "number": "number",
        "array": "numbers",
        "string": "language",
    }
    shown: Any = "choice" if values else kinds[kind["type"]]
    return schema.SettingResponse(
        name=name,
        about=described["description"],
        kind=shown,
        default=spell(default) if default not in ("", (), None) else "automatic",
        values=values,
        low=kind.get("minimum"),
        high=kind.get("maximum"),
    )


def _base(name: str) -> str:
    return VARIANTS[name][0] if name in VARIANTS else name
