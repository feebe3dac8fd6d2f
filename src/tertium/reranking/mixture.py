"""Mixtures of scores, and weights that are tuned on lists with references.

The tuning is that of Och, "Minimum Error Rate Training in Statistical Machine Translation" (2003):
along one weight, the choice among the candidates of a list is piecewise constant, so the system
score of every choice can be computed, not only that of some weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tertium.measures.base import Measure

Floats = NDArray[np.float64]
LEAST_GAIN = 1e-9


class Tuned(NamedTuple):
    """Weights that sum to 1, and the system score on the lists that they were tuned on."""

    weights: tuple[float, ...]
    score: float


def standardized(features: Floats) -> Floats:
    """Scale each feature to mean 0 and standard deviation 1 over the candidates of a list.

    A feature that does not tell them apart becomes 0.

    >>> standardized(np.array([[1.0, 5.0], [3.0, 5.0]]))
    array([[-1.,  0.],
           [ 1.,  0.]])
    """
    centred = features - features.mean(axis=0)
    spread = centred.std(axis=0)
    tiny = spread <= 1e-12 * np.maximum(1.0, np.abs(features).max(axis=0, initial=0.0))
    return np.asarray(np.where(tiny, 0.0, centred / np.where(tiny, 1.0, spread)))


def mixed(features: Floats, weights: Sequence[float]) -> Floats:
    """The weighted sum of standardized features, one number per candidate."""
    return np.asarray(standardized(features) @ np.array(weights))


def tune(features: Sequence[Floats], statistics: Sequence[Floats], measure: Measure) -> Tuned:
    """Find the weights, none below 0, whose choices have the highest system score.

    ``features`` has one array (candidates, features) per list, ``statistics`` one array
    (candidates, statistics) of the measure against the references. The weights are changed one by
    one as long as that helps, starting from equal weights and from each feature alone.
    """
    scaled = [standardized(each) for each in features]
    count = scaled[0].shape[1]
    starts = [np.full(count, 1 / count), *np.eye(count)]
    best = Tuned((), -np.inf)
    for start in starts if count > 1 else starts[:1]:
        found = _climb(scaled, statistics, measure, start)
        if found.score > best.score + LEAST_GAIN:
            best = found
    return best


def _climb(
    features: Sequence[Floats], statistics: Sequence[Floats], measure: Measure, start: Floats
) -> Tuned:
    weights, score = start, system_score(features, statistics, measure, start)
    improved = len(weights) > 1
    while improved:
        improved = False
        for place in range(len(weights)):
            rest = weights.copy()
            rest[place] = 0.0
            if not rest.any():
                continue  # the scale of a single weight makes no difference
            weight, found = best_on_line(features, statistics, measure, rest, place)
            if found > score + LEAST_GAIN:
                weights, score, improved = rest, found, True
                weights[place] = weight
    return Tuned(tuple((weights / weights.sum()).tolist()), score)


def system_score(
    features: Sequence[Floats], statistics: Sequence[Floats], measure: Measure, weights: Floats
) -> float:
    """The system score of the choices that some weights make."""
    chosen = [
        numbers[int((each @ weights).argmax())]
        for each, numbers in zip(features, statistics, strict=True)
    ]
    return float(measure.systems(np.sum(chosen, axis=0)[None, :])[0])


def best_on_line(
    features: Sequence[Floats],
    statistics: Sequence[Floats],
    measure: Measure,
    rest: Floats,
    place: int,
) -> tuple[float, float]:
    """The best value of one weight, from 0, where the others stay; and its system score."""
    sums = np.zeros(statistics[0].shape[1])
    changes: list[tuple[float, Floats]] = []
    for each, numbers in zip(features, statistics, strict=True):
        lines = upper_envelope(each @ rest, each[:, place])
        sums += numbers[lines[0][1]]
        for (_, before), (threshold, after) in pairwise(lines):
            changes.append((threshold, numbers[after] - numbers[before]))
    changes.sort(key=lambda change: change[0])
    thresholds = np.array([threshold for threshold, _ in changes])
    totals = np.vstack([sums, *(change for _, change in changes)]).cumsum(axis=0)
    # a value between two thresholds; equal thresholds change the choice at once
    edges = np.concatenate([[0.0], thresholds, [thresholds[-1] + 2.0 if len(changes) else 2.0]])
    wide = np.diff(edges) > 1e-9
    scores = np.where(wide, measure.systems(totals), -np.inf)
    best = int(scores.argmax())
    return float((edges[best] + edges[best + 1]) / 2), float(scores[best])


def upper_envelope(offsets: Floats, slopes: Floats) -> list[tuple[float, int]]:
    """From which weight on (from 0) which candidate has the highest ``offset + weight * slope``.

    >>> upper_envelope(np.array([1.0, 0.0, -3.0]), np.array([0.0, 1.0, 2.0]))
    [(0.0, 0), (1.0, 1), (3.0, 2)]
    """
    current = max(range(len(offsets)), key=lambda j: (offsets[j], slopes[j], -j))
    weight = 0.0
    lines = [(weight, current)]
    while True:
        steeper = np.flatnonzero(slopes > slopes[current])
        if not steeper.size:
            return lines
        meets = (offsets[current] - offsets[steeper]) / (slopes[steeper] - slopes[current])
        meets = np.maximum(meets, weight)
        first = meets.min()
        at_first = steeper[meets == first]
        current = int(max(at_first, key=lambda j: (slopes[j], -j)))
        weight = float(first)
        lines.append((weight, current))
