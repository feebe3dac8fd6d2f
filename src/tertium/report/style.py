"""The style of all pages, and the colours of probabilities on pages and in the terminal."""

from __future__ import annotations

from functools import cache
from pathlib import Path

STYLE = Path(__file__).with_name("tertium.css")
GOOD, FAIR, BAD = GROUNDS = (180, 213, 240), (228, 164, 104), (158, 62, 4)
"""From light blue to dark orange: the lightness falls, also for the colour-blind and in print."""
INKS = (74, 144, 208), (190, 150, 105), (222, 104, 28)
"""From blue to orange, for letters that are readable on dark and on light terminals."""
WORST = -8.0
"""Log-probabilities below this one (1 in 3 000) all have the same orange."""
MIDDLE = 0.3
SHADES = 16
"""Number of steps from probable to improbable."""
HEATS = 10
TABS = 32
"""In one place; what comes after them is always shown."""
DARK_INK, LIGHT_INK = "#000", "#fff"

Colour = tuple[int, int, int]


def shade(log_prob: float, colours: tuple[Colour, Colour, Colour] = GROUNDS) -> Colour:
    """Return a colour from light blue (probable) over light to dark orange (improbable).

    >>> shade(0.0) == GOOD, shade(-50.0) == BAD
    (True, True)
    """
    good, fair, bad = colours
    badness = min(1.0, max(0.0, log_prob / WORST))
    if badness < MIDDLE:
        return _interpolate(good, fair, badness / MIDDLE)
    return _interpolate(fair, bad, (badness - MIDDLE) / (1 - MIDDLE))


def _interpolate(start: Colour, end: Colour, share: float) -> Colour:
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(start, end, strict=True))
    return red, green, blue


def display_token(token: str) -> str:
    """Make a subword token readable, without its word boundary mark.

    >>> display_token("▁dog"), display_token("▁"), display_token("</s>")
    ('dog', '▁', '<EOS>')
    """
    if token == "</s>":
        return "<EOS>"
    return token.removeprefix("▁") or "▁"


def shade_class(log_prob: float) -> str:
    """Return the CSS class of a token: served pages may not have inline styles.

    >>> shade_class(0.0), shade_class(-4.0), shade_class(-50.0)
    ('shade-0', 'shade-8', 'shade-16')
    """
    return f"shade-{round(SHADES * min(1.0, max(0.0, log_prob / WORST)))}"


def heat_class(share: float) -> str:
    """Return the CSS class of a cell in a matrix, for values from 0 to 1.

    >>> heat_class(-0.2), heat_class(0.52)
    ('heat-0', 'heat-5')
    """
    return f"heat-{round(HEATS * min(1.0, max(0.0, share)))}"


@cache
def style_sheet() -> str:
    """Return the style sheet, including the colours of probabilities."""
    rules = [STYLE.read_text("utf-8")]
    for step in range(SHADES + 1):
        red, green, blue = shade(WORST * step / SHADES)
        ink = text_colour(red, green, blue)
        rules.append(f".shade-{step} {{ background: rgb({red} {green} {blue}); color: {ink}; }}")
    for step in range(1, HEATS + 1):
        ink = "var(--ground)" if step == HEATS else DARK_INK if step > 5 else "var(--ink)"
        rules.append(f".heat-{step} {{ --share: {100 * step // HEATS}%; color: {ink}; }}")
    tabs = ", ".join(
        f".tabbed:has(> .tablist label:nth-of-type({place}) :checked) > .tab:nth-of-type({place})"
        for place in range(1, TABS + 1)
    )
    rules.append(
        "@media screen { @supports selector(:has(a)) { .tabbed > .tab { display: none; } "
        f"{tabs}, .tabbed > .tab:nth-of-type(n + {TABS + 1}) {{ display: block; }} }} }}"
    )
    return "\n".join(rules) + "\n"


def text_colour(red: int, green: int, blue: int) -> str:
    """Return black or white, whichever has more contrast with a background (WCAG).

    One of them has a contrast of 4.5 or more with any colour.
    """
    linear = [
        part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4
        for part in (red / 255, green / 255, blue / 255)
    ]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return DARK_INK if (luminance + 0.05) ** 2 > 0.05 * 1.05 else LIGHT_INK
