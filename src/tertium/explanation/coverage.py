"""Omissions and additions by contrastive conditioning.

Vamvas and Sennrich (2022), "As Little as Possible, as Much as Necessary: Detecting Over- and
Undertranslations with Contrastive Conditioning". A phrase of the source is an omission if the
target is more probable once the phrase is deleted from the source; an addition is the same with the
roles exchanged. The paper deletes subtrees of a dependency parse; here, every phrase of up to
``max_words`` words that does not cross punctuation is tried, so that no parser is needed. Two
conditions that the paper does not have reduce false alarms in free translations: the phrase must be
improbable given the other text, and without the phrase the other text must be probable.

With an encoder, only the phrases whose words have the least similar counterparts are tried, and
that they have none counts as well, and that the other text is short:

    score = gain + apart (1 - mean cosine) + weight (sum of the lengths of what is not covered)
            + length (log(length of the text / length of the other) - its mean)

The three factors are learned (:mod:`tertium.explanation.decisions`), as is the threshold.
"""

from __future__ import annotations

import math
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate

from tertium.data.codes import primary
from tertium.errors import SettingError
from tertium.explanation.counterparts import Counterpart, Counterparts
from tertium.explanation.likelihood import forced
from tertium.explanation.spans import A, B, Span, strongest
from tertium.explanation.words import ScoredWord, split_words, word_scores
from tertium.models.base import Progress, TokenScores, TranslationModel
from tertium.text import Text

OMISSION, ADDITION = "omission", "addition"
SEPARATORS = frozenset(",;:،؛、，；：–—-")
"""Of two of these around a deleted phrase, one is deleted with it."""
FEWEST_TRIED = 6
"""Of the phrases of a side, however long it is."""
LENGTH = 50.0
"""Of phrases that are not tried: the length of vectors that counts as much as a cosine of zero."""


@dataclass(frozen=True)
class Factors:
    """What counts besides the gain, as it was learned for a model."""

    apart: float = 0.0
    """The factor of one minus the mean cosine of the phrase's words with their counterparts."""
    weight: float = 0.0
    """The factor of the lengths of its words' vectors, as far as they have no counterpart."""
    length: float = 0.0
    """The factor of how short the other text is."""
    lengths: Mapping[str, float] = field(default_factory=dict)
    """How long texts are in each language: differences are mean logarithms of ratios."""

    def shortness(self, sizes: tuple[int, int], langs: tuple[str | None, str | None]) -> float:
        """How much shorter than usual the second text is, as the logarithm of a ratio.

        >>> Factors(lengths={"de": 0.125, "en": 0.0}).shortness((80, 40), ("de-AT", "en"))
        0.5681471805599453
        """
        usual, other = (self.lengths.get(primary(lang or ""), 0.0) for lang in langs)
        return math.log(max(sizes[0], 1) / max(sizes[1], 1)) - (usual - other)


@dataclass(frozen=True)
class CoverageSettings:
    """Which phrases are tried, and which of them are reported.

    The defaults were chosen for the bundled model (docs/explain.md).
    """

    max_words: int = 5
    min_words: int = 2
    threshold: float = 0.1
    """The gain from which a phrase is reported: by how much H of the other text (nats per token)
    rises without the phrase."""
    surprise: float = 10.0
    """The least improbability of the phrase given the other text: -log p(phrase | other), in nats.
    Not used if the model has only one of the two directions."""
    explained: float = -2.0
    """The least H of the other text without the phrase."""
    major: float = 0.5
    """The gain from which an omission or addition is major."""
    factors: Factors = Factors()
    """What else counts; learned."""
    tried: int | None = None
    """With an encoder: how many phrases of a side are tried."""
    letters: int = 100_000
    """Without an encoder: how many characters of both texts are read again to try the phrases of a
    side. In long texts, only phrases that are more improbable than their neighbours are tried."""

    def __post_init__(self) -> None:
        if not 1 <= self.min_words <= self.max_words:
            raise SettingError(
                f"phrases of {self.min_words} to {self.max_words} words: min_words must be at "
                "least 1, and not above max_words"
            )


