"""Small SVG charts for pages; their colours come from the style of the page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tertium.stats.arrays import Floats

WIDTH, HEIGHT = 720, 300
LEFT, RIGHT, TOP, BOTTOM = 56, 16, 12, 40
END, BASE = WIDTH - RIGHT, HEIGHT - BOTTOM
TICKS = 6
LETTER_WIDTH = 6.2
"""The approximate width of a letter."""

Box = tuple[float, float, float, float]
"""Left, top, right, bottom."""


@dataclass(frozen=True)
class Scale:
    """Maps numbers to positions."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return round(self.start + share * (self.end - self.start), 2)

    def ticks(self, count: int = TICKS) -> list[tuple[float, str]]:
        """Return the positions and labels of round numbers."""
        return [(self(tick), f"{tick:g}") for tick in ticks(self.low, self.high, count)]


@dataclass(frozen=True)
class Bar:
    """A bar of a histogram."""

    css_class: str
    x: float
    y: float
    width: str
    height: str
    title: str


@dataclass(frozen=True)
class Point:
    """A point of a scatter plot."""

    x: float
    y: float
    title: str


@dataclass(frozen=True)
class Label:
    """A text in a plot; ``anchor`` is where ``x`` is: at its start or at its end."""

    x: float | str
    y: float | str
    text: str
    anchor: str = "start"
    css_class: str = ""


@dataclass(frozen=True)
class Plot:
    """Everything that ``plot`` in ``templates/svg.html`` draws."""

    description: str
    x_ticks: Sequence[tuple[float, str]]
    y_ticks: Sequence[tuple[float, str]]
    labels: Sequence[Label]
    bars: Sequence[Bar] = ()
    points: Sequence[Point] = ()
    zero: float | None = None
    """Where to draw a vertical line."""

    width: ClassVar[int] = WIDTH
    height: ClassVar[int] = HEIGHT
    left: ClassVar[int] = LEFT
    end: ClassVar[int] = END
    top: ClassVar[int] = TOP
    base: ClassVar[int] = BASE


def spread(values: Sequence[float], share: float = 0.05) -> tuple[float, float]:
    """Return the range of some numbers, with a margin on both sides.

    >>> spread([0.0, 10.0], share=0.1), spread([2.0])
    ((-1.0, 11.0), (1.5, 2.5))
    """
    low, high = min(values), max(values)
    margin = (high - low) * share if high > low else 0.5
    return low - margin, high + margin


def ticks(low: float, high: float, count: int = TICKS) -> list[float]:
    """Return round numbers between two others.

    >>> ticks(0.0, 1.0), ticks(-3.1, 8.2)
    ([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], [-2.0, 0.0, 2.0, 4.0, 6.0, 8.0])
    """
    rough = (high - low) / count
    power: float = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough * 0.8)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [round(place * step, 10) + 0.0 for place in range(first, last + 1)]


def histogram(values: Floats, *, below: str, above: str, description: str) -> Plot:
    """Plot the distribution of differences: below zero, above zero, and ties in a bar of their own.

    So the bars of a colour have as many segments as there are losses, wins and ties.
    """
    reach = float(np.abs(values).max(initial=0.0)) or 1.0
    bins = 2 * min(20, math.isqrt(len(values)))
    counts, edges = np.histogram(values[values != 0], bins=bins, range=(-reach, reach))
    ties = int(np.count_nonzero(values == 0))
    across = Scale(-reach, reach, LEFT, END)
    up = Scale(0, float(max(*counts, ties)), BASE, TOP)
    bars = []
    for count, left, right in zip(counts.tolist(), edges, edges[1:], strict=False):
        if count:
            kind = "below" if right <= reach * 1e-9 else "above"
            x, y = across(left), up(float(count))
            title = f"{left:.3g} to {right:.3g}: {_segments(count)}"
            bars.append(Bar(kind, x, y, f"{across(right) - x - 1:.2f}", f"{BASE - y:.2f}", title))
    if ties:
        y, width = up(float(ties)), min(12.0, across(2 * reach / bins) - across(0))
        title = f"equal: {_segments(ties)}"
        bars.append(
            Bar(
                "even", round(across(0) - width / 2, 2), y, f"{width:.2f}", f"{BASE - y:.2f}", title
            )
        )
    return Plot(
        description,
        across.ticks(),
        [(up(tick), f"{tick:g}") for tick in ticks(up.low, up.high, 4) if not tick % 1],
        [
            Label(LEFT, HEIGHT - 6, f"← {below}"),
            Label(END, HEIGHT - 6, f"{above} →", "end"),
        ],
        bars=bars,
        zero=across(0),
    )


def _segments(count: int) -> str:
    return f"{count} segment{'' if count == 1 else 's'}"


def scatter(
    x: Sequence[float], y: Sequence[float], names: Sequence[str], x_name: str, y_name: str
) -> Plot:
    """Plot named points; names without space are shown only when the mouse is over the point."""
    across = Scale(*spread(x, 0.08), LEFT, END)
    up = Scale(*spread(y, 0.08), BASE, TOP)
    places = [(across(a), up(b)) for a, b in zip(x, y, strict=True)]
    return Plot(
        f"Systems by {x_name} and by {y_name}",
        across.ticks(),
        up.ticks(4),
        [
            *_point_labels(places, names),
            Label(END, HEIGHT - 4, f"{x_name} →", "end"),
            Label(LEFT + 6, TOP + 10, f"↑ {y_name}"),
        ],
        points=[
            Point(left, top, f"{name}: {a:.4g}, {b:.4g}")
            for (left, top), a, b, name in zip(places, x, y, names, strict=True)
        ],
    )


def _point_labels(places: Sequence[tuple[float, float]], names: Sequence[str]) -> list[Label]:
    """Put each name beside its point, where it covers neither another name nor a point."""
    taken = [(x - 4, y - 4, x + 4, y + 4) for x, y in places]
    labels = []
    for (x, y), name in zip(places, names, strict=True):
        width = LETTER_WIDTH * len(name)
        for start, anchor in ((x + 8, "start"), (x - 8 - width, "end")):
            for drop in (4, -6, 14):
                box = (start, y + drop - 9, start + width, y + drop + 2)
                if box[0] < LEFT or box[2] > END or any(_overlap(box, other) for other in taken):
                    continue
                taken.append(box)
                edge = start if anchor == "start" else start + width
                labels.append(Label(f"{edge:.2f}", f"{y + drop:.2f}", name, anchor, "name"))
                break
            else:
                continue
            break
    return labels


def _overlap(a: Box, b: Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
