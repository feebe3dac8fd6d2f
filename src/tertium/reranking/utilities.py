"""Expected utility of candidates, for minimum Bayes risk decoding.

The utility of a candidate is its mean score with all candidates of its list as references, itself
included: an estimate of the expected score over the model's distribution (Eikema and Aziz 2022).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tertium.data.nbest import CandidateList
from tertium.errors import SettingError
from tertium.measures.base import AggregatingMeasure, Measure, PairwiseMeasure
from tertium.models.base import Progress
from tertium.text import Row, Text

PAIRS_AT_A_TIME = 4096
FIRST_REFERENCES = 8
"""References before the first pruning; their number is doubled after each."""
BOOTSTRAPS = 500

Floats = NDArray[np.float64]
Place = tuple[int, int]


@dataclass(frozen=True)
class UtilitySettings:
    """How expected utilities are computed: all pairs, or fewer.

    ``prune`` is the confidence of pruning (Cheng and Vlachos 2023, alpha = 0.99): candidates are
    compared with more and more references, in random order; one that wins against the best in less
    than ``1 - prune`` of the bootstrap samples is compared no more. With ``aggregate``, each
    candidate is compared once, with the aggregate of all references (Vamvas and Sennrich 2024).
    """

    prune: float | None = None
    aggregate: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        if self.prune is not None and not 0 < self.prune < 1:
            raise SettingError(f"prune={self.prune!r}: it must be between 0 and 1, such as 0.99")
        if self.prune is not None and self.aggregate:
            raise SettingError("prune and aggregate cannot be combined: use one of them")


class Utilities(NamedTuple):
    """The expected utilities of the candidates of a list."""

    scores: Floats
    references: NDArray[np.int64]
    """The number of references that each candidate was compared with: fewer if it was pruned."""
    pairs: int
    """The number of pairs that were scored."""
    cut: bool
    """Whether a text was truncated."""


@dataclass
class PairScores:
    """The scores of the distinct candidates of a list with each other, as far as they are known."""

    candidates: CandidateList
    symmetric: bool
    texts: tuple[Text, ...] = field(init=False)
    places: list[int] = field(init=False)
    """The distinct text of each candidate."""
    scores: Floats = field(init=False)
    """Shape (hypotheses, references)."""
    cut: bool = False
    pairs: int = 0

    def __post_init__(self) -> None:
        self.texts = tuple(dict.fromkeys(self.candidates.candidates))
        index = {text: place for place, text in enumerate(self.texts)}
        self.places = [index[text] for text in self.candidates.candidates]
        self.scores = np.full((len(self.texts), len(self.texts)), np.nan)

    def missing(self, hypotheses: Sequence[int], references: Sequence[int]) -> list[Place]:
        """The pairs that are still to be scored; of a symmetric measure, half of them."""
        pairs = {
            (min(i, j), max(i, j)) if self.symmetric else (i, j)
            for i in hypotheses
            for j in references
        }
        return sorted(pair for pair in pairs if np.isnan(self.scores[pair]))

    def add(self, pair: Place, score: float, cut: bool) -> None:
        self.scores[pair] = score
        if self.symmetric:
            self.scores[pair[::-1]] = score
        self.cut |= cut
        self.pairs += 1


def expected_utilities(
    measure: Measure,
    lists: Sequence[CandidateList],
    settings: UtilitySettings,
    progress: Progress | None = None,
) -> list[Utilities]:
    """The expected utility of every candidate of every list."""
    check_utility(measure, settings)
    if settings.aggregate:
        return [_aggregated(measure, each) for each in lists]
    tables = [PairScores(each, measure.is_symmetric) for each in lists]
    if settings.prune is not None:
        return _pruned(measure, tables, settings.prune, settings.seed, progress)
    if isinstance(measure, PairwiseMeasure):
        for done, table in enumerate(tables, start=1):
            table.scores = measure.pairwise(table.texts, table.texts)
            table.pairs = table.scores.size
            if progress is not None:
                progress(f"{measure.name}: lists", done, len(tables))
    else:
        every = [range(len(table.texts)) for table in tables]
        wanted = [table.missing(all_, all_) for table, all_ in zip(tables, every, strict=True)]
        _score(measure, tables, wanted, progress)
    found = []
    for table in tables:
        counts = Counter(table.places)
        weights = np.array([counts[place] for place in range(len(table.texts))], np.float64)
        means = table.scores @ (weights / weights.sum())
        size = len(table.places)
        found.append(Utilities(means[table.places], np.full(size, size), table.pairs, table.cut))
    return found


def check_utility(measure: Measure, settings: UtilitySettings) -> None:
    """Refuse a measure that cannot be a utility."""
    if measure.needs_all_rows:
        raise SettingError(
            f"{measure.name} cannot be a utility: with these settings, its scores depend on other "
            "rows"
        )
    if settings.aggregate and not isinstance(measure, AggregatingMeasure):
        raise SettingError(
            f"{measure.name} cannot aggregate references, as chrf and sss can",
            cure="use {prune}, which every measure can",
        )


def _aggregated(measure: Measure, candidates: CandidateList) -> Utilities:
    assert isinstance(measure, AggregatingMeasure)
    texts = candidates.candidates
    scores, cut = measure.against_aggregate(texts, texts)
    size = len(texts)
    return Utilities(np.array(scores), np.full(size, size), len(set(texts)), cut)


def _pruned(
    measure: Measure,
    tables: Sequence[PairScores],
    confidence: float,
    seed: int,
    progress: Progress | None,
) -> list[Utilities]:
    """Algorithm 1 of Cheng and Vlachos (2023), for many lists at the same time."""
    runs = [Pruning(table, confidence, seed) for table in tables]
    while any(run.active for run in runs):
        wanted = [run.next_pairs() for run in runs]
        _score(measure, tables, wanted, progress)
        for run in runs:
            if run.active:
                run.prune()
    return [run.result() for run in runs]


class Pruning:
    """The pruning of one list."""

    def __init__(self, table: PairScores, confidence: float, seed: int) -> None:
        self.table = table
        self.confidence = confidence
        self.generator = np.random.default_rng([seed, table.candidates.number])
        self.order = self.generator.permutation(table.places)
        self.alive = list(range(len(table.texts)))
        self.means = np.zeros(len(table.texts))
        self.compared = np.zeros(len(table.texts), np.int64)
        self.sizes = list(doubled(FIRST_REFERENCES, len(self.order)))

    @property
    def active(self) -> bool:
        return bool(self.sizes) and (len(self.alive) > 1 or not self.compared.any())

    def next_pairs(self) -> list[Place]:
        """The pairs that the next pruning needs."""
        if not self.active:
            return []
        return self.table.missing(self.alive, self.order[: self.sizes[0]].tolist())

    def prune(self) -> None:
        """Estimate the utilities with more references, and drop candidates that cannot win."""
        size = self.sizes.pop(0)
        scores = self.table.scores[self.alive][:, self.order[:size]]
        means = scores.mean(axis=1)
        self.means[self.alive], self.compared[self.alive] = means, size
        if not self.sizes:
            return
        drawn = self.generator.integers(size, size=(BOOTSTRAPS, size))
        samples = scores[:, drawn].mean(axis=2)
        best = int(means.argmax())
        win_rates = (samples >= samples[best]).mean(axis=1)
        self.alive = [
            place
            for place, rate in zip(self.alive, win_rates.tolist(), strict=True)
            if rate > 1 - self.confidence
        ]

    def result(self) -> Utilities:
        table = self.table
        return Utilities(
            self.means[table.places], self.compared[table.places], table.pairs, table.cut
        )


def doubled(first: int, last: int) -> Iterator[int]:
    """Sizes that are doubled until the last.

    >>> list(doubled(8, 50)), list(doubled(8, 5))
    ([8, 16, 32, 50], [5])
    """
    size = first
    while size < last:
        yield size
        size *= 2
    yield last


def _score(
    measure: Measure,
    tables: Sequence[PairScores],
    wanted: Sequence[Sequence[Place]],
    progress: Progress | None,
) -> None:
    """Score pairs of many lists, in large groups."""
    jobs = [(table, pair) for table, pairs in zip(tables, wanted, strict=True) for pair in pairs]
    for start in range(0, len(jobs), PAIRS_AT_A_TIME):
        some = jobs[start : start + PAIRS_AT_A_TIME]
        rows = [
            Row(
                table.candidates.number,
                table.texts[i],
                (table.texts[j],),
                table.candidates.source,
            )
            for table, (i, j) in some
        ]
        segments = measure.segments(rows, progress)
        for (table, pair), score, cut in zip(some, segments.scores, segments.cut, strict=True):
            table.add(pair, score, cut)
        if progress is not None:
            progress(f"{measure.name}: pairs", start + len(some), len(jobs))
