"""Array types and the validation of arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tertium.errors import InputError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Counts = NDArray[Any]
"""How often each item is in each sample, of shape (samples, items)."""


def vector(items: ArrayLike, name: str, *, at_least: int = 2) -> Floats:
    """Convert to a one-dimensional array of finite numbers.

    >>> vector([1, 2], "x")
    array([1., 2.])
    """
    found = np.asarray(items, dtype=np.float64)
    if found.ndim != 1:
        raise InputError(f"{name} has {found.ndim} dimensions; it must have one")
    if len(found) < at_least:
        values = "value" if len(found) == 1 else "values"
        raise InputError(f"{name} has {len(found)} {values}; at least {at_least} are needed")
    bad = np.flatnonzero(~np.isfinite(found))
    if len(bad):
        raise InputError(
            f"{name} has missing or infinite values ({len(bad)}), the first at position "
            f"{bad[0] + 1}; leave those items out (tertium.stats.arrays.complete)"
        )
    return found


def pair(x: ArrayLike, y: ArrayLike, *, at_least: int = 2) -> tuple[Floats, Floats]:
    """Convert to two one-dimensional arrays of the same length."""
    a, b = vector(x, "x", at_least=at_least), vector(y, "y", at_least=at_least)
    if len(a) != len(b):
        raise InputError(f"x has {len(a)} values and y {len(b)}; they must have the same length")
    return a, b


def matrix(values: ArrayLike, name: str) -> Floats:
    """Convert scores to a matrix of shape (systems, inputs); NaN marks missing scores."""
    found = np.asarray(values, dtype=np.float64)
    if found.ndim != 2:
        raise InputError(f"{name} has {found.ndim} dimensions; it must have two (systems, inputs)")
    if np.isinf(found).any():
        raise InputError(f"{name} has infinite values")
    return found


def same_shape(**matrices: Floats) -> None:
    """Refuse matrices of different shapes."""
    shapes = {name: each.shape for name, each in matrices.items()}
    if len(set(shapes.values())) > 1:
        listed = ", ".join(f"{name} {rows} x {columns}" for name, (rows, columns) in shapes.items())
        raise InputError(f"the matrices differ in shape: {listed}")


def complete(*arrays: ArrayLike) -> Bools:
    """Mark the items that have a number in every array.

    >>> complete([1.0, None, 3.0], [1.0, 2.0, float("nan")])
    array([ True, False, False])
    """
    found = [np.asarray(array, dtype=np.float64) for array in arrays]
    marks: Bools = np.logical_and.reduce([np.isfinite(array) for array in found])
    return marks
