"""Batches hold every question once, and respect their bounds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tertium.models.engine import padded_batches, uniform_batches

SHAPES = st.lists(st.tuples(st.integers(1, 40), st.integers(1, 40)))


@pytest.mark.parametrize("plan", [uniform_batches, padded_batches])
@given(shapes=SHAPES, max_tokens=st.integers(1, 200))
def test_every_question_is_asked_once_and_longest_first(
    plan: Callable[..., Any], shapes: list[tuple[int, int]], max_tokens: int
) -> None:
    batches = list(plan(shapes, max_tokens))
    assert sorted(index for batch in batches for index in batch) == list(range(len(shapes)))
    widths = [max(max(shapes[index]) for index in batch) for batch in batches]
    assert widths == sorted(widths, reverse=True)
    for batch, width in zip(batches, widths, strict=True):
        assert len(batch) == 1 or len(batch) * width <= max_tokens


@given(shapes=SHAPES)
def test_uniform_batches_need_no_padding(shapes: list[tuple[int, int]]) -> None:
    for batch in uniform_batches(shapes, 100):
        assert len({shapes[index] for index in batch}) == 1
