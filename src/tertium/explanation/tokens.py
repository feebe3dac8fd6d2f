"""Why a score is what it is: the tokens, their log-probabilities, and what was expected instead."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tertium.errors import LanguageError
from tertium.measures.translation import Direct
from tertium.models.base import (
    Alternative,
    SuggestingModel,
    TokenScores,
    TranslationModel,
)
from tertium.models.languages import known_language
from tertium.text import Row, Text, check_text

WORST_PLACES = 3


@dataclass(frozen=True)
class Direction:
    """One text read as a translation or paraphrase of the other (Prism, table 1)."""

    target: Text
    source: Text
    scores: TokenScores
    alternatives: Mapping[int, list[Alternative]]
    """At the worst places: what the model preferred to what stands there, best first."""


@dataclass(frozen=True)
class Explanation:
    """Both directions, and the measures that follow from them."""

    model: str
    directions: tuple[Direction, Direction]
    direct: float
    """NMTScore-direct, normalized, both directions."""

    @property
    def prism_ref(self) -> float:
        """The mean of H in both directions."""
        first, second = self.directions
        return (first.scores.H + second.scores.H) / 2


def explain(
    a: str,
    b: str,
    *,
    lang: str | None = None,
    reference_lang: str | None = None,
    model: str | Path | TranslationModel | None = None,
    worst: int = WORST_PLACES,
) -> Explanation:
    """Show how probable each token of ``a`` is given ``b``, and the other way round.

    >>> why = explain("I see a dog.", "I see a cat.", lang="en")
    >>> why.directions[0].scores.tokens
    ('▁I', '▁see', '▁a', '▁dog', '.', '</s>')
    """
    if model is None or isinstance(model, str | Path):
        from tertium.models.catalog import DEFAULT_MODEL, load_model

        model = load_model(DEFAULT_MODEL if model is None else model)
    first = Text(check_text(a, role="first text", row=1), lang)
    second = Text(check_text(b, role="second text", row=1), reference_lang or lang)
    for whose, text in (("the first text", first), ("the second text", second)):
        try:
            known_language(model, text.lang, whose)
        except LanguageError as error:
            raise LanguageError(
                f"{error}; say it with --lang, and --ref-lang for the second"
            ) from None
    targets, sources = [first, second], [second, first]
    ab, ba = model.log_probs(
        [target.text for target in targets],
        [source.text for source in sources],
        target_lang=[target.lang for target in targets],
        source_lang=[source.lang for source in sources],
    )
    return Explanation(
        model.name,
        (
            Direction(first, second, ab, _preferred(model, first, second, ab, worst)),
            Direction(second, first, ba, _preferred(model, second, first, ba, worst)),
        ),
        Direct(model).segments([Row(1, first, (second,))]).scores[0],
    )


def _preferred(
    model: TranslationModel, target: Text, source: Text, scores: TokenScores, worst: int
) -> dict[int, list[Alternative]]:
    """Ask at the worst places; keep what the model held for more probable there."""
    if not isinstance(model, SuggestingModel) or target.lang is None:
        return {}
    order = sorted(range(len(scores.tokens)), key=lambda place: scores.log_probs[place])
    places = sorted(order[:worst])
    found = model.alternatives(
        target.text, source.text, places, target_lang=target.lang, source_lang=source.lang
    )
    preferred = {
        place: [
            alternative
            for alternative in alternatives
            if alternative.token != scores.tokens[place]
            and alternative.log_prob > scores.log_probs[place]
        ]
        for place, alternatives in zip(places, found, strict=True)
    }
    return {place: alternatives for place, alternatives in preferred.items() if alternatives}
