"""The names of the measures, and how to make one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import overload

from tertium.errors import SettingError
from tertium.measures.base import Measure
from tertium.measures.inputs import References
from tertium.models.base import Languages, TranslationModel

MEASURES = {
    "direct": "translation:Direct",
    "pivot": "translation:Pivot",
    "cross": "translation:Cross",
    "prism-ref": "translation:PrismRef",
    "prism-src": "translation:PrismSrc",
    "bleu": "surface:Bleu",
    "chrf": "surface:ChrF",
    "ter": "surface:Ter",
}
DEFAULT_MEASURE = "cross"


def measure_class(name: str) -> type[Measure]:
    """Look up a measure by name."""
    if name not in MEASURES:
        near = get_close_matches(name, MEASURES, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise SettingError(f"no measure {name!r}: there are {', '.join(MEASURES)}{hint}")
    module, _, cls = MEASURES[name].partition(":")
    found: type[Measure] = getattr(import_module(f"tertium.measures.{module}"), cls)
    return found


def load(
    measure: str = DEFAULT_MEASURE,
    *,
    model: str | Path | TranslationModel | None = None,
    **settings: object,
) -> Measure:
    """Make a measure from its name and its settings.

    >>> import tertium
    >>> direct = tertium.load("direct", model="tertium-mini", base="e")
    >>> direct("The same.", "The same.", lang="en")
    1.0
    """
    cls = measure_class(measure)
    known = [setting.name for setting in fields(cls)]  # type: ignore[arg-type]
    for name in settings:
        if name not in known:
            names = ", ".join(known) or "none"
            raise SettingError(f"{measure} has no setting {name!r}; its settings are {names}")
    if "model" not in known:
        if model is not None:
            raise SettingError(f"{measure} compares the surface and takes no model")
    elif model is None or isinstance(model, str | Path):
        from tertium.models.catalog import DEFAULT_MODEL, load_model

        settings["model"] = load_model(DEFAULT_MODEL if model is None else model)
    else:
        settings["model"] = model
    return cls(**settings)


@overload
def score(  # type: ignore[overload-overlap]  # a string is no list here
    hypotheses: str,
    references: References,
    *,
    measure: str = ...,
    model: str | Path | TranslationModel | None = ...,
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
    model: str | Path | TranslationModel | None = ...,
    lang: Languages = ...,
    reference_lang: Languages = ...,
    **settings: object,
) -> list[float]: ...
def score(
    hypotheses: str | Sequence[str],
    references: References,
    *,
    measure: str = DEFAULT_MEASURE,
    model: str | Path | TranslationModel | None = None,
    lang: Languages = None,
    reference_lang: Languages = None,
    **settings: object,
) -> float | list[float]:
    """Score hypotheses against references, by any measure; higher is better.

    One string in, one number out; a list in, a list out.

    >>> import tertium
    >>> tertium.score(["Good morning!"], ["Good morning!"], measure="cross")
    [1.0]
    """
    made = load(measure, model=model, **settings)
    return made(hypotheses, references, lang=lang, reference_lang=reference_lang)
