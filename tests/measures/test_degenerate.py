"""The lowest score for what is no translation, and the marks of systems with many such rows."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tertium
from tertium.errors import SettingError
from tertium.filters.loading import FilterLoader
from tertium.measures.degenerate import (
    MAX_PERIOD,
    REPEATS,
    Repetition,
    is_degenerate,
    repeated,
)
from tertium.measures.translation import PrismSrc
from tertium.text import Row, Text
from tests.fakes import FakeModel

SOURCE = "Ich sehe heute den großen Hund."
COPY, REPEATED, WRONG, RIGHT = (
    *(SOURCE, "I see the the the the big dog today."),
    *("Je vois le grand chien dans la rue aujourd'hui.", "I see the big dog today."),
)


@pytest.mark.parametrize(
    ("text", "degenerate"),
    [(COPY, True), (REPEATED, True), (WRONG, True), ("", True), (RIGHT, False)],
)
def test_what_is_no_translation(text: str, degenerate: bool) -> None:
    assert is_degenerate(Row(1, Text(text, "en"), (), Text(SOURCE, "de"))) is degenerate


@pytest.mark.filterwarnings("ignore::tertium.errors.TextWarning")
def test_copies_have_the_lowest_score_if_that_is_chosen() -> None:
    """Without, a copy has the -1 of the fake model; 32 768 equal tokens have log(1 / 2^15)."""
    texts = [COPY, RIGHT]
    usual = PrismSrc(FakeModel()).score(texts, [SOURCE] * 2, lang="en", reference_lang="de")
    assert usual.segments == [-1.0, -1.0]
    assert "copies" not in usual.signature.choices
    strict = PrismSrc(FakeModel(), copies="worst")
    scores = strict.score(texts, [SOURCE] * 2, lang="en", reference_lang="de")
    assert scores.segments == [pytest.approx(-15 * math.log(2)), -1.0]
    assert scores.system == pytest.approx((-15 * math.log(2) - 1) / 2)
    assert scores.signature.choices["copies"] == "worst"
    with pytest.raises(SettingError, match="compares with references"):
        tertium.load("cross", copies="worst")
    cross = tertium.load("cross", against="source", copies="worst")
    assert cross(COPY, sources=SOURCE, lang="en", source_lang="de") == 0.0


def test_reranking_and_filtering_choose_no_copies() -> None:
    ranking = tertium.rerank(
        [COPY, RIGHT], sources=SOURCE, measure="prism-src", lang="en", source_lang="de"
    )
    assert ranking.text == RIGHT
    [one] = FilterLoader(("measure",), measure="prism-src", at_least=-9.0).load(("measure",))[0]
    pairs = [Row.pair(Text(SOURCE, "de"), Text(text, "en")) for text in (COPY, RIGHT)]
    assert [verdict.kept for verdict in one.judge(pairs)] == [False, True]
    assert one.choices()["copies"] == "worst"


@pytest.mark.filterwarnings("ignore::tertium.errors.TextWarning")
def test_a_system_of_copies_is_marked_beside_its_name() -> None:
    """Of system b, the second of two rows is a copy: without it, its chrF is that of the first."""
    systems = {"a": [RIGHT, RIGHT], "b": [RIGHT, COPY]}
    table = tertium.score(
        *(systems, [RIGHT, "I can see it."]),
        measure=["chrf"],
        sources=[SOURCE] * 2,
        lang="en",
        source_lang="de",
    )
    assert [line.split()[:2] for line in str(table).splitlines()[1:]][1] == ["b", "(?)"]
    assert "(?)" not in str(table).splitlines()[1]
    assert table.without("b") == "b: without rows whose scores say nothing: chrf 100.00"
    assert table.without("a") == ""


def by_definition(words: Sequence[str]) -> Repetition | None:
    """The first of the longest repetitions with a letter, of all that there are."""
    keys = [word.casefold() for word in words]
    found: list[Repetition] = []
    for period in range(1, MAX_PERIOD + 1):
        for start in range(period, len(keys)):
            end = start
            while end < len(keys) and keys[end] == keys[end - period]:
                end += 1
                times = (end - start) // period + 1
                if times >= REPEATS and any(map(str.isalpha, "".join(keys[start:end]))):
                    found.append(Repetition(times, start, end - 1))
    return max(found, key=lambda each: each.last - each.first, default=None)


@given(
    st.lists(st.sampled_from(["no", "No", "a", "b", ",", "1", "ß", "SS", ""]), max_size=40)
    | st.tuples(
        st.lists(st.sampled_from("ab,"), max_size=4),
        st.lists(st.sampled_from("abc,."), min_size=1, max_size=9),
        st.integers(1, 5),
    ).map(lambda parts: parts[0] + parts[1] * parts[2] + parts[0])
)
def test_repetitions_are_found_by_their_definition(words: list[str]) -> None:
    assert repeated(words) == by_definition(words)
