"""Does a measure agree with the detectors? Pearson's r of scores and S (table 3 of the paper)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from tertium.data.datasets.isometry import Predictions
from tertium.errors import SettingError
from tertium.models.base import Progress
from tertium.stats.arrays import Floats, Ints
from tertium.stats.conventions import SAMPLES, Interval
from tertium.stats.correlation import pearson
from tertium.stats.correlation_test import positive_correlation_p, strength
from tertium.stats.resampling import bootstrap_counts, percentile_interval
from tertium.studies.isometry.classes import NONE, THRESHOLD, decisions, mode
from tertium.studies.specs import MeasureSpec, ModelLoader, Similarity, load_any
from tertium.text import Text

Protocol = Literal["majority", "pooled"]
"""``majority``: S of the mode, pairs without one removed, as the paper's text says. ``pooled``: the
own S of every detector, nothing removed, as its printed numbers come out."""
SAMPLES_AT_A_TIME = 50


@dataclass(frozen=True)
class SideScores:
    """What a measure gives to the pairs before translation and after, order not mattering."""

    source: Floats
    target: Floats


@dataclass(frozen=True)
class Correlation:
    """Pearson's r over the pairs of both sides."""

    r: float
    interval: Interval | None
    """By resampling pairs: a pair goes with both of its sides, and with all detectors."""
    p: float
    """One-tailed t-test over all points, as in the paper; NaN where r is."""
    items: int

    @property
    def strength(self) -> str:
        """What Schober et al. (2018) call it."""
        return "" if np.isnan(self.r) else strength(self.r)


def side_scores(
    predictions: Predictions,
    spec: MeasureSpec,
    *,
    load_model: ModelLoader = load_any,
    default_model: str = "",
    progress: Progress | None = None,
) -> SideScores:
    """Score both sides by the mean of both orders (equation 11)."""
    found = []
    sides = (predictions.sources, predictions.targets)
    for lang, pairs in zip(predictions.langs, sides, strict=True):
        measure = spec.make(lang, load_model, default_model)
        texts = [(Text(a, lang), Text(b, lang)) for a, b in pairs]
        scores = Similarity(measure, measure).segments(texts, progress).scores
        found.append(np.array(scores, dtype=np.float64))
    return SideScores(*found)


def correlate(
    predictions: Predictions,
    scores: SideScores,
    protocol: Protocol,
    *,
    threshold: float = THRESHOLD,
    samples: int = SAMPLES,
    seed: int = 0,
) -> Correlation:
    """Correlate the scores of a measure with S, by one protocol or the other."""
    codes = decisions(predictions, threshold)
    x, y, pairs = points(codes, scores, protocol)
    kept = len(np.unique(pairs))
    r = pearson(x, y) if kept > 1 else float("nan")
    if np.isnan(r):
        return Correlation(r, None, float("nan"), len(x))
    places = np.searchsorted(np.unique(pairs), pairs)
    counts = bootstrap_counts(kept, samples=samples, seed=seed)
    replicates = np.concatenate(
        [
            pearson(x, y, counts=counts[start : start + SAMPLES_AT_A_TIME, places])
            for start in range(0, samples, SAMPLES_AT_A_TIME)
        ]
    )
    interval = None if np.isnan(replicates).all() else percentile_interval(replicates)
    return Correlation(r, interval, positive_correlation_p(r, len(x)), len(x))


def points(codes: ArrayLike, scores: SideScores, protocol: Protocol) -> tuple[Floats, Floats, Ints]:
    """The scores, the S that go with them, and the pair that each point belongs to.

    >>> both = SideScores(np.array([10.0, 20.0]), np.array([30.0, 40.0]))
    >>> x, y, pair = points([[3, 0], [3, 2], [3, 1]], both, "majority")
    >>> x.tolist(), y.tolist(), pair.tolist()
    ([10.0, 30.0], [1.0, 1.0], [0, 0])
    >>> len(points([[3, 0], [3, 2], [3, 1]], both, "pooled")[0])
    12
    """
    table = np.asarray(codes, dtype=np.int64)
    if protocol == "majority":
        table = mode(table)[None, :]
    elif protocol != "pooled":
        names = ", ".join(map(repr, get_args(Protocol)))
        raise SettingError(f"protocol={protocol!r}: it must be one of {names}")
    kept = table != NONE
    x, y, pairs = [], [], []
    for own, there in zip(table, kept, strict=True):
        for side, values in ((own >> 1, scores.source), (own & 1, scores.target)):
            x.append(values[there])
            y.append(side[there].astype(np.float64))
            pairs.append(np.flatnonzero(there))
    return np.concatenate(x), np.concatenate(y), np.concatenate(pairs)


def protocols(given: Sequence[str]) -> list[Protocol]:
    """Check the names of protocols.

    >>> protocols(["pooled"])
    ['pooled']
    """
    for name in given:
        if name not in get_args(Protocol):
            raise SettingError(f"no protocol {name!r}: there are {', '.join(get_args(Protocol))}")
    return list(given)  # type: ignore[arg-type]
