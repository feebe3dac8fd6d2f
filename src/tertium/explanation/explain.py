"""Components of a score: token log-probabilities, translations, alignment, transport plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, overload

from tertium.errors import InputError, LanguageError, SettingError
from tertium.explanation.words import ScoredWord, word_scores
from tertium.measures.inputs import Column, repeatable
from tertium.measures.translation import Cross, Direct, Pivot
from tertium.models.base import (
    Alternative,
    Progress,
    Query,
    TextEncoder,
    TokenScores,
    TranslationModel,
)
from tertium.models.guess import assume_language
from tertium.models.languages import supported_language
from tertium.report.progress import as_progress
from tertium.text import Row, Text, check_text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tertium.explanation.review import PairReview, PairReviews
    from tertium.measures.bertscore import BertScore, Match
    from tertium.measures.movers import WordMoversDistance

WORST_PLACES = 3


@dataclass(frozen=True)
class Direction:
    """One text scored as a translation or paraphrase of the other (Prism, table 1)."""

    target: Text
    source: Text
    scores: TokenScores
    alternatives: Mapping[int, list[Alternative]]
    """Tokens that the model prefers, best first, at the positions with the worst scores."""

    @property
    def words(self) -> list[ScoredWord]:
        """The target's words with the sums of their tokens' log-probabilities."""
        return word_scores(self.target.text, self.scores)

    @property
    def worst_places(self) -> list[int]:
        """The positions with the lowest log-probabilities, of those with alternatives."""
        order = sorted(self.alternatives, key=self.scores.log_probs.__getitem__)
        return sorted(order[:WORST_PLACES])


@dataclass(frozen=True)
class Explanation:
    """Both directions, and the scores that follow from them."""

    model: str
    directions: tuple[Direction, Direction]
    direct: float | None
    """NMTScore-direct, normalized, both directions; None if the model does not translate a language
    into itself."""

    @property
    def prism_ref(self) -> float:
        """The mean of H in both directions."""
        first, second = self.directions
        return (first.scores.H + second.scores.H) / 2

    def _repr_html_(self) -> str:
        from tertium.explanation.page import explanation_fragment

        return explanation_fragment(PairExplanation(self.model, "", tokens=self))


@dataclass(frozen=True)
class Intermediate:
    """The translations of both texts that cross or pivot compares."""

    measure: Literal["cross", "pivot"]
    lang: str
    hypothesis: str
    reference: str


@dataclass(frozen=True)
class Alignment:
    """The cosine similarities of all pairs of tokens, which BERTScore matches."""

    hypothesis: tuple[str, ...]
    reference: tuple[str, ...]
    cosines: NDArray[np.float64]
    """Shape (hypothesis tokens, reference tokens)."""
    match: Match


@dataclass(frozen=True)
class Transport:
    """The transport plan of Word Mover's Distance."""

    hypothesis: tuple[str, ...]
    reference: tuple[str, ...]
    plan: NDArray[np.float64]
    """Shape (hypothesis tokens, reference tokens); sums to 1."""
    costs: NDArray[np.float64]
    work: float
    """The total cost; the wmd score is its negative."""


@dataclass(frozen=True)
class PairExplanation:
    """All explanations of a pair of texts; those that were not requested are empty."""

    model: str
    encoder: str
    tokens: Explanation | None = None
    translations: tuple[Intermediate, ...] = ()
    alignment: Alignment | None = None
    transport: Transport | None = None

    def _repr_html_(self) -> str:
        from tertium.explanation.page import explanation_fragment

        return explanation_fragment(self)


