"""The first principal component, with missing values and a fixed sign."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from tertium.errors import InputError
from tertium.stats.arrays import Bools, Floats

TIE = 1e-9


@dataclass(frozen=True)
class Component:
    """The items along the direction of the largest variance."""

    scores: Floats
    """One per item, with mean 0, in the units of the features: the loadings have length 1."""
    loadings: Floats
    """One per feature; 0 for those that are not used."""
    explained: float
    """The share of the variance in this direction."""
    missing: int
    """How many values were missing and replaced by the mean of their feature."""
    used: Bools
    """Which features are used: those that are not constant."""


def first_component(values: ArrayLike) -> Component:
    """Principal component analysis of a matrix of shape (items, features), to one dimension.

    Features are centred and not scaled (as in scikit-learn). NaN marks missing values, which are
    replaced by the mean of the feature. The sign of a component is arbitrary: here its largest
    loading is positive (of equal ones, the first).

    >>> found = first_component([[0, 0], [1, 1], [2, 2]])
    >>> found.scores.round(4).tolist(), found.explained
    ([-1.4142, 0.0, 1.4142], 1.0)
    """
    matrix = np.array(values, dtype=np.float64)
    if matrix.ndim != 2 or len(matrix) < 2:
        raise InputError(f"the features have the shape {matrix.shape}: at least 2 items are needed")
    if np.isinf(matrix).any():
        raise InputError("the features have infinite values")
    known = ~np.isnan(matrix)
    counts = known.sum(axis=0)
    means = np.where(known, matrix, 0).sum(axis=0) / np.maximum(counts, 1)
    centred = np.where(known, matrix - means, 0.0)
    used: Bools = np.abs(centred).max(axis=0) > TIE
    if not used.any():
        raise InputError("all features are constant, so that there is no component")
    left, sizes, right = np.linalg.svd(centred[:, used], full_matrices=False)
    direction = right[0]
    largest = np.flatnonzero(np.abs(direction) >= np.abs(direction).max() - TIE)[0]
    sign = np.sign(direction[largest])
    loadings = np.zeros(matrix.shape[1])
    loadings[used] = sign * direction
    return Component(
        scores=sign * left[:, 0] * sizes[0],
        loadings=loadings,
        explained=float(sizes[0] ** 2 / (sizes**2).sum()),
        missing=int((~known)[:, used].sum()),
        used=used,
    )
