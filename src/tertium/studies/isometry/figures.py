"""Figures 4 to 7 of the isometry study (Shankar, 2020); one panel per model and data set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np

from tertium.data.datasets.isometry import Predictions
from tertium.report.plots import MAIN, PALETTE, blank_figure, r_label, save_figure
from tertium.stats.arrays import Floats
from tertium.stats.correlation import pearson, stars
from tertium.stats.proportions import wilson
from tertium.stats.resampling import bootstrap_counts, percentile_interval
from tertium.studies.isometry.classes import (
    ALL,
    BEHAVIOURS,
    THRESHOLD,
    agreement_counts,
    decisions,
    short_names,
)
from tertium.studies.isometry.correlation import (
    SIDES,
    Correlation,
    Protocol,
    SideScores,
    points,
)

NOBODY = "no agreement"
CELLS, BANDWIDTH = 80, 0.03
"""Of the density in figure 4: cells a side, and the deviation of the kernel."""
LEVELS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
MANY = 200
"""Points that are drawn small and faint, because they lie on each other."""
TITLE_LETTERS = 32
"""About as many as are above one panel."""
HANDLE_INCHES, LETTER_INCHES = 0.5, 0.085
"""The approximate width of an entry of a legend: its colour, and each letter of its name."""
COLOURS, NONE_COLOUR = (*PALETTE[:6], *PALETTE[7:]), "#c2c7cc"
"""Of agreement: full agreement first, none last. Lines of intervals are black."""
ACCENT = PALETTE[1]

Panel = tuple[str, str]
"""A model and a data set."""


def draw_detections(
    predictions: Sequence[Predictions], out: Path, threshold: float = THRESHOLD
) -> None:
    """Figure 4: P(paraphrase) after translation against before, with lines at the threshold.

    One row per detector, one column per model and data set; each panel has contours of the density
    (a Gaussian kernel), relative to its highest point.
    """
    names = short_names(list(predictions[0].judged))
    columns = len(predictions)
    figure, grid = _grid(len(names) * columns, columns, out, height=2.5)
    panels = [(name, each) for name in names for each in predictions]
    middles = (np.arange(CELLS) + 0.5) / CELLS
    for number, (axes, (name, each)) in enumerate(zip(grid, panels, strict=True)):
        judged = each.judged[name]
        shares = _density(np.asarray(judged.source), np.asarray(judged.target))
        picture = axes.contourf(
            middles, middles, shares.T, levels=LEVELS, cmap="viridis", norm=_logarithmic()
        )
        axes.contour(middles, middles, shares.T, levels=LEVELS, colors="black", linewidths=0.3)
        for draw in (axes.axhline, axes.axvline):
            draw(threshold, color=ACCENT, linestyle="--", linewidth=1)
        axes.set(xlim=(0, 1), ylim=(0, 1))
        axes.set_aspect("equal")
        if number < columns:
            axes.set_title(_title(each), fontsize="small")
        if number % columns == 0:
            axes.set_ylabel(f"{names[name]}\nafter", fontsize="small")
    figure.supxlabel("P(paraphrase) before translation", fontsize="small")
    figure.colorbar(
        picture, ax=grid, label="density, relative", shrink=0.6, format="{x:g}", ticks=LEVELS
    )
    save_figure(figure, out)


def _density(x: Floats, y: Floats) -> Floats:
    """A smoothed histogram of points in the unit square, relative to its maximum.

    The kernel is reflected at the borders, where most probabilities are.
    """
    counts, _, _ = np.histogram2d(x, y, CELLS, [[0, 1], [0, 1]])
    middles = (np.arange(CELLS) + 0.5) / CELLS
    apart = [middles[:, None] - image for image in (middles, -middles, 2 - middles)]
    kernel = sum(np.exp(-((each / BANDWIDTH) ** 2) / 2) for each in apart)
    smooth = np.asarray(kernel @ counts @ np.transpose(kernel), dtype=np.float64)
    return np.asarray(smooth / smooth.max())


def draw_behaviours(
    predictions: Sequence[Predictions], out: Path, threshold: float = THRESHOLD
) -> None:
    """Figure 5: how many pairs show each behaviour, by the detectors that agree on it.

    A line is Wilson's interval of the number of pairs.
    """
    counts = agreement_counts(predictions, threshold)
    patterns = {pattern for own in counts.values() for _, pattern in own}
    order = sorted(patterns, key=lambda key: (key == "", key != ALL, -key.count("+"), key))
    names = [f"{each.symbol} {each.name}" for each in BEHAVIOURS]
    figure, grid = _grid(len(counts), len(counts), out, height=4.2)
    tallest = 0.0
    for axes, each in zip(grid, predictions, strict=True):
        own = counts[each.model, each.dataset]
        base = np.zeros(len(names), dtype=np.int64)
        for pattern, colour in zip(order, _colours(len(order)), strict=True):
            heights = np.array([own.get((b.code, pattern), 0) for b in BEHAVIOURS])
            style = {"color": colour, "edgecolor": "white", "linewidth": 0.5}
            axes.bar(names, heights, bottom=base, label=pattern or NOBODY, **style)
            base = base + heights
        pairs = int(base.sum())
        for place, total in enumerate(base.tolist()):
            limits = wilson(total, pairs)
            low, high = pairs * limits.low, pairs * limits.high
            axes.plot([place, place], [low, high], color="black", linewidth=1)
            tallest = max(tallest, high)
            axes.text(place, high, str(total), ha="center", va="bottom", fontsize="x-small")
        axes.set_title(_title(each), fontsize="small")
        axes.tick_params(axis="x", rotation=60, labelsize="small")
    grid[0].set_ylim(0, 1.08 * tallest)
    grid[0].set_ylabel("pairs")
    handles, labels = grid[0].get_legend_handles_labels()
    room = figure.get_figwidth() / (HANDLE_INCHES + LETTER_INCHES * max(map(len, labels)))
    columns = max(1, min(3, int(room)))
    figure.legend(handles, labels, fontsize="small", loc="outside lower center", ncols=columns)
    save_figure(figure, out)


def draw_sides(
    predictions: Sequence[Predictions], scores: Mapping[Panel, SideScores], out: Path, measure: str
) -> None:
    """Figure 6: the scores of a measure after translation against those before it."""
    figure, grid = _grid(len(predictions), len(predictions), out, height=3.4)
    values = np.concatenate(
        [side for each in scores.values() for side in (each.source, each.target)]
    )
    low, high = float(values.min()), float(values.max())
    for axes, each in zip(grid, predictions, strict=True):
        own = scores[each.model, each.dataset]
        x, y = own.source, own.target
        size, alpha = (5, 0.25) if len(x) >= MANY else (20, 0.6)
        axes.scatter(x, y, s=size, color=MAIN, alpha=alpha, linewidths=0, rasterized=True)
        axes.plot([low, high], [low, high], color="black", linestyle=":", linewidth=1)
        counts = bootstrap_counts(len(x))
        limits = [percentile_interval(counts @ side / len(x)) for side in (x, y)]
        across, along = (
            [[side.mean() - own.low], [own.high - side.mean()]]
            for side, own in zip((x, y), limits, strict=True)
        )
        style = {"color": ACCENT, "elinewidth": 2, "capsize": 4}
        axes.errorbar(x.mean(), y.mean(), along, across, **style)
        r = r_label(pearson(x, y), pearson(x, y, counts=counts))
        axes.set_title(f"{_title(each)}\n{r}", fontsize="small")
        axes.set_aspect("equal")
    grid[0].set_ylabel(f"{measure} after")
    figure.supxlabel(
        f"{measure} before translation (cross: the means and their intervals)", fontsize="small"
    )
    save_figure(figure, out)


def draw_equivalence(
    predictions: Sequence[Predictions],
    scores: Mapping[Panel, SideScores],
    correlations: Mapping[tuple[str, str, str], Correlation],
    protocol: Protocol,
    out: Path,
    *,
    measure: str,
    threshold: float = THRESHOLD,
) -> None:
    """Figure 7: the scores of a measure where S is 0 and where it is 1, before and after.

    One row per side, one column per model and data set; ``correlations`` are by these three.
    """
    columns = len(predictions)
    # The panels do not share x: shared axes have one set of tick labels, and each has its counts.
    figure, grid = _grid(len(SIDES) * columns, columns, out, height=2.7, sharex=False)
    panels = [(side, each) for side in SIDES for each in predictions]
    for number, (axes, (side, each)) in enumerate(zip(grid, panels, strict=True)):
        panel = (each.model, each.dataset)
        x, y, _ = points(decisions(each, threshold), scores[panel], protocol, side)
        groups = {place: x[y == place] for place in (0, 1) if (y == place).sum() > 1}
        if groups:
            drawn = axes.violinplot(
                list(groups.values()), list(groups), widths=0.8, showextrema=False
            )
            for body in drawn["bodies"]:
                body.set_facecolor(MAIN)
        for place, own in groups.items():
            axes.plot(place, np.median(own), marker="_", color="black", markersize=14)
        axes.set_xticks([0, 1], [f"S = {place}\n({(y == place).sum()})" for place in (0, 1)])
        axes.set_xlim(-0.6, 1.6)
        found = correlations[(*panel, side)]
        r = "r undefined" if np.isnan(found.r) else f"r = {found.r:.3f}{stars(found.p)}"
        if found.interval is not None:
            r += f" ({found.interval.low:.2f} to {found.interval.high:.2f})"
        axes.set_title(f"{_title(each)}\n{r}" if number < columns else r, fontsize="small")
        if number % columns == 0:
            axes.set_ylabel(f"{measure}, {side}")
    figure.supxlabel(f"S by the protocol {protocol} (number of points)", fontsize="small")
    save_figure(figure, out)


def _title(each: Predictions) -> str:
    """The model and the data set, broken so that neighbours do not clip each other's titles."""
    return "\n".join(fill(name, TITLE_LETTERS) for name in (each.model, each.dataset))


def _grid(
    panels: int, columns: int, out: Path, *, height: float, sharex: bool = True
) -> tuple[Any, Any]:
    rows = -(-panels // columns)
    figure = blank_figure(max(4.5, 2.7 * columns + 1), height * rows + 0.6, out)
    grid = figure.subplots(rows, columns, sharex=sharex, sharey=True, squeeze=False)
    return figure, grid.ravel()


def _colours(count: int) -> list[str]:
    """One per pattern of agreement; the last is of none."""
    return [*(COLOURS[place % len(COLOURS)] for place in range(count - 1)), NONE_COLOUR]


def _logarithmic() -> Any:
    from matplotlib.colors import LogNorm

    return LogNorm(vmin=1e-3, vmax=1.0)
