"""The correlation of a measure with the detectors: Pearson's r of scores and S (table 3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from tertium.data.datasets.isometry import Predictions
from tertium.errors import SettingError
from tertium.measures.loading import MeasureSpec, ModelSource
from tertium.stats.arrays import Floats, Ints
from tertium.stats.conventions import SAMPLES, Interval
from tertium.stats.correlation import pearson, positive_correlation_p, strength
from tertium.stats.resampling import (
    bootstrap_counts,
    combine,
    percentile_interval,
    percentile_p_value,
)
from tertium.studies.isometry.classes import NONE, THRESHOLD, decisions, mode
from tertium.studies.runner import Runner, SharedModels, similarity_job
from tertium.text import Text

Protocol = Literal["majority", "pooled"]
"""``majority``: S of the mode, without the pairs that have none, as the text of the paper says.
``pooled``: S of every detector, nothing removed, which gives the printed numbers."""
SIDES = ("source", "target")
BOTH = "both"
"""Source and target at once, as in table 3; figure 7 has each side by itself."""


@dataclass(frozen=True)
class SideScores:
    """The scores of the pairs before and after translation, the mean of both orders."""

    source: Floats
    target: Floats


@dataclass(frozen=True)
class Correlation:
    """Pearson's r over pairs, of one side or of both; or the mean of r over data sets."""

    r: float
    replicates: Floats
    """r of samples of pairs, each with its sides and all detectors; data sets of the same number of
    pairs have the same samples, because the sets may be of the same segments."""
    t_p: float
    """One-tailed t-test over all points, as in the paper; NaN if r is, and of a mean."""
    items: int

    @property
    def interval(self) -> Interval | None:
        return None if np.isnan(self.replicates).all() else percentile_interval(self.replicates)

    @property
    def p(self) -> float:
        """Two-sided, from the same samples as the interval."""
        none = np.isnan(self.replicates).all()
        return float("nan") if none else percentile_p_value(self.replicates)

    @property
    def strength(self) -> str:
        """The interpretation by Schober et al. (2018)."""
        return "" if np.isnan(self.r) else strength(self.r)


def mean_correlation(parts: Sequence[Correlation]) -> Correlation:
    """The mean over data sets; undefined if it is undefined on one of them."""
    return Correlation(
        float(np.mean([each.r for each in parts])),
        combine([each.replicates for each in parts]),
        float("nan"),
        sum(each.items for each in parts),
    )


def score_sides(
    predictions: Sequence[Predictions],
    specs: Sequence[MeasureSpec],
    *,
    models: ModelSource | None = None,
    runner: Runner | None = None,
) -> dict[tuple[str, str, str], SideScores]:
    """Score both sides of all pairs, as the mean of both orders (equation 11).

    The result is by measure, model and data set, without the measures that lack a language.
    """
    source = SharedModels() if models is None else models
    run = Runner() if runner is None else runner
    jobs = {}
    for spec in specs:
        for each in predictions:
            sides = zip(SIDES, each.langs, (each.sources, each.targets), strict=True)
            for side, lang, pairs in sides:
                texts = {side: [(Text(a, lang), Text(b, lang)) for a, b in pairs]}
                name = f"{each.dataset} {each.model} {side}"
                key = (str(spec), each.model, each.dataset, side)
                jobs[key] = similarity_job(name, spec, texts, source, (lang,))
    scored = run.run(list(jobs.values()))
    values = {
        key: np.array(scored[job.key].parts[key[3]], dtype=np.float64)
        for key, job in jobs.items()
        if job.key in scored
    }
    return {
        key: SideScores(values[(*key, "source")], values[(*key, "target")])
        for key in dict.fromkeys(key[:3] for key in jobs)
        if all((*key, side) in values for side in SIDES)
    }


def side_scores(
    predictions: Predictions, spec: MeasureSpec, *, models: ModelSource | None = None
) -> SideScores:
    """Score both sides of one set by one measure."""
    [scores] = score_sides([predictions], [spec], models=models).values()
    return scores


def correlate(
    predictions: Predictions,
    scores: SideScores,
    protocol: Protocol,
    *,
    side: str = BOTH,
    threshold: float = THRESHOLD,
    samples: int = SAMPLES,
    seed: int = 0,
) -> Correlation:
    """Correlate the scores of a measure with S by one of the protocols, on one side or both."""
    codes = decisions(predictions, threshold)
    x, y, pairs = points(codes, scores, protocol, side)
    r = pearson(x, y) if len(np.unique(pairs)) > 1 else float("nan")
    if np.isnan(r):
        return Correlation(r, np.full(samples, np.nan), float("nan"), len(x))
    size = len(predictions.sources)
    counts = bootstrap_counts(size, samples=samples, seed=seed)
    # r of a sample needs sums only, and each pair has the same sums wherever it is drawn.
    x, y = x - x.mean(), y - y.mean()
    products = (np.ones(len(x)), x, y, x * x, y * y, x * y)
    sums = np.stack([np.bincount(pairs, own, minlength=size) for own in products], axis=1)
    n, a, b, aa, bb, ab = (counts @ sums).T
    spread = (n * aa - a * a) * (n * bb - b * b)
    constant = spread <= (1e-12 * n * n) ** 2 * max(1.0, float(x @ x) * float(y @ y))
    with np.errstate(divide="ignore", invalid="ignore"):
        replicates = np.where(constant, np.nan, (n * ab - a * b) / np.sqrt(np.abs(spread)))
    return Correlation(r, replicates, positive_correlation_p(r, len(x)), len(x))


def points(
    codes: ArrayLike, scores: SideScores, protocol: Protocol, side: str = BOTH
) -> tuple[Floats, Floats, Ints]:
    """The scores of a side or of both, their S, and the pair that each point belongs to.

    >>> both = SideScores(np.array([10.0, 20.0]), np.array([30.0, 40.0]))
    >>> x, y, pair = points([[3, 0], [3, 2], [3, 1]], both, "majority")
    >>> x.tolist(), y.tolist(), pair.tolist()
    ([10.0, 30.0], [1.0, 1.0], [0, 0])
    >>> len(points([[3, 0], [3, 2], [3, 1]], both, "pooled")[0])
    12
    >>> x, y, pair = points([[2, 0]], both, "majority", "target")
    >>> x.tolist(), y.tolist()
    ([30.0, 40.0], [0.0, 0.0])
    """
    table = np.asarray(codes, dtype=np.int64)
    if protocol == "majority":
        table = mode(table)[None, :]
    elif protocol != "pooled":
        names = ", ".join(map(repr, get_args(Protocol)))
        raise SettingError(f"protocol={protocol!r}: it must be one of {names}")
    kept = table != NONE
    x, y, pairs = [], [], []
    for codes_of, keep in zip(table, kept, strict=True):
        found = {"source": (codes_of >> 1, scores.source), "target": (codes_of & 1, scores.target)}
        for name in SIDES if side == BOTH else (side,):
            equivalence, values = found[name]
            x.append(values[keep])
            y.append(equivalence[keep].astype(np.float64))
            pairs.append(np.flatnonzero(keep))
    return np.concatenate(x), np.concatenate(y), np.concatenate(pairs)


def protocols(given: Sequence[str]) -> list[Protocol]:
    """Check the names of protocols.

    >>> protocols(["pooled"])
    ['pooled']
    """
    for name in given:
        if name not in get_args(Protocol):
            raise SettingError(f"unknown protocol {name!r}; use {' or '.join(get_args(Protocol))}")
    return list(given)  # type: ignore[arg-type]