@overload
def explain(  # type: ignore[overload-overlap]  # a string is also an iterable of strings
    a: str,
    b: str,
    *,
    lang: str | None = None,
    reference_lang: str | None = None,
    model: str | Path | TranslationModel | None = None,
    worst: int = WORST_PLACES,
    methods: None = None,
) -> Explanation: ...
@overload
def explain(  # type: ignore[overload-overlap]  # a string is also an iterable of strings
    a: str,
    b: str,
    *,
    lang: str | None = None,
    reference_lang: str | None = None,
    model: str | Path | TranslationModel | None = None,
    encoder: str | Path | TextEncoder | None = None,
    methods: str | Sequence[str],
    thresholds: Mapping[str, float] | None = None,
    false_alarms: float | None = None,
) -> PairReview: ...
@overload
def explain(
    a: Column,
    b: Column,
    *,
    lang: str | None = None,
    reference_lang: str | None = None,
    model: str | Path | TranslationModel | None = None,
    encoder: str | Path | TextEncoder | None = None,
    methods: str | Sequence[str] | None = None,
    thresholds: Mapping[str, float] | None = None,
    false_alarms: float | None = None,
    progress: bool | Progress | None = None,
) -> PairReviews: ...
def explain(
    a: str | Column,
    b: str | Column,
    *,
    lang: str | None = None,
    reference_lang: str | None = None,
    model: str | Path | TranslationModel | None = None,
    encoder: str | Path | TextEncoder | None = None,
    worst: int = WORST_PLACES,
    methods: str | Sequence[str] | None = None,
    thresholds: Mapping[str, float] | None = None,
    false_alarms: float | None = None,
    progress: bool | Progress | None = None,
) -> Explanation | PairReview | PairReviews:
    """Score each text given the other, and suggest what the model expected at the worst tokens.

    ``lang`` is the language of ``a``, and of ``b`` unless ``reference_lang`` is given; a language
    that is not given is identified. ``model`` is a name, a folder, a model, or ``A+B`` for a pair
    of models for opposite directions.

    >>> why = explain("I see a dog.", "I see a cat.", lang="en")
    >>> why.directions[0].scores.tokens
    ('▁I', '▁see', '▁a', '▁dog', '.', '</s>')

    With ``methods``, the result has spans with character offsets instead, and flags; ``a`` is the
    hypothesis, ``b`` its reference or source. The methods are coverage (omissions and additions),
    opposites, unlikely, contrast, differences, deletion, hallucination, direction and flags;
    ``false_alarms`` is the share of right texts that may be reported (0.05, where thresholds were
    learned for the model), and ``thresholds`` are scores from which something is reported instead.

    >>> result = explain(
    ...     "Ich habe ein Auto.",
    ...     "I have a car and a house.",
    ...     lang="de",
    ...     reference_lang="en",
    ...     methods=["coverage"],
    ... )
    >>> [(span.kind, span.start, span.end, span.text) for span in result.spans]
    [('omission', 13, 24, 'and a house')]

    Lists of texts (generators, columns of pandas or polars) give a list of such results, by the
    methods of ``tertium explain`` for files, which can become a data frame.

    >>> found = explain(["Ich habe 3 Autos."], ["Ich habe 2 Autos."], methods="flags", lang="de")
    >>> found[0].flags, len(found.to_pandas())
    (('number',), 1)
    """
    if not isinstance(a, str) or not isinstance(b, str):
        return _explain_lists(
            *(a, b, lang, reference_lang, model, encoder, methods, thresholds),
            false_alarms,
            progress,
        )
    if methods is not None:
        from tertium.explanation.review import load_reviewer

        a, b = check_text(a, role="first text", row=1), check_text(b, role="second text", row=1)
        reviewer = load_reviewer(
            methods,
            model=model,
            encoder=encoder,
            thresholds=thresholds,
            false_alarms=false_alarms,
        )
        lang, reference_lang = _languages([a], [b], lang, reference_lang, reviewer.model)
        [review] = reviewer([(Text(a, lang), Text(b, reference_lang))])
        return review
    if thresholds or false_alarms is not None:
        name = "thresholds are" if thresholds else "false_alarms are"
        raise SettingError(f"{name} those of methods: give methods as well")
    if model is None or isinstance(model, str | Path):
        from tertium.models.catalog import DEFAULT_MODEL, load_model

        model = load_model(DEFAULT_MODEL if model is None else model)
    a, b = check_text(a, role="first text", row=1), check_text(b, role="second text", row=1)
    lang, reference_lang = _languages([a], [b], lang, reference_lang, model)
    first, second = Text(a, lang), Text(b, reference_lang)
    for role, text in (("the first text", first), ("the second text", second)):
        try:
            supported_language(model, text.lang, role)
        except LanguageError as error:
            raise error.at(
                "", cure="use {lang}, and {reference_lang} for the second text"
            ) from None
    ab, ba = model.log_probs([Query.between(first, second), Query.between(second, first)])
    return Explanation(
        model.name,
        (
            Direction(first, second, ab, _preferred(model, first, second, ab, worst)),
            Direction(second, first, ba, _preferred(model, second, first, ba, worst)),
        ),
        Direct(model).segments([Row(1, first, (second,))]).scores[0]
        if all(model.translates(text.lang, text.lang) for text in (first, second))
        else None,
    )


