"""What a review says in one sentence, and what each of its spans says, in plain words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tertium.explanation.changes import in_one_language
from tertium.explanation.coverage import ADDITION, OMISSION
from tertium.explanation.flags import COPY, EMPTY, LANGUAGE, REPETITION, TRUNCATED
from tertium.explanation.hallucination import HALLUCINATION
from tertium.explanation.matches import Matches, find_matches, partner
from tertium.explanation.opposites import CHANGE, OPPOSITE
from tertium.explanation.review import PairReview, load_reviewer
from tertium.explanation.spans import SEVERITIES, A, Span
from tertium.explanation.words import split_words
from tertium.models.base import TranslationModel
from tertium.text import Text

Level = Literal["same", "unsure", "different", "unknown"]
DIFFERENT = 0.5
"""Probability of an error from which two texts are said to differ."""
UNSURE = 0.25
"""Probability of an error from which nothing is said."""
NAMED = 4
"""How many words without a counterpart the sentence names."""
REASONS = 2
"""How many the sentence names."""
VALUES = ("number", "unit", "date", "name")
ORDINALS = {True: "first", False: "second"}
PLACELESS = {
    COPY: "the first text is a copy of the second, not a translation",
    LANGUAGE: "the first text is in another language than given",
    TRUNCATED: "the first text breaks off",
    HALLUCINATION: "the texts have little to do with each other",
}


@dataclass(frozen=True)
class Verdict:
    """One sentence, and where the pair is on a scale from 0 (an error) to 100 (none)."""

    level: Level
    sentence: str
    score: float | None = None
    """That of the review; 100 for identical texts. None where nothing was learned."""


def verdict(review: PairReview, matches: Matches | None = None) -> Verdict:
    """Say whether two texts mean the same, and why not.

    Nothing is called the same if words without a counterpart, or words in another order, were not
    judged.

    >>> from tertium.text import Text
    >>> span = Span("a", 4, 8, "1985", "number", 1.0, "critical", "numbers differ: 1985 / 1958")
    >>> other = Span("b", 4, 8, "1958", "number", 1.0, "critical", span.evidence)
    >>> a, b = Text("Born 1985.", "en"), Text("Born 1958.", "en")
    >>> verdict(PairReview(a, b, (span, other), ("number",), error_probability=0.9)).sentence
    'Probably not the same: the number differs (1985 / 1958).'
    """
    if EMPTY in review.flags or not (review.a.text.strip() and review.b.text.strip()):
        return Verdict("unknown", "There is nothing to compare: a text is empty.")
    if review.a.text.split() == review.b.text.split() and COPY not in review.flags:
        return Verdict("same", "The texts are identical.", 100.0)
    reasons = reasons_of(review)
    probability, score = review.error_probability, review.score
    if probability is None:
        return _unlearned(review, reasons, matches)
    if HALLUCINATION in review.flags:
        return Verdict("different", f"Not the same: {PLACELESS[HALLUCINATION]}.", score)
    if probability >= DIFFERENT:
        why = f": {'; '.join(reasons)}." if reasons else ", though no single place stands out."
        return Verdict("different", f"Probably not the same{why}", score)
    if reasons:
        return Verdict("unsure", f"Not certain: {'; '.join(reasons)}.", score)
    if doubt := _doubt(review, matches):
        return Verdict("unsure", f"No error was found, but {doubt}.", score)
    if probability >= UNSURE:
        return Verdict("unsure", "Not certain: the evidence goes both ways.", score)
    return Verdict("same", "Probably the same meaning.", score)


def learned_verdict(a: Text, b: Text, model: TranslationModel) -> Verdict | None:
    """Say whether two texts mean the same, by all default methods; None if nothing was learned.

    >>> import tertium
    >>> model = tertium.load_model(cache=False)
    >>> five, six = Text("Es ist fünf Uhr.", "de"), Text("It is six o'clock.", "en")
    >>> learned_verdict(five, six, model).sentence
    'Probably not the same: the number differs (fünf / six).'
    """
    reviewer = load_reviewer(model=model)
    if reviewer.aligner is None:
        return None
    reviews = reviewer([(a, b)])
    [matches] = find_matches(reviews, reviewer.aligner)
    return verdict(reviews[0], matches)


def _unlearned(review: PairReview, reasons: Sequence[str], matches: Matches | None) -> Verdict:
    """Without a learned decision, what is found counts, and what is not found says little."""
    if reasons and review.severity != "minor":
        return Verdict("different", f"Something differs: {'; '.join(reasons)}.")
    if reasons:
        return Verdict("unsure", f"Not certain: {'; '.join(reasons)}.")
    known = review.a.lang is not None and review.b.lang is not None
    missing = "no decision was learned for this model" if known else "both languages are needed"
    doubt = _doubt(review, matches) or missing
    return Verdict("unsure", f"No error was found, but {doubt}.")


def _doubt(review: PairReview, matches: Matches | None) -> str:
    """What the methods do not judge."""
    if matches is not None and (words := matches.doubtful):
        named = [f"“{text}”" for text in words[:NAMED]] + ["others"] * (len(words) > NAMED)
        return f"{_listed(named)} have no close counterpart: compare them"
    if in_one_language(review.a, review.b):
        a, b = (
            [word.text.casefold() for word in split_words(text.text) if not word.is_punctuation]
            for text in (review.a, review.b)
        )
        if a != b and sorted(a) == sorted(b):
            return "the same words are in another order: check who does what"
    return ""


def reasons_of(review: PairReview) -> list[str]:
    """The worst of what is reported, each thing once."""
    spans = sorted(
        review.spans, key=lambda span: (-SEVERITIES.index(span.severity), span.side, span.start)
    )
    placeless = [PLACELESS[flag] for flag in review.flags if flag in PLACELESS]
    found = dict.fromkeys([*placeless, *(reason(span, review.spans) for span in spans)])
    return list(found)[:REASONS]


def reason(span: Span, spans: Sequence[Span]) -> str:
    """What a span says, in plain words; ``spans`` are all of its pair."""
    text = f"“{span.text.strip()}”"
    ordinal, other = ORDINALS[span.side == A], ORDINALS[span.side != A]
    opposed = partner(span, spans)
    pair = [span, opposed] if span.side == A else [opposed, span]
    both = [each.text for each in pair if each is not None]
    if span.kind in VALUES:
        if opposed is None:
            return f"{text} is only in the {ordinal} text"
        noun = "time" if span.evidence.startswith("times") else span.kind
        return f"the {noun} differs ({' / '.join(both)})"
    if span.kind == OPPOSITE and opposed is not None:
        return f"“{both[0]}” and “{both[1]}” are opposites"
    if span.kind == CHANGE and opposed is not None:
        return f"“{both[0]}” and “{both[1]}” do not mean the same"
    return {
        OMISSION: f"{text} is missing in the {other} text",
        ADDITION: f"{text} is missing in the {other} text",
        OPPOSITE: f"the other text says the opposite of {text}",
        CHANGE: f"the other text does not say {text}",
        HALLUCINATION: PLACELESS[HALLUCINATION],
        REPETITION: f"{text} is repeated",
        "untranslated": f"{text} is not translated",
        "unlikely": f"{text} is unlikely given the other text",
        "difference": f"{text} has no similar word in the other text",
    }.get(span.kind, span.evidence)


def _listed(texts: Sequence[str]) -> str:
    """Name several things.

    >>> _listed(["a", "b", "c"])
    'a, b and c'
    """
    return " and ".join([", ".join(texts[:-1]), texts[-1]]) if len(texts) > 1 else texts[0]
