"""Misunderstandings about what goes where are caught, and said."""

from __future__ import annotations

from typing import Any

import pytest

import tertium
from tertium.errors import InputError, SettingError
from tertium.measures.inputs import rows_from


def test_one_string_in_one_number_out() -> None:
    assert tertium.score("same", "same", measure="chrf") == pytest.approx(100)
    assert tertium.score(["same"], ["same"], measure="chrf") == [pytest.approx(100)]
    assert tertium.score("same", ["other", "same"], measure="chrf") == pytest.approx(100)
    assert tertium.score([], [], measure="chrf") == []


@pytest.mark.parametrize(
    ("hypotheses", "references", "message"),
    [
        (["a", "b", "c"], [["a", "b", "c"], ["d", "e", "f"]], "look transposed"),
        (["a", "b"], ["a"], "2 hypotheses, but 1 references"),
        (["a"], "a", "references are a single string"),
        (["a", "b"], [["a"], []], "row 2: there is no reference"),
        (["a", 5], ["a", "b"], "row 2: the hypothesis is int, not text"),
        (["a", None], ["a", "b"], "row 2: the hypothesis is NoneType"),
        (["a"], [None], "row 1: the reference is NoneType"),
        (["a"], [["b", 3]], "row 1: the reference is int"),
        (["a", "b\ud800"], ["a", "b"], r"row 2: .*lone surrogate \(U\+D800\) at character 2"),
    ],
)
def test_wrong_shapes(hypotheses: Any, references: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        tertium.score(hypotheses, references, measure="chrf")


def test_wrong_number_of_languages() -> None:
    with pytest.raises(InputError, match="3 languages for 2 texts"):
        rows_from(["a", "b"], ["a", "b"], lang=["en", "en", "en"])


def test_scoring_nothing_has_no_system_score() -> None:
    with pytest.raises(InputError, match="nothing to score"):
        tertium.load("chrf").score([], [])


def test_unknown_measures_and_settings_list_the_known_ones() -> None:
    with pytest.raises(SettingError, match="did you mean 'direct'"):
        tertium.load("dierct")
    with pytest.raises(SettingError, match=r"its settings are .*beam_size"):
        tertium.load("pivot", colour="red")
    with pytest.raises(SettingError, match="takes no model"):
        tertium.load("chrf", model="tertium-mini")


def test_scores_are_a_sequence() -> None:
    scores = tertium.load("chrf").score(["a b", "x"], ["a b", "y"])
    assert list(scores) == scores.segments
    assert len(scores) == 2
    assert scores[0] == scores.segments[0]
    assert scores[1:] == scores.segments[1:]


def test_too_many_references_are_not_called_transposed() -> None:
    with pytest.raises(InputError, match="1 hypotheses, but 2 references"):
        tertium.score(["a"], ["b", "c"], measure="chrf")
