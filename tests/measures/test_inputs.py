"""Misunderstandings about what goes where are caught, and said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import tertium
from tertium.errors import InputError, SettingError, TextWarning
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


def test_names_of_files_are_not_scored(tmp_path: Path) -> None:
    for name in ("hyp.txt", "ref.txt"):
        (tmp_path / name).write_text("A dog.\n", encoding="utf-8")
    hyp, ref = tmp_path / "hyp.txt", tmp_path / "ref.txt"
    with pytest.raises(InputError, match=r"hyp.txt is a file, and texts are scored.*read it first"):
        tertium.score(str(hyp), str(ref), measure="chrf")
    with pytest.raises(InputError, match=r"ref.txt is a file"):
        tertium.load("chrf").score("A dog.", str(ref))
    with pytest.raises(InputError, match=r"ref.txt is a file"):
        tertium.score({"a": ["A dog."]}, str(ref), measure="chrf")
    with pytest.raises(InputError, match=r"hyp.txt is a path"):
        tertium.score(hyp, ref, measure="chrf")  # type: ignore[call-overload]
    with pytest.warns(TextWarning, match="'missing.txt' looks like the name of a file"):
        tertium.score("missing.txt", "A dog.", measure="chrf")
    assert tertium.score([str(hyp)], [str(hyp)], measure="chrf") == [100]  # in a list, it is a text
    assert tertium.score("and/or", "and/or", measure="chrf") == 100


def test_without_references_the_error_names_a_measure_that_needs_none() -> None:
    with pytest.raises(InputError, match="use prism-src, a measure without references"):
        tertium.score(["A dog."], sources=["Ein Hund."])


def test_scores_have_a_short_repr() -> None:
    made = tertium.load("chrf").score(["a dog"] * 30, ["a dog"] * 30)
    assert repr(made) == f"Scores(chrf 100.00, 30 segments: {'100.00, ' * 10}20 more)"
    one = tertium.load("cross").score(["a dog"], ["a dog"])
    assert repr(one) == "Scores(cross 1.0000, 1 segment: 1.0000)"
