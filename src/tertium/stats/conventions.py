"""Default numbers of samples and levels of significance, and confidence intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

SAMPLES = 1000
LEVEL = 0.95
ALPHA = 0.05

Over = Literal["inputs", "systems", "both"]
"""What is resampled."""
Tail = Literal["greater", "two-sided", "koehn", "sacrebleu"]
"""The p-value of a bootstrap; see :func:`tertium.stats.resampling.bootstrap_p_value`."""


@dataclass(frozen=True)
class Interval:
    """A confidence interval."""

    low: float
    high: float
    level: float = LEVEL

    def __contains__(self, value: object) -> bool:
        return isinstance(value, int | float) and self.low <= value <= self.high

    def overlaps(self, other: Interval) -> bool:
        """Whether two intervals overlap; if not, WMT19 and Prism call the difference significant.

        >>> Interval(0.1, 0.3).overlaps(Interval(0.2, 0.5)), Interval(0, 1).overlaps(Interval(2, 3))
        (True, False)
        """
        return self.low <= other.high and other.low <= self.high
