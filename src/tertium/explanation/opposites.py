"""Negations, opposites and other changed words, judged by what the model finds more probable.

A text with one place changed is compared with the text itself, both given the other text:

    score = log p(changed | other) - log p(text | other) + prior

A word is changed to its opposite, and a text is negated or loses its negation. In one language,
the words that differ (a word diff) are also changed to those of the other text: every difference
makes a text less probable, one in meaning more so. The score of a word that was replaced is the
lower one of both directions, so that a rare synonym is no difference. Where the words alone tell of
a difference (one side alone negates, or the other text has the opposite at this place), the score
begins with ``PRIOR`` nats; with ``SURE`` where the texts differ in nothing else.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from tertium.data.codes import primary
from tertium.data.negation import NEGATING, is_negated, negation_differs, toggled
from tertium.data.opposites import are_opposites, opposed
from tertium.explanation.changes import Change, changes, in_one_language
from tertium.explanation.likelihood import forced
from tertium.explanation.spans import A, B, Severity, Span
from tertium.models.base import Progress, TranslationModel
from tertium.text import Text

NEGATION, OPPOSITE, CHANGE = "negation", "opposite", "change"
PRIOR = 6.0
"""Nats that a score begins with where words alone tell of a negation or an opposite. With it, 84 %
of 250 translations that were negated or lost a negation were above 98 % of 600 right ones; 76 %
without, and 76 % if only texts are tried whose words tell of it (development data)."""
SURE = 100.0
"""The prior where two texts in one language differ in nothing but a negation or an opposite."""
OPPOSITE_MARGIN = 2.0
"""Nats by which the text with the opposite must be more probable."""
NEGATION_MARGIN = OPPOSITE_MARGIN + PRIOR
"""The same for the text with the other polarity, where the words tell of it; other texts need the
prior as well. On 4 000 right translations of news and Wikipedia, 25 are reported by their words
(some of them are not right); of 2 112 that were negated or lost a negation, 56 %."""
CHANGE_MARGIN = 8.0
"""Nats by which the words of the other text must be more probable, in one language. Synonyms are
less probable as well, so this is high; thresholds that were learned for a model replace it."""
MARGINS = {NEGATION: NEGATION_MARGIN, OPPOSITE: OPPOSITE_MARGIN, CHANGE: CHANGE_MARGIN}
KINDS = tuple(MARGINS)


@dataclass(frozen=True, slots=True)
class Variant:
    """A text with one place changed."""

    kind: str
    start: int
    end: int
    new: str
    """What stands there instead."""
    text: str
    """The whole text with the change."""
    counterpart: tuple[int, int] | None = None
    """The characters of the other text that it was taken from, in one language."""
    prior: float = 0.0
    """Nats that its score begins with."""


def variants(text: Text, other: Text, kinds: Collection[str] = KINDS) -> list[Variant]:
    """The changed texts to compare a text with.

    >>> shop = Text("The shop opens at nine.", "en")
    >>> [each.text for each in variants(shop, Text("Der Laden schließt um neun.", "de"))]
    ['The shop closes at nine.']
    >>> [(each.kind, each.new) for each in variants(shop, Text("The shop closes at ten.", "en"))]
    [('opposite', 'closes'), ('change', 'ten')]
    >>> [each.text for each in variants(Text("He can pay.", "en"), Text("Er kann zahlen.", "de"))]
    ['He cannot pay.', 'He can not pay.']
    """
    lang, other_lang = primary(text.lang or ""), primary(other.lang or "")
    negated = negation_differs(text.text, lang, other.text, other_lang)
    found: dict[str, Variant] = {}
    if in_one_language(text, other):
        differing = [
            _changed(each, text.text, other.text, lang, negated)
            for each in changes(text.text, other.text)
        ]
        negated = negated and all(each.kind != NEGATION for each in differing)
        if len(differing) == 1 and differing[0].kind != CHANGE:
            differing = [replace(differing[0], prior=SURE)]
        found = {each.text: each for each in differing if each.start < each.end}
    for start, end, new in opposed(text.text, lang):
        whole = text.text[:start] + new + text.text[end:]
        found.setdefault(whole, Variant(OPPOSITE, start, end, new, whole))
    toggle = toggled(text.text, lang)
    if toggle is not None and toggle != other.text:
        place = _negated_place(text.text, toggle, lang)
        prior = PRIOR if negated else 0.0
        found.setdefault(toggle, Variant(NEGATION, *place, "", toggle, prior=prior))
    return [variant for variant in found.values() if variant.kind in kinds]


def _changed(each: Change, text: str, other: str, lang: str, negated: bool) -> Variant:
    """The text with the words of the other at the place of a change."""
    old, new = text[each.a_start : each.a_end], other[each.b_start : each.b_end]
    kind = CHANGE
    if are_opposites(old, new, lang):
        kind = OPPOSITE
    elif negated and is_negated(old, lang) != is_negated(new, lang):
        kind = NEGATION
    left = text[: each.a_start] if new else text[: each.a_start].rstrip()
    whole = left + new + text[each.a_end :]
    place = (each.b_start, each.b_end) if new else None
    prior = 0.0 if kind == CHANGE else PRIOR
    return Variant(kind, each.a_start, each.a_end, new, whole, place, prior)


def _negated_place(text: str, whole: str, lang: str) -> tuple[int, int]:
    """The negation of a text or, if it has none, the word before which or after which it is."""
    negation = NEGATING[lang].search(text)
    if negation is not None:
        return negation.span()
    inserted = changes(text, whole)
    place = inserted[0].a_start if inserted else 0
    start = len(text[:place].rstrip())
    words = text[:start].split()
    return (start - len(words[-1]), start) if words else (0, len(text))


def opposites(
    pairs: Sequence[tuple[Text, Text]],
    model: TranslationModel,
    progress: Progress | None = None,
    *,
    kinds: Collection[str] = KINDS,
    sides: Collection[str] = (A, B),
) -> list[list[Span]]:
    """All variants of the texts of each pair, as spans with their scores; all queries are a batch.

    >>> import tertium
    >>> pair = Text("The shop opens at nine.", "en"), Text("The shop closes at nine.", "en")
    >>> [spans] = opposites([pair], tertium.load_model(cache=False))
    >>> [(span.side, span.text, span.score > OPPOSITE_MARGIN) for span in spans]
    [('a', 'opens', True), ('b', 'closes', True)]
    """
    plan = []
    queries = []
    for place, (a, b) in enumerate(pairs):
        for side, text, other in ((A, a, b), (B, b, a)):
            if side not in sides or not model.translates(other.lang, text.lang):
                continue
            tried = variants(text, other, kinds)
            if tried and other.text.strip():
                plan.append((place, side, text, tried))
                queries += [(text, other), *((Text(v.text, text.lang), other) for v in tried)]
    scores = iter(forced(queries, model, progress))
    found: list[dict[tuple[str, int, int, str], Span]] = [{} for _ in pairs]
    counterparts: list[tuple[int, tuple[str, int, int, str], tuple[int, int]]] = []
    for place, side, text, tried in plan:
        own = next(scores).G
        for each in tried:
            key = (side, each.start, each.end, each.new)
            score = next(scores).G - own + each.prior
            found[place][key] = _span(text.text, side, each, score)
            if each.counterpart is not None:
                counterparts.append((place, key, each.counterpart))
    for place, key, (start, end) in counterparts:
        side, *_ = key
        old = found[place][key]
        back = found[place].get((B if side == A else A, start, end, old.text))
        if back is not None and back.score < old.score:
            found[place][key] = replace(old, score=back.score)
    return [list(spans.values()) for spans in found]


def _span(text: str, side: str, each: Variant, score: float) -> Span:
    old = text[each.start : each.end]
    if each.kind == NEGATION:
        said = "one text is negated, and the other is not"
        evidence = said if each.prior else "the other text seems to say the opposite"
    elif each.new:
        evidence = f"{each.new!r} is more likely here than {old!r}"
    else:
        evidence = f"the other text does not say {old!r}"
    severity: Severity = "minor" if each.kind == CHANGE else "major"
    return Span.of(
        text,
        each.start,
        each.end,
        side=side,
        kind=each.kind,
        score=score,
        severity=severity,
        evidence=evidence,
    )


def reported_opposites(spans: Sequence[Span], margins: Mapping[str, float] = MARGINS) -> list[Span]:
    """Those whose variant is that much more probable; of a place, the strongest."""
    best: dict[tuple[str, int, int], Span] = {}
    for span in sorted(spans, key=lambda span: -span.score):
        if span.score >= margins[span.kind]:
            best.setdefault((span.side, span.start, span.end), span)
    return sorted(best.values(), key=lambda span: (span.side, span.start))
