"""Small pictures for a page: SVG that takes its colours from the page's style."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from tertium.stats.arrays import Floats

WIDTH, HEIGHT = 640, 260
LEFT, RIGHT, TOP, BOTTOM = 56, 16, 12, 40
END = WIDTH - RIGHT
TICKS = 5


@dataclass(frozen=True)
class Scale:
    """From numbers to places."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return round(self.start + share * (self.end - self.start), 2)


def spread(values: Sequence[float], share: float = 0.05) -> tuple[float, float]:
    """The range of some numbers, with a little room on both sides.

    >>> spread([0.0, 10.0], share=0.1), spread([2.0])
    ((-1.0, 11.0), (1.5, 2.5))
    """
    low, high = min(values), max(values)
    room = (high - low) * share if high > low else 0.5
    return low - room, high + room


def ticks(low: float, high: float, count: int = TICKS) -> list[float]:
    """Round numbers between two others.

    >>> ticks(0.0, 1.0), ticks(-3.1, 8.2)
    ([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], [-2.0, 0.0, 2.0, 4.0, 6.0, 8.0])
    """
    rough = (high - low) / count
    power: float = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough * 0.8)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [round(place * step, 10) + 0.0 for place in range(first, last + 1)]


def interval_bar(score: float, low: float, high: float, scale: Scale, told: str) -> str:
    """A score as a dot on its interval."""
    width = scale.end + scale.start
    return (
        f'<svg class="interval" viewBox="0 0 {width:g} 20" role="img" aria-label="{escape(told)}">'
        f"<title>{escape(told)}</title>"
        f'<line class="rule" x1="{scale.start}" x2="{scale.end}" y1="10" y2="10"/>'
        f'<line class="bar" x1="{scale(low)}" x2="{scale(high)}" y1="10" y2="10"/>'
        f'<circle class="dot" cx="{scale(score)}" cy="10" r="4"/></svg>'
    )


def interval_axis(scale: Scale) -> str:
    """The numbers under a column of intervals."""
    width = scale.end + scale.start
    marks = "".join(
        f'<text x="{scale(tick)}" y="14" text-anchor="middle">{tick:g}</text>'
        for tick in ticks(scale.low, scale.high, 4)
    )
    return f'<svg class="interval" viewBox="0 0 {width:g} 20" aria-hidden="true">{marks}</svg>'


def histogram(values: Floats, *, below: str, above: str, bins: int = 41) -> str:
    """How often each difference occurs; below and above zero have colours of their own."""
    reach = float(np.abs(values).max(initial=0.0)) or 1.0
    counts, edges = np.histogram(values, bins=bins, range=(-reach, reach))
    across = Scale(-reach, reach, LEFT, END)
    up = Scale(0, float(counts.max()), HEIGHT - BOTTOM, TOP)
    bars = []
    for count, left, right in zip(counts, edges, edges[1:], strict=False):
        if not count:
            continue
        kind = "even" if left < 0 < right else "behind" if right <= 0 else "ahead"
        x, y = across(left), up(float(count))
        bars.append(
            f'<rect class="{kind}" x="{x}" y="{y}" width="{across(right) - x - 1:.2f}" '
            f'height="{HEIGHT - BOTTOM - y:.2f}"><title>{left:.3g} to {right:.3g}: {count} segments'
            "</title></rect>"
        )
    base = HEIGHT - BOTTOM
    return _picture(
        [
            *_grid(across, up),
            *bars,
            f'<line class="rule strong" x1="{across(0)}" x2="{across(0)}" y1="{TOP}" y2="{base}"/>',
            f'<text x="{LEFT}" y="{HEIGHT - 6}">← {escape(below)}</text>',
            f'<text x="{END}" y="{HEIGHT - 6}" text-anchor="end">{escape(above)} →</text>',
        ],
        f"Differences between {below} and {above}, segment by segment",
    )


def scatter(
    x: Sequence[float], y: Sequence[float], names: Sequence[str], x_name: str, y_name: str
) -> str:
    """Points with names."""
    across = Scale(*spread(x, 0.08), LEFT, END)
    up = Scale(*spread(y, 0.08), HEIGHT - BOTTOM, TOP)
    points = []
    for a, b, name in zip(x, y, names, strict=True):
        right = across(a) > WIDTH * 0.75
        points.append(
            f"<g><title>{escape(name)}: {a:.4g}, {b:.4g}</title>"
            f'<circle class="dot" cx="{across(a)}" cy="{up(b)}" r="4"/>'
            f'<text class="name" x="{across(a) + (-8 if right else 8)}" y="{up(b) + 4}" '
            f'text-anchor="{"end" if right else "start"}">{escape(name)}</text></g>'
        )
    return _picture(
        [
            *_grid(across, up),
            *points,
            f'<text x="{END}" y="{HEIGHT - 4}" text-anchor="end">{escape(x_name)} →</text>',
            f'<text x="{LEFT + 6}" y="{TOP + 10}">↑ {escape(y_name)}</text>',
        ],
        f"Systems by {x_name} and by {y_name}",
    )


def _grid(across: Scale, up: Scale) -> list[str]:
    base = HEIGHT - BOTTOM
    lines = []
    for tick in ticks(across.low, across.high):
        x = across(tick)
        lines.append(f'<line class="rule" x1="{x}" x2="{x}" y1="{TOP}" y2="{base}"/>')
        lines.append(f'<text x="{x}" y="{base + 16}" text-anchor="middle">{tick:g}</text>')
    for tick in ticks(up.low, up.high, 4):
        y = up(tick)
        lines.append(f'<line class="rule" x1="{LEFT}" x2="{END}" y1="{y}" y2="{y}"/>')
        lines.append(f'<text x="{LEFT - 6}" y="{y + 4}" text-anchor="end">{tick:g}</text>')
    return lines


def _picture(parts: Sequence[str], told: str) -> str:
    inner = "\n".join(parts)
    return (
        f'<svg class="plot" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(told)}">'
        f"\n{inner}\n</svg>"
    )
