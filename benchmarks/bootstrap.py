"""Time a bootstrap of Kendall's tau: all samples at once, and one by one with scipy."""

from __future__ import annotations

import time

import numpy as np
import scipy.stats

from tertium.stats.correlation import kendall
from tertium.stats.resampling import bootstrap_counts, matrix_counts

SIZES = (500, 2848, 8000, 20000)
SAMPLES = 1000
SCIPY_SAMPLES = 50


def main() -> None:
    random = np.random.default_rng(0)
    print("items  tertium, s  scipy, s (extrapolated)  largest difference")
    for size in SIZES:
        x = random.normal(size=size)
        y = np.round(x + random.normal(size=size), 1)  # human scores have ties
        start = time.perf_counter()
        counts = bootstrap_counts(size, samples=SAMPLES)
        taus = kendall(x, y, counts=counts)
        ours = time.perf_counter() - start
        start = time.perf_counter()
        expected = []
        for row in counts[:SCIPY_SAMPLES]:
            drawn = np.repeat(np.arange(size), row)
            expected.append(scipy.stats.kendalltau(x[drawn], y[drawn])[0])
        theirs = (time.perf_counter() - start) * SAMPLES / SCIPY_SAMPLES
        error = np.abs(taus[:SCIPY_SAMPLES] - expected).max()
        print(f"{size:5}  {ours:10.2f}  {theirs:23.2f}  {error:18.1e}")
    start = time.perf_counter()
    x = random.normal(size=2848)
    kendall(x, x + random.normal(size=2848), counts=matrix_counts(16, 178))
    print(f"Boot-Both, 16 systems x 178 inputs: {time.perf_counter() - start:.2f} s")


if __name__ == "__main__":
    main()
