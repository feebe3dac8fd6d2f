"""The bootstrap: samples of inputs, of systems or of both, intervals, p-values, and
clusters of what is not significantly different.

A sample is given by how often each item was drawn (``counts``). Comparisons are *paired* if both
measures use the same counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

import numpy as np
from numpy.typing import ArrayLike

from tertium.errors import InputError, SettingError
from tertium.stats.arrays import Counts, Floats
from tertium.stats.conventions import ALPHA, LEVEL, SAMPLES, Interval, Over, Tail


def bootstrap_counts(items: int, *, samples: int = SAMPLES, seed: int = 0) -> Counts:
    """Draw as many items as there are, with replacement, ``samples`` times.

    >>> bootstrap_counts(4, samples=3).sum(axis=1)
    array([4, 4, 4])
    """
    if items < 1 or samples < 1:
        raise InputError(f"cannot draw {samples} samples of {items} items")
    draws = np.random.default_rng(seed).integers(items, size=(samples, items))
    rows = np.arange(samples)[:, None] * items
    return np.bincount((rows + draws).ravel(), minlength=samples * items).reshape(samples, items)


def matrix_counts(
    systems: int,
    inputs: int,
    *,
    over: Over = "both",
    samples: int = SAMPLES,
    seed: int = 0,
) -> Counts:
    """Draw systems, inputs or both, for a matrix in row-major order (``X.ravel()``).

    ``both`` is Boot-Both (Deutsch et al., 2021): systems and inputs are drawn independently.

    >>> matrix_counts(2, 3, over="both", samples=1).sum()
    np.int64(6)
    """
    if over not in get_args(Over):
        names = ", ".join(map(repr, get_args(Over)))
        raise SettingError(f"over={over!r}: it must be one of {names}")
    rows = np.ones((samples, systems), dtype=np.int64)
    columns = np.ones((samples, inputs), dtype=np.int64)
    first, second = spawn(seed, 2)
    if over != "inputs":
        rows = bootstrap_counts(systems, samples=samples, seed=first)
    if over != "systems":
        columns = bootstrap_counts(inputs, samples=samples, seed=second)
    return (rows[:, :, None] * columns[:, None, :]).reshape(samples, systems * inputs)


def spawn(seed: int, children: int) -> list[int]:
    """Independent seeds, one for each dataset or step.

    >>> spawn(0, 2) == spawn(0, 3)[:2]
    True
    """
    sequences = np.random.SeedSequence(seed).spawn(children)
    return [int(sequence.generate_state(1, np.uint64)[0]) for sequence in sequences]


def percentile_interval(replicates: ArrayLike, *, level: float = LEVEL) -> Interval:
    """The percentile interval of bootstrap values; undefined ones (NaN) are left out.

    >>> percentile_interval(range(101), level=0.5)
    Interval(low=25.0, high=75.0, level=0.5)
    """
    if not 0 < level < 1:
        raise SettingError(f"level={level!r}: it must be between 0 and 1")
    values = _defined(np.asarray(replicates, dtype=np.float64))
    tail = (1 - level) / 2
    low, high = np.quantile(values, [tail, 1 - tail])
    return Interval(float(low), float(high), level)


def combine(replicates: Sequence[ArrayLike]) -> Floats:
    """Average over datasets: the i-th samples of all form the i-th sample of the benchmark.

    As in NMTScore (Vamvas and Sennrich, 2022, section 4.3). The datasets should have independent
    seeds (:func:`spawn`).

    >>> combine([[1.0, 2.0], [3.0, 4.0]])
    array([2., 3.])
    """
    arrays = [np.asarray(each, dtype=np.float64) for each in replicates]
    shapes = {array.shape for array in arrays}
    if len(shapes) != 1:
        raise InputError("all datasets must have the same number of samples")
    return np.asarray(np.mean(arrays, axis=0))


def bootstrap_p_value(
    a: ArrayLike, b: ArrayLike, observed: float, *, tail: Tail = "greater"
) -> float:
    """Test whether a is better than b (or, ``two-sided``, different from it) by paired samples.

    ``a`` and ``b`` are the values of the same samples, ``observed`` is the difference on the data.

    - ``greater``: d - mean(d) >= observed (Berg-Kirkpatrick et al., 2012);
    - ``two-sided``: |d - mean(d)| >= |observed|;
    - ``koehn``: a is not better than b (Koehn, 2004): d <= 0;
    - ``sacrebleu``: as in sacrebleu's paired bootstrap: |d| - mean(|d|) > |observed|. It ignores
      the direction, and p is smaller than with ``two-sided``, even for equal systems.

    One is added to numerator and denominator, so that p is never 0.

    >>> bootstrap_p_value([2.0, 3.0, 4.0], [1.0, 1.0, 1.0], 2.0)
    0.25
    """
    if tail not in get_args(Tail):
        names = ", ".join(map(repr, get_args(Tail)))
        raise SettingError(f"tail={tail!r}: it must be one of {names}")
    differences = _defined(np.asarray(a, dtype=np.float64) - np.asarray(b, dtype=np.float64))
    slack = rounding(differences, observed)
    shifted = differences - differences.mean()
    if tail == "greater":
        extreme = shifted >= observed - slack
    elif tail == "two-sided":
        extreme = np.abs(shifted) >= abs(observed) - slack
    elif tail == "koehn":
        extreme = differences <= slack
    else:
        sizes = np.abs(differences)
        extreme = sizes - sizes.mean() > abs(observed)
    return p_value(int(extreme.sum()), len(differences))


def p_value(extreme: int, samples: int) -> float:
    """The share of samples at least as extreme as the observation, which counts as a sample.

    >>> p_value(0, 999)
    0.001
    """
    return (extreme + 1) / (samples + 1)


def rounding(values: Floats, observed: float) -> float:
    """How much two equal numbers may differ if they were summed in a different order."""
    return 1e-12 * max(1.0, abs(observed), float(np.abs(values).max(initial=0.0)))


def _defined(values: Floats) -> Floats:
    found = values[~np.isnan(values)]
    if not len(found):
        raise InputError("the statistic is undefined in every sample: is one side constant?")
    return found


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
