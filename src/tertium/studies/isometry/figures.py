"""Figures 4 to 7 of the isometry study (Shankar, 2020); one panel per model and data set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tertium.data.datasets.isometry import Predictions
from tertium.report.plots import FAINT, MAIN, blank_figure, save_figure
from tertium.stats.correlation import stars
from tertium.studies.isometry.classes import (
    ALL,
    BEHAVIOURS,
    THRESHOLD,
    agreement_counts,
    decisions,
    short_names,
)
from tertium.studies.isometry.correlation import Correlation, Protocol, SideScores, points

NOBODY = "no agreement"
BINS = 20
COLOURS = ("#2a5d84", "#7fb2d5", "#e0a458", "#b5651d", "#8c6bb1", "#5aae61", "#c2c7cc")
"""Of agreement: full agreement first, none last."""

Panel = tuple[str, str]
"""A model and a data set."""


def draw_detections(predictions: Sequence[Predictions], out: Path) -> None:
    """Figure 4: one row per detector, one column per model and data set."""
    names = short_names(list(predictions[0].judged))
    shown = {
        (short, f"{each.model}\n{each.dataset}"): (
            each.judged[name].source,
            each.judged[name].target,
        )
        for name, short in names.items()
        for each in predictions
    }
    detections(shown, out, columns=len(predictions))


def draw_behaviours(
    predictions: Sequence[Predictions], out: Path, threshold: float = THRESHOLD
) -> None:
    """Figure 5."""
    symbols = {each.code: f"{each.symbol} {each.name}" for each in BEHAVIOURS}
    counts = {
        panel: {(symbols[code], key or NOBODY): number for (code, key), number in own.items()}
        for panel, own in agreement_counts(predictions, threshold).items()
    }
    patterns = {key for own in counts.values() for _, key in own}
    order = sorted(patterns, key=lambda key: (key == NOBODY, key != ALL, -key.count("+"), key))
    behaviours(counts, list(symbols.values()), order, out)


def draw_sides(
    predictions: Sequence[Predictions], scores: Mapping[Panel, SideScores], out: Path, measure: str
) -> None:
    """Figure 6."""
    shown = {
        (each.model, each.dataset): (
            scores[each.model, each.dataset].source,
            scores[each.model, each.dataset].target,
        )
        for each in predictions
    }
    sides(shown, out, measure=measure)


def draw_equivalence(
    predictions: Sequence[Predictions],
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
    for each in predictions:
        panel = (each.model, each.dataset)
        x, y, _ = points(decisions(each, threshold), scores[panel], protocol)
        own = correlations[panel]
        title = "r undefined" if np.isnan(own.r) else f"r = {own.r:.3f}{stars(own.p)}"
        shown[panel] = (x, y, title)
    by_equivalence(shown, out, measure=f"{measure} ({protocol})")


def detections(
    found: Mapping[tuple[str, str], tuple[ArrayLike, ArrayLike]], out: Path, *, columns: int
) -> None:
    """Figure 4: P(paraphrase) after translation against before; ``found`` by detector and panel.

    Each panel is a histogram, relative to its highest bin.
    """
    figure, grid = _grid(len(found), columns, out, height=2.5)
    for number, ((row, column), (x, y)) in enumerate(found.items()):
        axes = grid[number]
        shares, _, _ = np.histogram2d(np.asarray(x), np.asarray(y), BINS, [[0, 1], [0, 1]])
        shares = np.where(shares > 0, shares / shares.max(), np.nan)
        picture = axes.imshow(
            shares.T, cmap="viridis", norm=_logarithmic(), origin="lower", extent=(0, 1, 0, 1)
        )
        axes.plot([0, 1], [0, 1], color=FAINT, linestyle=":", linewidth=1)
        axes.set_aspect("equal")
        if number < columns:
            axes.set_title(column, fontsize="small")
        if number % columns == 0:
            axes.set_ylabel(f"{row}\nafter", fontsize="small")
    figure.supxlabel("P(paraphrase) before translation", fontsize="small")
    figure.colorbar(picture, ax=grid, label="density, relative", shrink=0.6)
    save_figure(figure, out)


def behaviours(
    found: Mapping[Panel, Mapping[tuple[str, str], int]],
    names: Sequence[str],
    patterns: Sequence[str],
    out: Path,
) -> None:
    """Figure 5: how many pairs show each behaviour, by the detectors that agree on it."""
    figure, grid = _grid(len(found), len(found), out, height=4.2)
    tallest = max(
        sum(own.get((name, each), 0) for each in patterns)
        for own in found.values()
        for name in names
    )
    for number, ((model, dataset), own) in enumerate(found.items()):
        axes = grid[number]
        base = np.zeros(len(names))
        for pattern, colour in zip(patterns, _colours(len(patterns)), strict=True):
            heights = np.array([own.get((name, pattern), 0) for name in names])
            axes.bar(names, heights, bottom=base, color=colour, label=pattern)
            base = base + heights
        for place, total in enumerate(base.astype(int).tolist()):
            axes.text(place, total, str(total), ha="center", va="bottom", fontsize="x-small")
        axes.set_title(f"{model}\n{dataset}", fontsize="small")
        axes.tick_params(axis="x", rotation=60, labelsize="small")
        axes.set_ylim(0, 1.08 * tallest)
    grid[0].set_ylabel("pairs")
    handles, labels = grid[0].get_legend_handles_labels()
    figure.legend(handles, labels, fontsize="small", loc="outside lower center", ncols=3)
    save_figure(figure, out)


def sides(found: Mapping[Panel, tuple[ArrayLike, ArrayLike]], out: Path, *, measure: str) -> None:
    """Figure 6: a measure's scores after translation against those before it."""
    figure, grid = _grid(len(found), len(found), out, height=3.4)
    values = np.concatenate([np.ravel(each) for pair in found.values() for each in pair])
    low, high = float(values.min()), float(values.max())
    for number, ((model, dataset), (x, y)) in enumerate(found.items()):
        axes = grid[number]
        axes.scatter(x, y, s=5, color=MAIN, alpha=0.25, linewidths=0, rasterized=True)
        axes.plot([low, high], [low, high], color="black", linestyle=":", linewidth=1)
        axes.plot(
            np.asarray(x).mean(),
            np.asarray(y).mean(),
            marker="+",
            color="#b5651d",
            markersize=12,
            mew=2,
        )
        axes.set_title(f"{model}\n{dataset}", fontsize="small")
        axes.set_aspect("equal")
    grid[0].set_ylabel(f"{measure} after")
    figure.supxlabel(f"{measure} before translation (cross: the means)", fontsize="small")
    save_figure(figure, out)


