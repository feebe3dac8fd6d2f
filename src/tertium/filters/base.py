"""The interface of a filter: settings, and a verdict on each sentence pair."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import ClassVar, NamedTuple

from tertium.models.base import Progress
from tertium.registry import Extra
from tertium.text import Text


class BitextPair(NamedTuple):
    """A source text and its supposed translation."""

    source: Text
    target: Text


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

    The verdict on a pair depends on this pair alone, unless ``needs_all_pairs`` is set.
    """

    name: ClassVar[str]
    reasons: ClassVar[tuple[str, ...]]
    """All reasons for which it removes pairs."""
    requires: ClassVar[tuple[Extra, ...]] = ()
    """Extras that must be installed."""
    portable: ClassVar[bool] = True
    """Whether it can run in several processes at once: no state, and no engine with threads."""
    needs_all_pairs: ClassVar[bool] = False
    """Whether a verdict depends on all the other pairs."""

    @abstractmethod
    def judge(self, pairs: Sequence[BitextPair], progress: Progress | None = None) -> list[Verdict]:
        """Return a verdict for each pair, in order."""

    def recall(self, pairs: Sequence[BitextPair]) -> None:  # noqa: B027  # most have no state
        """Restore the state from pairs that were judged before a run was interrupted."""

    def choices(self) -> Mapping[str, object]:
        """Every setting that can change a verdict."""
        settings = fields(self)  # type: ignore[arg-type]  # every filter is a dataclass
        return {field.name: getattr(self, field.name) for field in settings if field.init}
