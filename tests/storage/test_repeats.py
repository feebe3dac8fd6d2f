"""Equal keys are found whatever the number of parts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tertium.storage.repeats import find_repeats


@pytest.mark.parametrize("rows_at_once", [1, 10, 100, 10_000])
def test_first_places_and_ranks(rows_at_once: int, tmp_path: Path) -> None:
    keys = np.random.default_rng(1).integers(0, 20, (400, 2)).astype(np.uint64)
    first, rank = find_repeats(keys, tmp_path, rows_at_once=rows_at_once)
    seen: dict[tuple[int, ...], list[int]] = {}
    for place, key in enumerate(map(tuple, keys.tolist())):
        places = seen.setdefault(key, [])
        places.append(place)
        assert (first[place], rank[place]) == (places[0], len(places) - 1)
    assert {path.name for path in tmp_path.iterdir()} == {"first.npy", "rank.npy"}


def test_no_rows(tmp_path: Path) -> None:
    first, rank = find_repeats(np.empty((0, 2), np.uint64), tmp_path)
    assert len(first) == len(rank) == 0
