"""Beam search with next-token probabilities, to which penalties can be applied.

CTranslate2 has no hook for penalties. The algorithm is that of CTranslate2: without penalties the
results are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tertium.errors import SettingError
from tertium.models.base import Progress, StepwiseModel
from tertium.models.translation.dialects import END

PATIENCE = 2
"""The search stops when ``PATIENCE * beam_size`` hypotheses have ended, as in CTranslate2."""

Penalty = Callable[[Sequence[str]], dict[int, float]]
"""The penalties of the next token (by id) after a prefix."""


@dataclass(frozen=True)
class Hypothesis:
    """A (partial) translation, with its score (penalties included) and log-probability."""

    tokens: tuple[str, ...] = ()
    score: float = 0.0
    log_prob: float = 0.0
    ended: bool = False
    forced: int = 0
    """The number of forced tokens before the first."""

    @property
    def length(self) -> int:
        """The length as CTranslate2 counts it, including the end and forced tokens."""
        return self.forced + len(self.tokens) + self.ended

    @property
    def mean(self) -> float:
        """The score normalized by length."""
        return self.score / max(1, self.length)

    def with_next(self, token: str, score: float, log_prob: float) -> Hypothesis:
        ended = token == END
        tokens = self.tokens if ended else (*self.tokens, token)
        return Hypothesis(tokens, score, self.log_prob + log_prob, ended, self.forced)


@dataclass
class Beam:
    """The search for one source: active and ended hypotheses."""

    source: str
    penalty: Penalty | None
    longest: int
    growing: list[Hypothesis]
    ended: list[Hypothesis] = field(default_factory=list)

    def step(self, log_probs: NDArray[np.float32], vocabulary: Sequence[str], size: int) -> None:
        """Extend every hypothesis by one token, and keep the best."""
        costs = np.zeros(log_probs.shape, np.float64)
        if self.penalty is not None:
            for row, hypothesis in enumerate(self.growing):
                for id_, cost in self.penalty(hypothesis.tokens).items():
                    costs[row, id_] = cost
        before = np.array([hypothesis.score for hypothesis in self.growing])
        scores = (before[:, None] + log_probs - costs).ravel()
        grown = []
        for rank, place in enumerate(best(scores, 2 * size)):
            row, id_ = divmod(int(place), log_probs.shape[1])
            candidate = self.growing[row].with_next(
                vocabulary[id_], float(scores[place]), float(log_probs[row, id_])
            )
            if not candidate.ended:
                grown.append(candidate)
            elif rank < size:  # only the best candidates may end
                self.ended.append(candidate)
        self.growing = grown[:size]
        if self.growing[0].length >= self.longest:
            self.ended += self.growing
            self.growing = []
        elif len(self.ended) >= PATIENCE * size:
            self.growing = []

    def results(self, count: int) -> list[Hypothesis]:
        return sorted(self.ended, key=lambda hypothesis: -hypothesis.mean)[:count]


def beam_search(
    model: StepwiseModel,
    sources: Sequence[str],
    *,
    target_lang: str,
    source_lang: str | None = None,
    beam_size: int = 5,
    count: int = 1,
    penalties: Sequence[Penalty | None] | None = None,
    progress: Progress | None = None,
) -> list[list[Hypothesis]]:
    """The best translations of each source, best first; an empty source gives an empty one."""
    if beam_size < 1:
        raise SettingError(f"beam_size is {beam_size}; it must be at least 1")
    vocabulary = model.target_vocabulary
    forced = model.forced_tokens(target_lang)
    beams = [
        Beam(source, penalty, model.longest_translation(source), [Hypothesis(forced=forced)])
        for source, penalty in zip(sources, penalties or [None] * len(sources), strict=True)
    ]
    for beam in beams:
        if not beam.source.strip():
            beam.growing, beam.ended = [], [Hypothesis(ended=True)]
    while active := [beam for beam in beams if beam.growing]:
        log_probs = model.next_log_probs(
            [beam.source for beam in active for _ in beam.growing],
            [hypothesis.tokens for beam in active for hypothesis in beam.growing],
            target_lang=target_lang,
            source_lang=source_lang,
        )
        start = 0
        for beam in active:
            end = start + len(beam.growing)
            beam.step(log_probs[start:end], vocabulary, beam_size)
            start = end
        if progress is not None:
            progress("searching", sum(not beam.growing for beam in beams), len(beams))
    return [beam.results(count) for beam in beams]


def best(scores: NDArray[np.float64], count: int) -> NDArray[np.intp]:
    """The indices of the highest scores, best first; ties in order of index.

    >>> best(np.array([0.1, 0.5, 0.5, 0.9]), 3).tolist()
    [3, 1, 2]
    """
    if count < len(scores):
        lowest = np.partition(scores, -count)[-count]
        places = np.flatnonzero(scores >= lowest)
    else:
        places = np.arange(len(scores))
    return places[np.argsort(-scores[places], kind="stable")][:count]
