"""Significance clusters of measures or systems."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from tertium.errors import InputError
from tertium.stats.arrays import Floats
from tertium.stats.conventions import ALPHA, Tail
from tertium.stats.resampling import bootstrap_p_value


def top_cluster(p_values: ArrayLike, *, alpha: float = ALPHA) -> list[int]:
    """Those that no other is significantly better than (NMTScore, section 4.3).

    ``p_values[i, j]`` is the one-sided p-value of "i is better than j".

    >>> top_cluster([[1.0, 0.3, 0.01], [0.7, 1.0, 0.02], [0.99, 0.98, 1.0]])
    [0, 1]
    """
    beaten = (_square(p_values) < alpha).any(axis=0)
    return [int(index) for index in np.flatnonzero(~beaten)]


def ranked_clusters(
    scores: Sequence[float], p_values: ArrayLike, *, alpha: float = ALPHA
) -> list[list[int]]:
    """Assign all to clusters, best first: one significantly worse than a member starts the next.

    This is how WMT ranks metrics since 2021 (Freitag et al.).

    >>> ranked_clusters([0.5, 0.4, 0.1], [[1.0, 0.3, 0.01], [0.7, 1.0, 0.02], [0.9, 0.9, 1.0]])
    [[0, 1], [2]]
    """
    better = _square(p_values) < alpha
    if len(scores) != len(better):
        raise InputError(f"{len(scores)} scores, but p-values for {len(better)}")
    order = sorted(range(len(scores)), key=lambda index: -scores[index])
    clusters: list[list[int]] = []
    for index in order:
        if clusters and not better[clusters[-1], index].any():
            clusters[-1].append(index)
        else:
            clusters.append([index])
    return clusters


def bootstrap_p_values(
    scores: ArrayLike, replicates: ArrayLike, *, tail: Tail = "greater"
) -> Floats:
    """Test every measure against every other on the same samples.

    ``replicates`` has the shape (measures, samples). Row i, column j of the result is the p-value
    of "i is better than j"; the diagonal is 1.

    >>> bootstrap_p_values([2.0, 0.0], [[1.0, 2.0, 3.0], [0.0, 0.0, 0.0]]).tolist()
    [[1.0, 0.25], [1.0, 1.0]]
    """
    values = np.asarray(scores, dtype=np.float64)
    samples = np.asarray(replicates, dtype=np.float64)
    if samples.ndim != 2 or len(values) != len(samples):
        raise InputError(f"{len(values)} scores, but samples of shape {samples.shape}")
    found = np.ones((len(values), len(values)))
    for i in range(len(values)):
        for j in range(len(values)):
            if i != j:
                observed = float(values[i] - values[j])
                found[i, j] = bootstrap_p_value(samples[i], samples[j], observed, tail=tail)
    return found


def _square(p_values: ArrayLike) -> Floats:
    values = np.asarray(p_values, dtype=np.float64)
    if values.ndim != 2 or values.shape[0] != values.shape[1]:
        raise InputError(f"the p-values have the shape {values.shape}; they must be square")
    return values
