"""SimAlign's three methods by hand, and the assignment against scipy's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from tertium.errors import SettingError
from tertium.stats.word_alignment import aligned

SIMILARITIES = np.array(
    [
        [0.9, 0.3, 0.1],
        [0.8, 0.7, 0.2],
        [0.1, 0.2, 0.6],
        [0.2, 0.5, 0.55],
    ]
)


def links(method: str, matrix: np.ndarray = SIMILARITIES) -> list[tuple[int, int]]:
    return [(int(i), int(j)) for i, j in np.argwhere(aligned(matrix, method))]  # type: ignore[arg-type]


def test_argmax_by_hand() -> None:
    """Best columns of the rows: 0, 0, 2, 2; best rows of the columns: 0, 1, 2."""
    assert links("argmax") == [(0, 0), (2, 2)]


def test_itermax_by_hand() -> None:
    """After argmax, rows 1 and 3 and column 1 have no link. Row 1 becomes 0.72, 0.7, 0.18: best is
    column 0, whose best row is 1 (rows 0 and 2 count nothing there; 0.9 * 0.2 for row 3): a link.
    Row 3 becomes 0.18, 0.5, 0.495: best is column 1, whose best row is 1 (0.7): no link."""
    assert links("itermax") == [(0, 0), (1, 0), (2, 2)]


def test_match_by_hand() -> None:
    """Each column gets another row: 0.9 + 0.7 + 0.6 is the highest sum."""
    assert links("match") == [(0, 0), (1, 1), (2, 2)]
    assert links("match", SIMILARITIES.T) == [(0, 0), (1, 1), (2, 2)]


def test_nothing_and_unknown_methods() -> None:
    assert aligned(np.zeros((0, 3))).shape == (0, 3)
    with pytest.raises(SettingError, match="argmax, itermax, match"):
        aligned(SIMILARITIES, "max")  # type: ignore[arg-type]


@given(st.integers(1, 8), st.integers(1, 8), st.integers(0, 10_000))
def test_match_has_the_sum_of_scipy(rows: int, columns: int, seed: int) -> None:
    matrix = np.random.default_rng(seed).random((rows, columns))
    found = aligned(matrix, "match")
    assert found.sum(axis=0).max() <= 1 >= found.sum(axis=1).max()
    assert found.sum() == min(rows, columns)
    best = matrix[linear_sum_assignment(matrix, maximize=True)].sum()
    assert matrix[found].sum() == pytest.approx(best)
