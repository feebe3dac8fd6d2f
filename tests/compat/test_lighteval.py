"""lighteval with a task file that is scored by Tertium."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tertium

from .tools import ROOT, block, folder, require, run

require("lighteval")


@pytest.mark.filterwarnings("ignore::tertium.errors.TextWarning")  # the answers are German
def test_the_command_with_a_task_file(tmp_path: Path) -> None:
    run(block("lighteval", "sh"), folder(tmp_path))
    [written] = (tmp_path / "results").rglob("results_*.json")
    results = json.loads(written.read_text("utf-8"))["results"]["tertium_de_en|0"]
    data = ROOT / "examples" / "adapters" / "lighteval" / "data" / "test.jsonl"
    rows = [json.loads(line) for line in data.read_text("utf-8").splitlines()]
    sources, references = ([row[name] for row in rows] for name in ("src", "ref"))
    for name in ("cross", "chrf", "prism-src"):
        scores = tertium.load(name).score(
            sources, references, sources=sources, lang="en", source_lang="de"
        )
        assert results[name] == pytest.approx(scores.system, abs=1e-6)
        assert results[f"{name}_stderr"] > 0
