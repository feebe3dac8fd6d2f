"""The totals of parts add up to the totals of the whole, to the bit."""

from __future__ import annotations

import json
import random
from dataclasses import asdict
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from tertium.measures.base import Segments
from tertium.measures.totals import Totals, exact_sum
from tertium.text import Row, Text

numbers = st.lists(st.floats(-1e30, 1e30, allow_subnormal=False))


@given(numbers, st.randoms(use_true_random=False))
def test_exact_in_any_order(values: list[float], draw: random.Random) -> None:
    parts = exact_sum(values)
    assert sum(map(Fraction, parts)) == sum(map(Fraction, values))
    draw.shuffle(values)
    assert exact_sum(values) == parts


def totals(values: list[float], lang: str) -> Totals:
    rows = [Row(1, Text("a", lang), (Text("b", lang),)) for _ in values]
    found = Totals()
    segments = Segments(values, [(value, 1.0) for value in values], [False] * len(values))
    found.add(rows, segments, ["reference"])
    return found


@given(numbers, st.data())
def test_grouping_and_order_do_not_matter(values: list[float], data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(values)))
    whole = totals(values, "en")
    first, last = totals(values[:cut], "en"), totals(values[cut:], "en")
    last.merge(Totals(**json.loads(json.dumps(asdict(first)))))
    assert last == whole


def test_languages_that_differ_are_mixed() -> None:
    both = totals([1.0], "en")
    both.merge(totals([2.0], "de"))
    assert both.facts == {"lang": "mixed", "reference_lang": "mixed", "nrefs": "1"}
    assert both.statistics == [3.0, 2.0]


def test_what_is_not_finite_ends() -> None:
    assert exact_sum([float("inf"), 1.0]) == [float("inf")]
    assert len(exact_sum([float("nan"), 1.0])) == 1
