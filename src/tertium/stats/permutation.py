"""Permutation tests: the scores of two measures are swapped at random.

PERM-INPUTS, PERM-SYSTEMS and PERM-BOTH are those of Deutsch et al. (2021), "A Statistical Analysis
of Summarization Evaluation Metrics Using Resampling Methods".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from tertium.errors import InputError, SettingError
from tertium.stats.arrays import Bools, Floats, matrix, same_shape
from tertium.stats.conventions import SAMPLES, Over
from tertium.stats.resampling import p_value, rounding

Alternative = Literal["greater", "two-sided"]
Agreement = Callable[[Floats, Floats], float]
"""The agreement of a matrix of scores with a matrix of human scores."""


def swaps(
    systems: int, inputs: int, *, over: Over = "both", samples: int = SAMPLES, seed: int = 0
) -> Bools:
    """Random swaps for each input, each system or each score: True where the two are swapped.

    >>> swaps(2, 3, over="inputs", samples=5).shape
    (5, 1, 3)
    """
    shapes = {"inputs": (1, inputs), "systems": (systems, 1), "both": (systems, inputs)}
    if over not in shapes:
        names = ", ".join(map(repr, get_args(Over)))
        raise SettingError(f"over={over!r}: it must be one of {names}")
    coins = np.random.default_rng(seed).integers(2, size=(samples, *shapes[over]), dtype=np.int8)
    return coins.astype(np.bool_)


def permutation_test(
    agreement: Agreement,
    x: ArrayLike,
    y: ArrayLike,
    human: ArrayLike,
    *,
    over: Over = "both",
    alternative: Alternative = "greater",
    samples: int = SAMPLES,
    seed: int = 0,
) -> float:
    """Test whether measure x agrees better with people than measure y does.

    The matrices have the shape (systems, inputs). Both measures are standardised first, because
    only scores of the same scale can be swapped. Samples with undefined agreement (NaN) are left
    out.
    """
    a, b, gold = matrix(x, "x"), matrix(y, "y"), matrix(human, "human")
    same_shape(x=a, y=b, human=gold)
    if alternative not in get_args(Alternative):
        raise SettingError(f"alternative={alternative!r}: it must be 'greater' or 'two-sided'")
    a, b = standardised(a, "x"), standardised(b, "y")
    observed = agreement(a, gold) - agreement(b, gold)
    if np.isnan(observed):
        raise InputError("the agreement of x or of y is undefined: is one side constant?")
    found = []
    for mask in swaps(*a.shape, over=over, samples=samples, seed=seed):
        found.append(agreement(np.where(mask, b, a), gold) - agreement(np.where(mask, a, b), gold))
    differences = np.array(found)
    differences = differences[~np.isnan(differences)]
    if alternative == "two-sided":
        differences, observed = np.abs(differences), abs(observed)
    extreme = differences >= observed - rounding(differences, observed)
    return p_value(int(extreme.sum()), len(differences))


def standardised(scores: Floats, name: str = "x") -> Floats:
    """Scale to mean 0 and standard deviation 1 over the whole matrix.

    >>> standardised(np.array([[1.0, 3.0]]))
    array([[-1.,  1.]])
    """
    deviation = np.nanstd(scores)
    if not deviation > 0:
        raise InputError(f"{name} is constant, so that it cannot be standardised")
    return np.asarray((scores - np.nanmean(scores)) / deviation)
