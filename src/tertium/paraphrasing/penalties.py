"""What it costs to say again what the input says (Thompson and Post 2020b, section 3)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from tertium.errors import SettingError

START = "▁"
WITHOUT_SPACES = ("zh", "ja", "th", "lo", "km", "my", "yue", "wuu")
Unit = Literal["words", "pieces"]


class PieceIndex:
    """The pieces of a vocabulary by their spelling, case ignored.

    >>> index = PieceIndex(["▁The", "▁the", "▁th", "re", "▁"])
    >>> sorted(index.beginning("▁there")), sorted(index.spelt("RE"))
    ([0, 1, 2, 4], [3])
    """

    def __init__(self, vocabulary: Sequence[str]) -> None:
        self._ids: defaultdict[str, list[int]] = defaultdict(list)
        for id_, piece in enumerate(vocabulary):
            self._ids[piece.casefold()].append(id_)

    def spelt(self, piece: str) -> list[int]:
        return self._ids.get(piece.casefold(), [])

    def beginning(self, word: str) -> list[int]:
        """The pieces that a word may begin with."""
        folded = word.casefold()
        return [id_ for end in range(1, len(folded) + 1) for id_ in self.spelt(folded[:end])]


@dataclass(frozen=True)
class NgramPenalty:
    """Lowers the log-probability of what would complete an n-gram of the input by a n^b.

    An n-gram counts in every order up to ``longest``: what completes one of four words completes
    one of three, of two and of one as well, and pays for each. Case is ignored. With words, only a
    piece that begins a word pays, and it pays if the word may begin with it.

    >>> 0.006 * sum(n**4 for n in (1, 2, 3, 4))  # the fourth word in a row
    2.124
    """

    a: float = 0.006
    b: float = 4.0
    longest: int = 4
    unit: Unit = "words"

    def __post_init__(self) -> None:
        if self.longest < 1:
            raise SettingError(f"longest is {self.longest}; it must be at least 1")
        if self.unit not in ("words", "pieces"):
            raise SettingError(f"n-grams of {self.unit!r}: they can be of words or of pieces")

    def against(self, source: Sequence[str], index: PieceIndex) -> SourcePenalty:
        """The penalties that hold for one input, given in pieces."""
        units = grouped(source, self.unit)
        costly: defaultdict[tuple[str, ...], set[int]] = defaultdict(set)
        for n in range(1, self.longest + 1):
            for start in range(len(units) - n + 1):
                *context, last = units[start : start + n]
                ids = index.beginning(last) if self.unit == "words" else index.spelt(last)
                costly[tuple(context)].update(ids)
        return SourcePenalty(self, {context: sorted(ids) for context, ids in costly.items()})


@dataclass(frozen=True)
class SourcePenalty:
    """What the next piece costs, after a prefix."""

    penalty: NgramPenalty
    costly: Mapping[tuple[str, ...], Sequence[int]]
    """By the n-1 units that stand before it, the pieces that complete an n-gram of the input."""

    def __call__(self, prefix: Sequence[str]) -> dict[int, float]:
        """How much each piece that costs anything costs after these pieces."""
        units = grouped(prefix, self.penalty.unit)
        costs: defaultdict[int, float] = defaultdict(float)
        for n in range(1, min(self.penalty.longest, len(units) + 1) + 1):
            for id_ in self.costly.get(tuple(units[len(units) - n + 1 :]), ()):
                costs[id_] += self.penalty.a * n**self.penalty.b
        return costs


def grouped(pieces: Sequence[str], unit: Unit) -> list[str]:
    """Pieces, or the words that they make up, in small letters.

    >>> grouped(["▁Un", "known", "▁Man", "."], "words")
    ['▁unknown', '▁man.']
    """
    if unit == "pieces":
        return [piece.casefold() for piece in pieces]
    words: list[str] = []
    for piece in pieces:
        if piece.startswith(START) or not words:
            words.append(piece.casefold())
        else:
            words[-1] += piece.casefold()
    return words


def usual_unit(lang: str) -> Unit:
    """Words, or pieces where a language has no spaces between words."""
    return "pieces" if lang.split("-")[0].split("_")[0] in WITHOUT_SPACES else "words"
