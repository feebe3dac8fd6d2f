"""Statistics within groups (languages, systems, inputs), and their averages."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from tertium.errors import InputError
from tertium.stats.arrays import Floats, matrix, same_shape

Group = TypeVar("Group", bound=Hashable)
Correlation = Callable[[Floats, Floats], float]


def per_group(
    statistic: Callable[..., float], groups: Sequence[Group], *arrays: ArrayLike
) -> dict[Group, float]:
    """Compute a statistic within each group, in the order of first occurrence.

    >>> per_group(lambda x: float(x.sum()), ["de", "fr", "de"], [1, 2, 3])
    {'de': 4.0, 'fr': 2.0}
    """
    values = [np.asarray(array) for array in arrays]
    if any(value.shape[-1] != len(groups) for value in values):
        raise InputError(f"there are {len(groups)} items; every array must have the same number")
    members: dict[Group, list[int]] = {}
    for place, group in enumerate(groups):
        members.setdefault(group, []).append(place)
    return {
        group: float(statistic(*(value[..., places] for value in values)))
        for group, places in members.items()
    }


def average(values: Mapping[Group, float], *, undefined: float | None = None) -> float:
    """The mean over groups; groups without a value (NaN) are left out.

    With ``undefined`` they count as that value instead: a correlation that is undefined because a
    measure gives constant scores may count as 0.

    >>> average({"de": 0.5, "fr": float("nan")}), average({"a": 1, "b": float("nan")}, undefined=0)
    (0.5, 0.5)
    """
    found = np.array(list(values.values()), dtype=np.float64)
    missing = np.isnan(found)
    found = found[~missing] if undefined is None else np.where(missing, undefined, found)
    if not len(found):
        raise InputError("the statistic is undefined in every group: is one side constant?")
    return float(found.mean())


def global_correlation(correlation: Correlation, measure: ArrayLike, human: ArrayLike) -> float:
    """Correlate all outputs of all systems at once; missing scores are left out."""
    scores, gold = _both(measure, human)
    there = ~(np.isnan(scores) | np.isnan(gold))
    return correlation(scores[there], gold[there])


def input_correlation(correlation: Correlation, measure: ArrayLike, human: ArrayLike) -> float:
    """Correlate the outputs for each input, and average; undefined values are left out.

    >>> from tertium.stats.correlation import kendall
    >>> input_correlation(kendall, [[1, 5], [2, 4], [3, 6]], [[1, 1], [2, 2], [3, 3]])
    0.6666666666666667
    """
    scores, gold = _both(measure, human)
    found = {}
    for place in range(scores.shape[1]):
        there = ~(np.isnan(scores[:, place]) | np.isnan(gold[:, place]))
        if there.sum() > 1:
            found[place] = correlation(scores[there, place], gold[there, place])
    return average(found)


def _both(measure: ArrayLike, human: ArrayLike) -> tuple[Floats, Floats]:
    scores, gold = matrix(measure, "measure"), matrix(human, "human")
    same_shape(measure=scores, human=gold)
    return scores, gold
