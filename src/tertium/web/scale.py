"""A scale to read scores by: what the loaded model gives to pairs of known similarity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tertium.errors import LanguageError
from tertium.measures.base import Measure
from tertium.models.languages import LanguageSet
from tertium.text import Row, Text

IDENTICAL, PARAPHRASE, NEAR_MISS, UNRELATED = "identical", "paraphrase", "near miss", "unrelated"

SENTENCES: Mapping[str, Sequence[tuple[str, str, str, str]]] = {
    "en": (
        (
            "The shop closes at six o'clock.",
            "The store closes at six.",
            "The shop opens at seven o'clock.",
            "My sister has two black cats.",
        ),
        (
            "Nobody knows where she lives.",
            "No one knows where she is living.",
            "Everybody knows where she works.",
            "I would like a glass of water.",
        ),
        (
            "Because of the snow, the train was late.",
            "The train was late because of the snow.",
            "Because of the rain, the bus was late.",
            "Do you want to play chess with me?",
        ),
    ),
    "de": (
        (
            "Der Laden schließt um sechs Uhr.",
            "Das Geschäft schließt um sechs.",
            "Der Laden öffnet um sieben Uhr.",
            "Meine Schwester hat zwei schwarze Katzen.",
        ),
        (
            "Niemand weiß, wo sie wohnt.",
            "Keiner weiß, wo sie lebt.",
            "Jeder weiß, wo sie arbeitet.",
            "Ich hätte gern ein Glas Wasser.",
        ),
        (
            "Wegen des Schnees kam der Zug zu spät.",
            "Der Zug kam wegen des Schnees zu spät.",
            "Wegen des Regens kam der Bus zu spät.",
            "Willst du mit mir Schach spielen?",
        ),
    ),
}
"""A sentence, a paraphrase, a similar one with other facts, and an unrelated one."""


def reference_scale(measure: Measure, languages: LanguageSet) -> dict[str, float]:
    """The mean score of each kind of pair; empty if the model has no language of the sentences."""
    lang = next((lang for lang in SENTENCES if languages.resolve(lang) in languages.all), None)
    if lang is None:
        return {}
    kinds = (IDENTICAL, PARAPHRASE, NEAR_MISS, UNRELATED)
    rows = [
        Row(number, Text(sentence, lang), (Text(other, lang),), Text(other, lang))
        for number, (sentence, *others) in enumerate(SENTENCES[lang], start=1)
        for other in (sentence, *others)
    ]
    try:
        scores = measure.segments(rows).scores
    except LanguageError:  # the model does not translate from the language, or not into it
        return {}
    return {
        kind: sum(scores[place :: len(kinds)]) / len(SENTENCES[lang])
        for place, kind in enumerate(kinds)
    }
