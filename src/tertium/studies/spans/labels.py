"""Labelled tokens: how well methods rank and find what people labelled.

The scores of a method are compared with the labels in two ways: Spearman's correlation over all
labelled tokens, which needs no threshold, and F1 over characters with the best threshold, where a
token is gold from a label of 0.5.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from tertium.errors import InputError
from tertium.explanation.coverage import Gains, coverage_gains, coverage_spans
from tertium.explanation.review import COVERAGE, THRESHOLDS, WORD_METHODS, Reviewer, sides_for
from tertium.explanation.spans import A, B, WordScore
from tertium.explanation.words import split_words
from tertium.models.base import Progress
from tertium.report.tables import Cell, Table
from tertium.stats.correlation import spearman
from tertium.stats.resampling import bootstrap_counts, percentile_interval
from tertium.studies.report import Report
from tertium.studies.runner import Job, Runner, Scored, in_parts
from tertium.studies.spans.published import LabelledPair, LabelledToken
from tertium.studies.spans.thresholds import Candidate, Curve, counted, learn
from tertium.text import Text

RANKED = (COVERAGE, *WORD_METHODS)
"""Methods that give every word a score."""
ROWS_AT_A_TIME = 64
MAX_SAMPLES = 200
"""Of the bootstrap: a sample has all tokens of a set."""
A_SCORES, B_SCORES, CANDIDATES = "a", "b", "candidates"

Values = list[tuple[int, int, float]]
"""The start, the end and the score of every word of a text."""


def token_values(tokens: Sequence[LabelledToken], words: Values) -> list[float]:
    """The mean score of the words in each token; 0 for a token without a scored word.

    >>> tokens = [LabelledToken(0, 1, 0.0), LabelledToken(2, 5, 1.0)]
    >>> token_values(tokens, [(0, 1, 1.0), (2, 3, 0.5), (4, 5, 0.25)])
    [1.0, 0.375]
    """
    values = []
    for token in tokens:
        own = [score for start, end, score in words if start < token.end and token.start < end]
        values.append(sum(own) / len(own) if own else 0.0)
    return values


@dataclass(frozen=True)
class PairScores:
    """The scores of all words of both texts, and the spans that a threshold chooses from."""

    a: Values
    b: Values
    candidates: list[Candidate]


def pair_scores(
    reviewer: Reviewer,
    method: str,
    pairs: Sequence[tuple[Text, Text]],
    progress: Progress | None = None,
) -> list[PairScores]:
    """Score every word of both texts.

    By ``coverage``, the score of a word is the largest gain of the phrases that it is part of.
    """
    reviewer.check_languages(pairs)
    if method != COVERAGE:
        return [
            PairScores(_values(first), _values(second), _candidates(first, second))
            for first, second in reviewer.word_scores(method, pairs, progress)
        ]
    assert reviewer.model is not None  # checked when it was made
    found = []
    every = replace(reviewer.coverage, threshold=0.0)
    for pair in pairs:
        [gains] = coverage_gains(
            [pair],
            reviewer.model,
            reviewer.coverage,
            sides=sides_for(reviewer.model, pair),
            progress=progress,
        )
        found.append(
            PairScores(
                _gains(pair[0].text, gains, A),
                _gains(pair[1].text, gains, B),
                [
                    (span.side, span.start, span.end, span.score)
                    for span in coverage_spans(pair, gains, every)
                ],
            )
        )
    return found


def _values(words: Sequence[WordScore]) -> Values:
    return [(each.word.start, each.word.end, each.score) for each in words]


def _candidates(*sides: Sequence[WordScore]) -> list[Candidate]:
    return [
        (side, each.word.start, each.word.end, each.score)
        for side, words in zip((A, B), sides, strict=True)
        for each in words
        if not each.word.is_punctuation
    ]


def _gains(text: str, gains: Gains, side: str) -> Values:
    _, phrases = gains.get(side, (0.0, []))
    return [
        (
            word.start,
            word.end,
            max(
                (each.gain for each in phrases if each.start < word.end and word.start < each.end),
                default=0.0,
            ),
        )
        for word in split_words(text)
    ]


@dataclass
class LabelStudy:
    """Correlation of word scores with labels, and the best thresholds."""

    pairs: Sequence[LabelledPair]
    reviewer: Reviewer
    samples: int = MAX_SAMPLES
    seed: int = 0
    runner: Runner = field(default_factory=Runner)

    @property
    def methods(self) -> list[str]:
        return [method for method in self.reviewer.methods if method in RANKED]

    @property
    def size(self) -> int:
        """How many pairs there are, over all methods."""
        return len(self.methods) * len(self.pairs)

    def run(self) -> Report:
        """Score all words, and make the tables."""
        if not self.pairs:
            raise InputError("there are no labelled pairs")
        if not self.methods:
            raise InputError(f"labels need a method that scores every word: {', '.join(RANKED)}")
        scored = self.runner.run([job for method in self.methods for job in self._jobs(method)])
        self.runner.warn()
        rows, curves = [], {}
        for (_, method), each in scored.items():
            value, low, high, tokens = correlation(
                self.pairs, each, samples=min(self.samples, MAX_SAMPLES), seed=self.seed
            )
            interval = Cell(f"{low:.3f}-{high:.3f}")
            rows.append([Cell(method), Cell(tokens), Cell(value, ".3f"), interval])
            curves[method] = Curve(
                [
                    counted(pair, [tuple(candidate) for candidate in candidates])
                    for pair, candidates in zip(self.pairs, each.parts[CANDIDATES], strict=True)
                ]
            )
        header = ["method", "tokens", "Spearman", "95 %"]
        note = "Over all tokens with a label; intervals by drawing pairs."
        return Report(
            "Labelled tokens",
            {
                "labels": Table(header, rows, "Labelled tokens", note),
                "thresholds": thresholds_table(curves),
            },
            findings=[
                f"{method}: Spearman's correlation with the labels is {value} ({limits})."
                for method, _, value, limits in rows
            ],
        )

    def _jobs(self, method: str) -> list[Job]:
        one = replace(self.reviewer, methods=(method,))

        def compute(some: Sequence[LabelledPair], progress: Progress | None) -> Scored:
            scores = pair_scores(one, method, [each.pair for each in some], progress)
            both = list(zip(some, scores, strict=True))
            return Scored(
                {
                    A_SCORES: [token_values(pair.tokens_a, found.a) for pair, found in both],
                    B_SCORES: [token_values(pair.tokens_b, found.b) for pair, found in both],
                    CANDIDATES: [found.candidates for found in scores],
                }
            )

        signature = json.dumps(one.description(), sort_keys=True)
        content = [[each.a, each.b] for each in self.pairs]
        return in_parts(
            "labels", method, signature, self.pairs, compute, size=ROWS_AT_A_TIME, content=content
        )


def correlation(
    pairs: Sequence[LabelledPair], scored: Scored, *, samples: int = MAX_SAMPLES, seed: int = 0
) -> tuple[float, float, float, int]:
    """Spearman's correlation over tokens, its interval, and the number of tokens."""
    labels: list[float] = []
    values: list[float] = []
    owners: list[int] = []
    for place, pair in enumerate(pairs):
        for side, part in ((A, A_SCORES), (B, B_SCORES)):
            for token, value in zip(pair.tokens(side), scored.parts[part][place], strict=True):
                labels.append(token.label)
                values.append(value)
                owners.append(place)
    if not labels:
        raise InputError("no token has a label")
    draws = bootstrap_counts(len(pairs), samples=samples, seed=seed)[:, np.array(owners)]
    interval = percentile_interval(spearman(values, labels, counts=draws))
    return spearman(values, labels), interval.low, interval.high, len(labels)


def thresholds_table(curves: dict[str, Curve]) -> Table:
    """The best threshold of each method, and what it reaches."""
    rows = []
    for method, curve in curves.items():
        best = learn(curve)
        default = curve.at(THRESHOLDS[method])
        rows.append(
            [
                Cell(method),
                Cell("none" if math.isinf(best.threshold) else f"{method}={best.threshold}"),
                Cell(best.result.precision, ".3f"),
                Cell(best.result.recall, ".3f"),
                Cell(best.result.f1, ".3f"),
                Cell(best.held_out, ".3f"),
                Cell(default.f1, ".3f"),
            ]
        )
    header = ["method", "threshold", "precision", "recall", "F1", "held out", "F1 of default"]
    note = (
        "Over the characters of labelled tokens, which are gold from a label of 0.5. The threshold "
        "has the best F1 on all pairs; held out: F1 of every second pair with the threshold of the "
        "others."
    )
    return Table(header, rows, "Best thresholds", note)
