"""OpusFilter's command with a YAML file that names our filter."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tertium
from tertium.errors import InputError, SettingError

from .tools import ROOT, block, folder, require, run

require("opusfilter")
from tertium.compat.opusfilter import TertiumFilter  # noqa: E402

DE, EN = (
    (ROOT / "examples" / "adapters" / "opusfilter" / f"{lang}.txt").read_text("utf-8").splitlines()
    for lang in ("de", "en")
)
PAIRS = list(zip(DE, EN, strict=True))


def test_the_command(tmp_path: Path) -> None:
    run(block("OpusFilter", "sh"), folder(tmp_path))
    written = [json.loads(line) for line in (tmp_path / "scores.jsonl").read_text().splitlines()]
    expected = tertium.score(EN, DE, measure="cross", lang="en", reference_lang="de")
    assert [row["TertiumFilter"] for row in written] == pytest.approx(expected, abs=1e-6)
    kept = [text for text, score in zip(EN, expected, strict=True) if score >= 0.05]
    assert (tmp_path / "kept.en.txt").read_text("utf-8").splitlines() == kept == [EN[0], EN[2]]


def test_batches_give_the_same_decisions() -> None:
    kept, rejected = [], []
    for rows in (1, 3, 1000):
        made = TertiumFilter(threshold=20, measure="chrf", rows_at_a_time=rows)
        kept.append(list(made.filter(iter(PAIRS))))
        rejected.append(list(made.filterfalse(iter(PAIRS))))
        assert list(made.decisions(PAIRS)) == [pair in kept[0] for pair in PAIRS]
    assert kept[0] == kept[1] == kept[2]
    assert sorted(map(tuple, kept[0] + rejected[0])) == sorted(PAIRS)
    assert rejected[0] == rejected[1] == rejected[2]
    assert TertiumFilter.score_direction == "clean_high"  # its classifiers read it from the class


def test_a_source_is_enough() -> None:
    made = TertiumFilter(
        threshold=-3, measure="prism-src", source_lang="de", target_lang="en", name="quality"
    )
    expected = tertium.score(EN, sources=DE, measure="prism-src", lang="en", source_lang="de")
    assert list(made.score(PAIRS)) == pytest.approx(expected)


def test_what_cannot_be_done() -> None:
    with pytest.raises(InputError, match="pair 2 has 3 texts"):
        list(TertiumFilter(threshold=1, measure="chrf").score([("a", "b"), ("a", "b", "c")]))
    with pytest.raises(TypeError, match="measures"):
        TertiumFilter(threshold=1, measures="chrf")  # type: ignore[call-arg]
    with pytest.raises(SettingError, match="needs all rows at once"):
        TertiumFilter(threshold=1, measure="nist")
