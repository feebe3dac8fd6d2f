"""Reranking: the best of several candidates, by any measures.

A measure that reads sources estimates the quality of each candidate (``prism-src``,
``cross:against=source``). A measure that compares with references compares each candidate with all
candidates of its list: minimum Bayes risk.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from tertium.data.codes import language_code
from tertium.data.nbest import CandidateList, numbers
from tertium.errors import InputError, SettingError
from tertium.measures.base import Measure
from tertium.measures.inputs import repeatable
from tertium.measures.loading import AnyModel, guarded, make_measure, model_source, read_specs
from tertium.measures.registry import DEFAULT_MEASURE
from tertium.models.base import Progress
from tertium.reranking.gain import judge
from tertium.reranking.mixture import Tuned, mixed, tune
from tertium.reranking.utilities import (
    Floats,
    UtilitySettings,
    check_utility,
    expected_utilities,
)
from tertium.text import Row, Text, check_text

DECODER = "decoder"
"""The name of the decoder's own score among the features."""


@dataclass(frozen=True)
class Ranking:
    """The candidates of a list in order, with their scores."""

    texts: tuple[str, ...]
    """The candidates as they were given."""
    order: tuple[int, ...]
    """The places of the candidates, counted from 0, best first."""
    scores: tuple[float, ...]
    """What the candidates are ordered by, as they were given."""
    features: Mapping[str, tuple[float, ...]]
    """The score of each candidate by each measure, and by the decoder."""
    cut: bool = False
    """Whether a text was too long and only its beginning counted."""
    pairs: int = 0
    """The pairs of texts that were scored."""

    @property
    def place(self) -> int:
        """The place of the best candidate, counted from 0."""
        return self.order[0]

    @property
    def text(self) -> str:
        """The best candidate."""
        return self.texts[self.place]

    @property
    def score(self) -> float:
        """The score of the best candidate."""
        return self.scores[self.place]


class Features(NamedTuple):
    """The scores of the candidates of one list."""

    matrix: Floats
    """Shape (candidates, features)."""
    compared: NDArray[np.int64]
    """References that a candidate was compared with; fewer for those that were pruned."""
    cut: bool
    pairs: int


