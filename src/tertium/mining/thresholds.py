"""Precision, recall and F1 of mined pairs at every threshold, from a labelled sample."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from tertium.errors import InputError
from tertium.report.tables import Cell, Table
from tertium.stats.classification import Point, best_f1, precision_recall_points
from tertium.stats.conventions import LEVEL

SHOWN = 12
Labels = Mapping[tuple[str, str], bool]
"""Whether two texts have the same meaning."""


@dataclass(frozen=True)
class Curve:
    """Precision, recall and F1 at each threshold, from the highest down."""

    points: Sequence[Point]
    best: Point
    """The point with the highest F1; of equal ones, the highest threshold."""

    def table(self, rows: int = SHOWN) -> Table:
        """Some of the thresholds, evenly spaced by rank, and the best (in bold)."""
        places = np.unique(np.linspace(0, len(self.points) - 1, rows).round().astype(int))
        chosen = sorted({*places.tolist(), self.points.index(self.best)})
        return Table(
            ["threshold", "precision", "recall", "F1"],
            [
                [Cell(point.threshold, ".4f", bold=point == self.best)]
                + [Cell(100 * share, ".1f", bold=point == self.best) for share in point[1:]]
                for point in (self.points[place] for place in chosen)
            ],
        )

    def plot(self, out: Path) -> None:
        """Draw precision, recall and F1 over the threshold (extra: plot)."""
        from tertium.report.plots import new_figure, save_figure

        figure, axes = new_figure(6, 4, out)
        thresholds = [point.threshold for point in self.points]
        for name in ("precision", "recall", "f1"):
            shares = [getattr(point, name) for point in self.points]
            axes.plot(thresholds, shares, label={"f1": "F1"}.get(name, name), linewidth=1.5)
        axes.axvline(self.best.threshold, color="black", linestyle=":", linewidth=1)
        axes.set_xlabel("threshold")
        axes.set_ylim(0, 1.02)
        axes.grid(alpha=0.3)
        axes.legend(fontsize="small")
        save_figure(figure, out)


class Precision(NamedTuple):
    """The proportion of right pairs in a random sample, with a 95 % interval (Wilson)."""

    value: float
    low: float
    high: float
    labelled: int

    def __str__(self) -> str:
        shares = f"{100 * self.value:.1f} % (95 %: {100 * self.low:.1f} to {100 * self.high:.1f})"
        return f"precision {shares}, from {self.labelled} labelled pairs"


def sampled_precision(pairs: Sequence[tuple[str, str]], labels: Labels) -> Precision | None:
    """Estimate the precision of mined pairs from those that have a label; None if none has.

    The labelled pairs must be a random sample of the mined ones, as mining can draw it.

    >>> labels = {("a", "A"): True, ("b", "B"): True, ("c", "X"): False, ("d", "D"): True}
    >>> print(sampled_precision([*labels, ("e", "E")], labels))
    precision 75.0 % (95 %: 30.1 to 95.4), from 4 labelled pairs
    """
    known = [labels[pair] for pair in pairs if pair in labels]
    if not known:
        return None
    share = sum(known) / len(known)
    return Precision(share, *_wilson(share, len(known)), len(known))


def _wilson(share: float, items: int) -> tuple[float, float]:
    """The score interval of a proportion (Wilson, 1927)."""
    z = NormalDist().inv_cdf((1 + LEVEL) / 2)
    middle = share + z * z / (2 * items)
    spread = z * math.sqrt(share * (1 - share) / items + (z / (2 * items)) ** 2)
    scale = 1 + z * z / items
    return max(0.0, (middle - spread) / scale), min(1.0, (middle + spread) / scale)


def curve(
    pairs: Sequence[tuple[str, str]], scores: Sequence[float], labels: Labels, *, complete: bool
) -> Curve:
    """Compute precision, recall and F1 at the score of each mined pair that has a label.

    ``complete``: the labels name all true pairs, and every other mined pair is wrong. Otherwise
    they are a sample, and mined pairs without a label do not count. Recall is relative to all true
    pairs of the labels, mined or not.

    >>> labels = {("a", "A"): True, ("b", "B"): True}
    >>> found = curve([("a", "A"), ("b", "C")], [0.9, 0.5], labels, complete=True)
    >>> found.points[0]
    Point(threshold=0.9, precision=1.0, recall=0.5, f1=0.6666666666666666)
    >>> found.points[1]
    Point(threshold=0.5, precision=0.5, recall=0.5, f1=0.5)
    """
    true_pairs = sum(labels.values())
    if not true_pairs:
        raise InputError("the labelled pairs contain no pair that is right; add some")
    known = [
        (score, labels.get(pair, False))
        for pair, score in zip(pairs, scores, strict=True)
        if complete or pair in labels
    ]
    if not known:
        raise InputError(
            "none of the labelled pairs is among the mined pairs; they must have the same texts"
        )
    points = precision_recall_points(
        [label for _, label in known], [score for score, _ in known], true_pairs
    )
    return Curve(points, best_f1(points))
