"""The figures of the rephrasing study: languages by family, along an axis or by score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from tertium.data.languages import iso_code, language_name
from tertium.measures.loading import MeasureSpec
from tertium.report.plots import blank_figure, new_figure, save_figure
from tertium.stats.correlation import pearson
from tertium.studies.rephrasing.paper import MAX_NIST, paper_family
from tertium.studies.rephrasing.study import Results
from tertium.studies.rephrasing.typology import Axis, Families
from tertium.studies.report import Figure

NIST, HUNDRED = "nist", ("bleu", "chrf")
"""What the scaled figure 6 divides: NIST by the number of the paper, sacrebleu's scores by 100."""
COLOURS = (
    "#2a5d84",
    "#c0562f",
    "#4f8a3c",
    "#7a4f9a",
    "#b8860b",
    "#2f8f8b",
    "#a33b52",
    "#5b6b2f",
    "#8c6d4f",
    "#d06ba0",
    "#4464c9",
    "#6e8b3d",
    "#96653a",
    "#3d7f5f",
    "#b04a9b",
    "#56707f",
)
"""One per family, in their order; after the last, starting over."""


FLAT = 0.01
"""Of the highest bar; a lower one looks like a missing one, and has its value above it."""


ENDS = 2
"""Features that are named at each end of an axis."""


@dataclass(frozen=True)
class Place:
    """A language in a figure."""

    code: str
    name: str
    family: str


def rephrasing_figures(
    results: Results, axes: Sequence[Axis], families: Families
) -> dict[str, Figure]:
    """Figures 1 to 5 (one per feature set) and 6 (the means, scaled and not).

    Languages have the families of the paper if it has all of them, otherwise those of URIEL.
    """
    families = families_drawn(families)
    langs = families.sorted([language.lang for language in results.languages])
    places = [Place(lang, language_name(lang), families.of[lang]) for lang in langs]
    figures = {}
    for axis in axes:
        if axis.scores:
            title = f"{axis.name}: first principal component"
            label = f"{title}, {axis.explained:.0%} of the variance"
            draw = partial(by_axis, places, axis.scores, label=label)
            figures[f"features-{axis.name}"] = Figure(draw, title)
    series = {
        measure: {lang: mean for (lang, own), mean in results.means.items() if own == measure}
        for measure in results.measures
    }
    series = {measure: own for measure, own in series.items() if own}
    if not series:
        return figures
    for axis in axes:
        if axis.scores:
            figures[f"against-{axis.name}"] = Figure(
                partial(against_axis, places, axis, series),
                f"Mean scores against {axis.name}",
            )
    scaled = {}
    for measure, own in series.items():
        name = MeasureSpec.parse(measure).measure
        divisor = MAX_NIST if name == NIST else 100.0 if name in HUNDRED else 1.0
        title = measure if divisor == 1.0 else f"{measure} / {divisor:g}"
        scaled[title] = {lang: mean / divisor for lang, mean in own.items()}
    figures["scores"] = Figure(partial(by_language, places, series), "Mean scores by language")
    draw = partial(by_language, places, scaled, common_scale=True)
    figures["scores-scaled"] = Figure(draw, "Mean scores by language, on one scale")
    return figures


def by_axis(places: Sequence[Place], values: Mapping[str, float], out: Path, *, label: str) -> None:
    """Draw one line per language, grouped by family, with a dot at its value (figures 1 to 5)."""
    shown = [place for place in places if place.code in values]
    colours = family_colours(places)
    groups = list(dict.fromkeys(place.family for place in shown))
    figure, axes = new_figure(8, 1.0 + 0.17 * (len(shown) + 1.4 * len(groups)), out)
    lines: list[tuple[float, str, str]] = []
    height = 0.0
    for group in groups:
        members = [place for place in shown if place.family == group]
        numbers = [values[place.code] for place in members]
        top = height
        for place, value in zip(members, numbers, strict=True):
            axes.scatter([value], [height], s=22, color=colours[group], zorder=3, linewidths=0)
            lines.append((height, f"{place.name} ({place.code})", colours[group]))
            height += 1
        axes.axhspan(top - 0.7, height - 0.3, color=colours[group], alpha=0.07, linewidth=0)
        mean = sum(numbers) / len(numbers)
        axes.plot([mean, mean], [top - 0.7, height - 0.3], color=colours[group], linewidth=1.2)
        axes.annotate(
            f"{group} ({len(members)})",
            (1.01, (top + height - 1) / 2),
            xycoords=("axes fraction", "data"),
            fontsize=7,
            color=colours[group],
            va="center",
        )
        height += 1.4
    _name_lines(axes, lines)
    axes.set_ylim(height - 0.9, -1.2)
    axes.set_xlabel(f"{label} (line: mean of the family)")
    axes.grid(axis="x", alpha=0.3)
    save_figure(figure, out)


