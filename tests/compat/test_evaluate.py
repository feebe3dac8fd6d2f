"""Hugging Face evaluate loads our folder, without network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import tertium
from tertium.compat import plugin_folder
from tertium.errors import SettingError

from .tools import require

require("evaluate")
HYPOTHESES, REFERENCES = ["a dog", "a cat"], ["a dog", "the cat"]
SOURCES = ["ein Hund", "eine Katze"]


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    import evaluate

    monkeypatch.setattr("evaluate.config.HF_EVALUATE_OFFLINE", True)
    monkeypatch.setattr("evaluate.config.HF_MODULES_CACHE", str(tmp_path / "modules"))
    monkeypatch.syspath_prepend(str(tmp_path / "modules"))

    def load(measure: str | None) -> Any:
        folder = str(plugin_folder("evaluate"))
        return evaluate.load(folder, measure, cache_dir=str(tmp_path / "data"))

    return load


def test_the_config_is_the_measure(load: Any) -> None:
    for measure in ("chrf", "bleu:lowercase=yes", None):
        found = load(measure).compute(predictions=HYPOTHESES, references=REFERENCES, lang="en")
        expected = tertium.load(measure or "cross").score(HYPOTHESES, REFERENCES, lang="en")
        assert found["scores"] == pytest.approx(list(expected), abs=1e-6)
        assert found["mean_score"] == pytest.approx(sum(expected) / 2)
        assert found["score"] == pytest.approx(expected.system)
        assert found["signature"] == str(expected.signature)


def test_several_references_and_batches(load: Any) -> None:
    metric = load("chrf")
    metric.add_batch(predictions=["a dog"], references=[["the dog", "a dog"]])
    metric.add_batch(predictions=["a cat"], references=[["the cat"]])
    expected = tertium.score(HYPOTHESES, [["the dog", "a dog"], ["the cat"]], measure="chrf")
    assert metric.compute()["scores"] == expected


def test_what_a_measure_reads_is_what_it_asks_for(load: Any) -> None:
    metric = load("prism-src")
    assert set(metric.features) == {"predictions", "sources"}
    found = metric.compute(predictions=HYPOTHESES, sources=SOURCES, lang="en", source_lang="de")
    expected = tertium.score(
        HYPOTHESES, sources=SOURCES, measure="prism-src", lang="en", source_lang="de"
    )
    assert found["scores"] == pytest.approx(expected)
    with pytest.raises(ValueError, match="sources"):
        load("prism-src").compute(predictions=HYPOTHESES, references=REFERENCES)
    with pytest.raises(SettingError, match="no measure 'chrg'; did you mean 'chrf'"):
        load("chrg")