@dataclass(frozen=True, slots=True)
class Phrase:
    """A phrase, the text without it, and what the model says about it."""

    start: int
    end: int
    partial: str
    gain: float = 0.0
    """By how much H of the other text rises without the phrase."""
    surprise: float = math.inf
    """-log p(phrase | other text); infinite if the model cannot tell."""
    apart: float = 0.0
    """One minus the mean cosine of its words with the most similar words of the other text."""
    weight: float = 0.0
    """The lengths of its words' vectors, each times one minus its cosine."""
    shortness: float = 0.0
    """How much shorter than usual the other text is."""

    def score(self, factors: Factors) -> float:
        """How strong the evidence is that it has no counterpart."""
        return (
            self.gain
            + factors.apart * self.apart
            + factors.weight * self.weight
            + factors.length * self.shortness
        )


Gains = dict[str, tuple[float, list[Phrase]]]
"""For each side, H of the other text, and the phrases."""


def phrases(text: str, settings: CoverageSettings = CoverageSettings()) -> Iterator[Phrase]:
    """All phrases that may be deleted: adjacent words that no punctuation separates.

    The whole text is not a phrase: something must be left.

    >>> [text[each.start : each.end] for text in ["I see, yes."] for each in phrases(text)]
    ['I see']
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
    every: bool = True,
    covered: Sequence[Counterparts] | None = None,
    progress: Progress | None = None,
) -> list[Gains]:
    """H of the other text, and the gain of every phrase, for each pair and side.

    The phrases of side ``b`` are deleted from ``b``, and the target is ``a``; and the other way
    round. Unless ``every`` phrase is wanted, those that cannot be reported are left out: they are
    not improbable enough given the other text, which is known before any phrase is deleted; and,
    if it is known how well the words are ``covered``, those that are covered best.
    """
    ends = {A: (0, 1), B: (1, 0)}
    asked = [(pair, side) for pair in pairs for side in sides]
    whole = forced(
        [(pair[ends[side][1]], pair[ends[side][0]]) for pair, side in asked], model, progress
    )
    given_other: list[dict[str, TokenScores]] = [{} for _ in pairs]
    """The scores of the whole text of a side, given the other text."""
    for place, ((_, side), scores) in enumerate(zip(asked, whole, strict=True)):
        given_other[place // len(sides)][B if side == A else A] = scores
    plan: list[list[Phrase]] = []
    queries: list[tuple[Text, Text]] = []
    for place, (pair, side) in enumerate(asked):
        source, target = (pair[end] for end in ends[side])
        tried = list(phrases(source.text, settings)) if target.text.strip() else []
        scored = given_other[place // len(sides)].get(side)
        if scored is not None and tried:
            words = word_scores(source.text, scored)
            tried = [replace(phrase, surprise=surprise(phrase, words)) for phrase in tried]
            if not every:
                tried = [phrase for phrase in tried if phrase.surprise >= settings.surprise]
            if not every and covered is None:
                most = settings.letters // (len(source.text) + len(target.text))
                tried = most_improbable(tried, words, max(most, FEWEST_TRIED))
        if covered is not None:
            own = covered[place // len(sides)][0 if side == A else 1]
            tried = least_covered(tried, own, None if every else settings.tried)
        plan.append(tried)
        queries += [(target, Text(phrase.partial, source.lang)) for phrase in tried]
    partial = iter(forced(queries, model, progress))
    results: list[Gains] = [{} for _ in pairs]
    for place, ((pair, side), scores, tried) in enumerate(zip(asked, whole, plan, strict=True)):
        source, target = (pair[end] for end in ends[side])
        shortness = settings.factors.shortness(
            (len(source.text), len(target.text)), (source.lang, target.lang)
        )
        gains = [
            replace(phrase, gain=next(partial).H - scores.H, shortness=shortness)
            for phrase in tried
        ]
        results[place // len(sides)][side] = (scores.H, gains)
    return results


def least_covered(
    tried: Sequence[Phrase], words: Sequence[Counterpart], most: int | None
) -> list[Phrase]:
    """Say how well phrases are covered, and keep so many of them, in the order of the text."""
    placed = [_covered(phrase, words) for phrase in tried]
    if most is None or len(placed) <= most:
        return placed
    least = sorted(placed, key=lambda phrase: -(phrase.apart + phrase.weight / LENGTH))[:most]
    return sorted(least, key=lambda phrase: (phrase.start, phrase.end))


def most_improbable(
    tried: Sequence[Phrase], words: Sequence[ScoredWord], most: int
) -> list[Phrase]:
    """If there are more phrases, keep so many without overlap, in the order of the text.

    They are those whose words are less probable than the mean word, by the sum of the differences.
    """
    if len(tried) <= most:
        return list(tried)
    places = [each.word.start for each in words]
    sums = [0.0, *accumulate(-each.log_prob for each in words)]
    mean = sums[-1] / len(words)

    def excess(phrase: Phrase) -> float:
        first, end = bisect_left(places, phrase.start), bisect_left(places, phrase.end)
        return sums[end] - sums[first] - mean * (end - first)

    kept: list[Phrase] = []
    for phrase in sorted(tried, key=excess, reverse=True):
        if len(kept) == most:
            break
        if all(phrase.end <= other.start or other.end <= phrase.start for other in kept):
            kept.append(phrase)
    return sorted(kept, key=lambda phrase: phrase.start)


def _covered(phrase: Phrase, words: Sequence[Counterpart]) -> Phrase:
    inside = [
        each for each in words if each.word.start < phrase.end and phrase.start < each.word.end
    ]
    if not inside:
        return phrase
    mean = sum(each.cosine for each in inside) / len(inside)
    weight = sum((1 - each.cosine) * each.weight for each in inside)
    return replace(phrase, apart=1 - mean, weight=weight)


def surprise(phrase: Phrase, words: Sequence[ScoredWord]) -> float:
    """-log p of the words of a phrase, given the other text and the words before each."""
    return -sum(
        each.log_prob
        for each in words
        if each.word.start < phrase.end and phrase.start < each.word.end
    )


def is_candidate(phrase: Phrase, full: float, settings: CoverageSettings) -> bool:
    """Whether a phrase may be an omission or addition; ``full`` is H given the whole text."""
    return phrase.surprise >= settings.surprise and full + phrase.gain >= settings.explained


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
    gains = coverage_gains(pairs, model, settings, sides=sides, every=False, progress=progress)
    return [coverage_spans(pair, found, settings) for pair, found in zip(pairs, gains, strict=True)]


def coverage_spans(
    pair: tuple[Text, Text], gains: Gains, settings: CoverageSettings = CoverageSettings()
) -> list[Span]:
    """The phrases of a pair that are reported; of overlapping ones, that with the highest score."""
    spans = coverage_candidates(pair, gains, settings)
    return strongest(span for span in spans if span.score >= settings.threshold)


def coverage_candidates(
    pair: tuple[Text, Text], gains: Gains, settings: CoverageSettings = CoverageSettings()
) -> list[Span]:
    """All phrases of a pair that may be reported, with their scores."""
    texts = dict(zip((A, B), pair, strict=True))
    return [
        Span.of(
            texts[side].text,
            phrase.start,
            phrase.end,
            side=side,
            kind=ADDITION if side == A else OMISSION,
            score=phrase.score(settings.factors),
            severity="major" if phrase.gain >= settings.major else "minor",
            evidence="has no counterpart in the other text",
        )
        for side, (full, tried) in gains.items()
        for phrase in tried
        if is_candidate(phrase, full, settings)
    ]
