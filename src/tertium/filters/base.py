"""What a filter is: its settings, and a verdict on each pair of texts."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import ClassVar, NamedTuple

from tertium.models.base import Progress
from tertium.text import Text


class Pair(NamedTuple):
    """A text and its translation, or what is said to be one."""

    source: Text
    target: Text


class Verdict(NamedTuple):
    """Why a pair is removed (nothing if it is kept), and the number that the decision rests on."""

    reason: str = ""
    value: float = math.nan

    @property
    def kept(self) -> bool:
        return not self.reason


KEPT = Verdict()


class Filter(ABC):
    """A decision about pairs. The verdict on a pair depends on the pair alone, unless said."""

    name: ClassVar[str]
    reasons: ClassVar[tuple[str, ...]]
    """All that it may have against a pair."""
    portable: ClassVar[bool] = True
    """Whether any process can judge any pair: no state, and no engine with threads of its own."""
    needs_all_pairs: ClassVar[bool] = False
    """Whether a verdict depends on all the other pairs."""

    @abstractmethod
    def judge(self, pairs: Sequence[Pair], progress: Progress | None = None) -> list[Verdict]:
        """Judge pairs, in their order."""

    def recall(self, pairs: Sequence[Pair]) -> None:  # noqa: B027  # most have no memory
        """Take note of pairs that were judged before a run was broken off."""

    def choices(self) -> Mapping[str, object]:
        """Every setting that can change a verdict."""
        settings = fields(self)  # type: ignore[arg-type]  # every filter is a dataclass
        return {field.name: getattr(self, field.name) for field in settings if field.init}
