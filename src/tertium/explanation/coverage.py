"""Omissions and additions by contrastive conditioning.

Vamvas and Sennrich (2022), "As Little as Possible, as Much as Necessary: Detecting Over- and
Undertranslations with Contrastive Conditioning". A phrase of the source is an omission if the
target is more probable once the phrase is deleted from the source; an addition is the same with the
roles exchanged. The paper deletes subtrees of a dependency parse; here, every phrase of up to
``max_words`` words that does not cross punctuation is tried, so that no parser is needed.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tertium.explanation.spans import A, B, Span, severity_of, strongest
from tertium.explanation.words import split_words
from tertium.models.base import Progress, TranslationModel
from tertium.text import Text

OMISSION, ADDITION = "omission", "addition"
SEPARATORS = frozenset(",;:،؛、，；：–—-")
"""Of two of these around a deleted phrase, one is deleted with it."""


@dataclass(frozen=True)
class CoverageSettings:
    """Which phrases are tried, and which of them are reported."""

    max_words: int = 5
    min_words: int = 1
    threshold: float = 0.25
    """The gain in H (nats per token) from which a phrase is reported."""


@dataclass(frozen=True, slots=True)
class Phrase:
    """A phrase, the text without it, and by how much H of the other text rises without it."""

    start: int
    end: int
    partial: str
    gain: float = 0.0


def phrases(text: str, settings: CoverageSettings = CoverageSettings()) -> Iterator[Phrase]:
    """All phrases that may be deleted: adjacent words that no punctuation separates.

    The whole text is not a phrase: something must be left.

    >>> [text[each.start : each.end] for text in ["I see, yes."] for each in phrases(text)]
    ['I', 'I see', 'see', 'yes']
    """
    words = split_words(text)
    count = sum(not word.is_punctuation for word in words)
    for first in range(len(words)):
        for last in range(first, min(first + settings.max_words, len(words))):
            if words[last].is_punctuation:
                break
            length = last - first + 1
            if settings.min_words <= length < count:
                start, end = words[first].start, words[last].end
                yield Phrase(start, end, without(text, start, end))


def without(text: str, start: int, end: int) -> str:
    """Delete a phrase, with the space or the comma that is left over, and keep a capital letter.

    >>> without("Yesterday we went home.", 0, 9), without("We went home yesterday.", 12, 22)
    ('We went home.', 'We went home.')
    >>> without("My dog, a terrier, barks.", 8, 17)
    'My dog, barks.'
    >>> without("It costs $5 now.", 9, 10), without("I see, yes.", 7, 10)
    ('It costs 5 now.', 'I see.')
    """
    left, right = text[:start], text[end:]
    before, after = left.rstrip(), right.lstrip()
    if not before:
        after = after.lstrip("".join(SEPARATORS) + " ") or after
        if text[start].isupper() and after:
            after = after[0].upper() + after[1:]
        return left + after
    closes = not after or unicodedata.category(after[0]) in ("Po", "Pe", "Pf", "Pd")
    if closes and before[-1] in SEPARATORS:
        return before[:-1].rstrip() + right
    return before + right if closes or right != after else left + right


def coverage_gains(
    pairs: Sequence[tuple[Text, Text]],
    model: TranslationModel,
    settings: CoverageSettings = CoverageSettings(),
    *,
    sides: Sequence[str] = (A, B),
    progress: Progress | None = None,
) -> list[dict[str, tuple[float, list[Phrase]]]]:
    """H of the other text, and the gain of every phrase, for each pair and side.

    All queries are one batch. The phrases of side ``b`` are deleted from ``b``, and the target is
    ``a``; and the other way round.
    """
    targets: list[Text] = []
    sources: list[Text] = []
    plan: list[dict[str, list[Phrase]]] = []
    for a, b in pairs:
        plan.append({})
        for side in sides:
            source, target = (a, b) if side == A else (b, a)
            plan[-1][side] = list(phrases(source.text, settings)) if target.text.strip() else []
            partials = [source.text, *(phrase.partial for phrase in plan[-1][side])]
            sources += [Text(partial, source.lang) for partial in partials]
            targets += [target] * len(partials)
    scores = iter(
        model.log_probs(
            [target.text for target in targets],
            [source.text for source in sources],
            target_lang=[target.lang for target in targets],
            source_lang=[source.lang for source in sources],
            progress=progress,
        )
    )
    results: list[dict[str, tuple[float, list[Phrase]]]] = []
    for planned in plan:
        results.append({})
        for side, tried in planned.items():
            full = next(scores).H
            gained = [
                Phrase(each.start, each.end, each.partial, next(scores).H - full) for each in tried
            ]
            results[-1][side] = (full, gained)
    return results


def coverage(
    pairs: Sequence[tuple[Text, Text]],
    model: TranslationModel,
    settings: CoverageSettings = CoverageSettings(),
    *,
    sides: Sequence[str] = (A, B),
    progress: Progress | None = None,
) -> list[list[Span]]:
    """Find what ``a`` leaves out of ``b`` (omissions), and what it adds to it (additions).

    >>> import tertium
    >>> pair = Text("Ich habe ein Auto.", "de"), Text("I have a car and a house.", "en")
    >>> [spans] = coverage([pair], tertium.load_model(cache=False))
    >>> [(span.kind, span.text) for span in spans]
    [('omission', 'and a house')]
    """
    found = []
    for pair, gains in zip(
        pairs, coverage_gains(pairs, model, settings, sides=sides, progress=progress), strict=True
    ):
        texts = dict(zip((A, B), pair, strict=True))
        spans = [
            Span.of(
                texts[side].text,
                phrase.start,
                phrase.end,
                side=side,
                kind=ADDITION if side == A else OMISSION,
                score=phrase.gain,
                severity=severity_of(phrase.gain, settings.threshold),
                evidence=f"without it, H of the other text rises from {full:.2f} to "
                f"{full + phrase.gain:.2f}",
            )
            for side, (full, tried) in gains.items()
            for phrase in tried
            if phrase.gain >= settings.threshold
        ]
        found.append(strongest(spans))
    return found
