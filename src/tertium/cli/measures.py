"""``tertium measures``: which measures there are, and their settings."""

from __future__ import annotations

from typing import Annotated

import typer

from tertium.measures.loading import known_settings
from tertium.measures.registry import (
    VARIANTS,
    extras_of,
    kinds_of,
    measure_class,
    measure_names,
    parts_of,
    range_of,
    reads_alone,
    summary_of,
)
from tertium.measures.totals import spell

KINDS = {
    "translation": "a translation model",
    "tokens": "an encoder",
    "sentences": "a sentence encoder",
    "language": "a causal language model",
}
NOT_SHOWN = ("against",)
"""Settings that all measures have."""


def measures(
    name: Annotated[str | None, typer.Argument(help="A measure, such as cross.")] = None,
) -> None:
    """List the measures: what they measure, their range, what they need, and their settings."""
    if name is None:
        _print_overview()
        print("\nSettings are part of the name: chrf:word_order=2. A model is written after @:")
        print("cross@m2m100_418M. Sums: sss+wmd. One in detail: tertium measures cross")
        return
    lower = name.lower()
    if lower in VARIANTS:
        variant, settings = VARIANTS[lower]
        written = ",".join(f"{key}={spell(value)}" for key, value in settings.items())
        print(f"{lower}: the same as {variant}:{written}")
        lower = variant
    print(f"{lower}: {summary_of(lower)}")
    print(f"range     {range_of(lower)}; higher is better")
    print(f"needs     {needs_of(lower)}")
    print(f"compares  {compared_with(lower)}")
    print("settings")
    for setting, about in known_settings(lower).items():
        allowed = f" ({about.allowed})" if about.allowed else ""
        print(f"  {setting:<18}default: {default_of(setting, about.default)}{allowed}")
        print(f"  {'':<18}{about.meaning}")


def needs_of(name: str) -> str:
    """The models and the extras that a measure needs."""
    needs = [KINDS[kind] for kind in sorted(kinds_of(name))]
    needs += [extra.command for extra in extras_of(name)]
    return ", ".join(needs) or "nothing else"


def compared_with(name: str) -> str:
    """What the hypotheses are compared with."""
    if reads_alone(name):
        return "the hypothesis with nothing: it is read alone"
    defaults = {getattr(measure_class(part), "against", "reference") for part in parts_of(name)}
    if defaults == {"source"}:
        return "the hypothesis with the source"
    return "the hypothesis with references; with the source: --against source"


def _print_overview() -> None:
    """Three lines for each measure; lines are never broken, so that they can be searched."""
    names = measure_names()
    width = max(map(len, names)) + 2
    for name in names:
        settings = [
            f"{setting}={default_of(setting, about.default)}"
            for setting, about in known_settings(name).items()
            if setting not in NOT_SHOWN
        ]
        print(f"{name:<{width}}{summary_of(name)}")
        print(f"{'':<{width}}range: {range_of(name)}; needs: {needs_of(name)}")
        if settings:
            print(f"{'':<{width}}settings: {', '.join(settings)}")


def default_of(setting: str, default: object) -> str:
    if isinstance(default, int | float) and setting != "layer":
        return spell(default)
    return str(default).replace("\n", "\\n") if default else "automatic"
