"""The names of the measures. A measure registers itself with the decorator :func:`measure`.

Plug-ins register theirs by an entry point in the group ``tertium.measures``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import TypeVar

from tertium.errors import SettingError
from tertium.measures.base import Measure, ModelKind
from tertium.measures.settings import Setting, settings_described
from tertium.models.public import public_entry
from tertium.registry import Extra, Registry, check_extras

MEASURES: Registry[type[Measure]] = Registry(
    "measure", group="tertium.measures", package="tertium.measures"
)
SUMS = {"sentsim": ("sss", "bertscore"), "cosine-lm": ("sss", "lm")}
"""Sums with a name of their own; any other is written with a plus, as in ``sss+wmd``."""
LINEAR = ("cosine-lm",)
"""Sums of scores as they are, with other settings than those of SentSim."""
DEFAULT_MEASURE = "cross"
SYNONYMS = {"bert-score": "bertscore", "bert_score": "bertscore", "chrf2": "chrf"}
VARIANTS: dict[str, tuple[str, dict[str, object]]] = {
    "chrf++": ("chrf", {"word_order": 2}),
    "chrf2++": ("chrf", {"word_order": 2}),
}
"""Measures with settings that have a name of their own; it is also the name of their column."""
TRAINED = (
    "{0} is a metric trained on human scores, which Tertium does not have; without training: "
    "-m cross or -m bertscore with references, -m prism-src with sources"
)
ELSEWHERE = {
    "comet": TRAINED,
    "cometkiwi": TRAINED,
    "xcomet": TRAINED,
    "bleurt": TRAINED,
    "metricx": TRAINED,
    "rouge": "Tertium does not have {0}; the nearest surface measures are -m bleu and -m chrf",
    "prism": "{0} has two measures: -m prism-ref with references, -m prism-src with sources",
    "nmtscore": "{0} has three measures: -m cross, -m direct and -m pivot",
}
"""What to use instead of metrics that people know but that Tertium does not have."""

AnyMeasure = TypeVar("AnyMeasure", bound=type[Measure])


def measure(cls: AnyMeasure) -> AnyMeasure:
    """Register a class of measures under its ``name``."""
    MEASURES.add(str(cls.name), cls)
    return cls


def is_measure(text: str) -> bool:
    """Whether an argument is a measure, with or without model and settings, or a sum.

    >>> is_measure("BLEU"), is_measure("cross@m2m100:beam_size=1"), is_measure("pairs.tsv")
    (True, True, False)
    """
    name = re.split("[@:]", text.lower(), maxsplit=1)[0]
    if name in VARIANTS or name in SYNONYMS or name in SUMS or name in ELSEWHERE:
        return True
    return all(part in MEASURES or part in SYNONYMS for part in name.split("+"))


def measure_names() -> list[str]:
    """The names of all measures, and of the sums that have one."""
    return [*MEASURES.usable_names(), *SUMS]


def parts_of(name: str) -> tuple[str, ...]:
    """The measures that a name stands for: one, or those that are summed.

    >>> parts_of("cross"), parts_of("sss+wmd"), parts_of("sentsim")
    (('cross',), ('sss', 'wmd'), ('sss', 'bertscore'))
    """
    parts = SUMS.get(name.lower()) or name.lower().split("+")
    return tuple(SYNONYMS.get(part, part) for part in parts)


def measure_class(name: str) -> type[Measure]:
    """Look up a measure, not a sum, by its name in any case."""
    if name not in MEASURES:
        refuse_other_metrics(name)
        entry = public_entry(name)
        if entry is not None and entry.kind != "language":
            raise SettingError(f"{name} is a model; write it after a measure: bertscore@{name}")
        raise MEASURES.unknown(name, f", {', '.join(SUMS)}, and sums like 'sss+wmd'")
    return MEASURES.get(name)


def refuse_other_metrics(name: str) -> None:
    """Say what to use instead of a metric that Tertium does not have.

    >>> refuse_other_metrics("ROUGE")
    Traceback (most recent call last):
    ...
    tertium.errors.SettingError: Tertium does not have ROUGE; ...
    """
    refuse_trained_metrics(name)
    if name.lower() in ELSEWHERE:
        raise SettingError(ELSEWHERE[name.lower()].format(name))


def refuse_trained_metrics(name: str) -> None:
    """Say what to use instead of a trained metric, or of one of its models."""
    words = re.split("[-/_0-9]", name.lower().rpartition("/")[2])
    if any(ELSEWHERE.get(word) == TRAINED for word in [name.lower(), *words]):
        raise SettingError(TRAINED.format(name))


def settings_of(name: str) -> dict[str, Setting]:
    """The settings of a measure, or of all parts of a sum."""
    parts = parts_of(name)
    settings = sum_settings(name) if len(parts) > 1 else {}
    for part in parts:
        settings |= {each.name: each for each in settings_described(measure_class(part))}
    return settings


def sum_settings(name: str) -> dict[str, Setting]:
    """The settings of a sum itself."""
    from tertium.measures.compound import Compound, CosineAndFluency

    cls = CosineAndFluency if name.lower() in LINEAR else Compound
    own = {"weights", "scale", "empty", "alpha"}
    return {each.name: each for each in settings_described(cls) if each.name in own}


def setting_names() -> dict[str, bool]:
    """The names of all settings of all measures, and whether each is a truth value."""
    found: dict[str, bool] = {}
    for name in measure_names():
        for setting, about in settings_of(name).items():
            found[setting] = isinstance(about.default, bool)
    return found


def reads_alone(name: str) -> bool:
    """Whether a measure, or all parts of a sum, read the hypothesis alone."""
    return all(measure_class(part).alone for part in parts_of(name))


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


def summary_of(name: str) -> str:
    """What a measure measures, in one sentence."""
    if name in VARIANTS:
        return "Overlap of character n-grams and of word n-grams (sacrebleu)."
    if name in LINEAR:
        return "Cosine of sentence vectors and fluency, added with weights (Prism's LASER + LM)."
    if name in SUMS or "+" in name:
        return f"Sum of {' and '.join(parts_of(name))}, each scaled to 0..1 (SentSim)."
    return measure_class(name).summary


def bounds_of(name: str) -> tuple[float, float] | None:
    """The lowest and the highest score of a measure; None if they depend on its settings.

    >>> bounds_of("chrf"), bounds_of("ter"), bounds_of("wmdo")
    ((0.0, 100.0), (-inf, 0.0), None)
    """
    if name in LINEAR:
        return None
    base = VARIANTS[name][0] if name in VARIANTS else name
    bounds: object = (1.0, math.e) if len(parts_of(base)) > 1 else measure_class(base).bounds
    return bounds if isinstance(bounds, tuple) else None


def range_of(name: str) -> str:
    """Between which numbers the scores lie.

    >>> range_of("chrf++"), range_of("ter"), range_of("nist"), range_of("sss+wmd")
    ('0 to 100', 'up to 0', 'from 0', '1 to 2.718')
    >>> range_of("cross")
    '0 to about 1'
    """
    bounds = bounds_of(name)
    if bounds is None:
        return "depends on its settings"
    low, high = bounds
    parts = parts_of(VARIANTS[name][0] if name in VARIANTS else name)
    if len(parts) == 1 and measure_class(parts[0]).about_bounds:
        return f"{low:.4g} to about {high:.4g}"
    if math.isinf(low):
        return "any number" if math.isinf(high) else f"up to {high:.4g}"
    return f"from {low:.4g}" if math.isinf(high) else f"{low:.4g} to {high:.4g}"
