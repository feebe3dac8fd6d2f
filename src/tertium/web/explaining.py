"""Explain the scores of a pair, as JSON and as HTML."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict
from typing import TYPE_CHECKING

from tertium.errors import LanguageError
from tertium.explanation.explain import (
    Direction,
    PairExplanation,
    align,
    explain,
    intermediate_translations,
    transport,
)
from tertium.explanation.matches import find_matches
from tertium.explanation.review import (
    DEFAULT_METHODS,
    Reviewer,
    learned_for,
    read_methods,
)
from tertium.explanation.verdict import reason, verdict
from tertium.measures.bertscore import BertScore
from tertium.measures.movers import WordMoversDistance
from tertium.measures.translation import Cross, Pivot
from tertium.text import Text, check_text
from tertium.web.batching import Call
from tertium.web.limits import Limits
from tertium.web.models import BatchedEngines
from tertium.web.schema import (
    AlignmentResponse,
    DirectionResponse,
    ExplainRequest,
    ExplainResponse,
    SpansRequest,
    SpansResponse,
    TokenResponse,
    TokensResponse,
    TranslateRequest,
    TranslateResponse,
    TranslationResponse,
    TransportResponse,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DIGITS = 6
"""Decimals of the numbers in a matrix."""
MEASURES = {
    "tokens": ["direct"],
    "translations": ["cross", "pivot"],
    "alignment": ["bertscore"],
    "transport": ["wmd"],
}
"""The measures that each part explains."""


def explain_pair(
    request: ExplainRequest, engines: BatchedEngines, limits: Limits, call: Call
) -> PairExplanation:
    """Compute the parts that a request names."""
    limits.check_explanation((request.hypothesis, request.reference))
    a = Text(check_text(request.hypothesis, role="hypothesis", row=1), request.lang)
    b = Text(
        check_text(request.reference, role="reference", row=1),
        request.reference_lang or request.lang,
    )
    names = [name for part, names in MEASURES.items() if part in request.parts for name in names]
    measures = engines.measures(names, request.settings.given(), call)
    tokens, translations, alignment, plan = None, [], None, None
    for measure in measures:
        if isinstance(measure, Cross | Pivot):
            translations.append(intermediate_translations(a, b, measure))
        elif isinstance(measure, BertScore):
            alignment = align(a, b, measure)
        elif isinstance(measure, WordMoversDistance):
            plan = transport(a, b, measure)
        else:
            tokens = explain(
                a.text,
                b.text,
                lang=a.lang,
                reference_lang=b.lang,
                model=engines.model(call),
                worst=request.worst,
            )
    return PairExplanation(
        engines.models.translation.name,
        engines.models.tokens.name,
        tokens,
        tuple(translations),
        alignment,
        plan,
    )


def find_spans(
    request: SpansRequest, engines: BatchedEngines, limits: Limits, call: Call
) -> SpansResponse:
    """Find where two texts differ, as ``tertium explain`` does with methods."""
    limits.check_texts((request.hypothesis, request.reference), 1, uses_ter=False)
    a = Text(check_text(request.hypothesis, role="hypothesis", row=1), request.lang)
    b = Text(
        check_text(request.reference, role="reference", row=1),
        request.reference_lang or request.lang,
    )
    model = engines.model(call)
    learned, aligner = learned_for(model)
    methods = read_methods(request.methods)
    reviewer = Reviewer(methods, model, engines.encoder(call), learned=learned, aligner=aligner)
    [found] = reviewer([(a, b)])
    described = found.to_dict()
    for span, fields in zip(found.spans, described["spans"], strict=True):
        fields["reason"] = reason(span, found.spans)
    if request.matches:
        [matches] = find_matches([found], aligner or engines.encoder(call))
        described |= {**matches.to_dict(), "verdict": asdict(verdict(found, matches))}
    return SpansResponse.model_validate(described)


def review_once(engines: BatchedEngines, limits: Limits, call: Call) -> None:
    """Review a pair, so that the first client does not wait for what is loaded then."""
    languages = engines.models.translation.languages
    lang = next(iter(sorted(set(languages.source) & set(languages.target))), None)
    if lang is None:
        return
    fields = {"hypothesis": "1", "reference": "2", "lang": lang, "methods": list(DEFAULT_METHODS)}
    request = SpansRequest.model_validate({**fields, "matches": True})
    with suppress(LanguageError):
        find_spans(request, engines, limits, call)


def translate(
    request: TranslateRequest, engines: BatchedEngines, limits: Limits, call: Call
) -> TranslateResponse:
    """Translate texts."""
    limits.check_translation(request.texts)
    model = engines.model(call)
    translations = model.translate(
        request.texts,
        target_lang=request.target_lang,
        source_lang=request.source_lang,
        beam_size=request.beam_size,
    )
    return TranslateResponse(
        model=model.name,
        fingerprint=model.fingerprint,
        translations=[TranslationResponse(text=each.text, cut=each.cut) for each in translations],
    )


def response(explained: PairExplanation) -> ExplainResponse:
    """Convert the result to JSON."""
    result = ExplainResponse(model=explained.model, encoder=explained.encoder)
    if (tokens := explained.tokens) is not None:
        result.tokens = TokensResponse(
            directions=[_direction(direction) for direction in tokens.directions],
            prism_ref=tokens.prism_ref,
            direct=tokens.direct,
        )
    if explained.translations:
        result.translations = list(explained.translations)
    if (alignment := explained.alignment) is not None:
        result.alignment = AlignmentResponse(
            hypothesis=list(alignment.hypothesis),
            reference=list(alignment.reference),
            cosines=_rows(alignment.cosines),
            precision=alignment.match.P,
            recall=alignment.match.R,
            f1=alignment.match.F1,
        )
    if (moves := explained.transport) is not None:
        result.transport = TransportResponse(
            hypothesis=list(moves.hypothesis),
            reference=list(moves.reference),
            plan=_rows(moves.plan),
            costs=_rows(moves.costs),
            work=moves.work,
        )
    return result


def _direction(direction: Direction) -> DirectionResponse:
    scores = direction.scores
    return DirectionResponse(
        target=direction.target.text,
        source=direction.source.text,
        target_lang=direction.target.lang,
        source_lang=direction.source.lang,
        tokens=[
            TokenResponse(
                token=token,
                log_prob=log_prob,
                alternatives=direction.alternatives.get(place, []),
            )
            for place, (token, log_prob) in enumerate(
                zip(scores.tokens, scores.log_probs, strict=True)
            )
        ],
        H=scores.H,
        G=scores.G,
        cut=scores.cut,
    )


def _rows(matrix: NDArray[np.float64]) -> list[list[float]]:
    rows: list[list[float]] = matrix.round(DIGITS).tolist()
    return rows