@dataclass(frozen=True)
class Reranker:
    """Ranks candidates by one measure, or by a mixture of measures and the decoder's score.

    In a mixture, each score is standardized over the candidates of a list (mean 0, standard
    deviation 1), weighted and added.
    """

    measures: Sequence[Measure]
    weights: tuple[float, ...] = ()
    """One per measure; equal by default."""
    decoder: float = 0.0
    """The weight of the decoder's own score; 0: it is not used."""
    utility: UtilitySettings = field(default_factory=UtilitySettings)

    def __post_init__(self) -> None:
        names = [measure.column for measure in self.measures]
        if not names and not self.decoder:
            raise SettingError("no measure given")
        if len(set(names)) < len(names):
            raise SettingError(f"{', '.join(names)}: each measure may occur only once")
        weights = tuple(self.weights) or (1.0,) * len(names)
        if len(weights) != len(names) or not all(0 <= w < np.inf for w in (*weights, self.decoder)):
            raise SettingError(
                f"weights={self.weights!r}: there must be {len(names)}, none below 0, for "
                f"{', '.join(names)}"
            )
        if not any((*weights, self.decoder)):
            raise SettingError("all weights are 0; at least one must be greater")
        object.__setattr__(self, "weights", weights)
        utilities = [measure for measure in self.measures if is_utility(measure)]
        for measure in utilities:
            check_utility(measure, self.utility)
        if self.utility.prune is not None and len(self.names) > 1:
            raise SettingError("pruning needs the scores of one measure alone, not of a mixture")
        for setting in ("prune", "aggregate"):
            if getattr(self.utility, setting) and not utilities:
                raise SettingError(
                    f"{setting} is for measures that compare candidates with each other, and "
                    f"{', '.join(names)} reads sources"
                )

    @property
    def names(self) -> list[str]:
        """The names of the features, in the order of the weights."""
        decoder = [DECODER] if self.decoder else []
        return [*(measure.column for measure in self.measures), *decoder]

    @property
    def all_weights(self) -> tuple[float, ...]:
        return (*self.weights, self.decoder) if self.decoder else self.weights

    def description(self) -> dict[str, Any]:
        """Everything that can change a choice."""
        found: dict[str, Any] = {
            "measures": [[measure.column, measure.description()] for measure in self.measures],
            "weights": dict(zip(self.names, self.all_weights, strict=True)),
        }
        if self.utility.prune is not None:
            found |= {"prune": self.utility.prune, "seed": self.utility.seed}
        if self.utility.aggregate:
            found["aggregate"] = True
        return found

    def check(self, name: str, *, has_source: bool) -> None:
        """Check that the measures have what they read."""
        for measure in self.measures:
            if "source" in measure.reads and not has_source:
                raise InputError(
                    f"{measure.name} needs sources, and {name} has none", cure="give {sources}"
                )

    def features(
        self, lists: Sequence[CandidateList], progress: Progress | None = None
    ) -> list[Features]:
        """Score the candidates of all lists by every measure."""
        columns: list[list[Floats]] = [[] for _ in lists]
        compared = [np.zeros(len(each.candidates), np.int64) for each in lists]
        cut, pairs = [False] * len(lists), [0] * len(lists)
        for measure in self.measures:
            if is_utility(measure):
                found = expected_utilities(measure, lists, self.utility, progress)
                for place, each in enumerate(found):
                    columns[place].append(each.scores)
                    compared[place] = each.references
                    cut[place] |= each.cut
                    pairs[place] += each.pairs
            else:
                for place, (scores, was_cut) in enumerate(_estimates(measure, lists, progress)):
                    columns[place].append(scores)
                    cut[place] |= was_cut
                    pairs[place] += len(set(lists[place].candidates))
        if self.decoder:
            for place, candidates in enumerate(lists):
                if candidates.scores is None:
                    raise InputError(
                        f"list {candidates.group} has no scores of a decoder",
                        cure="leave out {decoder}, the weight of the decoder",
                    )
                columns[place].append(np.array(candidates.scores))
        return [
            Features(np.column_stack(some), counts, was_cut, count)
            for some, counts, was_cut, count in zip(columns, compared, cut, pairs, strict=True)
        ]

    def rank(
        self, lists: Sequence[CandidateList], progress: Progress | None = None
    ) -> list[Ranking]:
        """Rank the candidates of every list; of equal candidates, the first comes first."""
        return [
            self.ranking(candidates, found)
            for candidates, found in zip(lists, self.features(lists, progress), strict=True)
        ]

    def ranking(self, candidates: CandidateList, found: Features) -> Ranking:
        """Rank the candidates of one list by their features."""
        matrix = found.matrix
        alone = matrix.shape[1] == 1
        scores = matrix[:, 0] if alone else mixed(matrix, self.all_weights)
        keys = zip((-found.compared).tolist(), (-scores).tolist(), strict=True)
        order = sorted(range(len(scores)), key=list(keys).__getitem__)
        return Ranking(
            tuple(text.text for text in candidates.candidates),
            tuple(order),
            tuple(scores.tolist()),
            {name: tuple(matrix[:, k].tolist()) for k, name in enumerate(self.names)},
            found.cut,
            found.pairs,
        )

    def tuned(
        self,
        lists: Sequence[CandidateList],
        objective: Measure,
        progress: Progress | None = None,
    ) -> Tuned:
        """Find the weights that give the highest system score on lists with references."""
        for candidates in lists:
            if not candidates.references:
                raise InputError(f"list {candidates.group} has no reference to tune with")
        features = [found.matrix for found in self.features(lists, progress)]
        statistics = [each.statistics for each in judge(objective, lists, progress)]
        return tune(features, statistics, objective)


def is_utility(measure: Measure) -> bool:
    """Whether a measure compares candidates with each other, rather than with the source."""
    return "reference" in measure.reads


