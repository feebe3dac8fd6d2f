"""The names of the filters, and how to make them."""

from __future__ import annotations

from dataclasses import fields
from difflib import get_close_matches
from importlib import import_module

from tertium.errors import SettingError
from tertium.filters.base import Filter

FILTERS = {
    "length": "length:Length",
    "ratio": "length:Ratio",
    "lid": "language:LanguageFilter",
    "overlap": "overlap:Overlap",
    "duplicates": "duplicates:Duplicates",
    "margin": "margin:Margin",
    "dual": "dual:Dual",
    "measure": "similarity:Similarity",
}
PRISM = ("length", "ratio", "lid", "overlap", "duplicates")
"""What is asked unless something else is: the filters of Prism that need no model."""
ENGINES = ("model", "encoder", "measure")
"""Settings that are not plain values."""


def filter_class(name: str) -> type[Filter]:
    """Look up a filter by name."""
    if name not in FILTERS:
        near = get_close_matches(name, FILTERS, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise SettingError(f"no filter {name!r}: there are {', '.join(FILTERS)}{hint}")
    module, _, cls = FILTERS[name].partition(":")
    found: type[Filter] = getattr(import_module(f"tertium.filters.{module}"), cls)
    return found


def filter_settings(name: str) -> dict[str, object]:
    """The plain settings of a filter, with their defaults.

    >>> filter_settings("overlap")
    {'three': 0.6, 'four': 0.4, 'unit': 'tertium-mini'}
    """
    return {
        setting.name: setting.default
        for setting in fields(filter_class(name))  # type: ignore[arg-type]
        if setting.init and setting.name not in ENGINES
    }


def load_filter(name: str, **settings: object) -> Filter:
    """Make a filter from its name and its settings.

    >>> load_filter("ratio", highest=2.0)
    Ratio(highest=2.0, unit='tertium-mini')
    """
    cls = filter_class(name)
    known = [setting.name for setting in fields(cls) if setting.init]  # type: ignore[arg-type]
    for setting in settings:
        if setting not in known:
            raise SettingError(f"{name} has no setting {setting!r}; it has {', '.join(known)}")
    return cls(**settings)
