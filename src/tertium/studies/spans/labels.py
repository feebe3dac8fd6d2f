"""Labelled tokens: how well word scores rank the tokens that people found different.

The layout is that of RSD (Vamvas and Sennrich, 2023): JSON Lines with ``text_a``, ``text_b``, and
for every token (split at spaces) a degree of difference from 0 to 1 in ``labels_a`` and
``labels_b``; -1 means that a token has no label.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from tertium.data.records import open_table
from tertium.errors import InputError
from tertium.explanation.alignment import word_differences
from tertium.explanation.likelihood import word_losses
from tertium.explanation.review import DIFFERENCES, UNLIKELY, Reviewer
from tertium.explanation.words import Word
from tertium.models.base import Progress
from tertium.report.tables import Cell, Table
from tertium.stats.correlation import spearman
from tertium.stats.resampling import bootstrap_counts, percentile_interval
from tertium.studies.report import Report
from tertium.studies.runner import Advance, Job, Runner, Scored, fingerprint
from tertium.text import Text, check_text

RANKED = (UNLIKELY, DIFFERENCES)
"""Methods that give every word a score."""
ROWS_AT_A_TIME = 64
MAX_SAMPLES = 200
"""Of the bootstrap: a sample has all tokens of a set."""
A_SCORES, B_SCORES = "a", "b"


@dataclass(frozen=True)
class LabelledPair:
    """Two texts with a label for each token."""

    a: Text
    b: Text
    labels_a: tuple[float, ...]
    labels_b: tuple[float, ...]


def read_labels(
    path: Path, lang_a: str | None, lang_b: str | None, limit: int | None = None
) -> list[LabelledPair]:
    """Read labelled pairs, and check that every token has a label."""
    pairs = []
    for row, record in enumerate(open_table(path), 1):
        if limit is not None and row > limit:
            break
        sides = []
        for side, lang in (("a", lang_a), ("b", lang_b)):
            text = Text(check_text(record.get(f"text_{side}"), role=f"text_{side}", row=row), lang)
            labels = record.get(f"labels_{side}")
            if not isinstance(labels, list) or len(labels) != len(text.text.split()):
                raise InputError(
                    f"{path}, row {row}: labels_{side} must be a list with one number for each "
                    f"token of text_{side} ({len(text.text.split())})"
                )
            sides.append((text, tuple(map(float, labels))))
        (a, labels_a), (b, labels_b) = sides
        pairs.append(LabelledPair(a, b, labels_a, labels_b))
    return pairs


def token_values(text: str, words: Sequence[tuple[Word, float]]) -> list[float]:
    """The mean score of the words in each token; 0 for a token without a scored word.

    >>> token_values("a b-c", [(Word("a", 0, 1), 1.0), (Word("b-c", 2, 5), 0.5)])
    [1.0, 0.5]
    """
    values = []
    for match in re.finditer(r"\S+", text):
        own = [
            score for word, score in words if word.start < match.end() and match.start() < word.end
        ]
        values.append(sum(own) / len(own) if own else 0.0)
    return values


@dataclass
class LabelStudy:
    """Spearman's correlation of word scores with labels, over all labelled tokens."""

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
        """Score all words, and make the table."""
        if not self.pairs:
            raise InputError("there are no labelled pairs")
        if not self.methods:
            raise InputError(f"labels need a method that scores every word: {', '.join(RANKED)}")
        scored = self.runner.run([self._job(method) for method in self.methods])
        self.runner.warn()
        rows = []
        for (_, method), each in scored.items():
            value, low, high, tokens = correlation(
                self.pairs, each, samples=min(self.samples, MAX_SAMPLES), seed=self.seed
            )
            interval = Cell(f"{low:.3f}-{high:.3f}")
            rows.append([Cell(method), Cell(tokens), Cell(value, ".3f"), interval])
        header = ["method", "tokens", "Spearman", "95 %"]
        note = "Over all tokens with a label; intervals by drawing pairs."
        return Report("Labelled tokens", {"labels": Table(header, rows, "Labelled tokens", note)})

    def _job(self, method: str) -> Job:
        one = replace(self.reviewer, methods=(method,))
        content = [[each.a, each.b] for each in self.pairs]

        def compute(progress: Progress | None, advance: Advance) -> Scored:
            parts: dict[str, list[list[float]]] = {A_SCORES: [], B_SCORES: []}
            for start in range(0, len(self.pairs), ROWS_AT_A_TIME):
                chosen = self.pairs[start : start + ROWS_AT_A_TIME]
                texts = [(each.a, each.b) for each in chosen]
                for (a, b), (first, second) in zip(
                    texts, word_values(one, method, texts, progress), strict=True
                ):
                    parts[A_SCORES].append(token_values(a.text, first))
                    parts[B_SCORES].append(token_values(b.text, second))
                advance(len(parts[A_SCORES]))
            return Scored(parts)

        signature = json.dumps(one.description(), sort_keys=True)
        return Job("labels", method, signature, fingerprint(content), len(self.pairs), compute)


Values = list[tuple[Word, float]]


def word_values(
    reviewer: Reviewer,
    method: str,
    pairs: Sequence[tuple[Text, Text]],
    progress: Progress | None = None,
) -> list[tuple[Values, Values]]:
    """The score of every word of both texts."""
    if method == UNLIKELY and reviewer.model is not None:
        losses = word_losses(pairs, reviewer.model, progress)
        return [
            (
                [(each.scored.word, each.loss) for each in first],
                [(each.scored.word, each.loss) for each in second],
            )
            for first, second in losses
        ]
    assert reviewer.encoder is not None  # checked by the reviewer
    return [
        (
            [(each.word, each.difference) for each in first],
            [(each.word, each.difference) for each in second],
        )
        for first, second in word_differences(pairs, reviewer.encoder, progress)
    ]


def correlation(
    pairs: Sequence[LabelledPair], scored: Scored, *, samples: int = MAX_SAMPLES, seed: int = 0
) -> tuple[float, float, float, int]:
    """Spearman's correlation over tokens, its interval, and the number of tokens."""
    labels: list[float] = []
    values: list[float] = []
    owners: list[int] = []
    for place, pair in enumerate(pairs):
        for own, given in ((A_SCORES, pair.labels_a), (B_SCORES, pair.labels_b)):
            for label, value in zip(given, scored.parts[own][place], strict=True):
                if label >= 0:
                    labels.append(label)
                    values.append(value)
                    owners.append(place)
    draws = bootstrap_counts(len(pairs), samples=samples, seed=seed)[:, np.array(owners)]
    interval = percentile_interval(spearman(values, labels, counts=draws))
    return spearman(values, labels), interval.low, interval.high, len(labels)
