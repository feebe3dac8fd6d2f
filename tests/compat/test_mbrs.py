"""The commands of mbrs with our plug-in folder."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tertium
from tertium.errors import SettingError

from .tools import ROOT, block, folder, require, run

require("mbrs", "mbrs==0.1.8")

EXAMPLES = ROOT / "examples" / "adapters" / "mbrs"
CANDIDATES = (EXAMPLES / "candidates.txt").read_text("utf-8").splitlines()
SOURCES = (EXAMPLES / "sources.txt").read_text("utf-8").splitlines()
GROUPS = [CANDIDATES[start : start + 3] for start in (0, 3, 6)]


def test_the_command_that_selects(tmp_path: Path) -> None:
    printed = run(block("mbrs", "sh"), folder(tmp_path)).splitlines()
    measure = tertium.load("cross")
    expected = []
    for group in GROUPS:
        pairs = [(one, other) for one in group for other in group]
        scores = measure([one for one, _ in pairs], [other for _, other in pairs], lang="en")
        means = [sum(scores[start : start + 3]) / 3 for start in (0, 3, 6)]
        expected.append(group[means.index(max(means))])
    assert printed == expected


def test_the_command_that_reranks_by_the_source(tmp_path: Path) -> None:
    printed = run(block("mbrs", "sh", 1), folder(tmp_path)).splitlines()
    measure = tertium.load("prism-src")
    expected = []
    for group, source in zip(GROUPS, SOURCES, strict=True):
        scores = measure(group, sources=[source] * 3, lang="en", source_lang="de")
        expected.append(group[scores.index(max(scores))])
    assert printed == expected


def test_the_command_that_scores(tmp_path: Path) -> None:
    command = (
        "mbrs-score examples/systems/careful.txt -r examples/systems/ref.txt --metric tertium "
        '--metric.measure bleu --width 6 --plugin_dir "$(python -m tertium.compat mbrs)"'
    )
    systems = ROOT / "examples" / "systems"
    texts = [
        (systems / name).read_text("utf-8").splitlines() for name in ("careful.txt", "ref.txt")
    ]
    expected = tertium.load("bleu").score(*texts).system
    found = json.loads(run(command, folder(tmp_path)))
    assert found["score"] == pytest.approx(expected, abs=1e-6)


@pytest.mark.filterwarnings("ignore")  # of mbrs and of what it imports
def test_scores_as_tensors() -> None:
    from tertium.compat.mbrs import MetricTertium, MetricTertiumSource

    metric = MetricTertium(MetricTertium.Config(measure="chrf"))
    hypotheses, references = ["a dog", "a cat", "two"], ["a dog\n", "the cat"]
    table = metric.pairwise_scores(hypotheses, references)
    assert table.shape == (3, 2)
    for row, hypothesis in zip(table.tolist(), hypotheses, strict=True):
        plain = [text.strip() for text in references]
        assert row == pytest.approx(tertium.score([hypothesis] * 2, plain, measure="chrf"))
    assert metric.score("a dog", "a dog") == 100
    assert metric.expected_scores(hypotheses, references).tolist() == pytest.approx(
        table.mean(dim=1).tolist()
    )
    expected = tertium.load("chrf").score(["a", "b"], [["a", "c"], ["b", "d"]]).system
    assert metric.corpus_score(["a", "b"], [["a", "b"], ["c", "d"]]) == expected
    with pytest.raises(SettingError, match="tertium-src"):
        MetricTertium(MetricTertium.Config(measure="prism-src"))
    with pytest.raises(SettingError, match="chrf:against=source"):
        MetricTertiumSource(MetricTertiumSource.Config(measure="chrf"))
