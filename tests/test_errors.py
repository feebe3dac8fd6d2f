"""An error has a fact, a place, and a cure that every reader gets in their own words."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest

import tertium
from tertium.errors import COMMAND_LINE, PYTHON, WEB, WORDS, InputError, LanguageError, ModelError


def test_the_cure_is_said_in_the_words_of_the_reader() -> None:
    with pytest.raises(InputError) as caught:
        tertium.load("cross").score(["a"], sources=["b"])
    error = caught.value
    assert error.fact == "cross compares with references, and the call has none"
    assert "--against source" in error.said(COMMAND_LINE)
    assert "against='source'" in error.said(PYTHON)
    assert "--" not in error.said(PYTHON)
    assert "--" not in error.said(WEB)
    assert str(error) == error.said(PYTHON)


def test_python_hears_of_no_options() -> None:
    with pytest.raises(LanguageError) as caught:
        tertium.score("Hi.", "Hi.", measure="direct")
    assert "lang=" in str(caught.value)
    assert "--" not in str(caught.value)
    assert "--lang" in caught.value.said(COMMAND_LINE)


@pytest.mark.parametrize("name", WORDS)
def test_every_parameter_has_a_name_for_everybody(name: str) -> None:
    option, argument, field = WORDS[name]
    assert option.startswith("-")
    assert "=" in argument
    assert "-" not in field.replace("prism-src", "")


def test_errors_keep_their_cure_between_processes() -> None:
    error = InputError("row 1: no language", cure="give {lang}").at("a.tsv, ")
    copied = pickle.loads(pickle.dumps(error))
    assert copied.said(COMMAND_LINE) == "a.tsv, row 1: no language; give --lang"


def test_nested_junk_in_a_card_is_an_error_of_one_line(tmp_path: Path) -> None:
    (tmp_path / "tertium.json").write_text("[" * 100_000)
    with pytest.raises(ModelError, match=r"tertium\.json is not readable"):
        tertium.load_model(tmp_path)
    (tmp_path / "tertium.json").write_text(json.dumps([1]))
    with pytest.raises(ModelError):
        tertium.load_model(tmp_path)
    (tmp_path / "tertium.json").unlink()
    with pytest.raises(ModelError, match="tertium models convert"):
        tertium.load_model(tmp_path)
