"""What is said about measures: in one sentence, and their range."""

from __future__ import annotations

import math

from tertium.measures.registry import (
    LINEAR,
    SUMS,
    VARIANTS,
    measure_class,
    parts_of,
)


def summary_of(name: str) -> str:
    """What a measure measures, in one sentence."""
    if name in VARIANTS:
        return "Overlap of character n-grams and of word n-grams (sacrebleu)."
    if name in LINEAR:
        return "Cosine of sentence vectors and fluency, added with weights (Prism's LASER + LM)."
    if name in SUMS or "+" in name:
        return f"Sum of {' and '.join(parts_of(name))}, each scaled to 0..1 (SentSim)."
    return measure_class(name).summary


def bounds_of(name: str) -> tuple[float, float] | None:
    """The lowest and the highest score of a measure; None if they depend on its settings.

    >>> bounds_of("chrf"), bounds_of("ter"), bounds_of("wmdo")
    ((0.0, 100.0), (-inf, 0.0), None)
    """
    if name in LINEAR:
        return None
    base = VARIANTS[name][0] if name in VARIANTS else name
    bounds: object = (1.0, math.e) if len(parts_of(base)) > 1 else measure_class(base).bounds
    return bounds if isinstance(bounds, tuple) else None


def range_of(name: str) -> str:
    """Between which numbers the scores lie.

    >>> range_of("chrf++"), range_of("ter"), range_of("nist"), range_of("sss+wmd")
    ('0 to 100', 'up to 0', 'from 0', '1 to 2.718')
    >>> range_of("cross")
    '0 to about 1'
    """
    bounds = bounds_of(name)
    if bounds is None:
        return "depends on its settings"
    low, high = bounds
    parts = parts_of(VARIANTS[name][0] if name in VARIANTS else name)
    if len(parts) == 1 and measure_class(parts[0]).about_bounds:
        return f"{low:.4g} to about {high:.4g}"
    if math.isinf(low):
        return "any number" if math.isinf(high) else f"up to {high:.4g}"
    return f"from {low:.4g}" if math.isinf(high) else f"{low:.4g} to {high:.4g}"
