"""Scores of the bundled model that were recorded once: a change that is about speed keeps them.

For a new bundled model, record them again: ``python -m tests.measures.test_golden``.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tertium
from tertium.data.records import open_table
from tertium.models.cached import CachedModel
from tertium.text import Row, Text

FILE = Path(__file__).with_name("golden.json")
PAIRS = Path(__file__).parents[2] / "examples" / "pairs.tsv"
MEASURES = ("direct", "pivot", "cross", "prism-ref")
CLOSE = 1e-5
"""What the size of a batch may change in float32, and nothing else."""


def rows() -> list[Row]:
    return [
        Row(
            number,
            Text(record["hyp"], record["hyp_lang"]),
            (Text(record["ref"], record["ref_lang"]),),
        )
        for number, record in enumerate(open_table(PAIRS), start=1)
    ]


def scores(model: CachedModel, measure: str) -> list[float]:
    return tertium.load(measure, model=model).segments(rows()).scores


@pytest.mark.parametrize("measure", MEASURES)
def test_scores_are_those_that_were_recorded(measure: str) -> None:
    recorded = json.loads(FILE.read_text())
    model = tertium.load_model(cache=False)
    assert model.fingerprint == recorded["fingerprint"], "another model: see above"
    assert scores(model, measure) == pytest.approx(recorded["scores"][measure], abs=CLOSE)


def record() -> None:
    model = tertium.load_model(cache=False)
    found = {measure: [round(score, 8) for score in scores(model, measure)] for measure in MEASURES}
    FILE.write_text(
        json.dumps({"fingerprint": model.fingerprint, "scores": found}, indent=1) + "\n"
    )


if __name__ == "__main__":
    record()
