"""Pairs that were there before, but for trifles."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from tertium.errors import SettingError
from tertium.filters.base import KEPT, Filter, Pair, Verdict
from tertium.filters.hashes import Hashes, HashSet, hash_texts
from tertium.filters.words import MARKS
from tertium.models.base import Progress

SIDES = ("pair", "source", "target")
TRIFLES = re.compile(rf"[^\w{MARKS}]|_")
DIGIT = re.compile(r"\d")


def essence(text: str) -> str:
    """What is left when compatible forms, case, spaces, marks and the value of digits are ignored.

    A text of nothing but marks stays as it is.

    >>> essence("It’s  42, OK?"), essence("it's 17 ok"), essence("?!")
    ('its00ok', 'its00ok', '?!')
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    return TRIFLES.sub("", DIGIT.sub("0", folded)) or text


@dataclass(frozen=True)
class Duplicates(Filter):
    """Keeps the first of pairs that are the same in essence; ``of`` says on which side.

    It remembers eight bytes a pair.
    """

    of: Literal["pair", "source", "target"] = "pair"
    _seen: HashSet = field(default_factory=HashSet, init=False, repr=False, compare=False)

    name: ClassVar[str] = "duplicates"
    reasons: ClassVar[tuple[str, ...]] = ("seen before",)
    portable: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.of not in SIDES:
            raise SettingError(f"duplicates of {self.of!r}: it must be one of {', '.join(SIDES)}")

    def judge(self, pairs: Sequence[Pair], progress: Progress | None = None) -> list[Verdict]:
        new = self._seen.add(self._hashes(pairs))
        return [KEPT if first else Verdict("seen before") for first in new]

    def recall(self, pairs: Sequence[Pair]) -> None:
        self._seen.add(self._hashes(pairs))

    def _hashes(self, pairs: Sequence[Pair]) -> Hashes:
        sides = {"pair": (0, 1), "source": (0,), "target": (1,)}[self.of]
        return hash_texts("\0".join(essence(pair[side].text) for side in sides) for pair in pairs)
