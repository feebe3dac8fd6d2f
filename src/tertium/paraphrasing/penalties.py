"""Penalties on n-grams of the input (Thompson and Post 2020b, section 3)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from tertium.errors import SettingError

START = "▁"
WITHOUT_SPACES = ("zh", "ja", "th", "lo", "km", "my", "yue", "wuu")
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

    >>> 0.006 * sum(n**4 for n in (1, 2, 3, 4))  # the fourth word of a 4-gram
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

    def against(self, source: Sequence[str], index: TokenIndex) -> SourcePenalty:
        """The penalties for one input, given as tokens."""
        units = grouped(source, self.unit)
        penalized: defaultdict[tuple[str, ...], set[int]] = defaultdict(set)
        for n in range(1, self.longest + 1):
            for start in range(len(units) - n + 1):
                *context, last = units[start : start + n]
                ids = index.prefixes_of(last) if self.unit == "words" else index.ids(last)
                penalized[tuple(context)].update(ids)
        return SourcePenalty(self, {context: sorted(ids) for context, ids in penalized.items()})


@dataclass(frozen=True)
class SourcePenalty:
    """The penalties of the next token after a prefix, for one input."""

    penalty: NgramPenalty
    penalized: Mapping[tuple[str, ...], Sequence[int]]
    """The token ids that complete an n-gram of the input, by the n-1 units before them."""

    def __call__(self, prefix: Sequence[str]) -> dict[int, float]:
        """The penalty of each penalized token id after these tokens."""
        units = grouped(prefix, self.penalty.unit)
        costs: defaultdict[int, float] = defaultdict(float)
        for n in range(1, min(self.penalty.longest, len(units) + 1) + 1):
            for id_ in self.penalized.get(tuple(units[len(units) - n + 1 :]), ()):
                costs[id_] += self.penalty.a * n**self.penalty.b
        return costs


def grouped(tokens: Sequence[str], unit: Unit) -> list[str]:
    """The tokens, or the words that they form, in lower case.

    >>> grouped(["▁Un", "known", "▁Man", "."], "words")
    ['▁unknown', '▁man.']
    """
    if unit == "tokens":
        return [token.casefold() for token in tokens]
    words: list[str] = []
    for token in tokens:
        if token.startswith(START) or not words:
            words.append(token.casefold())
        else:
            words[-1] += token.casefold()
    return words


def usual_unit(lang: str) -> Unit:
    """The default unit: words, or tokens for languages without spaces between words."""
    return "tokens" if lang.split("-")[0].split("_")[0] in WITHOUT_SPACES else "words"
