"""Near-duplicate pairs, found by 64-bit hashes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from tertium.data.normalization import duplicate_key
from tertium.errors import SettingError
from tertium.filters.base import KEPT, CorpusFilter, Verdict
from tertium.models.base import Progress
from tertium.text import Row

Hashes = NDArray[np.uint64]

SIDES = ("pair", "source", "target")


def hash_texts(texts: Iterable[str]) -> Hashes:
    """Hash each text to 64 bits, identically on every machine."""
    digests = [hashlib.blake2b(text.encode(), digest_size=8).digest() for text in texts]
    return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)


@dataclass(frozen=True)
class Duplicates(CorpusFilter):
    """Keeps the first of near-duplicate pairs; ``of`` says which side is compared.

    Of each pair, a hash of eight bytes is kept. The probability that any two of n hashes collide is
    n²/2⁶⁵: 0.0003 for a hundred million.

    >>> from tertium.text import Row, Text
    >>> pairs = [Row.pair(Text(text), Text("x")) for text in ("Page 1", "Page", "page 2!")]
    >>> [verdict.kept for verdict in Duplicates().judge(pairs)]
    [True, True, False]
    """

    of: Literal["pair", "source", "target"] = "pair"
    exact: bool = False
    """Whether only texts that are equal to the character are duplicates, but for outer space."""

    name: ClassVar[str] = "duplicates"
    reasons: ClassVar[tuple[str, ...]] = ("seen before",)

    def __post_init__(self) -> None:
        if self.of not in SIDES:
            raise SettingError(f"duplicates of {self.of!r}: it must be one of {', '.join(SIDES)}")

    def collect(self, rows: Sequence[Row], progress: Progress | None = None) -> Hashes:
        sides = {"pair": (0, 1), "source": (0,), "target": (1,)}[self.of]
        key = str.strip if self.exact else duplicate_key
        return hash_texts("\0".join(key(row.sides[side].text) for side in sides) for row in rows)

    def decide(self, records: Hashes) -> list[Verdict]:
        _, first = np.unique(records, return_index=True)
        verdicts = [Verdict("seen before")] * len(records)
        for place in first.tolist():
            verdicts[place] = KEPT
        return verdicts
