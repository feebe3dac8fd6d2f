"""Words that are unlikely given the other text, and the direction of translation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from tertium.explanation.spans import WordScore, WordScores
from tertium.explanation.unrelated import unrelated_sources
from tertium.explanation.words import group_tokens, word_scores
from tertium.models.base import Progress, Query, TokenScores, TranslationModel
from tertium.text import Text

UNLIKELY = "unlikely"
UNLIKELY_THRESHOLD = 6.0
"""In nats."""
CONTRAST_THRESHOLD = 0.9
"""From 0 (the other text explains the word) to 1 (an unrelated one does so as well)."""
TINY = 1e-9
"""A loss of zero is taken for this."""
MAX_PERMUTED = 5000


@dataclass(frozen=True, slots=True)
class TranslationDirection:
    """Which text of a pair is more likely to be the original."""

    a_given_b: float
    """H(a | b)."""
    b_given_a: float

    @property
    def score(self) -> float:
        """Positive if ``b`` is more likely the original, and ``a`` its translation.

        >>> TranslationDirection(a_given_b=-0.5, b_given_a=-0.75).score
        0.25
        """
        return self.a_given_b - self.b_given_a


@dataclass(frozen=True, slots=True)
class DocumentDirection:
    """Which side of a document is more likely to be the original."""

    score: float
    """The mean over the pairs; positive if the ``b`` side is the original."""
    p_value: float
    """Of a two-sided permutation test that exchanges the directions of single pairs."""
    pairs: int


def word_losses(
    pairs: Sequence[tuple[Text, Text]], model: TranslationModel, progress: Progress | None = None
) -> list[WordScores]:
    """log p(word | the text itself) - log p(word | the other text), in nats, for each pair.

    The losses of a text add up to the difference of its two log-probabilities, whose means over
    tokens are the logarithms in ``direct``. All queries are one batch.

    >>> import tertium
    >>> pair = Text("Ich sehe einen Hund.", "de"), Text("I see a house.", "en")
    >>> [(first, _)] = word_losses([pair], tertium.load_model(cache=False))
    >>> max(first, key=lambda each: each.score).word.text
    'Hund'
    """
    queries = [query for a, b in pairs for query in ((a, b), (a, a), (b, a), (b, b))]
    scores = forced(queries, model, progress)
    found = []
    for number, (a, b) in enumerate(pairs):
        ab, aa, ba, bb = scores[4 * number : 4 * number + 4]
        found.append((_losses(a.text, ab, aa), _losses(b.text, ba, bb)))
    return found


def _losses(text: str, other: TokenScores, itself: TokenScores) -> list[WordScore]:
    """Compare the words of a text; the end of the sentence is not a word."""
    return [
        WordScore(
            one.word,
            two.log_prob - one.log_prob,
            f"log-probability {one.log_prob:.2f} given the other text, "
            f"{two.log_prob:.2f} given the text itself",
        )
        for one, two in zip(word_scores(text, other), word_scores(text, itself), strict=True)
        if one.word.text
    ]


def word_contrasts(
    pairs: Sequence[tuple[Text, Text]], model: TranslationModel, progress: Progress | None = None
) -> list[WordScores]:
    """How little of each word the other text explains, from 0 to 1, for each pair.

    This is diff-mask of Vamvas and Sennrich (2023), with a translation model in place of a masked
    language model: of each token, the loss with the other text as the source is compared with the
    (mean) loss with unrelated sources,

        1 - max(0, (without - with) / max(without, with))

    The score of a word is the mean over its tokens. All queries are one batch. A side that the
    model does not translate into has no words.

    >>> import tertium
    >>> pair = Text("Ich sehe einen Hund.", "de"), Text("I see a house.", "en")
    >>> [(first, _)] = word_contrasts([pair], tertium.load_model(cache=False))
    >>> [each.word.text for each in first if each.score > 0.5]
    ['Hund']
    """
    directed = [query for a, b in pairs for query in ((a, b), (b, a))]
    sources = [
        [source, *unrelated_sources(model, target, source)]
        if model.translates(source.lang, target.lang)
        else []
        for target, source in directed
    ]
    queries = [
        (target, source)
        for (target, _), tried in zip(directed, sources, strict=True)
        for source in tried
    ]
    scores = iter(forced(queries, model, progress))
    sides = []
    for (target, _), tried in zip(directed, sources, strict=True):
        found = [next(scores) for _ in tried]
        sides.append(_contrasts(target.text, found[0], found[1:]) if found else [])
    return list(zip(sides[::2], sides[1::2], strict=True))


def _contrasts(text: str, given: TokenScores, others: Sequence[TokenScores]) -> list[WordScore]:
    """Compare the losses of tokens, and average over words."""
    scores = []
    for index, log_prob in enumerate(given.log_probs):
        loss = -log_prob
        without = -sum(other.log_probs[index] for other in others) / len(others)
        scores.append(1 - max(0.0, (without - loss) / max(without, loss, TINY)))
    return [
        WordScore(
            word,
            score := sum(scores[index] for index in indices) / len(indices),
            f"the other text explains {1 - score:.0%} of its log-probability",
        )
        for word, indices in group_tokens(text, given.tokens)
        if word.text
    ]


def directions(
    pairs: Sequence[tuple[Text, Text]], model: TranslationModel, progress: Progress | None = None
) -> list[TranslationDirection]:
    """Compare H(a | b) with H(b | a): a translation is more probable than its original.

    Wastl, Vamvas and Sennrich (2025), "Machine Translation Models are Zero-Shot Detectors of
    Translation Direction".
    """
    queries = [query for a, b in pairs for query in ((a, b), (b, a))]
    scores = forced(queries, model, progress)
    return [
        TranslationDirection(forth.H, back.H)
        for forth, back in zip(scores[::2], scores[1::2], strict=True)
    ]


def document_direction(
    scores: Sequence[float], *, samples: int = 10_000, seed: int = 0
) -> DocumentDirection:
    """The mean score of the pairs of a document, with the p-value of a permutation test.

    With more than ``MAX_PERMUTED`` pairs, the normal distribution that the permuted means approach
    is used instead of samples.

    >>> document_direction([0.5] * 12).p_value < 0.01
    True
    """
    import numpy as np

    from tertium.stats.resampling import p_value, rounding

    values = np.array(scores, dtype=np.float64)
    count = len(values)
    observed = float(values.mean()) if count else 0.0
    if count > MAX_PERMUTED:
        deviation = math.sqrt(float(values @ values)) / count
        p = math.erfc(abs(observed) / deviation / math.sqrt(2)) if deviation else 1.0
        return DocumentDirection(observed, p, count)
    random = np.random.default_rng(seed)
    means = np.array([random.choice((-1, 1), count) @ values for _ in range(samples)])
    means = np.abs(means) / max(count, 1)
    extreme = int((means >= abs(observed) - rounding(means, abs(observed))).sum())
    return DocumentDirection(observed, p_value(extreme, samples), count)


def forced(
    queries: Sequence[tuple[Text, Text]], model: TranslationModel, progress: Progress | None
) -> list[TokenScores]:
    """Force-decode the first text of each query given the second."""
    return model.log_probs([Query.between(*query) for query in queries], progress=progress)
