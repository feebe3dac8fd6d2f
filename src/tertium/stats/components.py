"""The first principal component: many features of an item as one number, with a fixed sign."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from tertium.errors import InputError
from tertium.stats.arrays import Bools, Floats

TIE = 1e-9


@dataclass(frozen=True)
class Component:
    """Where the items lie along the direction in which they differ most."""

    scores: Floats
    """One an item, with mean 0; in the units of the features, since the loadings have length 1."""
    loadings: Floats
    """One a feature; 0 where it was left out."""
    explained: float
    """The share of the variance that lies in this direction."""
    missing: int
    """How many values were missing, and had the mean of their feature put in their place."""
    used: Bools
    """Which features count: those that differ at all among the items that have them."""


def first_component(values: ArrayLike) -> Component:
    """Principal component analysis to one dimension; a row an item, a column a feature.

    Features are centred and not scaled (scikit-learn's default). NaN is missing, and counts as the
    mean of its feature. The sign of a component is arbitrary: here its largest loading is positive
    (of equals, the first).

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
        raise InputError("no feature differs among the items: there is no component")
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
