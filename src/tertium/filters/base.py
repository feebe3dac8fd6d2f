"""The interface of a filter: settings, and a verdict on each sentence pair."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, ClassVar, NamedTuple

from numpy.typing import NDArray

from tertium.models.base import Progress
from tertium.registry import Extra
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