def _estimates(
    measure: Measure, lists: Sequence[CandidateList], progress: Progress | None
) -> list[tuple[Floats, bool]]:
    """The score of each candidate against its source; equal candidates are scored once."""
    distinct = [tuple(dict.fromkeys(each.candidates)) for each in lists]
    rows = [
        Row(each.number, text, (), each.source)
        for each, texts in zip(lists, distinct, strict=True)
        for text in texts
    ]
    segments = measure.segments(rows, progress)
    found = iter(zip(segments.scores, segments.cut, strict=True))
    estimates = []
    for each, texts in zip(lists, distinct, strict=True):
        scored = {text: next(found) for text in texts}
        scores = np.array([scored[text][0] for text in each.candidates])
        estimates.append((scores, any(cut for _, cut in scored.values())))
    return estimates


@overload
def rerank(candidates: Sequence[str], **options: Any) -> Ranking: ...
@overload
def rerank(candidates: Iterable[Iterable[str]], **options: Any) -> list[Ranking]: ...
def rerank(
    candidates: Iterable[str] | Iterable[Iterable[str]],
    *,
    measure: str | Sequence[str] = DEFAULT_MEASURE,
    model: AnyModel | None = None,
    sources: str | Iterable[str] | None = None,
    scores: Iterable[float] | Iterable[Iterable[float]] | None = None,
    weights: Sequence[float] = (),
    decoder: float = 0.0,
    lang: str | None = None,
    source_lang: str | None = None,
    prune: float | None = None,
    aggregate: bool = False,
    seed: int = 0,
    **settings: object,
) -> Ranking | list[Ranking]:
    """Choose among candidates: one list in, one ranking out; several lists in, several out.

    A measure that compares with references compares each candidate with the others (minimum Bayes
    risk); one that reads sources estimates the quality of each. ``scores`` are those of the
    decoder, with the weight ``decoder``. ``settings`` are those of the measures.

    >>> import tertium
    >>> dogs = ["The dogs!", "A dog sleeps.", "A dog is sleeping."]
    >>> ranking = tertium.rerank(dogs, measure="chrf")
    >>> ranking.text, round(ranking.score, 2)
    ('A dog sleeps.', 53.0)
    >>> by_source = tertium.rerank(
    ...     [["Ein Hund.", "Eine Katze."]], sources=["A cat."], measure="prism-src", lang="de"
    ... )
    >>> by_source[0].text
    'Eine Katze.'
    """
    given = repeatable(candidates)
    one = bool(given) and all(isinstance(each, str) for each in given)
    lists = [given] if one else list(given or [])
    texts = [sources] if isinstance(sources, str) else repeatable(sources)
    numbered = repeatable(scores)
    if one and numbered is not None:
        numbered = [numbered]
    for name, values in (("sources", texts), ("scores", numbered)):
        if values is not None and len(values) != len(lists):
            raise InputError(f"{len(lists)} lists of candidates, but {len(values)} {name}")
    target = None if lang is None else language_code(lang)
    original = None if source_lang is None else language_code(source_lang)
    made = []
    for number, each in enumerate(lists, start=1):
        if isinstance(each, str) or not each:
            raise InputError(f"list {number}: give a list of candidates, not empty")
        found = None
        if numbered is not None:
            found = numbers(list(numbered[number - 1]), f"list {number}")
            if found is None or len(found) != len(each):
                raise InputError(f"list {number}: {len(each)} candidates need as many scores")
        source = None
        if texts is not None:
            source = Text(check_text(texts[number - 1], role="source", row=number), original)
        made.append(
            CandidateList(
                number,
                group=str(number),
                candidates=tuple(
                    Text(check_text(text, role="candidate", row=number), target) for text in each
                ),
                scores=found,
                source=source,
            )
        )
    specs = guarded(read_specs([measure] if isinstance(measure, str) else measure, given=settings))
    models = model_source(model)
    reranker = Reranker(
        [make_measure(spec, models, lang=target) for spec in specs],
        tuple(weights),
        decoder,
        UtilitySettings(prune, aggregate, seed),
    )
    reranker.check("the call", has_source=texts is not None)
    rankings = reranker.rank(made)
    return rankings[0] if one else rankings
