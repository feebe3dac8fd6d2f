"""The names of the measures. A measure registers itself with the decorator :func:`measure`.

Plug-ins register theirs by an entry point in the group ``tertium.measures``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import TypeVar

from tertium.measures.base import Measure, ModelKind
from tertium.registry import Extra, Registry, check_extras

MEASURES: Registry[type[Measure]] = Registry(
    "measure", group="tertium.measures", package="tertium.measures"
)
SUMS = {"sentsim": ("sss", "bertscore")}
"""Sums with a name of their own; any other is written with a plus, as in ``sss+wmd``."""
SUM_SETTINGS: dict[str, object] = {"weights": (), "scale": "fixed", "empty": "worst"}
DEFAULT_MEASURE = "cross"

AnyMeasure = TypeVar("AnyMeasure", bound=type[Measure])


def measure(cls: AnyMeasure) -> AnyMeasure:
    """Register a class of measures under its ``name``."""
    MEASURES.add(str(cls.name), cls)
    return cls


def measure_names() -> list[str]:
    """The names of all measures, and of the sums that have one."""
    return [*MEASURES.names(), *SUMS]


def parts_of(name: str) -> tuple[str, ...]:
    """The measures that a name stands for: one, or those that are summed.

    >>> parts_of("cross"), parts_of("sss+wmd"), parts_of("sentsim")
    (('cross',), ('sss', 'wmd'), ('sss', 'bertscore'))
    """
    return SUMS.get(name.lower()) or tuple(name.lower().split("+"))


def measure_class(name: str) -> type[Measure]:
    """Look up a measure, not a sum, by its name in any case."""
    if name not in MEASURES:
        raise MEASURES.unknown(name, f", {', '.join(SUMS)}, and sums like 'sss+wmd'")
    return MEASURES.get(name)


def settings_of(name: str) -> dict[str, object]:
    """The settings of a measure, or of all parts of a sum, with their defaults."""
    parts = parts_of(name)
    settings = dict(SUM_SETTINGS) if len(parts) > 1 else {}
    for part in parts:
        for setting in fields(measure_class(part)):
            if setting.name != "model":
                settings[setting.name] = setting.default
    return settings


def kinds_of(name: str) -> set[ModelKind]:
    """The kinds of models that a measure, or the parts of a sum, use."""
    kinds = {measure_class(part).model_kind for part in parts_of(name)}
    return {kind for kind in kinds if kind is not None}


def extras_of(name: str) -> Sequence[Extra]:
    """The extras that a measure, or the parts of a sum, need."""
    return [extra for part in parts_of(name) for extra in measure_class(part).requires]


def check_measure_extras(names: Sequence[str]) -> None:
    """Check, before any work, that everything is installed that the measures need."""
    for name in names:
        check_extras(f"measure {name!r}", extras_of(name))
