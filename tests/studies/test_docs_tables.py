"""A sample of the tables in the docs, computed again where the data are at hand."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tertium.measures.loading import MeasureSpec
from tertium.stats.correlation import pearson
from tertium.studies.judgements.sets import read_sets
from tertium.studies.judgements.study import JudgementStudy

ROOT = Path(__file__).parents[2]
DATA = Path(os.environ.get("TERTIUM_DATA", ROOT.parent / "shared" / "data"))
PAGE = ROOT / "docs" / "study-correlate.md"
PAIRS = ("de-en", "fi-en", "lv-en", "zh-en")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not PAGE.is_file(), reason="an installed package has no docs"),
    pytest.mark.skipif(
        not (DATA / "wmt17-da").is_dir(),
        reason="the tables of docs/study-correlate.md are NOT checked: no folder with wmt17-da "
        "(set TERTIUM_DATA)",
    ),
]


def row(label: str) -> list[float]:
    """The numbers of a row of the first table that has it."""
    match = re.search(rf"^\| {re.escape(label)} \|(.*)\|$", PAGE.read_text("utf-8"), re.MULTILINE)
    assert match is not None, label
    return [float(number) for number in re.findall(r"-?\d\.\d{3}", match[1])]


@pytest.mark.parametrize(
    ("label", "measure"),
    [("`chrf`", "chrf"), ("`bleu` (sacrebleu)", "bleu")],
)
def test_wmt17_against_references(label: str, measure: str) -> None:
    sets = read_sets("wmt17", DATA / "wmt17-da", PAIRS, None)
    study = JudgementStudy(sets, [MeasureSpec.parse(measure)])
    scores = study.run()
    found = []
    for judged in sets:
        human = [segment.score or 0.0 for segment in judged.segments]
        found.append(pearson(scores[judged.name][measure].segments, human))
    assert row(label)[:4] == pytest.approx(found, abs=0.0005)
    assert row(label)[4] == pytest.approx(sum(found) / 4, abs=0.0005)
