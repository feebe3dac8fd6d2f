"""The preset of Prism's filters, against the decisions of the authors' code, by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tertium.errors import SettingError
from tertium.filters.base import Filter
from tertium.filters.duplicates import Duplicates
from tertium.filters.language import LanguageFilter
from tertium.filters.loading import FilterLoader
from tertium.filters.margin import Margin
from tertium.filters.prism import prism_filters
from tertium.text import Row, Text

MODEL = "tertium-mini"
GERMAN = "Der Zug nach Hamburg hat heute wieder Verspätung."
ENGLISH = "The train to Hamburg is late again today."
STRICT = LanguageFilter(tokens=MODEL, least=0.5, strict=True)


def reason(one: Filter, source: str, target: str) -> str:
    [verdict] = one.judge([Row.pair(Text(source, "de"), Text(target, "en"))])
    return verdict.reason


def test_all_filters_of_the_paper_and_no_other() -> None:
    names, settings = prism_filters(MODEL)
    assert names == ("length", "overlap", "lid", "margin", "duplicates")
    filters = FilterLoader(
        names[:3] + names[4:], given=tuple(text for text in settings if "margin" not in text)
    ).outlines()
    length, overlap, lid, duplicates = filters
    assert (length.shortest, length.longest) == (1, 200)  # type: ignore[attr-defined]
    assert (overlap.three, overlap.four) == (0.6, 0.4)  # type: ignore[attr-defined]
    assert lid == STRICT
    assert duplicates == Duplicates(exact=True)
    without, fewer = prism_filters(MODEL, with_margin=False)
    assert "margin" not in without
    assert not [text for text in fewer if text.startswith("margin")]


def test_language_of_the_sentence_and_of_subword_5_grams() -> None:
    assert not reason(STRICT, GERMAN, ENGLISH)
    assert reason(STRICT, GERMAN, GERMAN) == "target language"
    # The authors' code gives a text without any 5-gram a score of 0, which is below one half.
    assert reason(STRICT, "Ja.", ENGLISH) in ("source language", "source n-grams")
    assert not reason(LanguageFilter(), "Guten Tag!", "Good day to you!")
    # As a whole it is English, but more than half of the 5-grams are numbers, in no language.
    more = "Nobody on the platform knows why, and the people are not happy about it."
    numbers = f"{ENGLISH} {more} {' '.join(str(n) for n in range(1000, 1030))}"
    assert reason(STRICT, GERMAN, numbers) == "target n-grams"
    loose = LanguageFilter(tokens=MODEL)
    assert not reason(loose, GERMAN, numbers)


def test_exact_duplicates() -> None:
    rows = [
        Row.pair(Text(source), Text("x")) for source in ("Page 1", "Page 2", "page 1", " Page 1 ")
    ]
    assert [verdict.kept for verdict in Duplicates(exact=True).judge(rows)] == [True] * 3 + [False]
    assert [verdict.kept for verdict in Duplicates().judge(rows)] == [True] + [False] * 3


def test_the_best_margins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Margins 1.2, 1.5, 0.9 and 1.3: of three at least 1.04, two are the best."""
    values = np.array([1.2, 1.5, 0.9, 1.3], np.float32)
    monkeypatch.setattr("tertium.filters.margin.margins", lambda *_: values)
    records = np.zeros(
        4, [(side, [("hash", "<u8"), ("vector", "<f4", (2,))]) for side in ("source", "target")]
    )
    chosen = Margin(None, best=2)  # type: ignore[arg-type]
    assert [verdict.reason for verdict in chosen.decide(records)] == [
        "not among the best",
        "",
        "too small",
        "",
    ]
    assert [verdict.kept for verdict in Margin(None, best=9).decide(records)].count(True) == 3  # type: ignore[arg-type]
    with pytest.raises(SettingError, match="must not be negative"):
        Margin(None, best=-1)  # type: ignore[arg-type]


def test_margin_can_be_limited_by_a_setting(tmp_path: Path) -> None:
    names, settings = prism_filters("words", settings=["margin.best=1000", "margin.at_least=1.05"])
    assert settings[-2:] == ("margin.best=1000", "margin.at_least=1.05")
    assert names[3] == "margin"
