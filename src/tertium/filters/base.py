"""Filters of sentence pairs, and their registry; plug-ins add to it (group tertium.filters)."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, ClassVar, NamedTuple

from numpy.typing import NDArray

from tertium.errors import SettingError
from tertium.models.base import Progress
from tertium.registry import Extra, Registry
from tertium.text import Row


class Verdict(NamedTuple):
    """The reason why a pair is removed (empty if it is kept), and the value that was compared."""

    reason: str = ""
    value: float = math.nan

    @property
    def kept(self) -> bool:
        return not self.reason


KEPT = Verdict()


class Filter(ABC):
    """Base class of filters; each is a frozen dataclass whose fields are its settings.

    The verdict on a pair depends on this pair alone, unless ``needs_all_rows`` is set.
    """

    name: ClassVar[str]
    reasons: ClassVar[tuple[str, ...]]
    """All reasons for which it removes pairs."""
    requires: ClassVar[tuple[Extra, ...]] = ()
    """Extras that must be installed."""
    portable: ClassVar[bool] = True
    """Whether it can run in several processes at once: no engine with threads."""
    needs_all_rows: ClassVar[bool] = False
    """Whether a verdict depends on the other rows, so that they must be judged in one call."""

    @abstractmethod
    def judge(self, rows: Sequence[Row], progress: Progress | None = None) -> list[Verdict]:
        """Return a verdict for each row, in order: of a text and its translation."""

    def choices(self) -> Mapping[str, object]:
        """Every setting that can change a verdict."""
        settings = fields(self)  # type: ignore[arg-type]  # every filter is a dataclass
        return {field.name: getattr(self, field.name) for field in settings if field.init}


class CorpusFilter(Filter):
    """A filter that needs all rows, but of each no more than one record of numbers.

    So the texts need not be in memory at once, and several processes can collect the records.
    """

    needs_all_rows: ClassVar[bool] = True

    @abstractmethod
    def collect(self, rows: Sequence[Row], progress: Progress | None = None) -> NDArray[Any]:
        """What must be known of each row, one record per row."""

    @abstractmethod
    def decide(self, records: NDArray[Any]) -> list[Verdict]:
        """Return the verdicts, given the records of all rows in order; it uses no model."""

    def judge(self, rows: Sequence[Row], progress: Progress | None = None) -> list[Verdict]:
        return self.decide(self.collect(rows, progress)) if rows else []


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
