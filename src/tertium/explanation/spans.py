"""Spans: parts of a text where it differs from another."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, Self, get_args

from tertium.errors import InputError
from tertium.explanation.words import Word
from tertium.text import Text

Severity = Literal["minor", "major", "critical"]
SEVERITIES: tuple[Severity, ...] = get_args(Severity)
A, B = "a", "b"
"""The sides of a pair: ``a`` is the hypothesis, ``b`` the reference or the source."""
MAJOR = 2.0
"""A span is major if its score is at least this many times the threshold."""


@dataclass(frozen=True, slots=True)
class Span:
    """Characters ``start`` to ``end`` of one text of a pair, and what is wrong with them.

    Offsets count Unicode code points; ``end`` is exclusive.

    >>> span = Span.of("I saw a big dog.", 6, 11, side="a", kind="addition", score=0.5)
    >>> span.text, Span.from_dict(span.to_dict()) == span
    ('a big', True)
    """

    side: str
    start: int
    end: int
    text: str
    kind: str
    score: float
    """How strong the evidence is; the unit depends on the method. Higher is worse."""
    severity: Severity = "minor"
    evidence: str = ""
    """The numbers that the span was reported for, in words."""

    @classmethod
    def of(
        cls,
        whole: str,
        start: int,
        end: int,
        *,
        side: str,
        kind: str,
        score: float,
        severity: Severity = "minor",
        evidence: str = "",
    ) -> Self:
        """Mark characters of a text."""
        if not 0 <= start <= end <= len(whole):
            raise InputError(
                f"characters {start} to {end} are not in a text of {len(whole)} characters"
            )
        return cls(side, start, end, whole[start:end], kind, score, severity, evidence)

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Self:
        """Read what :meth:`to_dict` returned, for example from JSON."""
        return cls(**fields)

    def to_dict(self) -> dict[str, Any]:
        """The span as an object of JSON."""
        return asdict(self)

    def overlaps(self, other: Span) -> bool:
        """Whether two spans share a character."""
        return self.side == other.side and self.start < other.end and other.start < self.end


@dataclass(frozen=True, slots=True)
class WordScore:
    """A word, and how different or improbable it is; the unit depends on the method."""

    word: Word
    score: float
    evidence: str = ""


WordScores = tuple[list[WordScore], list[WordScore]]
"""The words of ``a`` and of ``b``."""


def mark_words(
    pair: tuple[Text, Text], scores: WordScores, kind: str, threshold: float
) -> list[Span]:
    """Make spans of the words, other than punctuation, whose scores reach the threshold."""
    return [
        Span.of(
            text.text,
            each.word.start,
            each.word.end,
            side=side,
            kind=kind,
            score=each.score,
            severity=severity_of(each.score, threshold),
            evidence=each.evidence,
        )
        for side, text, words in zip((A, B), pair, scores, strict=True)
        for each in words
        if each.score >= threshold and not each.word.is_punctuation
    ]


def flat(scores: Sequence[WordScores]) -> list[list[float]]:
    """The scores of all words of each pair, of both sides."""
    return [[each.score for side in pair for each in side] for pair in scores]


def severity_of(score: float, threshold: float) -> Severity:
    """Major if the score is far above the threshold.

    >>> severity_of(0.5, 0.3), severity_of(0.6, 0.3)
    ('minor', 'major')
    """
    return "major" if score >= MAJOR * threshold else "minor"


def worst(spans: Iterable[Span]) -> Severity | None:
    """The highest severity; None without spans."""
    return max((span.severity for span in spans), key=SEVERITIES.index, default=None)


def strongest(spans: Iterable[Span]) -> list[Span]:
    """Keep spans that do not overlap, the highest scores first; in the order of the text.

    Of equal scores, the shorter span is kept.
    """
    kept: list[Span] = []
    for span in sorted(spans, key=lambda span: (-span.score, span.end - span.start, span.start)):
        if not any(span.overlaps(other) for other in kept):
            kept.append(span)
    return sorted(kept, key=lambda span: (span.side, span.start))
