"""Neighbours, margins and selection: by hand, and against brute force."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tertium.errors import SettingError
from tertium.mining.candidates import NeighbourSettings, between, search, select, within
from tertium.stats import neighbours
from tertium.stats.neighbours import nearest


def at(*degrees: float) -> NDArray[np.float32]:
    """Unit vectors at these angles."""
    angles = np.radians(degrees)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


def cos(degrees: float) -> float:
    return math.cos(math.radians(degrees))


def test_margins_by_hand() -> None:
    """x is at 0° and 90°, y at 10° and 60°; with k = 2 both sides have both neighbours.

    near(x0) = (cos 10 + cos 60) / 2, near(y0) = (cos 10 + cos 80) / 2; the denominator is half of
    their sum (equation 2: each sum is divided by 2k).
    """
    near = ((cos(10) + cos(60)) / 2 + (cos(10) + cos(80)) / 2) / 2
    wanted = {"ratio": cos(10) / near, "distance": cos(10) - near, "absolute": cos(10)}
    for kind, value in wanted.items():
        found = between(
            at(0, 90),
            at(10, 60),
            NeighbourSettings(k=1, margin=kind, margin_k=2),  # type: ignore[arg-type]
        )
        assert list(zip(found.first.tolist(), found.second.tolist(), strict=True)) == [
            (0, 0),
            (1, 1),
        ]
        assert found.cosine[0] == pytest.approx(cos(10), abs=1e-6)
        assert found.margin[0] == pytest.approx(value, abs=1e-6)


def test_candidates_of_both_directions() -> None:
    """The nearest of 0° is 40°, and so is that of 50°; 100° and 40° have 50° as their nearest."""
    found = between(at(0, 50), at(40, 100), NeighbourSettings(k=1))
    pairs = list(zip(found.first.tolist(), found.second.tolist(), strict=True))
    assert pairs == [(0, 0), (1, 0), (1, 1)]
    forward = search(at(0, 50), at(40, 100), NeighbourSettings(k=1, margin="absolute"))
    assert list(zip(forward.first.tolist(), forward.second.tolist(), strict=True)) == [
        (0, 0),
        (1, 0),
    ]


def test_margin_in_a_search_is_that_of_two_lists() -> None:
    a, b = at(0, 50, 110), at(40, 100)
    chosen = NeighbourSettings(k=2, margin_k=2)
    forward, both = search(a, b, chosen), between(a, b, chosen)
    assert forward.margin.tolist() == both.margin.tolist()


def test_one_list_has_each_pair_once() -> None:
    found = within(at(0, 10, 90), NeighbourSettings(k=1, margin_k=1))
    assert list(zip(found.first.tolist(), found.second.tolist(), strict=True)) == [(0, 1), (1, 2)]
    assert found.margin[0] == pytest.approx(1.0, abs=1e-6)  # each is the nearest of the other
    assert found.margin[1] == pytest.approx(cos(80) / ((cos(10) + cos(80)) / 2), abs=1e-6)


def test_empty_lists() -> None:
    none = np.empty((0, 2), np.float32)
    assert len(between(none, at(0))) == len(search(at(0), none)) == len(within(at(0))) == 0


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_neighbours_against_brute_force(data: st.DataObject) -> None:
    """Small integers make many ties; of equal neighbours, those with lower indices count."""
    numbers = st.integers(-2, 2)
    width = data.draw(st.integers(1, 3))
    rows = st.lists(st.lists(numbers, min_size=width, max_size=width), min_size=1, max_size=12)
    queries = np.array(data.draw(rows), np.float32)
    base = np.array(data.draw(rows), np.float32)
    k = data.draw(st.integers(1, 5))
    blocks = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 5))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(neighbours, "QUERY_BLOCK", blocks[0])
        patch.setattr(neighbours, "BASE_BLOCK", blocks[1])
        found = nearest(queries, base, k)
        same = nearest(base, base, k, skip_self=True) if len(base) > 1 else None
    for query, places, values in zip(queries, found.indices, found.similarities, strict=True):
        wanted = sorted(range(len(base)), key=lambda place: (-float(query @ base[place]), place))
        assert places.tolist() == wanted[:k]
        assert values.tolist() == [float(query @ base[place]) for place in wanted[:k]]
    if same is not None:
        for own, places in enumerate(same.indices):
            others = [place for place in range(len(base)) if place != own]
            others.sort(key=lambda place: (-float(base[own] @ base[place]), place))
            assert places.tolist() == others[:k]


def test_the_index_finds_the_neighbours_of_clusters() -> None:
    pytest.importorskip("faiss")
    draw = np.random.default_rng(5)
    base = (np.repeat(np.eye(8), 50, axis=0) + 0.05 * draw.normal(size=(400, 8))).astype(np.float32)
    exact, index = nearest(base, base, 3, "exact"), nearest(base, base, 3, "index")
    assert (exact.indices == index.indices).mean() > 0.99
    few = nearest(base[:2], base[:3], 5, "index")
    assert few.indices.tolist() == nearest(base[:2], base[:3], 5, "exact").indices.tolist()
    own = nearest(base, base, 3, "index", skip_self=True).indices
    assert not (own == np.arange(400)[:, None]).any()


triples = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(0, 6)),
    max_size=20,
    unique_by=lambda one: one[:2],
)


@given(triples)
def test_selections_against_brute_force(pairs: list[tuple[int, int, int]]) -> None:
    first, second = (np.array([one[side] for one in pairs], np.int64) for side in (0, 1))
    scores = np.array([one[2] for one in pairs], np.float64)
    ranked = sorted(pairs, key=lambda one: (-one[2], one[0], one[1]))

    def chosen(how: str) -> list[tuple[int, int, int]]:
        places = select(first, second, scores, how)  # type: ignore[arg-type]
        return [pairs[place] for place in places.tolist()]

    assert chosen("all") == ranked
    greedy: list[tuple[int, int, int]] = []
    for one in ranked:
        if all(one[0] != other[0] and one[1] != other[1] for other in greedy):
            greedy.append(one)
    assert chosen("one-to-one") == greedy
    best = [
        one
        for one in ranked
        if one == next(other for other in ranked if other[0] == one[0])
        and one == next(other for other in ranked if other[1] == one[1])
    ]
    assert chosen("mutual") == best


def test_one_list_uses_each_text_once() -> None:
    first, second = np.array([0, 1, 2]), np.array([1, 2, 3])
    scores = np.array([0.5, 0.9, 0.4])
    assert select(first, second, scores, "one-to-one", one_list=True).tolist() == [1]
    assert select(first, second, scores, "one-to-one").tolist() == [1, 0, 2]


def test_bad_settings() -> None:
    with pytest.raises(SettingError, match="margin='cosine'"):
        NeighbourSettings(margin="cosine")  # type: ignore[arg-type]
    with pytest.raises(SettingError, match="k is 0"):
        NeighbourSettings(k=0)
    with pytest.raises(SettingError, match="not a selection"):
        select(np.array([0]), np.array([0]), np.array([0.0]), "best")  # type: ignore[arg-type]
