"""Penalties on n-grams of the input (Thompson and Post 2020b, section 3)."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from tertium.errors import SettingError

START = "▁"
WITHOUT_SPACES = ("zh", "ja", "th", "lo", "km", "my", "yue", "wuu")
NOTICEABLE = 0.2
"""The lowest price (in nats) of an n-gram that is worth a search without it."""
AFFORDABLE = 4.0
"""The highest price of an n-gram that a search may still produce."""

Unit = Literal["words", "tokens"]


class TokenIndex:
    """Case-insensitive lookup of the token ids of a vocabulary.

    >>> index = TokenIndex(["▁The", "▁the", "▁th", "re", "▁"])
    >>> sorted(index.prefixes_of("▁there")), sorted(index.ids("RE"))
    ([0, 1, 2, 4], [3])
    """

    def __init__(self, vocabulary: Sequence[str]) -> None:
        self._ids: defaultdict[str, list[int]] = defaultdict(list)
        for id_, token in enumerate(vocabulary):
            self._ids[token.casefold()].append(id_)

    def ids(self, token: str) -> list[int]:
        return self._ids.get(token.casefold(), [])

    def prefixes_of(self, word: str) -> list[int]:
        """The ids of all tokens with which a word may begin."""
        folded = word.casefold()
        return [id_ for end in range(1, len(folded) + 1) for id_ in self.ids(folded[:end])]


@dataclass(frozen=True)
class NgramPenalty:
    """Lowers the log-probability of a token that would complete an n-gram of the input by a n^b.

    All orders up to ``longest`` are summed: a token that completes a 4-gram also completes a
    trigram, a bigram and a unigram. Case is ignored. With words, only tokens at the start of a word
    are penalized, if the next word of an n-gram may begin with them.

    >>> NgramPenalty().price(4)  # the fourth word of a 4-gram
    2.124
    """

    a: float = 0.006
    b: float = 4.0
    longest: int = 4
    unit: Unit = "words"

    def __post_init__(self) -> None:
        if self.longest < 1:
            raise SettingError(f"longest is {self.longest}; it must be at least 1")
        if self.unit not in ("words", "tokens"):
            raise SettingError(f"unit={self.unit!r}: it must be words or tokens")

    def price(self, n: int) -> float:
        """The penalty of a token that completes an n-gram, and with it the shorter ones."""
        return self.a * math.fsum(order**self.b for order in range(1, n + 1))

    def blocked_orders(self) -> list[int]:
        """The orders of n-grams to rule out, one search for each; 0 rules out nothing.

        Searches in which the penalty hardly matters (n-grams that cost little are ruled out), or in
        which it matters too much (n-grams that cost a lot are not ruled out), are left out.

        >>> NgramPenalty(a=0).blocked_orders(), NgramPenalty(a=0.006).blocked_orders()
        ([0], [0, 4, 3])
        >>> NgramPenalty(a=0.05).blocked_orders(), NgramPenalty(a=0.5).blocked_orders()
        ([3, 2], [2, 1])
        """
        orders = [
            n
            for n in range(self.longest, 0, -1)
            if self.price(n) >= NOTICEABLE and self.price(n - 1) <= AFFORDABLE
        ]
        return [0, *orders] if self.price(self.longest) <= AFFORDABLE else orders

    def against(self, source: Sequence[str]) -> SourcePenalty:
        """The penalties for one input, given as tokens."""
        return SourcePenalty(self, grouped(source, self.unit))


@dataclass(frozen=True)
class SourcePenalty:
    """The penalties for one input."""

    penalty: NgramPenalty
    units: Sequence[Sequence[str]]
    """The words of the input, or its tokens; each as tokens."""

    def __call__(self, tokens: Sequence[str]) -> float:
        """The sum of the penalties of all tokens of a text."""
        words = self.penalty.unit == "words"
        total = 0.0
        units: list[str] = []
        for token in map(str.casefold, tokens):
            if words and units and not token.startswith(START):
                units[-1] += token  # a word goes on
                continue
            for n in range(1, min(self.penalty.longest, len(units) + 1) + 1):
                following = self._following.get(tuple(units[len(units) - n + 1 :]), ())
                if any(unit.startswith(token) if words else unit == token for unit in following):
                    total += self.penalty.a * n**self.penalty.b
            units.append(token)
        return total

    def sequences(self, n: int, index: TokenIndex, vocabulary: Sequence[str]) -> list[list[str]]:
        """The sequences of tokens that complete an n-gram of the input; none for order 0."""
        sequences = []
        for start in range(len(self.units) - n + 1) if n else ():
            *context, last = self.units[start : start + n]
            tokens = [token for unit in context for token in unit]
            text = "".join(last)
            ids = index.prefixes_of(text) if self.penalty.unit == "words" else index.ids(text)
            sequences += [[*tokens, vocabulary[id_]] for id_ in ids]
        return sequences

    @cached_property
    def _following(self) -> Mapping[tuple[str, ...], set[str]]:
        """The units that follow each sequence of up to ``longest`` - 1 units of the input."""
        units = ["".join(unit).casefold() for unit in self.units]
        following: defaultdict[tuple[str, ...], set[str]] = defaultdict(set)
        for n in range(1, self.penalty.longest + 1):
            for start in range(len(units) - n + 1):
                *context, last = units[start : start + n]
                following[tuple(context)].add(last)
        return following


def grouped(tokens: Sequence[str], unit: Unit) -> list[list[str]]:
    """The tokens of each unit of a text.

    >>> grouped(["▁Un", "known", "▁Man", "."], "words")
    [['▁Un', 'known'], ['▁Man', '.']]
    """
    units: list[list[str]] = []
    for token in tokens:
        if unit == "tokens" or token.startswith(START) or not units:
            units.append([token])
        else:
            units[-1].append(token)
    return units


def usual_unit(lang: str) -> Unit:
    """The default unit: words, or tokens for languages without spaces between words."""
    return "tokens" if lang.split("-")[0].split("_")[0] in WITHOUT_SPACES else "words"
