"""Is a correlation above zero, and is it a strong one?"""

from __future__ import annotations

import math

from tertium.errors import InputError

STRENGTHS = ((0.10, "negligible"), (0.40, "weak"), (0.70, "moderate"), (0.90, "strong"))
"""Below which number a correlation is called what: Schober et al. (2018), table 1."""
STARS = ((0.001, "***"), (0.01, "**"), (0.05, "*"))


def positive_correlation_p(r: float, items: int) -> float:
    """Test Pearson's r against "no correlation, or a negative one": the one-tailed t-test.

    >>> round(positive_correlation_p(0.5, 12), 4)
    0.0489
    """
    if items < 3:
        raise InputError(f"a correlation of {items} items cannot be tested; 3 are needed")
    from scipy.stats import t

    if abs(r) >= 1:
        return 0.0 if r > 0 else 1.0
    return float(t.sf(r * math.sqrt((items - 2) / (1 - r * r)), items - 2))


def strength(r: float) -> str:
    """Call a correlation weak or strong, as Schober et al. (2018) do.

    >>> strength(0.256), strength(-0.75), strength(0.95)
    ('weak', 'strong', 'very strong')
    """
    return next((name for below, name in STRENGTHS if abs(r) < below), "very strong")


def stars(p: float) -> str:
    """Mark a p-value as papers do.

    >>> stars(0.0004), stars(0.03), stars(0.2)
    ('***', '*', '')
    """
    return next((mark for most, mark in STARS if p <= most), "")
