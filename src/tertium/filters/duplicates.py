"""Near-duplicate pairs, found with a compact set of 64-bit hashes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from tertium.data.normalization import duplicate_key
from tertium.errors import SettingError
from tertium.filters.base import KEPT, BitextPair, Filter, Verdict
from tertium.models.base import Progress

Hashes = NDArray[np.uint64]

SIDES = ("pair", "source", "target")


def hash_texts(texts: Iterable[str]) -> Hashes:
    """Hash each text to 64 bits, identically on every machine."""
    digests = [hashlib.blake2b(text.encode(), digest_size=8).digest() for text in texts]
    return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)


class HashSet:
    """A set of hashes of eight bytes each, in a log-structured merge tree.

    The tree consists of sorted runs, each at least twice as long as the next. The probability that
    any two of n hashes collide is n²/2⁶⁵: 0.0003 for a hundred million.

    >>> seen = HashSet()
    >>> seen.add(hash_texts(["a", "b", "a"])).tolist(), seen.add(hash_texts(["c", "b"])).tolist()
    ([True, True, False], [True, False])
    """

    def __init__(self) -> None:
        self._runs: list[Hashes] = []

    def __len__(self) -> int:
        return sum(map(len, self._runs))

    def add(self, hashes: Hashes) -> NDArray[np.bool_]:
        """Add hashes; return whether each is new: neither in the set nor earlier in ``hashes``."""
        distinct, first = np.unique(hashes, return_index=True)
        unseen = np.ones(len(distinct), dtype=bool)
        for run in self._runs:
            places = np.minimum(np.searchsorted(run, distinct), len(run) - 1)
            unseen &= run[places] != distinct
        new = np.zeros(len(hashes), dtype=bool)
        new[first[unseen]] = True
        if unseen.any():
            self._runs.append(distinct[unseen])
        while len(self._runs) > 1 and len(self._runs[-2]) < 2 * len(self._runs[-1]):
            last = self._runs.pop()
            self._runs[-1] = np.sort(np.concatenate([self._runs[-1], last]), kind="stable")
        return new


@dataclass(frozen=True)
class Duplicates(Filter):
    """Keeps the first of near-duplicate pairs; ``of`` says which side is compared.

    It stores eight bytes per pair.
    """

    of: Literal["pair", "source", "target"] = "pair"
    _seen: HashSet = field(default_factory=HashSet, init=False, repr=False, compare=False)

    name: ClassVar[str] = "duplicates"
    reasons: ClassVar[tuple[str, ...]] = ("seen before",)
    portable: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.of not in SIDES:
            raise SettingError(f"duplicates of {self.of!r}: it must be one of {', '.join(SIDES)}")

    def judge(self, pairs: Sequence[BitextPair], progress: Progress | None = None) -> list[Verdict]:
        new = self._seen.add(self._hashes(pairs))
        return [KEPT if first else Verdict("seen before") for first in new]

    def recall(self, pairs: Sequence[BitextPair]) -> None:
        self._seen.add(self._hashes(pairs))

    def _hashes(self, pairs: Sequence[BitextPair]) -> Hashes:
        sides = {"pair": (0, 1), "source": (0,), "target": (1,)}[self.of]
        return hash_texts(
            "\0".join(duplicate_key(pair[side].text) for side in sides) for pair in pairs
        )
