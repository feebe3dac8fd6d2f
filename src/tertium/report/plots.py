"""Figures with matplotlib (extra: plot); the same data give the same bytes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tertium.errors import SettingError
from tertium.registry import Extra, check_extras
from tertium.stats.bands import Band
from tertium.stats.resampling import percentile_interval

PLOT = Extra("plot", ("matplotlib",))
SUFFIXES = (".png", ".svg", ".pdf")
SALT = "tertium"
"""Makes the identifiers in SVG files reproducible."""
MAIN, FAINT = "#2a5d84", "#9aa5ad"
PALETTE = (
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#cc79a7",
    "#e69f00",
    "#56b4e9",
    "#000000",
    "#b8a800",
)
"""Colours that are told apart with any colour vision (Okabe and Ito; the yellow is darker)."""
MARKERS, STYLES = "os^Dv<>P", ("-", "--", ":", "-.")
RESOLUTION = 150
METADATA = {".svg": {"Date": None}, ".png": {"Software": None}, ".pdf": {"CreationDate": None}}
"""What would differ each time, left out."""

Interval = tuple[float, float]


def forest(
    values: Mapping[str, tuple[float, Interval]],
    out: Path,
    *,
    label: str,
    top: Collection[str] = (),
) -> None:
    """Draw values with intervals, one per line; ``top`` ones are highlighted (NMTScore, fig. 3)."""
    figure, axes = new_figure(7, 0.6 + 0.3 * max(len(values), 3), out)
    for place, (name, (value, (low, high))) in enumerate(values.items()):
        colour = MAIN if name in top or not top else FAINT
        axes.plot([low, high], [place, place], color=colour, linewidth=5, solid_capstyle="butt")
        axes.plot([value], [place], marker="|", color="black", markersize=11, markeredgewidth=1.5)
    axes.set_yticks(range(len(values)), list(values))
    for tick, name in zip(axes.get_yticklabels(), values, strict=True):
        tick.set_fontweight("bold" if name in top else "normal")
    axes.set_ylim(len(values) - 0.5, -0.5)
    axes.set_xlabel(label)
    axes.grid(axis="x", alpha=0.3)
    save_figure(figure, out)


def heat_map(
    names: Sequence[str], values: Sequence[Sequence[float]], out: Path, *, label: str
) -> None:
    """Draw a square matrix, such as the correlations between measures."""
    size = 2 + 0.65 * len(names)
    figure, axes = new_figure(size + 1, size, out)
    picture = axes.imshow(values, cmap="viridis", vmin=min(0.0, *map(min, values)), vmax=1.0)
    middle = (picture.norm.vmin + picture.norm.vmax) / 2
    for row, line in enumerate(values):
        for column, value in enumerate(line):
            colour = "black" if value > middle else "white"
            axes.text(column, row, f"{value:.2f}", ha="center", va="center", color=colour)
    axes.set_xticks(range(len(names)), names, rotation=45, ha="right")
    axes.set_yticks(range(len(names)), names)
    figure.colorbar(picture, ax=axes, label=label, shrink=0.8)
    save_figure(figure, out)


@dataclass(frozen=True)
class RocCurve:
    """A ROC curve, and how far it may be off."""

    false_rate: Sequence[float]
    true_rate: Sequence[float]
    area: float
    interval: Interval
    """Of the area."""
    band: Band


def roc(curves: Mapping[str, RocCurve], out: Path) -> None:
    """Draw ROC curves with their bands, and the areas below them with their intervals."""
    figure, axes = new_figure(5.5, 5, out)
    for number, (name, curve) in enumerate(curves.items()):
        style = {"color": _colours(len(curves))[number], "linestyle": line_style(number)}
        low, high = (100 * limit for limit in curve.interval)
        label = f"{name} ({100 * curve.area:.1f}, {low:.1f} to {high:.1f})"
        axes.plot(curve.false_rate, curve.true_rate, label=label, linewidth=1.5, **style)
        draw_band(axes, curve.band, style["color"])
    axes.plot([0, 1], [0, 1], color=FAINT, linestyle=":", linewidth=1)
    axes.set_xlabel("false positive rate")
    axes.set_ylabel("true positive rate")
    axes.set_aspect("equal")
    axes.legend(title="AUC and its 95 % interval", fontsize="small")
    save_figure(figure, out)


def scatter(
    x: Sequence[float],
    y: Sequence[float],
    out: Path,
    *,
    labels: tuple[str, str],
    band: Band | None = None,
    title: str = "",
) -> None:
    """Draw points, and the band of a line through them."""
    figure, axes = new_figure(6, 5, out)
    axes.scatter(x, y, s=9, color=MAIN, alpha=0.35, linewidths=0)
    if band is not None:
        draw_band(axes, band, PALETTE[1], edges=True)
    axes.set_title(title, fontsize="medium")
    axes.set_xlabel(labels[0])
    axes.set_ylabel(labels[1])
    axes.grid(alpha=0.3)
    save_figure(figure, out)


def overlay(
    x: Sequence[float],
    series: Mapping[str, Sequence[float]],
    out: Path,
    *,
    labels: tuple[str, str],
    bands: Mapping[str, Band | None] | None = None,
) -> None:
    """Draw the points of several series, and the band of a line through each."""
    figure, axes = new_figure(6, 5, out)
    colours = _colours(len(series))
    for number, (name, heights) in enumerate(series.items()):
        axes.scatter(
            x,
            heights,
            s=12,
            label=name,
            color=colours[number],
            marker=MARKERS[number % len(MARKERS)],
            alpha=0.45,
            linewidths=0,
        )
        band = (bands or {}).get(name)
        if band is not None:
            draw_band(axes, band, colours[number], edges=True)
    axes.set_xlabel(labels[0])
    axes.set_ylabel(labels[1])
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
    save_figure(figure, out)


def draw_band(axes: Any, band: Band, colour: Any, *, edges: bool = False) -> None:
    """Shade a band; with edges, it is seen among many points of the same colour."""
    style = {"color": colour, "alpha": 0.2, "linewidth": 0, "zorder": 0.5}  # below points
    axes.fill_between(band.x, band.low, band.high, **style)
    for limit in (band.low, band.high) if edges else ():
        axes.plot(band.x, limit, color=colour, linewidth=1)


def r_label(r: float, replicates: ArrayLike) -> str:
    """A correlation with its interval; empty if it is undefined.

    >>> r_label(0.5, [n / 1000 for n in range(1001)])
    'r = +0.50 (+0.03 to +0.97)'
    """
    if np.isnan(r) or np.isnan(replicates).all():
        return ""
    limits = percentile_interval(replicates)
    return f"r = {r:+.2f} ({limits.low:+.2f} to {limits.high:+.2f})"


def line_style(number: int) -> str:
    """The style of a line: another one each time that the palette starts over."""
    return STYLES[number // len(PALETTE) % len(STYLES)]


def lines(
    labels: Sequence[str],
    series: Mapping[str, Sequence[float | None]],
    out: Path,
    *,
    axes_labels: tuple[str, str],
    intervals: Mapping[str, Sequence[Interval | None]] | None = None,
) -> None:
    """Draw series over labelled positions, with their intervals; missing values are gaps.

    Series have different colours, markers and, beyond the palette, styles of lines.
    """
    figure, axes = new_figure(max(5, 0.75 * len(labels)) + 2, 3.5, out)
    colours = _colours(len(series))
    for number, (name, values) in enumerate(series.items()):
        heights = [float("nan") if value is None else value for value in values]
        axes.plot(
            range(len(labels)),
            heights,
            label=name,
            color=colours[number],
            marker=MARKERS[number % len(MARKERS)],
            linestyle=line_style(number),
        )
        for place, limits in enumerate((intervals or {}).get(name, ())):
            if limits is not None:
                shifted = place + 0.06 * (number - (len(series) - 1) / 2)
                axes.plot([shifted, shifted], limits, color=colours[number], linewidth=1, alpha=0.7)
    axes.set_xticks(range(len(labels)), labels, fontsize="small")
    axes.set_xlabel(axes_labels[0])
    axes.set_ylabel(axes_labels[1])
    axes.grid(axis="y", alpha=0.3)
    axes.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1, 1))
    save_figure(figure, out)


def grouped_bars(
    labels: Sequence[str],
    series: Mapping[str, Sequence[float | None]],
    out: Path,
    *,
    label: str,
    intervals: Mapping[str, Sequence[Interval | None]] | None = None,
) -> None:
    """Draw one group of bars per label, one bar per series (SentSim, figures 5 to 7)."""
    figure, axes = new_figure(max(7, (0.5 + 0.09 * len(series)) * len(labels) + 3), 3.8, out)
    axes.set_prop_cycle(color=_colours(len(series)))
    width = 0.85 / len(series)
    for number, (name, values) in enumerate(series.items()):
        places = [place + (number - (len(series) - 1) / 2) * width for place in range(len(labels))]
        axes.bar(places, [value or 0.0 for value in values], width, label=name)
        for place, limits in zip(places, (intervals or {}).get(name, ()), strict=False):
            if limits is not None:
                axes.plot([place, place], limits, color="black", linewidth=0.8)
    axes.set_xticks(range(len(labels)), labels, fontsize="small", rotation=20, ha="right")
    axes.set_ylabel(label)
    axes.axhline(0, color=FAINT, linewidth=0.8)
    axes.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1, 1))
    save_figure(figure, out)


def _colours(count: int) -> list[Any]:
    """One colour per series; beyond the palette, from dark to light, which all can see."""
    from matplotlib import colormaps

    if count <= len(PALETTE):
        return list(PALETTE[:count])
    scale = colormaps["viridis"]
    return [scale(0.92 * number / (count - 1)) for number in range(count)]


def new_figure(width: float, height: float, out: Path, *, rows: int = 1) -> tuple[Any, Any]:
    """A figure (size in inches) and its axes; for several rows, a list of axes."""
    figure = blank_figure(width, height, out)
    return figure, list(figure.subplots(rows)) if rows > 1 else figure.subplots()


def blank_figure(width: float, height: float, out: Path) -> Any:
    """A figure without axes; the file must be of a supported type."""
    if out.suffix not in SUFFIXES:
        allowed = f"{', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}"
        raise SettingError(f"{out}: a figure must be {allowed}")
    check_extras("a figure", [PLOT])
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def save_figure(figure: Any, out: Path) -> None:
    """Write a figure; the same figure gives the same bytes."""
    from matplotlib import rc_context

    metadata = METADATA[out.suffix]
    out.parent.mkdir(parents=True, exist_ok=True)
    with rc_context({"svg.hashsalt": SALT}):
        figure.savefig(out, dpi=RESOLUTION, metadata=metadata)
