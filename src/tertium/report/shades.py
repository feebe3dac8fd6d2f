"""The colours of probability, the same in the terminal and on a page."""

from __future__ import annotations

GOOD, FAIR, BAD = (46, 139, 87), (214, 160, 24), (205, 50, 60)
WORST = -8.0
"""Below this log-probability (1 in 3 000) everything is as red as it gets."""
MIDDLE = 0.3

Colour = tuple[int, int, int]


def shade(log_prob: float) -> Colour:
    """From green (certain) by amber to red (unheard of).

    >>> shade(0.0) == GOOD, shade(-50.0) == BAD
    (True, True)
    """
    badness = min(1.0, max(0.0, log_prob / WORST))
    if badness < MIDDLE:
        return _between(GOOD, FAIR, badness / MIDDLE)
    return _between(FAIR, BAD, (badness - MIDDLE) / (1 - MIDDLE))


def _between(start: Colour, end: Colour, share: float) -> Colour:
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(start, end, strict=True))
    return red, green, blue


def visible(token: str) -> str:
    """Write a piece so that it can be read: its leading space is not shown.

    >>> visible("▁dog"), visible("▁"), visible("</s>")
    ('dog', '▁', '<EOS>')
    """
    if token == "</s>":
        return "<EOS>"
    return token.removeprefix("▁") or "▁"
