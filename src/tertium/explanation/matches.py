"""Which phrases of two texts match, which stand for each other but differ, and which are apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tertium.explanation.counterparts import cosines_of, word_vectors
from tertium.explanation.review import PairReview
from tertium.explanation.spans import A, B, Span
from tertium.explanation.words import Word
from tertium.models.base import Progress, TextEncoder
from tertium.stats.word_alignment import aligned

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CLOSE = 0.5
"""Cosine from which two words match."""
HEAVY = 0.75
"""Words with shorter vectors, relative to the mean of a pair, are function words."""
NUMBERS = ("number", "unit", "date")
"""Kinds of spans whose evidence names what both sides have."""
NEARNESS = 1e-3
"""Decides between equal words: how much being at the same place counts."""

Range = tuple[int, int]
"""The characters from one place to another, which is exclusive."""


@dataclass(frozen=True)
class Match:
    """A phrase of each text; the phrases match, or stand for each other and differ."""

    a: Range
    b: Range
    differs: bool = False


@dataclass(frozen=True)
class Matches:
    """What matches in a pair of texts, and what does not."""

    phrases: tuple[Match, ...] = ()
    apart: tuple[tuple[str, int, int, str], ...] = ()
    """Words that carry meaning, have no close counterpart and were not judged: side, start, end,
    text."""

    @property
    def doubtful(self) -> list[str]:
        """What stands apart on both sides: nobody said that it means the same."""
        if {side for side, *_ in self.apart} != {A, B}:
            return []  # what only one text has is what coverage judges
        return [text for *_, text in self.apart]

    def to_dict(self) -> dict[str, Any]:
        """The matches as an object of JSON."""
        return {
            "matches": [
                {"a": list(each.a), "b": list(each.b), "differs": each.differs}
                for each in self.phrases
            ],
            "apart": [
                {"side": side, "start": start, "end": end, "text": text}
                for side, start, end, text in self.apart
            ],
        }


def find_matches(
    reviews: Sequence[PairReview], encoder: TextEncoder, progress: Progress | None = None
) -> list[Matches]:
    """Align the words of each pair outside of its spans, and join neighbours to phrases.

    >>> import tertium
    >>> from tertium.text import Text
    >>> a, b = Text("Gestern sah ich einen Hund.", "de"), Text("I saw a cat yesterday.", "en")
    >>> encoder = tertium.load_encoder("tertium-mini-encoder")
    >>> [found] = find_matches([PairReview(a, b)], encoder)
    >>> [(a.text[slice(*each.a)], b.text[slice(*each.b)]) for each in found.phrases]
    [('Gestern', 'yesterday'), ('sah', 'saw'), ('ich', 'I'), ('einen', 'a')]
    >>> found.doubtful
    ['Hund', 'cat']
    """
    words = word_vectors([(review.a, review.b) for review in reviews], encoder, progress)
    return [
        _matches(review, words[2 * place], words[2 * place + 1])
        for place, review in enumerate(reviews)
    ]


def partner(span: Span, spans: Sequence[Span]) -> Span | None:
    """The span of the other side that stands for the same thing, of all spans of a pair."""
    others = [each for each in spans if each.side != span.side and each.kind == span.kind]
    own = [each for each in spans if each.side == span.side and each.kind == span.kind]
    if span.kind in NUMBERS:  # said of both
        return next((each for each in others if each.evidence == span.evidence), None)
    return others[own.index(span)] if len(others) == len(own) else None


def _matches(
    review: PairReview,
    first: tuple[list[Word], NDArray[np.float64]],
    second: tuple[list[Word], NDArray[np.float64]],
) -> Matches:
    import numpy as np

    (one, vectors), (other, others) = first, second
    if not one or not other:
        return Matches()
    free = [
        np.array(
            [
                not any(word.start < span.end and span.start < word.end for span in spans)
                for word in words
            ]
        )
        for words, spans in ((one, review.of_side(A)), (other, review.of_side(B)))
    ]
    cosines = cosines_of(vectors, others)
    places = np.abs(
        np.subtract.outer(np.arange(len(one)) / len(one), np.arange(len(other)) / len(other))
    )
    links = aligned((cosines + 1) / 2 + NEARNESS * (1 - places)) & (cosines >= CLOSE)
    links &= np.logical_and.outer(*free)
    phrases = [
        Match(
            (one[min(i for i, _ in block)].start, one[max(i for i, _ in block)].end),
            (other[min(j for _, j in block)].start, other[max(j for _, j in block)].end),
        )
        for block in _blocks(_contiguous(links, cosines), review, one, other)
    ]
    for span in review.of_side(A):
        if (found := partner(span, review.spans)) is not None:
            phrases.append(Match((span.start, span.end), (found.start, found.end), differs=True))
    lengths = [np.linalg.norm(each, axis=1) for each in (vectors, others)]
    heavy = HEAVY * float(np.concatenate(lengths).mean())
    apart = [
        (side, word.start, word.end, word.text)
        for side, words, best, weights, is_free in (
            (A, one, cosines.max(axis=1), lengths[0], free[0]),
            (B, other, cosines.max(axis=0), lengths[1], free[1]),
        )
        for word, cosine, weight, unjudged in zip(words, best, weights, is_free, strict=True)
        if cosine < CLOSE
        and weight >= heavy
        and unjudged
        and not any(character.isdigit() for character in word.text)  # compared as values
    ]
    return Matches(tuple(sorted(phrases, key=lambda each: each.a)), tuple(apart))


def _contiguous(links: NDArray[np.bool_], cosines: NDArray[np.float64]) -> list[tuple[int, int]]:
    """Links by which a word matches one word, or neighbours; the closest come first."""
    import numpy as np

    kept: list[tuple[int, int]] = []
    order = sorted(np.argwhere(links).tolist(), key=lambda link: -cosines[link[0], link[1]])
    for i, j in order:
        if all(
            (i != k or abs(j - m) == 1) and (j != m or abs(i - k) == 1)
            for k, m in kept
            if i == k or j == m
        ):
            kept.append((i, j))
    return sorted(kept)


def _blocks(
    links: Sequence[tuple[int, int]],
    review: PairReview,
    one: Sequence[Word],
    other: Sequence[Word],
) -> list[list[tuple[int, int]]]:
    """Join links of neighbours in the same order, with nothing but spaces between them."""
    blocks: list[list[tuple[int, int]]] = []
    for i, j in links:
        joined = [
            block
            for block in blocks
            if any(
                0 <= i - k <= 1
                and 0 <= j - m <= 1
                and not review.a.text[one[k].end : one[i].start].strip()
                and not review.b.text[other[m].end : other[j].start].strip()
                for k, m in block
            )
        ]
        blocks = [block for block in blocks if block not in joined]
        blocks.append([link for block in joined for link in block] + [(i, j)])
    return blocks
