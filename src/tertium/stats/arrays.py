"""What the functions take: finite numbers, in pairs, and enough of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tertium.errors import InputError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Counts = NDArray[Any]
"""How often each item is in each sample: a row a sample, a column an item."""


def vector(values: ArrayLike, name: str, *, at_least: int = 2) -> Floats:
    """Take numbers as an array of one dimension; what is missing or infinite is an error.

    >>> vector([1, 2], "x")
    array([1., 2.])
    """
    found = np.asarray(values, dtype=np.float64)
    if found.ndim != 1:
        raise InputError(f"{name} has {found.ndim} dimensions, not one")
    if len(found) < at_least:
        raise InputError(f"{name} has {len(found)} values; at least {at_least} are needed")
    bad = np.flatnonzero(~np.isfinite(found))
    if len(bad):
        raise InputError(
            f"{name} has {len(bad)} values that are missing or infinite, the first in place "
            f"{bad[0] + 1}; leave those items out (tertium.stats.arrays.complete)"
        )
    return found


def pair(x: ArrayLike, y: ArrayLike, *, at_least: int = 2) -> tuple[Floats, Floats]:
    """Take two arrays that go together item by item."""
    a, b = vector(x, "x", at_least=at_least), vector(y, "y", at_least=at_least)
    if len(a) != len(b):
        raise InputError(f"x has {len(a)} values and y {len(b)}; they must go together")
    return a, b


def matrix(values: ArrayLike, name: str) -> Floats:
    """Take scores as a matrix of systems and inputs; NaN stands for what is missing."""
    found = np.asarray(values, dtype=np.float64)
    if found.ndim != 2:
        raise InputError(f"{name} has {found.ndim} dimensions, not two (systems, inputs)")
    if np.isinf(found).any():
        raise InputError(f"{name} has infinite values")
    return found


def same_shape(**matrices: Floats) -> None:
    """Matrices that go together have the same systems and the same inputs."""
    shapes = {name: each.shape for name, each in matrices.items()}
    if len(set(shapes.values())) > 1:
        told = ", ".join(f"{name} {rows} x {columns}" for name, (rows, columns) in shapes.items())
        raise InputError(f"the matrices differ in shape: {told}")


def complete(*arrays: ArrayLike) -> Bools:
    """Mark the items that have a number in every array.

    >>> complete([1.0, None, 3.0], [1.0, 2.0, float("nan")])
    array([ True, False, False])
    """
    found = [np.asarray(array, dtype=np.float64) for array in arrays]
    marks: Bools = np.logical_and.reduce([np.isfinite(array) for array in found])
    return marks
