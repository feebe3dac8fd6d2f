"""Explains a pair to programs and to people: the same findings, as numbers and as HTML."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from tertium.explanation.explain import (
    Alignment,
    Direction,
    Explanation,
    Intermediate,
    Transport,
    align,
    explain,
    intermediate_translations,
    transport,
)
from tertium.explanation.page import explanation_fragment
from tertium.measures.bertscore import BertScore
from tertium.measures.movers import WordMoversDistance
from tertium.measures.translation import Cross, Pivot
from tertium.text import Text, check_text
from tertium.web.batching import Call
from tertium.web.engines import Engines
from tertium.web.limits import Limits
from tertium.web.requests import ExplainRequest
from tertium.web.responses import (
    AlignmentAnswer,
    AlternativeAnswer,
    DirectionAnswer,
    ExplainAnswer,
    IntermediateAnswer,
    TokenAnswer,
    TokensAnswer,
    TransportAnswer,
)
from tertium.web.scoring import TooLargeError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DIGITS = 6
"""Of the numbers of a matrix, which is to be looked at."""
MEASURES = {
    "tokens": ["direct"],
    "translations": ["cross", "pivot"],
    "alignment": ["bertscore"],
    "transport": ["wmd"],
}
"""The measures whose insides each part shows."""


@dataclass(frozen=True)
class Explained:
    """The parts that were asked for."""

    model: str
    encoder: str
    tokens: Explanation | None = None
    translations: tuple[Intermediate, ...] = ()
    alignment: Alignment | None = None
    transport: Transport | None = None


def explain_pair(
    request: ExplainRequest, engines: Engines, limits: Limits, call: Call
) -> Explained:
    """Find what a request asks for."""
    for text in (request.hypothesis, request.reference):
        if len(text) > limits.explained_characters:
            raise TooLargeError(
                f"{len(text)} characters: at most {limits.explained_characters} are explained"
            )
    a = Text(check_text(request.hypothesis, role="hypothesis", row=1), request.lang)
    b = Text(
        check_text(request.reference, role="reference", row=1),
        request.reference_lang or request.lang,
    )
    names = [name for part, names in MEASURES.items() if part in request.parts for name in names]
    measures = engines.measures(names, request.settings.said(), call)
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
    return Explained(
        engines.models.translation.name,
        engines.models.tokens.name,
        tokens,
        tuple(translations),
        alignment,
        plan,
    )


def fragment(explained: Explained) -> str:
    """Render the result for the web page."""
    return explanation_fragment(
        explained.model,
        explained.tokens,
        explained.translations,
        explained.alignment,
        explained.transport,
    )


def answer(found: Explained) -> ExplainAnswer:
    """Spell the findings for programs."""
    told = ExplainAnswer(model=found.model, encoder=found.encoder)
    if (tokens := found.tokens) is not None:
        told.tokens = TokensAnswer(
            directions=[_direction(direction) for direction in tokens.directions],
            prism_ref=tokens.prism_ref,
            direct=tokens.direct,
        )
    if found.translations:
        told.translations = [IntermediateAnswer(**asdict(each)) for each in found.translations]
    if (alignment := found.alignment) is not None:
        told.alignment = AlignmentAnswer(
            hypothesis=list(alignment.hypothesis),
            reference=list(alignment.reference),
            cosines=_rows(alignment.cosines),
            precision=alignment.match.P,
            recall=alignment.match.R,
            f1=alignment.match.F1,
        )
    if (moves := found.transport) is not None:
        told.transport = TransportAnswer(
            hypothesis=list(moves.hypothesis),
            reference=list(moves.reference),
            plan=_rows(moves.plan),
            costs=_rows(moves.costs),
            work=moves.work,
        )
    return told


def _direction(direction: Direction) -> DirectionAnswer:
    scores = direction.scores
    return DirectionAnswer(
        target=direction.target.text,
        source=direction.source.text,
        target_lang=direction.target.lang,
        source_lang=direction.source.lang,
        tokens=[
            TokenAnswer(
                token=token,
                log_prob=log_prob,
                alternatives=[
                    AlternativeAnswer(token=each.token, log_prob=each.log_prob)
                    for each in direction.alternatives.get(place, [])
                ],
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
