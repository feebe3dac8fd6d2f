"""The accessors of pandas and polars."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest

import tertium
from tertium.errors import InputError

ROWS = {"out": ["a dog", "a cat"], "one": ["a dog", "the cat"], "two": ["dogs", "a cat"]}
ROWS |= {"src": ["ein Hund", "eine Katze"]}
Frame = Callable[[dict[str, list[Any]]], Any]


@pytest.fixture(params=["pandas", "polars"])
def frame(request: pytest.FixtureRequest) -> Frame:
    module = pytest.importorskip(request.param, reason=f"NOT TESTED: no {request.param}")
    import_module(f"tertium.compat.{request.param}")
    make: Frame = module.DataFrame
    return make


def test_one_measure_is_a_column(frame: Frame) -> None:
    scores = frame(ROWS).tertium.score(hyp="out", ref="one", measure="chrf")
    assert scores.name == "chrf"
    assert scores.to_list() == tertium.score(ROWS["out"], ROWS["one"], measure="chrf")


def test_several_measures_and_references(frame: Frame) -> None:
    scores = frame(ROWS).tertium.score("out", ["one", "two"], measure=["chrf", "bleu"])
    both = [["a dog", "dogs"], ["the cat", "a cat"]]
    assert list(scores.columns) == ["chrf", "bleu"]
    for name in ("chrf", "bleu"):
        assert scores[name].to_list() == tertium.score(ROWS["out"], both, measure=name)


def test_sources_and_languages(frame: Frame) -> None:
    options: dict[str, Any] = {"measure": "prism-src", "lang": "en", "source_lang": "de"}
    scores = frame(ROWS).tertium.score("out", src="src", **options)
    expected = tertium.score(ROWS["out"], sources=ROWS["src"], **options)
    assert scores.to_list() == pytest.approx(expected)


def test_no_rows(frame: Frame) -> None:
    empty = frame({"out": [], "one": []})
    assert len(empty.tertium.score("out", "one", measure="chrf")) == 0
    assert list(empty.tertium.score("out", "one", measure=["chrf++"]).columns) == ["chrf++"]


def test_what_is_wrong(frame: Frame) -> None:
    with pytest.raises(InputError, match="no column 'ref' for ref; the columns are out, one"):
        frame(ROWS).tertium.score("out", "ref")
    with pytest.raises(InputError, match=r"row 2: the hypothesis is \w+, not text"):
        frame({"out": ["a", None], "one": ["a", "b"]}).tertium.score("out", "one", measure="chrf")


def test_the_index_of_pandas_stays() -> None:
    pandas = pytest.importorskip("pandas", reason="NOT TESTED: no pandas")
    import_module("tertium.compat.pandas")
    scores = pandas.DataFrame(ROWS, index=["x", "y"]).tertium.score("out", "one", measure="chrf")
    assert scores["x"] == 100


def test_nothing_is_imported_before_it_is_needed() -> None:
    names = ("pandas", "polars", "evaluate", "torch", "torchmetrics", "sacrebleu")
    code = f"import tertium, tertium.compat, sys; print([n for n in {names} if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