def against_axis(
    places: Sequence[Place], axis: Axis, series: Mapping[str, Mapping[str, float]], out: Path
) -> None:
    """Draw the mean scores against a component: one panel per measure, one code per language."""
    colours = family_colours(places)
    shown = [place for place in places if place.code in axis.scores]
    figure = blank_figure(4.2 * len(series) + 2, 4.8, out)
    panels = figure.subplots(1, len(series), squeeze=False)[0]
    for panel, (measure, values) in zip(panels, series.items(), strict=True):
        own = [place for place in shown if place.code in values]
        for place in own:
            at = (axis.scores[place.code], values[place.code])
            panel.scatter(*at, s=14, color=colours[place.family], linewidths=0)
            offset = {"xytext": (2, 2), "textcoords": "offset points"}
            panel.annotate(place.code, at, fontsize=6, color=colours[place.family], **offset)
        x, y = ([each[p.code] for p in own] for each in (axis.scores, values))
        r = pearson(x, y) if len(own) > 2 else float("nan")
        shown_r = "" if np.isnan(r) else f": r = {r:+.2f}"
        panel.set_title(f"{measure}{shown_r} (n = {len(own)})", fontsize=9)
        panel.grid(alpha=0.3)
    low, high = (", ".join(name for name, _ in axis.end(sign, ENDS)) for sign in (-1, 1))
    ends = " | ".join(filter(None, (f"- {low}" if low else "", f"+ {high}" if high else "")))
    figure.supxlabel(
        f"{axis.name}: first component, {axis.explained:.0%} of the variance\n{ends}", fontsize=8
    )
    panels[0].set_ylabel("mean score of a language")
    families = list(dict.fromkeys(place.family for place in shown))
    handles = [_patch(colours[family]) for family in families]
    figure.legend(handles, families, loc="outside right upper", fontsize=7, frameon=False)
    save_figure(figure, out)


def by_language(
    places: Sequence[Place],
    series: Mapping[str, Mapping[str, float]],
    out: Path,
    *,
    common_scale: bool = False,
) -> None:
    """Draw one panel per measure, with one bar per language, coloured by family (figure 6).

    With a common scale, all panels reach from 0 to 1, or as far as the highest bar.
    """
    highest = max(value for own in series.values() for value in own.values())
    shown = [place for place in places if any(place.code in own for own in series.values())]
    colours = family_colours(places)
    spots = _spots(shown)
    width = max(6.0, 1.2 + 0.19 * (max(spots.values(), default=0) + 1))
    figure, axes = new_figure(width, 0.9 + 1.75 * len(series), out, rows=len(series))
    panels = axes if isinstance(axes, list) else [axes]
    for panel, (name, values) in zip(panels, series.items(), strict=True):
        for place in shown:
            if place.code in values:
                spot = spots[place.code]
                panel.bar(spot, values[place.code], width=0.82, color=colours[place.family])
                if abs(values[place.code]) < FLAT * max(map(abs, values.values())):
                    text = f"{values[place.code]:.3f}".removesuffix(".000")
                    panel.text(
                        spot, 0, f" {text}", ha="center", va="bottom", fontsize=7, rotation=90
                    )
        panel.set_title(name, fontsize=9, loc="left", pad=3)
        panel.set_xticks([])
        panel.set_xlim(-1, max(spots.values(), default=0) + 1)
        panel.tick_params(axis="y", labelsize=8)
        panel.grid(axis="y", alpha=0.3)
        panel.set_axisbelow(True)
        if common_scale:
            panel.set_ylim(0.0, max(1.0, 1.05 * highest))
    last = panels[-1]
    last.set_xticks(
        [spots[place.code] for place in shown],
        [place.code for place in shown],
        rotation=90,
        fontsize=7.5,
        family="monospace",
    )
    for tick, place in zip(last.get_xticklabels(), shown, strict=True):
        tick.set_color(colours[place.family])
    handles = [_patch(colours[family]) for family in colours]
    figure.legend(
        handles,
        list(colours),
        loc="outside lower center",
        ncols=max(1, min(len(colours), int(width / 1.7))),
        fontsize=8,
        frameon=False,
    )
    save_figure(figure, out)


def families_drawn(families: Families) -> Families:
    """The families of the paper if it has all languages (its creole is no Indo-European one).

    >>> families_drawn(Families({"cbk": "Indo-European", "deu": "Indo-European"})).of
    {'cbk': 'Creole', 'deu': 'Indo-European'}
    >>> families_drawn(Families({"cbk": "Indo-European", "vie": "Austroasiatic"})).of["cbk"]
    'Indo-European'
    """
    own = {lang: paper_family(iso_code(lang)) for lang in families.of}
    known = {lang: family for lang, family in own.items() if family is not None}
    return Families(known) if len(known) == len(own) else families


def family_colours(places: Sequence[Place]) -> dict[str, str]:
    """One colour per family, in the order in which they occur.

    >>> family_colours([Place("deu", "German", "Indo-European")])
    {'Indo-European': '#2a5d84'}
    """
    families = dict.fromkeys(place.family for place in places)
    return {family: COLOURS[n % len(COLOURS)] for n, family in enumerate(families)}


def _spots(shown: Sequence[Place]) -> dict[str, float]:
    """The position of each bar: side by side, with a gap between families."""
    spots: dict[str, float] = {}
    place_of = 0.0
    before: str | None = None
    for place in shown:
        if before is not None and place.family != before:
            place_of += 0.7
        spots[place.code] = place_of
        place_of += 1
        before = place.family
    return spots


def _name_lines(axes: Any, lines: Sequence[tuple[float, str, str]]) -> None:
    axes.set_yticks([height for height, _, _ in lines], [name for _, name, _ in lines], fontsize=7)
    for tick, (_, _, colour) in zip(axes.get_yticklabels(), lines, strict=True):
        tick.set_color(colour)
    axes.tick_params(axis="y", length=0)


def _patch(colour: str) -> Any:
    from matplotlib.patches import Patch

    return Patch(color=colour)
