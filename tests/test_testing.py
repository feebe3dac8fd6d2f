"""The fixture of pytest, as a project that installs Tertium has it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tertium.errors import LanguageError
from tertium.testing import Similarity, assert_similar

TESTS = """
import sys

def test_nothing_is_imported_before(request):
    assert "tertium.testing" not in sys.modules
    assert "tertium.models" not in sys.modules

def test_alike(tertium_similarity):
    tertium_similarity("He has a car.", "He has a car.", at_least=0.9)

def test_not_alike(tertium_similarity):
    tertium_similarity("The cat sleeps.", "He has three red cars.", at_least=0.9)
"""


def test_the_fixture_is_there_and_its_failures_are_plain(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(TESTS, encoding="utf-8")
    result = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "test_it.py"],
        cwd=tmp_path,
        text=True,
        capture_output=True,
    )
    assert "2 passed" in result.stdout, result.stdout
    assert "1 failed" in result.stdout
    assert "which is less than 0.9" in result.stdout
    assert "expected: He has three red cars." in result.stdout


def test_languages_are_identified_or_given() -> None:
    similarity = Similarity()
    assert similarity.score("Where is the station?", "Wo ist der Bahnhof?") == pytest.approx(
        similarity.score(
            "Where is the station?", "Wo ist der Bahnhof?", lang="en", expected_lang="de"
        )
    )
    with pytest.raises(LanguageError, match="language"):
        similarity.score("1234", "1234")


def test_measures_without_a_model_need_no_language() -> None:
    assert_similar("a b c", "a b c", at_least=100, measure="chrf")
    with pytest.raises(AssertionError, match="'c' instead of 'd'"):
        assert_similar("a b c", "a b d", at_least=100, measure="chrf")
