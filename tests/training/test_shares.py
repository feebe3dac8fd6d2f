from __future__ import annotations

import numpy as np
import pytest

from tertium.training.model.batches import Batch, part_of
from tertium.training.model.pieces import PAD
from tertium.training.model.shares import Share, shares


@pytest.mark.parametrize("count", [1, 2, 3, 4, 7])
@pytest.mark.parametrize("batches", [1, 2, 3, 6, 128])
def test_every_row_of_every_batch_is_somebodys(batches: int, count: int) -> None:
    rows = 5
    seen = [
        (share.number, row)
        for index in range(count)
        for share in shares(range(40, 40 + batches), index, count)
        for row in range(rows)[share.part :: share.parts]
    ]
    assert sorted(seen) == [(40 + batch, row) for batch in range(batches) for row in range(rows)]


def test_whole_batches_are_dealt_out_as_long_as_there_are_enough() -> None:
    assert shares(range(4), 1, 4) == [Share(1)]
    assert shares(range(128), 0, 8) == [Share(number) for number in range(0, 128, 8)]
    assert shares([9], 1, 2) == [Share(9, 1, 2)]


def test_a_part_has_no_more_padding_than_it_needs() -> None:
    rows = np.array([[7, 8, 9, 2], [7, 2, PAD, PAD], [8, 9, 2, PAD]])
    batch = Batch(rows, rows, rows)
    assert part_of(batch, 0, 1) is batch
    assert part_of(batch, 1, 2).sources.tolist() == [[7, 2]]
    assert part_of(batch, 2, 3).labels.tolist() == [[8, 9, 2]]
    parts = [part_of(batch, part, 4) for part in range(4)]
    assert [part.tokens for part in parts] == [4, 2, 3, 0]
