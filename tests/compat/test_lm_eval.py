"""lm-evaluation-harness with a task file that is scored by Tertium."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

import tertium
from tertium.errors import InputError, SettingError

from .tools import ROOT, block, folder, require, run

require("lm_eval")


def test_the_command_with_a_task_file(tmp_path: Path) -> None:
    run(block("lm-evaluation-harness", "sh"), folder(tmp_path))
    [written] = (tmp_path / "results").rglob("results_*.json")
    found = json.loads(written.read_text("utf-8"))
    with (ROOT / "examples" / "systems.tsv").open(encoding="utf-8") as stream:
        references = [row["ref"] for row in csv.DictReader(stream, delimiter="\t")]
    answers = ["lol"] * len(references)  # what its dummy model says
    results = found["results"]["tertium_de_en"]
    for name in ("cross", "chrf"):
        expected = tertium.load(name).score(answers, references, lang="en").system
        assert results[f"{name},none"] == pytest.approx(expected, abs=1e-6)
        assert found["higher_is_better"]["tertium_de_en"][name] is True


@pytest.mark.filterwarnings("ignore")  # of what it imports
def test_several_references_and_sources() -> None:
    from lm_eval.api.registry import get_aggregation, get_metric, is_higher_better

    from tertium.compat.lm_eval import items, total
    from tertium.compat.lm_eval import tertium as metric

    assert get_metric("tertium") is metric
    assert get_aggregation("tertium") is total
    assert is_higher_better("tertium")
    made = [
        items(text, references, source, measure=["chrf", "prism-src"], lang="en", source_lang="de")
        for text, references, source in (
            ("a dog", ["a dog", "the dog"], "ein Hund"),
            ("a cat", ["the cat"], "eine Katze"),
        )
    ]
    chrf = tertium.load("chrf").score(["a dog", "a cat"], [["a dog", "the dog"], ["the cat"]])
    assert total([each["chrf"] for each in made]) == chrf.system
    prism = tertium.load("prism-src").score(
        ["a dog", "a cat"], sources=["ein Hund", "eine Katze"], lang="en", source_lang="de"
    )
    assert total([each["prism-src"] for each in made]) == prism.system
    with pytest.raises(SettingError, match="no setting language; there are measure, lang"):
        metric(references=["a"], predictions=["a"], language="en")
    with pytest.raises(InputError, match="2 measures are mixed"):
        total([made[0]["chrf"], made[0]["prism-src"]])
