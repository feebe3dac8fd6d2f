"""Paraphrase generation: candidates from a translation model, without near-duplicates, ranked by a
measure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain, groupby
from operator import itemgetter
from typing import NamedTuple

from tertium.data.normalization import duplicate_key
from tertium.errors import SettingError
from tertium.measures.base import Measure
from tertium.measures.loading import load
from tertium.measures.registry import DEFAULT_MEASURE
from tertium.models.base import Progress, Query, Search, TranslationModel
from tertium.models.catalog import load_model
from tertium.models.languages import source_language, target_language
from tertium.paraphrasing.penalties import NgramPenalty, TokenIndex, usual_unit
from tertium.text import Row, Text, check_text

KEPT = 2
"""The candidates that are kept of each text for the measure to rank, relative to the beam size."""
WIDER = 2
"""The width of a search without some n-grams relative to the beam size, where the penalty is so
high that a search without restrictions is of no use."""


class Paraphrase(NamedTuple):
    """A paraphrase, with its similarity in meaning and its difference in wording."""

    text: str
    similarity: float
    """By the measure that ranks the candidates."""
    diversity: float
    """100 - chrF with the input as reference: 0 for a copy."""
    via: str = ""
    """The pivot language, if any."""


class Candidate(NamedTuple):
    """A paraphrase that is not scored yet."""

    text: str
    via: str


def diversity(text: str, source: str) -> float:
    """100 - chrF (sacrebleu's defaults): how much the wording differs from the input.

    >>> diversity("The same.", "The same.")
    0.0
    """
    from sacrebleu.metrics.chrf import CHRF

    return 100.0 - float(CHRF().sentence_score(text, [source]).score)


@dataclass(frozen=True)
class Paraphraser:
    """Generates paraphrases with a translation model: directly, through pivot languages, or both.

    ``pivots`` are the pivot languages; ``""`` means none: zero-shot translation of a language into
    itself. The penalty also applies to translations from a pivot language. ``least_diversity`` is
    the minimum of :func:`diversity`; candidates that differ only in case, spaces, punctuation and
    digits are always dropped, and so are translations that do not end or whose source is too long
    for the model.

    The engine cannot apply a penalty while it searches. It searches several times, without the
    n-grams of the input of one order (:meth:`NgramPenalty.blocked_orders`); then the penalized
    log-probability of every candidate decides which are kept, and the measure ranks those.
    """

    model: TranslationModel = field(default_factory=load_model)
    measure: Measure | None = None
    penalty: NgramPenalty | None = None
    pivots: Sequence[str] = ("",)
    beam_size: int = 5
    count: int = 5
    least_diversity: float = 0.0

    def __post_init__(self) -> None:
        if self.count < 1:
            raise SettingError(f"count is {self.count}; it must be at least 1")
        if not self.pivots:
            raise SettingError("no pivots: give at least one language, or '' for none")

    def __call__(
        self, texts: Sequence[str], lang: str, progress: Progress | None = None
    ) -> list[list[Paraphrase]]:
        """The paraphrases of each text, best first; there may be fewer than ``count``, or none."""
        for row, text in enumerate(texts, start=1):
            check_text(text, role="text", row=row)
        pooled: list[list[Candidate]] = [[] for _ in texts]
        for pivot in self.pivots:
            found = self._candidates(texts, lang, pivot, progress)
            for candidates, more in zip(pooled, found, strict=True):
                candidates += more
        return self._ranked(texts, lang, pooled)

    def _candidates(
        self, texts: Sequence[str], lang: str, pivot: str, progress: Progress | None
    ) -> list[list[Candidate]]:
        """The best candidates for each text by penalized score, directly or through a pivot."""
        source_language(self.model, lang)
        target_language(self.model, lang)
        model = self.model.engine(pivot or lang, lang)
        penalty = self.penalty or NgramPenalty(unit=usual_unit(lang))
        penalties = [penalty.against(tokens) for tokens in model.target_tokens(texts)]
        sources = list(texts)
        if pivot:
            translations = self.model.translate(texts, target_lang=pivot, source_lang=lang)
            sources = [translation.text for translation in translations]
        orders = penalty.blocked_orders()
        width = self.beam_size if 0 in orders else WIDER * self.beam_size
        kept = KEPT * self.beam_size
        vocabulary = model.target_vocabulary
        index = TokenIndex(vocabulary)
        n_best = model.candidates_without(
            [Query("", source, lang, pivot or lang) for source in sources for _ in orders],
            [each.sequences(n, index, vocabulary) for each in penalties for n in orders],
            search=Search(width, width) if len(orders) > 1 else Search(kept, kept),
            progress=progress,
        )
        pooled = []
        for place, text in enumerate(texts):
            found = chain(*n_best[place * len(orders) : (place + 1) * len(orders)])
            whole = [Candidate(each.text, pivot) for each in found if not each.cut]
            pooled += [(place, candidate) for candidate in distinct(whole, text)]
        scores = self.model.log_probs(
            [
                Query(candidate.text, sources[place], lang, pivot or lang)
                for place, candidate in pooled
            ],
            progress=progress,
        )
        scored: list[list[tuple[float, Candidate]]] = [[] for _ in texts]
        for (place, candidate), each in zip(pooled, scores, strict=True):
            penalized = (each.G - penalties[place](each.tokens)) / len(each.tokens)
            scored[place].append((penalized, candidate))
        return [
            [candidate for _, candidate in sorted(some, key=itemgetter(0), reverse=True)[:kept]]
            for some in scored
        ]

    def _ranked(
        self, texts: Sequence[str], lang: str, pooled: Sequence[Sequence[Candidate]]
    ) -> list[list[Paraphrase]]:
        chosen = [
            (place, candidate, difference)
            for place, candidates in enumerate(pooled)
            for candidate in distinct(candidates, texts[place])
            if (difference := diversity(candidate.text, texts[place])) >= self.least_diversity
        ]
        sources = [Text(text, lang) for text in texts]
        rows = [
            Row(number, Text(candidate.text, lang), (sources[place],), sources[place])
            for number, (place, candidate, _) in enumerate(chosen, start=1)
        ]
        measure = self.measure or load(DEFAULT_MEASURE, model=self.model)
        scores = measure.segments(rows).scores if rows else []
        ranked: list[list[Paraphrase]] = [[] for _ in texts]
        scored = zip(chosen, scores, strict=True)
        for place, group in groupby(scored, key=lambda pair: pair[0][0]):
            paraphrases = [
                Paraphrase(candidate.text, score, difference, candidate.via)
                for (_, candidate, difference), score in group
            ]
            ranked[place] = sorted(paraphrases, key=lambda each: -each.similarity)[: self.count]
        return ranked


def distinct(candidates: Sequence[Candidate], source: str) -> list[Candidate]:
    """The candidates that are no near-duplicates of the input or of an earlier candidate."""
    seen = {duplicate_key(source)}
    kept = []
    for candidate in candidates:
        key = duplicate_key(candidate.text)
        if key not in seen and candidate.text.strip():
            seen.add(key)
            kept.append(candidate)
    return kept


def paraphrase(
    text: str,
    lang: str,
    *,
    a: float = NgramPenalty.a,
    b: float = NgramPenalty.b,
    **settings: object,
) -> list[Paraphrase]:
    """Paraphrase one text; ``settings`` are those of :class:`Paraphraser`.

    >>> import tertium
    >>> paraphrases = tertium.paraphrase("I have to go now.", "en", a=0.05, beam_size=2, count=2)
    >>> all(each.diversity > 0 for each in paraphrases)
    True
    """
    penalty = NgramPenalty(a, b, unit=usual_unit(lang))
    return Paraphraser(penalty=penalty, **settings)([text], lang)[0]  # type: ignore[arg-type]
