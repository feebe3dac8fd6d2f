"""The registry of filters. Plug-ins add to it by the entry point group ``tertium.filters``."""

from __future__ import annotations

from dataclasses import fields

from tertium.errors import SettingError
from tertium.filters.base import Filter
from tertium.registry import Registry

FILTERS: Registry[type[Filter]] = Registry(
    "filter",
    group="tertium.filters",
    builtin={
        "length": "tertium.filters.surface:Length",
        "ratio": "tertium.filters.surface:Ratio",
        "lid": "tertium.filters.language:LanguageFilter",
        "overlap": "tertium.filters.surface:Overlap",
        "numbers": "tertium.filters.content:Numbers",
        "markup": "tertium.filters.content:Markup",
        "pattern": "tertium.filters.content:Pattern",
        "duplicates": "tertium.filters.duplicates:Duplicates",
        "margin": "tertium.filters.margin:Margin",
        "dual": "tertium.filters.scores:Dual",
        "measure": "tertium.filters.scores:MeasureFilter",
    },
    valid=lambda item: isinstance(item, type) and issubclass(item, Filter),
)
PRISM = ("length", "ratio", "lid", "overlap", "duplicates")
"""Prism's filters that need no model."""
USUAL = (*PRISM, "margin")
"""The default, where the encoder has both languages and there are enough pairs."""
FEWEST_FOR_MARGIN = 100
"""From so many pairs on, the neighbours of a text say how near it is to others by chance."""
ENGINES = ("model", "encoder", "measure")
"""Settings that are not plain values."""


def filter_settings(name: str) -> dict[str, object]:
    """The plain settings of a filter, with their defaults.

    >>> filter_settings("overlap")
    {'three': 0.6, 'four': 0.4, 'unit': 'tertium-mini'}
    """
    return {
        setting.name: setting.default
        for setting in fields(FILTERS.get(name))  # type: ignore[arg-type]
        if setting.init and setting.name not in ENGINES
    }


def load_filter(name: str, **settings: object) -> Filter:
    """Make a filter from its name and its settings.

    >>> load_filter("ratio", highest=2.0)
    Ratio(highest=2.0, unit='tertium-mini')
    """
    cls = FILTERS.get(name)
    FILTERS.check(name)
    available = [setting.name for setting in fields(cls) if setting.init]  # type: ignore[arg-type]
    for setting in settings:
        if setting not in available:
            raise SettingError(f"{name} has no setting {setting!r}; it has {', '.join(available)}")
    return cls(**settings)
