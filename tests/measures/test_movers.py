"""Word Mover's Distance by hand, and against a linear program."""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest
from numpy.typing import NDArray

from tertium.errors import SettingError
from tertium.measures.loading import load
from tertium.measures.movers import (
    cosine_distances,
    distinct_weights,
    euclidean_distances,
    fragmentation,
    transport,
)
from tertium.models.base import TokenVectors

from ..fakes import FakeEncoder

# On a line: a at 0, b at 3, c at 10.
VECTORS = {"a": (0.0, 0.0), "b": (3.0, 0.0), "c": (10.0, 0.0), "<s>": (9.0, 9.0)}


@pytest.fixture
def encoder() -> FakeEncoder:
    return FakeEncoder(VECTORS)


def linear_program(source: list[float], target: list[float], costs: NDArray[np.float64]) -> float:
    """Equations 3 and 4 as they stand."""
    from scipy.optimize import linprog

    n, m = costs.shape
    rows = np.kron(np.eye(n), np.ones((1, m)))
    columns = np.kron(np.ones((1, n)), np.eye(m))
    found = linprog(
        costs.ravel(), A_eq=np.vstack([rows, columns]), b_eq=[*source, *target], method="highs"
    )
    assert found.fun is not None
    return float(found.fun)


def test_same_as_a_linear_program() -> None:
    rng = np.random.default_rng(5)
    for _ in range(200):
        n, m = rng.integers(1, 12, 2)
        x, y = rng.normal(size=(n, 6)), rng.normal(size=(m, 6))
        source, target = rng.random(n) + 0.01, rng.random(m) + 0.01
        source, target = source / source.sum(), target / target.sum()
        costs = euclidean_distances(x.astype(np.float32), y.astype(np.float32))
        work, plan = transport(source, target, costs)
        assert work == pytest.approx(linear_program(list(source), list(target), costs), abs=1e-6)
        np.testing.assert_allclose(plan.sum(axis=1), source, atol=1e-9)
        np.testing.assert_allclose(plan.sum(axis=0), target, atol=1e-9)


def test_by_hand(encoder: FakeEncoder) -> None:
    """Half of the mass goes from a to b (3), the other half from a to c (10)."""
    assert load("wmd", encoder=encoder)("b c", "a") == pytest.approx(-6.5)


@pytest.mark.parametrize(
    ("mass", "wanted"),
    [
        ("frequency", (3 + 3 + 10) / 3),  # b, b and c
        ("uniform", (3 + 10) / 2),  # b and c
        # References b b c and a: idf is ln 3/2 for b and for c.
        ("idf", (3 + 3 + 10) / 3),
    ],
)
def test_mass_of_pieces(encoder: FakeEncoder, mass: str, wanted: float) -> None:
    measure = load("wmd", encoder=encoder, mass=mass)
    assert measure(["a", "a"], ["b b c", "a"])[0] == pytest.approx(-wanted)
    assert measure.needs_all_rows == (mass == "idf")


def test_rare_pieces_weigh_more(encoder: FakeEncoder) -> None:
    """Of the references b c and b: idf(b) = ln 3/3 = 0, so that all of the mass is at c."""
    assert load("wmd", encoder=encoder, mass="idf")(["a", "a"], ["b c", "b"]) == pytest.approx(
        [-10, -3]
    )


def test_cosine_as_the_ground_distance() -> None:
    encoder = FakeEncoder({"e": (1.0, 0.0), "n": (0.0, 5.0), "w": (-2.0, 0.0)})
    measure = load("wmd", encoder=encoder, distance="cosine")
    assert measure(["e", "e", "e"], ["e", "n", "w"]) == pytest.approx([0, -1, -2])


def test_distances() -> None:
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(7, 5)), rng.normal(size=(4, 5))
    y[0] = x[0]
    single_x, single_y = x.astype(np.float32), y.astype(np.float32)
    a, b = single_x.astype(float), single_y.astype(float)
    wanted = np.linalg.norm(a[:, None] - b[None], axis=-1)
    np.testing.assert_allclose(euclidean_distances(single_x, single_y), wanted, atol=1e-12)
    assert euclidean_distances(single_x, single_y)[0, 0] == 0
    cosines = (a @ b.T) / np.outer(np.linalg.norm(a, axis=1), np.linalg.norm(b, axis=1))
    np.testing.assert_allclose(cosine_distances(single_x, single_y), 1 - cosines, atol=1e-9)


def test_repeated_pieces_share_their_weight() -> None:
    text = TokenVectors(("a", "b", "a"), np.zeros((3, 2), np.float32), (False,) * 3)
    assert distinct_weights(text).tolist() == [0.25, 0.5, 0.25]


def test_order_costs(encoder: FakeEncoder) -> None:
    """WMD is 0 both times; in order there is 1 run of 3 pieces, turned round there are 3."""
    measure = load("wmdo", encoder=encoder, delta=0.2)
    assert measure("a b c", "a b c") == pytest.approx(0.2 * (0.5 - 1 / 3))
    assert measure("c b a", "a b c") == pytest.approx(0.2 * (0.5 - 3 / 3))
    assert measure("b c a", "a b c") == pytest.approx(0.2 * (0.5 - 2 / 3))
    assert load("wmd", encoder=encoder)("c b a", "a b c") == 0


def test_order_of_the_words_that_meteor_matches(encoder: FakeEncoder) -> None:
    """By hand: "c b a" has three chunks of three words; "x" matches nothing, which says nothing."""
    measure = load("wmdo", encoder=encoder, delta=0.2, alignment="meteor")
    assert measure("a b c", "a b c") == pytest.approx(0.2 * (0.5 - 1 / 3))
    assert measure("c b a", "a b c") == pytest.approx(0.2 * (0.5 - 3 / 3))
    assert measure("a", "b") == pytest.approx(-3.0)
    assert "alignment:meteor" in str(measure.score(["a"], ["a"]).signature)
    plan = load("wmdo", encoder=encoder)
    assert "alignment" not in str(plan.score(["a"], ["a"]).signature)


def test_of_equal_places_the_one_that_goes_on() -> None:
    """The second piece is split between places 0 and 1: it goes on to 1."""
    plan = np.array([[0.4, 0.0, 0.0], [0.1, 0.1, 0.0], [0.0, 0.0, 0.4]])
    assert fragmentation(plan) == pytest.approx(1 / 3)


@pytest.mark.parametrize("delta", [-0.1, math.nan])
def test_delta_is_checked(encoder: FakeEncoder, delta: float) -> None:
    with pytest.raises(SettingError, match="delta="):
        load("wmdo", encoder=encoder, delta=delta)


def test_without_the_solver(encoder: FakeEncoder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ot", None)
    with pytest.raises(SettingError, match=r"pip install 'tertium\[wmd\]'"):
        load("wmd", encoder=encoder)("a", "b")
