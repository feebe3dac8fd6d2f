"""The figures of the rephrasing study: languages by family, along an axis or by score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from tertium.data.languages import iso_code, language_name
from tertium.measures.loading import MeasureSpec
from tertium.report.plots import (
    FAINT,
    MARKERS,
    PALETTE,
    blank_figure,
    draw_band,
    new_figure,
    r_label,
    save_figure,
)
from tertium.stats.bands import line_band
from tertium.stats.conventions import SAMPLES, Interval
from tertium.stats.correlation import pearson
from tertium.stats.resampling import bootstrap_counts
from tertium.studies.rephrasing.paper import MAX_NIST, paper_family
from tertium.studies.rephrasing.study import Results
from tertium.studies.rephrasing.typology import FEW, Axis, Families
from tertium.studies.report import Figure

NIST, HUNDRED = "nist", ("bleu", "chrf")
"""What the scaled figure 6 divides: NIST by the number of the paper, sacrebleu's scores by 100."""
COLOURS = tuple(colour for colour in PALETTE if colour != "#000000")
"""Of families; black is for intervals."""
HATCHES = ("", "///", "...", "xxx")
"""Of bars: another one each time that the colours start over."""
INK = "#333333"


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


@dataclass(frozen=True)
class Look:
    """How a family is drawn: by colour, and where colours are used again, by marker and hatch."""

    colour: str
    marker: str
    hatch: str


@dataclass(frozen=True)
class Mean:
    """The mean score of a language."""

    height: float
    interval: Interval | None = None

    @property
    def top(self) -> float:
        """Of the bar and of its interval."""
        return self.height if self.interval is None else self.interval.high

    def divided(self, divisor: float) -> Mean:
        """The same on another scale."""
        if self.interval is None:
            return Mean(self.height / divisor)
        low, high = self.interval.low / divisor, self.interval.high / divisor
        return Mean(self.height / divisor, Interval(low, high))


