"""Words that are unlikely given the other text, and the direction of translation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from tertium.explanation.spans import A, B, Span, severity_of
from tertium.explanation.words import ScoredWord, word_scores
from tertium.models.base import Progress, TokenScores, TranslationModel
from tertium.text import Text

UNLIKELY = "unlikely"
MAX_PERMUTED = 5000


@dataclass(frozen=True)
class UnlikelySettings:
    """From which loss a word is reported."""

    threshold: float = 6.0
    """In nats: log p(word | the text itself) - log p(word | the other text)."""


@dataclass(frozen=True, slots=True)
class WordLoss:
    """A word's log-probability given the other text, and given the text itself."""

    scored: ScoredWord
    given_itself: float

    @property
    def loss(self) -> float:
        """How much less probable the word is given the other text, in nats."""
        return self.given_itself - self.scored.log_prob


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
) -> list[tuple[list[WordLoss], list[WordLoss]]]:
    """The losses of the words of ``a`` and of ``b``, for each pair; all queries are one batch.

    The losses of a text add up to the difference of its two log-probabilities, whose means over
    tokens are the logarithms in ``direct``.
    """
    queries = [query for a, b in pairs for query in ((a, b), (a, a), (b, a), (b, b))]
    scores = _log_probs(queries, model, progress)
    found = []
    for number, (a, b) in enumerate(pairs):
        ab, aa, ba, bb = scores[4 * number : 4 * number + 4]
        found.append((_losses(a.text, ab, aa), _losses(b.text, ba, bb)))
    return found


def _losses(text: str, other: TokenScores, itself: TokenScores) -> list[WordLoss]:
    """Compare the words of a text; the end of the sentence is not a word."""
    return [
        WordLoss(one, two.log_prob)
        for one, two in zip(word_scores(text, other), word_scores(text, itself), strict=True)
        if one.word.text
    ]


def unlikely(
    pairs: Sequence[tuple[Text, Text]],
    model: TranslationModel,
    settings: UnlikelySettings = UnlikelySettings(),
    *,
    progress: Progress | None = None,
) -> list[list[Span]]:
    """Find words that are far less probable given the other text than given the text itself.

    >>> import tertium
    >>> pair = Text("Ich sehe einen Hund.", "de"), Text("I see a house.", "en")
    >>> [spans] = unlikely([pair], tertium.load_model(cache=False))
    >>> [(span.side, span.text) for span in spans]
    [('a', 'Hund'), ('b', 'house')]
    """
    threshold = settings.threshold
    found = []
    for pair, losses in zip(pairs, word_losses(pairs, model, progress), strict=True):
        found.append(
            [
                Span.of(
                    text.text,
                    each.scored.word.start,
                    each.scored.word.end,
                    side=side,
                    kind=UNLIKELY,
                    score=each.loss,
                    severity=severity_of(each.loss, threshold),
                    evidence=f"log-probability {each.scored.log_prob:.2f} given the other text, "
                    f"{each.given_itself:.2f} given the text itself",
                )
                for side, text, words in zip((A, B), pair, losses, strict=True)
                for each in words
                if each.loss >= threshold and not each.scored.word.is_punctuation
            ]
        )
    return found


def directions(
    pairs: Sequence[tuple[Text, Text]], model: TranslationModel, progress: Progress | None = None
) -> list[TranslationDirection]:
    """Compare H(a | b) with H(b | a): a translation is more probable than its original.

    Wastl, Vamvas and Sennrich (2025), "Machine Translation Models are Zero-Shot Detectors of
    Translation Direction".
    """
    queries = [query for a, b in pairs for query in ((a, b), (b, a))]
    scores = _log_probs(queries, model, progress)
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


def _log_probs(
    queries: Sequence[tuple[Text, Text]], model: TranslationModel, progress: Progress | None
) -> list[TokenScores]:
    """Force-decode the first text of each query given the second."""
    return model.log_probs(
        [target.text for target, _ in queries],
        [source.text for _, source in queries],
        target_lang=[target.lang for target, _ in queries],
        source_lang=[source.lang for _, source in queries],
        progress=progress,
    )
