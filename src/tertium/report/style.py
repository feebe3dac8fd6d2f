"""The one style of all pages: of those that are files, and of those that are served."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from tertium.report.shades import WORST, shade

STYLE = Path(__file__).with_name("tertium.css")
SHADES = 16
"""Steps from certain to unheard of."""
HEATS = 10
DARK_INK, LIGHT_INK = "#10161d", "#fff"


def shade_class(log_prob: float) -> str:
    """The class of a token by its log-probability: pages take no colours from elsewhere.

    >>> shade_class(0.0), shade_class(-4.0), shade_class(-50.0)
    ('shade-0', 'shade-8', 'shade-16')
    """
    return f"shade-{round(SHADES * min(1.0, max(0.0, log_prob / WORST)))}"


def heat_class(share: float) -> str:
    """The class of a cell of a matrix, from nothing (0) to all (1).

    >>> heat_class(-0.2), heat_class(0.52)
    ('heat-0', 'heat-5')
    """
    return f"heat-{round(HEATS * min(1.0, max(0.0, share)))}"


@cache
def style() -> str:
    """The style sheet, with the colours of probability written out."""
    rules = [STYLE.read_text("utf-8")]
    for step in range(SHADES + 1):
        red, green, blue = shade(WORST * step / SHADES)
        ink = ink_on(red, green, blue)
        rules.append(f".shade-{step} {{ background: rgb({red} {green} {blue}); color: {ink}; }}")
    for step in range(1, HEATS + 1):
        ink = "var(--ground)" if step > 8 else DARK_INK if step > 6 else "var(--ink)"
        rules.append(f".heat-{step} {{ --share: {100 * step // HEATS}%; color: {ink}; }}")
    return "\n".join(rules) + "\n"


def ink_on(red: int, green: int, blue: int) -> str:
    """Dark or light letters, whichever stand out more (WCAG's contrast)."""
    linear = [
        part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4
        for part in (red / 255, green / 255, blue / 255)
    ]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return DARK_INK if (luminance + 0.05) ** 2 > 0.05 * 1.05 * 1.15 else LIGHT_INK
