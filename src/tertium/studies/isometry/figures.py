"""What the figures of the isometry study show, drawn into a folder (extra: plot)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from tertium.data.datasets.isometry import Predictions
from tertium.stats.correlation_test import stars
from tertium.studies.isometry import plots as isometry_plots
from tertium.studies.isometry.classes import ALL, BEHAVIOURS, THRESHOLD, decisions, short_names
from tertium.studies.isometry.correlation import Correlation, Protocol, SideScores, points
from tertium.studies.isometry.tables import agreement_counts

NOBODY = "no agreement"
Panel = tuple[str, str]


def draw_detections(found: Sequence[Predictions], out: Path) -> None:
    """Figure 4: a row a detector, a column a model and a data set."""
    names = short_names(list(found[0].judged))
    shown = {
        (short, f"{each.model}\n{each.dataset}"): (
            each.judged[name].source,
            each.judged[name].target,
        )
        for name, short in names.items()
        for each in found
    }
    isometry_plots.detections(shown, out, columns=len(found))


def draw_behaviours(found: Sequence[Predictions], out: Path, threshold: float = THRESHOLD) -> None:
    """Figure 5."""
    symbols = {each.code: f"{each.symbol} {each.name}" for each in BEHAVIOURS}
    counts = {
        panel: {(symbols[code], key or NOBODY): number for (code, key), number in own.items()}
        for panel, own in agreement_counts(found, threshold).items()
    }
    patterns = {key for own in counts.values() for _, key in own}
    order = sorted(patterns, key=lambda key: (key == NOBODY, key != ALL, -key.count("+"), key))
    isometry_plots.behaviours(counts, list(symbols.values()), order, out)


def draw_sides(
    found: Sequence[Predictions], scores: Mapping[Panel, SideScores], out: Path, measure: str
) -> None:
    """Figure 6."""
    shown = {
        (each.model, each.dataset): (
            scores[each.model, each.dataset].source,
            scores[each.model, each.dataset].target,
        )
        for each in found
    }
    isometry_plots.sides(shown, out, measure=measure)


def draw_equivalence(
    found: Sequence[Predictions],
    scores: Mapping[Panel, SideScores],
    correlations: Mapping[Panel, Correlation],
    protocol: Protocol,
    out: Path,
    *,
    measure: str,
    threshold: float = THRESHOLD,
) -> None:
    """Figure 7."""
    shown = {}
    for each in found:
        panel = (each.model, each.dataset)
        x, y, _ = points(decisions(each, threshold), scores[panel], protocol)
        own = correlations[panel]
        told = "r undefined" if np.isnan(own.r) else f"r = {own.r:.3f}{stars(own.p)}"
        shown[panel] = (x, y, told)
    isometry_plots.by_equivalence(shown, out, measure=f"{measure} ({protocol})")