def _explain_lists(
    a: str | Column,
    b: str | Column,
    lang: str | None,
    reference_lang: str | None,
    model: str | Path | TranslationModel | None,
    encoder: str | Path | TextEncoder | None,
    methods: str | Sequence[str] | None,
    thresholds: Mapping[str, float] | None,
    false_alarms: float | None,
    progress: bool | Progress | None,
) -> PairReviews:
    from tertium.explanation.review import PairReviews, load_reviewer

    first, second = repeatable(a), repeatable(b)
    if isinstance(first, str) or isinstance(second, str) or len(first) != len(second):
        raise InputError("give two texts, or two lists of the same length")
    reviewer = load_reviewer(
        methods, model=model, encoder=encoder, thresholds=thresholds, false_alarms=false_alarms
    )
    ours = [check_text(text, role="first text", row=row) for row, text in enumerate(first, 1)]
    theirs = [check_text(text, role="second text", row=row) for row, text in enumerate(second, 1)]
    if ours:
        lang, reference_lang = _languages(ours, theirs, lang, reference_lang, reviewer.model)
    pairs = [
        (Text(one, lang), Text(other, reference_lang))
        for one, other in zip(ours, theirs, strict=True)
    ]
    return PairReviews(reviewer(pairs, as_progress(progress)))


def _languages(
    first: Sequence[str],
    second: Sequence[str],
    lang: str | None,
    reference_lang: str | None,
    model: TranslationModel | None,
) -> tuple[str | None, str | None]:
    """The languages of both sides; where a model needs them, those not given are identified."""
    other = reference_lang or lang
    if model is not None:
        other = other or assume_language(second, model.languages, "second text")
        lang = lang or assume_language(first, model.languages, "first text")
    return lang, other


def _preferred(
    model: TranslationModel, target: Text, source: Text, scores: TokenScores, worst: int
) -> dict[int, list[Alternative]]:
    """Find tokens that the model considers more probable, at the worst positions."""
    order = sorted(range(len(scores.tokens)), key=lambda place: scores.log_probs[place])
    places = sorted(order[:worst])
    [suggested] = model.alternatives([Query.between(target, source)], places=places)
    preferred = {
        place: [
            alternative
            for alternative in alternatives
            if alternative.token != scores.tokens[place]
            and alternative.log_prob > scores.log_probs[place]
        ]
        for place, alternatives in zip(places, suggested, strict=True)
    }
    return {place: alternatives for place, alternatives in preferred.items() if alternatives}


def intermediate_translations(a: Text, b: Text, measure: Cross | Pivot) -> Intermediate:
    """Translate both texts as the measure does, into the first of its languages.

    >>> import tertium
    >>> result = intermediate_translations(Text("Hallo!"), Text("Hola."), tertium.load("cross"))
    >>> result.measure, result.lang
    ('cross', 'en')
    """
    lang = measure.languages[0]
    hypothesis, reference = measure.model.translate(
        [a.text, b.text],
        target_lang=lang,
        source_lang=[a.lang, b.lang],
        beam_size=measure.beam_size,
    )
    name: Literal["cross", "pivot"] = "cross" if isinstance(measure, Cross) else "pivot"
    return Intermediate(name, lang, hypothesis.text, reference.text)


def align(a: Text, b: Text, measure: BertScore) -> Alignment:
    """Compare every token of ``a`` with every token of ``b``.

    >>> import tertium
    >>> result = align(Text("A cat"), Text("A dog"), tertium.load("bertscore"))
    >>> result.reference, result.cosines.shape
    (('▁A', '▁dog', '</s>'), (3, 3))
    """
    from tertium.measures.bertscore import cosine_matrix

    [x], [y], _ = measure.token_vectors([a], [b], None)
    [match], _ = measure.matches([a], [b])
    return Alignment(x.tokens, y.tokens, cosine_matrix(x, y), match)


def transport(a: Text, b: Text, measure: WordMoversDistance) -> Transport:
    """Compute the cheapest plan that turns ``b`` into ``a``.

    >>> import tertium
    >>> result = transport(Text("A cat"), Text("A dog"), tertium.load("wmd"))
    >>> result.plan.round(2).tolist()
    [[0.5, 0.0], [0.0, 0.5]]
    """
    from tertium.measures.embedding import inner

    [x], [y], _ = measure.token_vectors([a], [b], None)
    x, y = inner(x), inner(y)
    work, plan = measure.moves(x, y, measure.weighting([y]))
    return Transport(x.tokens, y.tokens, plan.T, measure.costs(y, x).T, work)
