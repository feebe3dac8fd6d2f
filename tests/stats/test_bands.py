"""Bands: lines of samples as numpy fits them, and their limits by hand."""

from __future__ import annotations

import numpy as np
import pytest

from tertium.errors import InputError
from tertium.stats.bands import line_band, pointwise_band, sampled_lines
from tertium.stats.resampling import bootstrap_counts


def test_the_line_of_each_sample_is_that_of_numpy() -> None:
    generator = np.random.default_rng(1)
    x, y = 1000 + generator.normal(size=20), generator.normal(size=20)
    at = [998.0, 1000.0, 1001.5]
    counts = bootstrap_counts(20, samples=30)
    found = sampled_lines(x, y, at, counts)
    for line, drawn in zip(found, counts, strict=True):
        expected = np.polyval(np.polyfit(x - 1000, y, 1, w=np.sqrt(drawn)), np.array(at) - 1000)
        assert line == pytest.approx(expected)


def test_a_sample_of_one_place_has_no_line_and_is_left_out() -> None:
    # samples: (0, 0) and (1, 1), which give y = x; (0, 0) twice, which gives none
    counts = np.array([[1, 1], [2, 0]])
    found = sampled_lines([0.0, 1.0], [0.0, 1.0], [2.0], counts)
    assert found[0, 0] == pytest.approx(2.0)
    assert np.isnan(found[1, 0])
    band = pointwise_band([2.0], found)
    assert (band.low[0], band.high[0]) == (pytest.approx(2.0), pytest.approx(2.0))
    with pytest.raises(InputError, match="undefined in every sample"):
        pointwise_band([2.0], found[1:])


def test_the_band_is_narrowest_where_the_points_are() -> None:
    generator = np.random.default_rng(2)
    x = generator.normal(size=200)
    y = 2 * x + generator.normal(size=200)
    band = line_band(x, y, bootstrap_counts(200, samples=500))
    assert band is not None
    widths = band.high - band.low
    assert abs(band.x[widths.argmin()]) < 0.5
    # The standard error of the line at the mean is 1/sqrt(200); the interval is 2 * 1.96 of it.
    assert widths.min() == pytest.approx(2 * 1.96 / np.sqrt(200), rel=0.2)


def test_equal_x_have_no_line() -> None:
    assert line_band([1.0, 1.0], [0.0, 2.0], np.array([[1, 1]])) is None
