"""Margins worked out by hand, and the two ways to the neighbours."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tertium.errors import SettingError
from tertium.filters.duplicates import Duplicates
from tertium.filters.margin import Margin
from tertium.stats.neighbours import neighbour_similarity
from tertium.text import Row, Text

from ..fakes import FakeEncoder

ANGLES = {"a": 0, "b": 90, "A": 0, "B": 90, "C": 60}
ENCODER = FakeEncoder(
    {name: (math.cos(math.radians(x)), math.sin(math.radians(x))) for name, x in ANGLES.items()}
)


def pairs(*texts: str) -> list[Row]:
    return [Row.pair(Text(both[0]), Text(both[1])) for both in texts]


def test_ratio_of_cosine_to_the_neighbours() -> None:
    """With k = 1: a is at 0°, b at 90°, A at 0°, C at 60°.

    margin(a, A) = 1 / (1/2 + 1/2) = 1. The nearest of b is C: cos 30° = 0.8660, and that of C is b:
    margin(b, C) = 0.8660 / 0.8660 = 1. Crossed, margin(a, C) = 0.5 / (1/2 + 0.8660/2) = 0.5359 and
    margin(b, A) = 0.
    """
    straight = Margin(at_least=1.01, k=1, encoder=ENCODER).judge(pairs("aA", "bC"))
    assert [one.value for one in straight] == pytest.approx([1.0, 1.0], abs=1e-5)
    crossed = Margin(at_least=1.01, k=1, encoder=ENCODER).judge(pairs("aC", "bA"))
    assert [one.value for one in crossed] == pytest.approx([0.5359, 0.0], abs=1e-4)


def test_several_neighbours_and_one_text_twice() -> None:
    """With k = 2, a has the neighbours A (1) and B (0), and A has a (1) and b (0): 1 / 0.5 = 2.

    That the pair is there twice changes nothing: a text counts once among the neighbours.
    """
    filter_ = Margin(at_least=9, k=2, encoder=ENCODER)
    once = filter_.judge(pairs("aA", "bB"))
    twice = filter_.judge(pairs("aA", "bB", "aA"))
    assert [one.value for one in once] == pytest.approx([2.0, 2.0])
    assert [one.value for one in twice] == pytest.approx([2.0, 2.0, 2.0])


def test_empty_text_has_no_margin() -> None:
    [one] = Margin(k=4, encoder=ENCODER).judge([Row.pair(Text(""), Text(""))])
    assert (one.reason, one.value) == ("too small", 0.0)
    assert Margin(encoder=ENCODER).judge([]) == []


def test_bad_settings() -> None:
    with pytest.raises(SettingError, match="k is 0"):
        Margin(k=0, encoder=ENCODER)
    with pytest.raises(SettingError, match="'hnsw'"):
        Margin(neighbours="hnsw", encoder=ENCODER)  # type: ignore[arg-type]


def test_blocks_do_not_change_the_neighbours(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = np.random.default_rng(3)
    base = draw.normal(size=(70, 8)).astype(np.float32)
    queries = draw.normal(size=(30, 8)).astype(np.float32)
    plain = np.sort(queries @ base.T, axis=1)[:, -4:].mean(axis=1)
    for rows, columns in ((7, 9), (1024, 16384), (1, 1)):
        monkeypatch.setattr("tertium.stats.neighbours.QUERY_BLOCK", rows)
        monkeypatch.setattr("tertium.stats.neighbours.BASE_BLOCK", columns)
        assert neighbour_similarity(queries, base, 4) == pytest.approx(plain, abs=1e-5)


def test_the_index_finds_nearly_the_same() -> None:
    pytest.importorskip("faiss")
    draw = np.random.default_rng(3)
    centres = draw.normal(size=(20, 16))
    base = (centres[draw.integers(20, size=2000)] + 0.3 * draw.normal(size=(2000, 16))).astype(
        np.float32
    )
    base /= np.linalg.norm(base, axis=1, keepdims=True)
    exact = neighbour_similarity(base[:200], base, 4, "exact")
    index = neighbour_similarity(base[:200], base, 4, "index")
    assert np.abs(exact - index).mean() < 0.005
    assert (neighbour_similarity(base[:200], base, 4, "index") == index).all()


def test_duplicates_over_many_blocks() -> None:
    """Records that are collected block by block give the verdicts of all rows at once."""
    rows = [Row.pair(Text(chr(0x4E00 + number % 700)), Text("x")) for number in range(3000)]
    one = Duplicates()
    blocks = [one.collect(rows[start : start + 37]) for start in range(0, 3000, 37)]
    kept = [verdict.kept for verdict in one.decide(np.concatenate(blocks))]
    assert kept == [verdict.kept for verdict in one.judge(rows)]
    assert kept == [number < 700 for number in range(3000)]
    assert one.judge([]) == []