def rephrasing_figures(
    results: Results,
    axes: Sequence[Axis],
    families: Families,
    *,
    samples: int = SAMPLES,
    seed: int = 0,
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
    series: dict[str, dict[str, Mean]] = {}
    for measure in results.measures:
        for (lang, own), mean in results.means.items():
            if own == measure:
                bar = Mean(mean, results.intervals.get((lang, measure)))
                series.setdefault(measure, {})[lang] = bar
    if not series:
        return figures
    for axis in axes:
        if axis.scores:
            draw = partial(against_axis, places, axis, series, samples=samples, seed=seed)
            figures[f"against-{axis.name}"] = Figure(draw, f"Mean scores against {axis.name}")
    scaled = {}
    for measure, bars in series.items():
        name = MeasureSpec.parse(measure).measure
        divisor = MAX_NIST if name == NIST else 100.0 if name in HUNDRED else 1.0
        title = measure if divisor == 1.0 else f"{measure} / {divisor:g}"
        scaled[title] = {lang: bar.divided(divisor) for lang, bar in bars.items()}
    figures["scores"] = Figure(partial(by_language, places, series), "Mean scores by language")
    draw = partial(by_language, places, scaled, common_scale=True)
    figures["scores-scaled"] = Figure(draw, "Mean scores by language, on one scale")
    return figures


def by_axis(places: Sequence[Place], values: Mapping[str, float], out: Path, *, label: str) -> None:
    """Draw one line per language, grouped by family, with a dot at its value (figures 1 to 5)."""
    shown = [place for place in places if place.code in values]
    looks = family_looks(places)
    groups = list(dict.fromkeys(place.family for place in shown))
    figure, axes = new_figure(8, 1.0 + 0.17 * (len(shown) + 1.4 * len(groups)), out)
    lines: list[tuple[float, str]] = []
    height = 0.0
    for group in groups:
        colour, marker = looks[group].colour, looks[group].marker
        members = [place for place in shown if place.family == group]
        numbers = [values[place.code] for place in members]
        top = height
        for place, value in zip(members, numbers, strict=True):
            axes.scatter([value], [height], s=22, c=colour, marker=marker, zorder=3, linewidths=0)
            lines.append((height, f"{place.name} ({place.code})"))
            height += 1
        axes.axhspan(top - 0.7, height - 0.3, color=colour, alpha=0.07, linewidth=0)
        mean = sum(numbers) / len(numbers)
        axes.plot([mean, mean], [top - 0.7, height - 0.3], color=colour, linewidth=1.2)
        axes.annotate(
            f"{group} ({len(members)})",
            (1.01, (top + height - 1) / 2),
            xycoords=("axes fraction", "data"),
            fontsize=7,
            color=INK,
            va="center",
        )
        height += 1.4
    axes.set_yticks([height for height, _ in lines], [name for _, name in lines], fontsize=7)
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(height - 0.9, -1.2)
    axes.set_xlabel(f"{label} (line: mean of the family)")
    axes.grid(axis="x", alpha=0.3)
    save_figure(figure, out)


def against_axis(
    places: Sequence[Place],
    axis: Axis,
    series: Mapping[str, Mapping[str, Mean]],
    out: Path,
    *,
    samples: int = SAMPLES,
    seed: int = 0,
) -> None:
    """Draw the mean scores against a component: one panel per measure, one code per language.

    The band of the line and the interval of r are of samples of languages.
    """
    looks = family_looks(places)
    families = {place.code: place.family for place in places}
    figure = blank_figure(4.2 * len(series) + 2, 4.8, out)
    panels = figure.subplots(1, len(series), squeeze=False)[0]
    for panel, (measure, bars) in zip(panels, series.items(), strict=True):
        own = [code for code in axis.scores if code in bars and code in families]
        x, y = [axis.scores[code] for code in own], [bars[code].height for code in own]
        for code, at in zip(own, zip(x, y, strict=True), strict=True):
            look = looks[families[code]]
            panel.scatter(*at, s=16, c=look.colour, marker=look.marker, linewidths=0)
            offset = {"xytext": (3, 2), "textcoords": "offset points"}
            panel.annotate(code, at, fontsize=6, color=INK, **offset)
        title = measure
        if len(own) >= FEW:
            counts = bootstrap_counts(len(own), samples=samples, seed=seed)
            band = line_band(x, y, counts)
            if band is not None:
                draw_band(panel, band, FAINT)
            title += f"\n{r_label(pearson(x, y), pearson(x, y, counts=counts))}"
        panel.set_title(f"{title} (n = {len(own)})", fontsize=9)
        panel.grid(alpha=0.3)
    shown = [place for place in places if place.code in axis.scores]
    low, high = (", ".join(name for name, _ in axis.end(sign, ENDS)) for sign in (-1, 1))
    ends = " | ".join(filter(None, (f"- {low}" if low else "", f"+ {high}" if high else "")))
    figure.supxlabel(
        f"{axis.name}: first component, {axis.explained:.0%} of the variance\n{ends}", fontsize=8
    )
    panels[0].set_ylabel("mean score of a language")
    drawn = list(dict.fromkeys(place.family for place in shown))
    handles = [_point(looks[family]) for family in drawn]
    figure.legend(handles, drawn, loc="outside right upper", fontsize=7, frameon=False)
    save_figure(figure, out)


def by_language(
    places: Sequence[Place],
    series: Mapping[str, Mapping[str, Mean]],
    out: Path,
    *,
    common_scale: bool = False,
) -> None:
    """Draw one panel per measure, with one bar per language, coloured by family (figure 6).

    A line is the interval of a mean. With a common scale, all panels reach from 0 to 1, or as
    far as the highest bar.
    """
    highest = max(bar.top for own in series.values() for bar in own.values())
    shown = [place for place in places if any(place.code in own for own in series.values())]
    looks = family_looks(places)
    spots = _spots(shown)
    width = max(6.0, 1.2 + 0.19 * (max(spots.values(), default=0) + 1))
    figure, axes = new_figure(width, 0.9 + 1.75 * len(series), out, rows=len(series))
    panels = axes if isinstance(axes, list) else [axes]
    for panel, (name, bars) in zip(panels, series.items(), strict=True):
        flat = FLAT * max(abs(bar.height) for bar in bars.values())
        for place in shown:
            if place.code in bars:
                spot, bar, look = spots[place.code], bars[place.code], looks[place.family]
                style = {"color": look.colour, "hatch": look.hatch, "edgecolor": "white"}
                panel.bar(spot, bar.height, width=0.82, linewidth=0, **style)
                if bar.interval is not None:
                    limits = (bar.interval.low, bar.interval.high)
                    panel.plot([spot, spot], limits, color="black", linewidth=0.8)
                if abs(bar.height) < flat:
                    text = f"{bar.height:.3f}".removesuffix(".000")
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
    handles = [_patch(look) for look in looks.values()]
    figure.legend(
        handles,
        list(looks),
        loc="outside lower center",
        ncols=max(1, min(len(looks), int(width / 1.7))),
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


def family_looks(places: Sequence[Place]) -> dict[str, Look]:
    """One look per family, in the order in which they occur.

    >>> family_looks([Place("deu", "German", "Indo-European")])
    {'Indo-European': Look(colour='#0072b2', marker='o', hatch='')}
    """
    families = dict.fromkeys(place.family for place in places)
    looks = {}
    for number, family in enumerate(families):
        turn, colour = divmod(number, len(COLOURS))
        looks[family] = Look(
            COLOURS[colour], MARKERS[turn % len(MARKERS)], HATCHES[turn % len(HATCHES)]
        )
    return looks


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


def _patch(look: Look) -> Any:
    from matplotlib.patches import Patch

    return Patch(facecolor=look.colour, hatch=look.hatch, edgecolor="white", linewidth=0)


def _point(look: Look) -> Any:
    from matplotlib.lines import Line2D

    return Line2D([], [], color=look.colour, marker=look.marker, linestyle="", markersize=5)
