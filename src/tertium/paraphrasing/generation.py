"""Paraphrases of a text: many are found, those that say too much the same are dropped, and the rest
is put in order by a measure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import NamedTuple

from tertium.errors import ModelError, SettingError
from tertium.measures.base import Measure
from tertium.measures.loading import load
from tertium.measures.registry import DEFAULT_MEASURE
from tertium.models.base import StepwiseModel, TranslationModel
from tertium.models.cache.memo import Memo
from tertium.models.catalog import load_model
from tertium.models.languages import source_language, target_language
from tertium.models.translation.pair import PairOfModels
from tertium.paraphrasing.penalties import NgramPenalty, PieceIndex, usual_unit
from tertium.text import Row, Text, check_text


class Paraphrase(NamedTuple):
    """Another way to say it: how near it is in meaning, and how far in words."""

    text: str
    similarity: float
    """By the measure that the candidates are put in order by."""
    diversity: float
    """100 - chrF to the input: 0 if nothing has changed."""
    via: str = ""
    """The language that it went through, if any."""


class Candidate(NamedTuple):
    """A paraphrase before anything is known about it."""

    text: str
    via: str


def diversity(text: str, source: str) -> float:
    """100 - chrF (sacrebleu's defaults): how much of the input's spelling is gone.

    >>> diversity("The same.", "The same.")
    0.0
    """
    from sacrebleu.metrics.chrf import CHRF

    return 100.0 - float(CHRF().sentence_score(text, [source]).score)


@dataclass(frozen=True)
class Paraphraser:
    """Paraphrases with a translation model: within a language, through others, or both.

    ``pivots`` names the languages to go through; ``""`` is no detour, the zero-shot translation of
    a language into itself. On the way back from a pivot the penalty holds against the input too.
    ``least_diversity`` is what a candidate must differ by, on the scale of :func:`diversity`; one
    that differs in case, spaces and punctuation alone is never given.
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
            raise SettingError("there is no way to go: name a pivot, or '' for none")

    def __call__(self, texts: Sequence[str], lang: str) -> list[list[Paraphrase]]:
        """The paraphrases of each text, best first; there may be fewer than asked for, or none."""
        for row, text in enumerate(texts, start=1):
            check_text(text, role="text", row=row)
        found: list[list[Candidate]] = [[] for _ in texts]
        for pivot in self.pivots:
            for candidates, more in zip(found, self._candidates(texts, lang, pivot), strict=True):
                candidates += more
        return self._ranked(texts, lang, found)

    def _candidates(self, texts: Sequence[str], lang: str, pivot: str) -> list[list[Candidate]]:
        """The n-best list of each text, straight or by way of another language."""
        from tertium.paraphrasing.search import beam_search

        model = stepwise(self.model, pivot or lang, lang)
        source_language(self.model, lang)
        target_language(self.model, lang)
        penalty = self.penalty or NgramPenalty(unit=usual_unit(lang))
        index = PieceIndex(model.target_vocabulary)
        penalties = [penalty.against(pieces, index) for pieces in model.target_pieces(texts)]
        sources = list(texts)
        if pivot:
            there = self.model.translate(texts, target_lang=pivot, source_lang=lang)
            sources = [translation.text for translation in there]
        hypotheses = beam_search(
            model,
            sources,
            target_lang=lang,
            source_lang=pivot or lang,
            beam_size=self.beam_size,
            count=2 * self.beam_size,
            penalties=penalties,
        )
        return [
            [Candidate(model.target_text(one.pieces), pivot) for one in some if one.ended]
            for some in hypotheses
        ]

    def _ranked(
        self, texts: Sequence[str], lang: str, found: Sequence[Sequence[Candidate]]
    ) -> list[list[Paraphrase]]:
        asked = [
            (place, candidate, far)
            for place, candidates in enumerate(found)
            for candidate in distinct(candidates, texts[place])
            if (far := diversity(candidate.text, texts[place])) >= self.least_diversity
        ]
        rows = [
            Row(number, Text(candidate.text, lang), (Text(texts[place], lang),))
            for number, (place, candidate, _) in enumerate(asked, start=1)
        ]
        measure = self.measure or load(DEFAULT_MEASURE, model=self.model)
        scores = measure.segments(rows).scores if rows else []
        ranked: list[list[Paraphrase]] = [[] for _ in texts]
        scored = zip(asked, scores, strict=True)
        for place, some in groupby(scored, key=lambda one: one[0][0]):
            made = [
                Paraphrase(candidate.text, score, far, candidate.via)
                for (_, candidate, far), score in some
            ]
            ranked[place] = sorted(made, key=lambda one: -one.similarity)[: self.count]
        return ranked


def distinct(candidates: Sequence[Candidate], source: str) -> list[Candidate]:
    """Those that are the same neither as the input nor as one before, but for trifles."""
    from tertium.filters.duplicates import essence

    seen = {essence(source)}
    kept = []
    for candidate in candidates:
        key = essence(candidate.text)
        if key not in seen and candidate.text.strip():
            seen.add(key)
            kept.append(candidate)
    return kept


def stepwise(model: object, source_lang: str, target_lang: str) -> StepwiseModel:
    """The model behind a memo or in a pair, if it can be asked piece by piece."""
    found = model.model if isinstance(model, Memo) else model
    if isinstance(found, PairOfModels):
        return stepwise(found.model_for(source_lang, target_lang), source_lang, target_lang)
    if not isinstance(found, StepwiseModel):
        raise ModelError(f"{type(found).__name__} cannot be asked piece by piece")
    return found


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
    >>> found = tertium.paraphrase("I have to go now.", "en", a=0.05, beam_size=2, count=2)
    >>> all(one.diversity > 0 for one in found)
    True
    """
    penalty = NgramPenalty(a, b, unit=usual_unit(lang))
    made = Paraphraser(penalty=penalty, **settings)  # type: ignore[arg-type]
    return made([text], lang)[0]
