"""Small pictures for a page: SVG that takes its colours from the page's style."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from tertium.stats.arrays import Floats

WIDTH, HEIGHT = 720, 300
LEFT, RIGHT, TOP, BOTTOM = 56, 16, 12, 40
END = WIDTH - RIGHT
TICKS = 6
LETTER = 6.2
"""About how wide a letter is."""

Box = tuple[float, float, float, float]
"""Left, top, right, bottom."""


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
    """A score as a dot on its interval; the scale is in per cent of the width."""
    return (
        f'<svg class="interval" role="img" aria-label="{escape(told)}">'
        f"<title>{escape(told)}</title>"
        f'<line class="rule" x1="0" x2="100%" y1="50%" y2="50%"/>'
        f'<line class="bar" x1="{scale(low)}%" x2="{scale(high)}%" y1="50%" y2="50%"/>'
        f'<circle class="dot" cx="{scale(score)}%" cy="50%" r="4"/></svg>'
    )


def interval_axis(scale: Scale) -> str:
    """The numbers under a column of intervals."""
    marks = "".join(
        f'<text x="{scale(tick)}%" y="14" text-anchor="middle">{tick:g}</text>'
        for tick in ticks(scale.low, scale.high, 4)
    )
    return f'<svg class="interval" aria-hidden="true">{marks}</svg>'


def histogram(values: Floats, *, below: str, above: str) -> str:
    """How often each difference occurs; below and above zero have colours of their own."""
    reach = float(np.abs(values).max(initial=0.0)) or 1.0
    bins = 2 * min(20, math.isqrt(len(values))) + 1  # an odd number: one is around zero
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
            *_grid(across, up, whole=True),
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
    """Points with names; a name that finds no room is shown when one points at its point."""
    across = Scale(*spread(x, 0.08), LEFT, END)
    up = Scale(*spread(y, 0.08), HEIGHT - BOTTOM, TOP)
    places = [(across(a), up(b)) for a, b in zip(x, y, strict=True)]
    points = [
        f'<circle class="dot" cx="{left}" cy="{top}" r="4"><title>{escape(name)}: {a:.4g}, {b:.4g}'
        "</title></circle>"
        for (left, top), a, b, name in zip(places, x, y, names, strict=True)
    ]
    return _picture(
        [
            *_grid(across, up),
            *points,
            *_labels(places, names),
            f'<text x="{END}" y="{HEIGHT - 4}" text-anchor="end">{escape(x_name)} →</text>',
            f'<text x="{LEFT + 6}" y="{TOP + 10}">↑ {escape(y_name)}</text>',
        ],
        f"Systems by {x_name} and by {y_name}",
    )


def _labels(places: Sequence[tuple[float, float]], names: Sequence[str]) -> list[str]:
    """Put each name beside its point, where it covers neither another name nor a point."""
    taken = [(x - 4, y - 4, x + 4, y + 4) for x, y in places]
    labels = []
    for (x, y), name in zip(places, names, strict=True):
        width = LETTER * len(name)
        for start, anchor in ((x + 8, "start"), (x - 8 - width, "end")):
            for drop in (4, -6, 14):
                box = (start, y + drop - 9, start + width, y + drop + 2)
                if box[0] < LEFT or box[2] > END or any(_overlap(box, other) for other in taken):
                    continue
                taken.append(box)
                edge = start if anchor == "start" else start + width
                labels.append(
                    f'<text class="name" x="{edge:.2f}" y="{y + drop:.2f}" '
                    f'text-anchor="{anchor}">{escape(name)}</text>'
                )
                break
            else:
                continue
            break
    return labels


def _overlap(a: Box, b: Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _grid(across: Scale, up: Scale, *, whole: bool = False) -> list[str]:
    base = HEIGHT - BOTTOM
    lines = []
    for tick in ticks(across.low, across.high):
        x = across(tick)
        lines.append(f'<line class="rule" x1="{x}" x2="{x}" y1="{TOP}" y2="{base}"/>')
        lines.append(f'<text x="{x}" y="{base + 16}" text-anchor="middle">{tick:g}</text>')
    for tick in ticks(up.low, up.high, 4):
        if whole and tick % 1:
            continue
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
