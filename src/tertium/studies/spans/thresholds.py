"""The threshold with the best F1 over the characters of labelled spans.

All methods report what has at least some score, and a lower threshold only adds to it: candidates
are counted once, and summed from the highest score to the lowest.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from tertium.studies.spans.published import LabelledPair

GOLD = 0.5
"""The label from which a token should be reported."""

Candidate = tuple[str, int, int, float]
"""The side, start, end and score of what would be reported with a low enough threshold."""


@dataclass(frozen=True)
class Counted:
    """A pair: the characters of its gold tokens, and of each candidate."""

    gold: int
    candidates: tuple[tuple[float, int, int], ...]
    """The score, the characters in gold tokens, and those in labelled tokens."""


@dataclass(frozen=True)
class SpanResult:
    """Precision, recall and F1 over characters; 0 where nothing is found."""

    hit: int = 0
    predicted: int = 0
    gold: int = 0

    @property
    def precision(self) -> float:
        return self.hit / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        return self.hit / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall.

        >>> SpanResult(hit=2, predicted=4, gold=4).f1
        0.5
        """
        total = self.predicted + self.gold
        return 2 * self.hit / total if total else 0.0


def counted(pair: LabelledPair, candidates: Sequence[Candidate]) -> Counted:
    """Count characters; those outside labelled tokens do not matter.

    >>> from tertium.studies.spans.published import LabelledToken
    >>> from tertium.text import Text
    >>> tokens = (LabelledToken(0, 2, 1.0), LabelledToken(3, 6, 0.0))
    >>> counted(LabelledPair(Text("ab cde"), Text("x"), tokens, ()), [("a", 1, 5, 0.5)])
    Counted(gold=2, candidates=((0.5, 1, 3),))
    """
    found = []
    for side, start, end, score in candidates:
        hit = predicted = 0
        for token in pair.tokens(side):
            shared = max(0, min(end, token.end) - max(start, token.start))
            predicted += shared
            hit += shared if token.label >= GOLD else 0
        if predicted:
            found.append((score, hit, predicted))
    tokens = [*pair.tokens_a, *pair.tokens_b]
    gold = sum(token.end - token.start for token in tokens if token.label >= GOLD)
    return Counted(gold, tuple(found))


@dataclass(frozen=True)
class Curve:
    """What every threshold reaches on some pairs."""

    pairs: Sequence[Counted]

    def at(self, threshold: float) -> SpanResult:
        """The result of a threshold."""
        hit = predicted = 0
        for pair in self.pairs:
            for score, own_hit, own_predicted in pair.candidates:
                if score >= threshold:
                    hit += own_hit
                    predicted += own_predicted
        return SpanResult(hit, predicted, sum(pair.gold for pair in self.pairs))

    def best(self) -> float:
        """The threshold with the highest F1, with as few digits as possible.

        It is between the lowest score that should be reported and the next lower one. Infinite if
        nothing should be reported.
        """
        candidates = sorted((each for pair in self.pairs for each in pair.candidates), reverse=True)
        gold = sum(pair.gold for pair in self.pairs)
        hit = predicted = 0
        best, highest = math.inf, 0.0
        lower = -math.inf
        for place, (score, own_hit, own_predicted) in enumerate(candidates):
            hit += own_hit
            predicted += own_predicted
            following = candidates[place + 1][0] if place + 1 < len(candidates) else -math.inf
            if following < score:
                f1 = SpanResult(hit, predicted, gold).f1
                if f1 > highest:
                    best, highest, lower = score, f1, following
        return best if math.isinf(best) else rounded_between(lower, best)


def rounded_between(low: float, high: float) -> float:
    """The number with the fewest decimals that is above ``low`` and not above ``high``.

    >>> rounded_between(0.123, 0.1291), rounded_between(-1.0, -0.5), rounded_between(2.0, 3.7)
    (0.129, -0.5, 3.0)
    """
    for decimals in range(12):
        scale = 10.0**decimals
        number = math.floor(high * scale) / scale
        if low < number <= high:
            return number
    return high


@dataclass(frozen=True)
class Learnt:
    """The best threshold on all pairs, its result, and F1 on pairs that were held out."""

    threshold: float
    result: SpanResult
    held_out: float


def learn(curve: Curve) -> Learnt:
    """Find the best threshold; every second pair is held out in turn to see how it generalises."""
    threshold = curve.best()
    halves = [Curve(curve.pairs[0::2]), Curve(curve.pairs[1::2])]
    results = [other.at(half.best()) for half, other in zip(halves, reversed(halves), strict=True)]
    held_out = SpanResult(
        sum(each.hit for each in results),
        sum(each.predicted for each in results),
        sum(each.gold for each in results),
    )
    return Learnt(threshold, curve.at(threshold), held_out.f1)
