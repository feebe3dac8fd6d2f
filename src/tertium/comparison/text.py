"""A comparison in words: what the terminal and the page both say."""

from __future__ import annotations

from collections.abc import Sequence

from tertium.comparison.result import Comparison, MeasureComparison

FEW = 4


def decimals(found: MeasureComparison) -> int:
    """How many digits a measure's scores need: two up to 100, four up to 1."""
    return 2 if max(abs(score) for score in found.scores.values()) >= 10 else 4


def verdict(comparison: Comparison, found: MeasureComparison) -> str:
    """Say in a sentence or two who is best, and how sure that is."""
    digits = decimals(found)
    best, *others = found.clusters[0]
    told = f"{best} has the highest score, {found.scores[best]:.{digits}f}"
    second = next(name for name in found.scores if name != best)
    pair = found.pair(best, second)
    if others:
        told += f"; it cannot be told from {listed(others)}"
    else:
        told += (
            f", significantly above {second}, the next ({found.scores[second]:.{digits}f}, "
            f"p = {pair.permutation_p:.3f})"
        )
    if comparison.baseline is None:
        return told + "."
    better: list[str] = []
    worse: list[str] = []
    even: list[str] = []
    for name in found.scores:
        if name == comparison.baseline:
            continue
        against = found.pair(name, comparison.baseline)
        if against.permutation_p >= comparison.alpha:
            even.append(name)
        else:
            (better if against.difference > 0 else worse).append(name)
    parts = [
        f"{words} {listed(names)}"
        for words, names in (
            ("significantly better:", better),
            ("no significant difference:", even),
            ("significantly worse:", worse),
        )
        if names
    ]
    return f"{told}. Against {comparison.baseline}: {'; '.join(parts)}."


def listed(names: Sequence[str]) -> str:
    """Write names as a list in a sentence; many are counted.

    >>> listed(["a"]), listed(["a", "b", "c"]), listed(list("abcdefg"))
    ('a', 'a, b and c', 'a, b, c and 4 more')
    """
    if len(names) > FEW:
        return f"{', '.join(names[:3])} and {len(names) - 3} more"
    if len(names) == 1:
        return names[0]
    return f"{', '.join(names[:-1])} and {names[-1]}"


def setup(comparison: Comparison) -> str:
    """How the p-values and intervals came about."""
    tail = "" if comparison.tail == "two-sided" else f" (the bootstrap's: {comparison.tail})"
    return (
        f"{len(comparison.systems)} systems, {len(comparison.outputs.segments)} segments; "
        f"{comparison.samples} samples, seed {comparison.seed}. "
        f"Intervals are {comparison.level:.0%}, by bootstrap over segments; p-values are "
        f"two-sided{tail}, by paired bootstrap and by permutation (approximate randomisation), not "
        "corrected for the number of pairs. Systems of one rank cannot be told apart: a system "
        "opens a new rank if it is significantly worse (permutation, "
        f"p < {comparison.alpha:g}) than one of the rank above."
    )
