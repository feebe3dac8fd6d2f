"""Paraphrase identification: read pairs, choose a threshold, compute accuracy and AUC."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np

from tertium.data.records import open_table
from tertium.measures.base import Measure
from tertium.stats.classification import auc


@dataclass(frozen=True)
class Pairs:
    """Pairs of sentences, and whether each is a paraphrase."""

    first: list[str]
    second: list[str]
    labels: np.ndarray


@dataclass(frozen=True)
class Result:
    """How well a measure identifies paraphrases, and its time per pair."""

    accuracy: float
    area_under_curve: float
    seconds_per_pair: float

    def __str__(self) -> str:
        return f"{100 * self.accuracy:.1f} | {100 * self.area_under_curve:.1f}"


def read_pairs(file: Path, count: int | None = None, **fields: str) -> Pairs:
    """Read the first pairs of a table (sentence1, sentence2, label) that have these fields."""
    records = list(
        islice(
            (
                record
                for record in open_table(file)
                if all(record[name] == value for name, value in fields.items())
            ),
            count,
        )
    )
    return Pairs(
        [record["sentence1"] for record in records],
        [record["sentence2"] for record in records],
        np.array([record["label"] == "1" for record in records]),
    )


def best_threshold(scores: Sequence[float], labels: np.ndarray) -> float:
    values = np.array(scores)
    candidates = np.unique(values)
    accuracies = [np.mean((values > candidate) == labels) for candidate in candidates]
    return float(candidates[int(np.argmax(accuracies))])


def symmetric(measure: Measure, pairs: Pairs, lang: str) -> list[float]:
    """The mean of both orders, as the NMTScore paper does for surface measures."""
    forth = measure(pairs.first, pairs.second, lang=lang)
    back = measure(pairs.second, pairs.first, lang=lang)
    return [(x + y) / 2 for x, y in zip(forth, back, strict=True)]


def identify(measure: Measure, dev: Pairs, test: Pairs, lang: str) -> Result:
    """Choose the threshold on ``dev``, and evaluate it on ``test``."""
    threshold = best_threshold(symmetric(measure, dev, lang), dev.labels)
    started = time.monotonic()
    scores = symmetric(measure, test, lang)
    seconds = time.monotonic() - started
    return Result(
        float(np.mean((np.array(scores) > threshold) == test.labels)),
        auc(test.labels, scores),
        seconds / len(test.labels),
    )
