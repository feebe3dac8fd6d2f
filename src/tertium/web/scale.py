"""A scale to read scores by: what the loaded model gives to pairs of known similarity."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from tertium.errors import LanguageError
from tertium.measures.base import Measure
from tertium.models.languages import LanguageSet
from tertium.text import Row, Text

IDENTICAL, PARAPHRASE, NEAR_MISS, UNRELATED = "identical", "paraphrase", "near miss", "unrelated"
KINDS = (IDENTICAL, PARAPHRASE, NEAR_MISS, UNRELATED)
SENTENCES = Path(__file__).with_name("scale.tsv")
"""A sentence, a paraphrase, and a similar one with other facts, invented."""


@cache
def sentences() -> dict[str, list[Sequence[str]]]:
    """For each language, a sentence and one of each of the ``KINDS``; the unrelated is another.

    >>> {lang: len(several) for lang, several in sentences().items()}
    {'en': 24, 'de': 24}
    """
    read: dict[str, list[list[str]]] = {}
    with SENTENCES.open(encoding="utf-8", newline="") as stream:
        for lang, *texts in list(csv.reader(stream, delimiter="\t"))[1:]:
            read.setdefault(lang, []).append(texts)
    return {
        lang: [
            (one, one, paraphrase, near_miss, several[place - len(several) // 2][0])
            for place, (one, paraphrase, near_miss) in enumerate(several)
        ]
        for lang, several in read.items()
    }


def reference_scale(measure: Measure, languages: LanguageSet) -> dict[str, float]:
    """The mean score of each kind of pair; empty if the model has no language of the sentences."""
    lang = next((lang for lang in sentences() if languages.resolve(lang) in languages.all), None)
    if lang is None:
        return {}
    rows = [
        Row(number, Text(sentence, lang), (Text(other, lang),), Text(other, lang))
        for number, (sentence, *others) in enumerate(sentences()[lang], start=1)
        for other in others
    ]
    try:
        scores = measure.segments(rows).scores
    except LanguageError:  # the model does not translate from the language, or not into it
        return {}
    return {
        kind: sum(scores[place :: len(KINDS)]) / len(sentences()[lang])
        for place, kind in enumerate(KINDS)
    }
