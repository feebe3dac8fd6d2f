"""Sentence alignment: by hand, against brute force, and the band of coarse to fine."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tertium.errors import SettingError
from tertium.stats import alignment
from tertium.stats.alignment import AlignmentSettings, Unit, UnitCosts, align

Floats = NDArray[np.float32]


def blocks(sentences: Floats, longest: int) -> dict[int, Floats]:
    """A block's vector is the sum of its sentences', of length 1."""
    found = {}
    for size in range(1, longest + 1):
        count = max(0, len(sentences) - size + 1)
        sums = [sentences[start : start + size].sum(axis=0) for start in range(count)]
        rows = np.array([one / max(1e-9, np.linalg.norm(one)) for one in sums], np.float32)
        found[size] = rows.reshape(count, sentences.shape[1])
    return found


def shape(units: list[Unit]) -> list[tuple[list[int], list[int]]]:
    return [(list(unit.source), list(unit.target)) for unit in units]


def test_cost_by_hand() -> None:
    """x is (1, 0) and (0, 1), y is (1, 0) and (0.6, 0.8).

    The mean of 1 - cos of x0 with y: (0 + 0.4) / 2 = 0.2; of y1 with x: (0.4 + 0.2) / 2 = 0.3.
    c(x0, y1) = 0.4 / ((0.2 + 0.3) / 2) = 1.6. For both sentences of x, joined as (0.6, 0.8), and
    y1: cos = 1, so the cost is 0; and with y0: (1 - 0.6) * 2 / ((0.2 + 0.4) / 2) = 2.6667, since
    (0.6, 0.8) has (0.4 + 0) / 2 = 0.2 on average with y0 and y1, and y0 has 0.4 with the only block
    of two sentences.
    """
    x = {1: np.eye(2, dtype=np.float32), 2: np.array([[0.6, 0.8]], np.float32)}
    y = {1: np.array([[1, 0], [0.6, 0.8]], np.float32), 2: np.array([[1, 0]], np.float32)}
    costs = UnitCosts(x, y, AlignmentSettings(max_size=3, deletion_quantile=0.0))
    assert costs(0, 1, slice(0, 2), 1).tolist() == pytest.approx([0, 1.6], abs=1e-6)
    assert costs(0, 2, slice(0, 2), 1).tolist() == pytest.approx([2.666667, 0], abs=1e-6)
    assert costs.deletion == 0.1  # the quantile is 0; the lowest cost of a deletion is 0.1
    highest = UnitCosts(x, y, AlignmentSettings(max_size=3, deletion_quantile=1.0))
    assert highest.deletion == pytest.approx(1 / ((0.6 + 0.5) / 2), abs=1e-6)  # of x1 with y0


def test_merge_split_deletion_and_insertion() -> None:
    words = np.eye(12, dtype=np.float32)

    def of(*sentences: tuple[int, ...]) -> dict[int, Floats]:
        return blocks(np.array([words[list(one)].sum(axis=0) for one in sentences]), 3)

    source = of((0,), (1,), (2,), (3, 4), (5,), (6,), (7,))
    target = of((0,), (1, 2), (3,), (4,), (6,), (9,), (7,))
    assert shape(align(source, target, AlignmentSettings(deletion_quantile=0.1))) == [
        ([0], [0]),
        ([1, 2], [1]),
        ([3], [2, 3]),
        ([4], []),
        ([5], [4]),
        ([], [5]),
        ([6], [6]),
    ]


documents = st.integers(0, 2**31).map(np.random.default_rng)


def brute_force(costs: UnitCosts, n: int, m: int, moves: tuple[tuple[int, int], ...]) -> float:
    """The least cost, by the recursion as it is written."""

    @cache
    def least(i: int, j: int) -> float:
        if (i, j) == (0, 0):
            return 0.0
        found = []
        for p, q in moves:
            if i >= p and j >= q:
                one = costs(i - p, p, slice(j - q, j - q + 1), q)
                found.append(least(i - p, j - q) + float(one[0]))
        if i:
            found.append(least(i - 1, j) + costs.deletion)
        if j:
            found.append(least(i, j - 1) + costs.deletion)
        return min(found)

    return least(n, m)


@given(documents, st.integers(1, 7), st.integers(1, 7), st.integers(2, 5))
@settings(max_examples=80, deadline=None)
def test_least_cost_against_brute_force(
    draw: np.random.Generator, n: int, m: int, max_size: int
) -> None:
    chosen = AlignmentSettings(max_size=max_size)
    sides = [
        blocks(draw.normal(size=(count, 4)).astype(np.float32), chosen.longest) for count in (n, m)
    ]
    units = align(sides[0], sides[1], chosen)
    costs = UnitCosts(sides[0], sides[1], chosen)
    assert sum(unit.cost for unit in units) == pytest.approx(
        brute_force(costs, n, m, chosen.moves), abs=1e-9
    )
    assert [place for unit in units for place in unit.source] == list(range(n))
    assert [place for unit in units for place in unit.target] == list(range(m))
    for unit in units:
        size = len(unit.source), len(unit.target)
        assert size in {*chosen.moves, (1, 0), (0, 1)}


@given(documents, st.integers(20, 90))
@settings(max_examples=20, deadline=None)
def test_coarse_to_fine_finds_the_best_path(draw: np.random.Generator, count: int) -> None:
    """A translation with some noise, every seventh sentence left out on one of the sides.

    The best path over all cells is also found if only cells near the coarser paths are computed.
    """
    meaning = draw.normal(size=(count, 24))
    sides = []
    for missing in (3, 10):
        kept = [place for place in range(count) if place % 14 != missing]
        noisy = meaning[kept] + 0.3 * draw.normal(size=(len(kept), 24))
        sides.append(blocks(noisy.astype(np.float32), 3))
    found = []
    for coarsest in (8, 100):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(alignment, "COARSEST", coarsest)
            found.append(align(sides[0], sides[1], AlignmentSettings(width=3)))
    assert shape(found[0]) == shape(found[1])


@given(documents, st.integers(1, 60), st.integers(1, 60))
@settings(max_examples=30, deadline=None)
def test_any_documents_are_covered(draw: np.random.Generator, n: int, m: int) -> None:
    """Documents that have nothing to do with each other, of any lengths, in a narrow band."""
    sides = [blocks(draw.normal(size=(count, 4)).astype(np.float32), 3) for count in (n, m)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(alignment, "COARSEST", 2)
        units = align(sides[0], sides[1], AlignmentSettings(width=1))
    assert [place for unit in units for place in unit.source] == list(range(n))
    assert [place for unit in units for place in unit.target] == list(range(m))


def test_bad_settings() -> None:
    for wrong in ({"max_size": 1}, {"deletion_quantile": 2}, {"width": 0}):
        with pytest.raises(SettingError):
            AlignmentSettings(**wrong)