def by_equivalence(
    found: Mapping[Panel, tuple[ArrayLike, ArrayLike, str]], out: Path, *, measure: str
) -> None:
    """Figure 7: the scores of a measure where S is 0 and where it is 1, with r as the title."""
    figure, grid = _grid(len(found), len(found), out, height=3.4)
    for number, ((model, dataset), (scores, labels, title)) in enumerate(found.items()):
        axes = grid[number]
        x, y = np.asarray(scores), np.asarray(labels)
        groups = {place: x[y == place] for place in (0, 1) if (y == place).sum() > 1}
        if groups:
            drawn = axes.violinplot(list(groups.values()), list(groups), widths=0.8)
            for body in drawn["bodies"]:
                body.set_facecolor(MAIN)
        for place, own in groups.items():
            axes.plot(place, np.median(own), marker="_", color="black", markersize=14)
        axes.set_xticks([0, 1], [f"S = {place}\n({(y == place).sum()})" for place in (0, 1)])
        axes.set_xlim(-0.6, 1.6)
        axes.set_title(f"{model}\n{dataset}: {title}", fontsize="small")
    grid[0].set_ylabel(measure)
    save_figure(figure, out)


def _grid(panels: int, columns: int, out: Path, *, height: float) -> tuple[Any, Any]:
    rows = -(-panels // columns)
    figure = blank_figure(max(4.5, 2.7 * columns + 1), height * rows + 0.6, out)
    return figure, figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).ravel()


def _colours(count: int) -> list[str]:
    if count > len(COLOURS):
        return [COLOURS[place % len(COLOURS)] for place in range(count)]
    return [*COLOURS[: count - 1], COLOURS[-1]]


def _logarithmic() -> Any:
    from matplotlib.colors import LogNorm

    return LogNorm(vmin=1e-3, vmax=1.0)
