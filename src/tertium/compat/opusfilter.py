"""Every measure of Tertium as a filter of OpusFilter (``module: tertium.compat.opusfilter``)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import opusfilter

from tertium.compat.scorer import Scorer
from tertium.errors import InputError
from tertium.measures.registry import DEFAULT_MEASURE

ROWS_AT_A_TIME = 1000
Pair = Sequence[str]


class TertiumFilter(opusfilter.FilterABC):
    """Accepts pairs whose score is at least ``threshold``; higher is better.

    The target is the hypothesis. The source is both the source and, for measures that need one, the
    reference.
    """

    score_direction = opusfilter.CLEAN_HIGH
    accept_threshold = float("-inf")
    reject_threshold = float("inf")

    def __init__(
        self,
        threshold: float,
        measure: str = DEFAULT_MEASURE,
        source_lang: str | None = None,
        target_lang: str | None = None,
        rows_at_a_time: int = ROWS_AT_A_TIME,
        name: str | None = None,
        workdir: str = "",
    ) -> None:
        super().__init__(name, workdir)  # a misspelt setting is an error, which it would ignore
        self.threshold = threshold
        self.rows_at_a_time = rows_at_a_time
        self.scorer = Scorer(measure, target_lang, source_lang, source_lang)
        self.scorer.check_rows_are_independent("OpusFilter")

    def score(self, pairs: Iterable[Pair]) -> Iterator[float]:
        """The score of each pair."""
        for _, score in self._scored(pairs):
            yield score

    def accept(self, score: float) -> bool:
        """Whether a pair with this score is kept."""
        return score >= self.threshold

    def filter(self, pairs: Iterable[Pair]) -> Iterator[Pair]:
        """Yield the pairs that are accepted, scored many at a time."""
        return (pair for pair, score in self._scored(pairs) if self.accept(score))

    def filterfalse(self, pairs: Iterable[Pair]) -> Iterator[Pair]:
        """Yield the pairs that are not accepted, scored many at a time."""
        return (pair for pair, score in self._scored(pairs) if not self.accept(score))

    def _scored(self, pairs: Iterable[Pair]) -> Iterator[tuple[Pair, float]]:
        left = iter(pairs)
        done = 0
        while block := list(islice(left, self.rows_at_a_time)):
            for number, pair in enumerate(block, start=done + 1):
                if len(pair) != 2:
                    raise InputError(
                        f"pair {number} has {len(pair)} texts; TertiumFilter compares two files"
                    )
            sources, targets = ([pair[side] for pair in block] for side in (0, 1))
            scores = self.scorer.score(targets, sources, sources)
            yield from zip(block, scores, strict=True)
            done += len(block)
