"""The study of spans: edits at known places, and their scores by hand."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tertium.errors import InputError
from tertium.explanation.review import Reviewer
from tertium.explanation.spans import A, B
from tertium.studies.runner import CellFolder, Runner, Scored
from tertium.studies.spans.edits import CONTROLS, EDITS, Edited, edited_pairs
from tertium.studies.spans.labels import LabelStudy
from tertium.studies.spans.published import read_labels
from tertium.studies.spans.study import SpanStudy, evaluate, f1, overlap_counts
from tertium.text import Text

from ..fakes import FakeEncoder, FakeModel

PAIRS = [
    (
        Text("Mary is in Paris with bread and butter for 12 old men today.", "en"),
        Text("Maria ist heute in Paris mit Brot und Butter für 12 alte Männer.", "de"),
    ),
    (
        Text("We were at home when Peter came back from Rome in 1998.", "en"),
        Text("Wir waren zu Hause, als Peter 1998 aus Rom zurückkam.", "de"),
    ),
]


def made(kind: str, **settings: FakeModel) -> list[Edited]:
    return edited_pairs(PAIRS, [kind], **settings)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["inserted", "replaced", "number", "name", "negation"])
def test_what_is_new_is_at_the_gold_span(kind: str) -> None:
    found = made(kind)
    assert found
    for each in found:
        assert each.side == A
        new = each.a.text[each.start : each.end]
        assert new
        originals = [a.text for a, b in PAIRS if b == each.b]
        assert each.a.text != originals[0]
        assert each.a.text[: each.start] == originals[0][: each.start]
        rest = each.a.text[each.end :].strip()
        assert originals[0].endswith(rest)
    if kind == "negation":
        assert [each.a.text[each.start : each.end] for each in found] == ["not", "not"]
        assert "Mary is not in Paris" in found[0].a.text
    assert made(kind) == found  # the same seed


def test_a_phrase_is_deleted_before_translation() -> None:
    model = FakeModel()  # translates a text into itself
    for each in made("deleted", model=model):
        assert each.side == B
        phrase = each.b.text[each.start : each.end]
        assert 3 <= len(phrase.split()) <= 5
        assert phrase not in each.a.text
        assert each.a.lang == "en"
    assert {lang for _, lang in model.translated} == {"en"}
    both = edited_pairs(PAIRS, ["deleted", "translated"], model=model)
    assert [each.a.text for each in both if each.kind == "translated"] == [b.text for _, b in PAIRS]


def test_controls_keep_the_meaning() -> None:
    [reordered] = made("reordered")
    assert "with butter and bread for" in reordered.a.text
    assert [each.pair for each in made("complete")] == PAIRS
    assert set(CONTROLS).isdisjoint(EDITS)


def test_results_by_hand() -> None:
    """Gold: characters 0 to 4 of two texts. Predicted: 2 to 6 in the first, nothing in the second.
    Both 2, predicted 4, gold 8: precision 1/2, recall 1/4, F1 = 4/12."""
    a, b = Text("abcdefgh", "en"), Text("ijkl", "de")
    edited = [
        Edited("inserted", a, b, A, 0, 4),
        Edited("inserted", a, b, A, 0, 4),
        Edited("complete", a, b),
        Edited("complete", a, b),
    ]
    scored = Scored(
        {
            "scores": [3.0, 1.0, 2.0, 0.0],
            "spans": [[(A, 2, 6), (B, 0, 4)], [], [(B, 0, 1)], []],
        }
    )
    results, alarms = evaluate(edited, scored, samples=50)
    result = results["inserted"]
    assert (result.pairs, result.precision, result.recall) == (2, 0.5, 0.25)
    assert result.f1 == pytest.approx(4 / 12)
    assert result.f1_interval[0] <= result.f1 <= result.f1_interval[1]
    assert result.found == 0.5
    assert result.auc == 0.75  # 3 is above both, 1 is above one of two
    assert alarms == {"complete": (2, 0.5)}
    # deleted phrases are compared with translations of the whole: 3 and 1 are above 0
    kinds = ["deleted", "deleted", "complete", "translated"]
    other = [replace(each, kind=kind) for each, kind in zip(edited, kinds, strict=True)]
    assert evaluate(other, scored, samples=50)[0]["deleted"].auc == 1.0
    assert overlap_counts(edited[0], [(A, 2, 6), (A, 3, 7)]) == (2, 5, 4)
    assert f1(np.zeros((1, 3))).tolist() == [0.0]


def test_cells_are_reused(tmp_path: Path) -> None:
    model = FakeModel()
    edited = edited_pairs(PAIRS, ["complete", "inserted"])
    reviewer = Reviewer(("coverage",), model)
    for reused in (0, 1):
        study = SpanStudy(edited, reviewer, samples=10, runner=Runner(CellFolder(tmp_path)))
        asked = len(model.asked)
        report = study.run()
        assert study.runner.reused == reused
        assert (len(model.asked) == asked) == bool(reused)
    assert [str(row[0]) for row in report.tables["edits"].rows] == ["coverage, inserted"]


def test_labels_by_hand(tmp_path: Path) -> None:
    """Words of a: differences 0 and 0.4, b: 0.2 and 0; the labels have the same order, so that
    Spearman's correlation is 1. The last token has no label."""
    file = tmp_path / "labels.jsonl"
    record = {
        "text_a": "car red .",
        "text_b": "blue auto",
        "labels_a": [0.0, 1.0, -1.0],
        "labels_b": [0.5, 0.0],
    }
    file.write_text(json.dumps(record) + "\n")
    pairs = read_labels(file, "en", "en")
    encoder = FakeEncoder({"red": (1, 0), "car": (0, 1), "blue": (3, 4), "auto": (0, 2)})
    report = LabelStudy(pairs, Reviewer(("differences",), encoder=encoder), samples=5).run()
    [[method, tokens, value, _]] = report.tables["labels"].rows
    assert (method.value, tokens.value, str(value)) == ("differences", 4, "1.000")
    file.write_text(json.dumps({**record, "labels_b": [0.5]}) + "\n")
    with pytest.raises(InputError, match="row 1: labels_b must be a list with one number for each"):
        read_labels(file, "en", "en")
