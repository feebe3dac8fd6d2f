"""The study of spans: edits at known places, and their scores by hand."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tertium.errors import InputError
from tertium.explanation.coverage import CoverageSettings
from tertium.explanation.review import Reviewer
from tertium.explanation.spans import A, B
from tertium.studies.runner import CellFolder, Runner, Scored
from tertium.studies.spans.edits import CONTROLS, EDITS, Edited, edited_pairs
from tertium.studies.spans.labels import LabelStudy, pair_scores
from tertium.studies.spans.published import LabelledPair, LabelledToken, read_labels
from tertium.studies.spans.study import SpanStudy, evaluate, f1, overlap_counts
from tertium.studies.spans.thresholds import Curve, SpanResult, counted, learn, rounded_between
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


def test_an_exchanged_hypothesis_is_that_of_another_pair() -> None:
    found = [each for seed in range(4) for each in edited_pairs(PAIRS, ["exchanged"], seed=seed)]
    assert found
    originals = {b: a for a, b in PAIRS}
    for each in found:
        assert each.a in originals.values()
        assert each.a != originals[each.b]
        assert each.a.text[each.start : each.end] == each.a.text


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
    [[_, learnt, precision, recall, *_]] = report.tables["thresholds"].rows
    name, _, number = str(learnt).partition("=")
    assert name == "differences"
    assert 0 < float(number) <= 0.2  # red and blue are gold
    assert (str(precision), str(recall)) == ("1.000", "1.000")
    [[method, tokens, value, _]] = report.tables["labels"].rows
    assert (method.value, tokens.value, str(value)) == ("differences", 4, "1.000")
    file.write_text(json.dumps({**record, "labels_b": [0.5]}) + "\n")
    with pytest.raises(InputError, match="row 1: labels_b must be a list with one number for each"):
        read_labels(file, "en", "en")


def test_coverage_gives_a_word_the_largest_gain_of_its_phrases(tmp_path: Path) -> None:
    """H(a|b) = -1, without "you here" -0.5; all other phrases lose. Only these two words gain."""
    a, b = "Ich sehe.", "I see you here."
    worse = {(a, part): (-3.0,) for part in ("You here.", "I here.", "I.", "See here.", "Here.")}
    model = FakeModel({(a, b): (-1.0,), (a, "I see."): (-0.5,), **worse})
    reviewer = Reviewer(("coverage",), model, coverage=CoverageSettings(surprise=0.0))
    [found] = pair_scores(reviewer, "coverage", [(Text(a, "de"), Text(b, "en"))])
    assert [(b[start:end], score) for start, end, score in found.b if score > 0] == [
        *[("you", 0.5), ("here", 0.5)]
    ]
    assert found.candidates == [(B, 6, 14, 0.5)]


MQM = """system	doc	doc_id	seg_id	rater	source	target	category	severity
S	talk.1	1	1	rater1	He came home.	Er <v>ging</v> heim.	Accuracy/Mistranslation	Major
S	talk.1	1	1	rater2	He came home.	Er ging heim.	No-error	No-error
S	talk.1	1	1	rater1	He <v>came</v> home.	Er ging heim.	Accuracy/Omission	Minor
S	talk.1	2	2	rater1	Yes.	<v>Ja</v>.	Style/Awkward	Neutral
"""


def test_mqm_labels_are_shares_of_raters(tmp_path: Path) -> None:
    file = tmp_path / "mqm.tsv"
    file.write_text(MQM, "utf-8")
    first, second = read_labels(file, "de", "en")
    assert (first.a, first.b) == (Text("Er ging heim.", "de"), Text("He came home.", "en"))
    assert [each.label for each in first.tokens_a] == [0.0, 0.5, 0.0, 0.0]
    assert [each.label for each in first.tokens_b] == [0.0, 0.5, 0.0, 0.0]
    assert [each.label for each in second.tokens_a] == [0.0, 0.0]  # neutral
    assert len(read_labels(file, "de", "en", limit=1)) == 1
    file.write_text(MQM.replace("seg_id", "segment"), "utf-8")
    with pytest.raises(InputError, match="row 1: no column 'seg_id'"):
        read_labels(file, "de", "en")


def test_esa_spans_end_with_their_last_character(tmp_path: Path) -> None:
    file = tmp_path / "esa.jsonl"
    spans = [
        {"start_i": 3, "end_i": 6, "severity": "minor", "error_type": None},
        {"start_i": "missing", "end_i": "missing", "severity": "major", "error_type": None},
        {"start_i": 8, "end_i": 12, "severity": "undecided", "error_type": None},
    ]
    record = {"langs": "en-de", "line_id": 3, "src": "He came.", "tgt": "Er ging heim."}
    record |= {"doc_id": "d", "system": "s", "annotator": "x", "esa_spans": spans}
    file.write_text(json.dumps(record) + "\n", "utf-8")
    [pair] = read_labels(file, "de", "en")
    marked = [pair.a.text[each.start : each.end] for each in pair.tokens_a if each.label]
    assert marked == ["ging"]
    assert pair.tokens_b == ()
    record["esa_spans"] = [{"start_i": 30, "end_i": 31, "severity": "minor"}]
    file.write_text(json.dumps(record) + "\n", "utf-8")
    with pytest.raises(InputError, match="row 1: characters 30 to 13 are not in a text of 13"):
        read_labels(file, "de", "en")


def test_a_malformed_span_names_its_row(tmp_path: Path) -> None:
    file = tmp_path / "ratings.jsonl"
    for errors in ([{"start": 0}], [{"start": "x", "end": 2, "severity": "major"}], 3):
        record = {"source": "Yes.", "hypothesis": "Ja.", "errors": errors}
        file.write_text(json.dumps(record) + "\n", "utf-8")
        with pytest.raises(InputError, match="row 1: "):
            read_labels(file, "de", "en")


def test_tags_of_mlqe_pe_alternate_with_those_of_gaps(tmp_path: Path) -> None:
    for name, text in {
        "dev.mt": "Er ging heim .\n",
        "dev.src": "He came home .\n",
        "dev.tags": "OK OK BAD BAD OK OK OK OK OK\n",
        "dev.source_tags": "OK BAD OK OK\n",
    }.items():
        (tmp_path / name).write_text(text, "utf-8")
    for path in (tmp_path, tmp_path / "dev.tags"):
        [pair] = read_labels(path, "de", "en")
        assert [each.label for each in pair.tokens_a] == [0.0, 1.0, 0.0, 0.0]
        assert [each.label for each in pair.tokens_b] == [0.0, 1.0, 0.0, 0.0]
    (tmp_path / "dev.tags").write_text("OK OK BAD\n", "utf-8")
    with pytest.raises(InputError, match="row 1: 3 tags for 4 tokens"):
        read_labels(tmp_path, "de", "en")
    (tmp_path / "test.tags").write_text("OK\n", "utf-8")
    with pytest.raises(InputError, match=r"must have one .tags file \(dev.tags, test.tags\)"):
        read_labels(tmp_path, "de", "en")


def test_an_unknown_layout_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "pairs.tsv"
    file.write_text("hyp\tsrc\na\tb\n")
    with pytest.raises(InputError, match="no labels in a known layout: its columns are hyp, src"):
        read_labels(file, "de", "en")


def labelled(*tokens: tuple[int, int, float]) -> LabelledPair:
    found = tuple(LabelledToken(*token) for token in tokens)
    return LabelledPair(Text("abcd efgh ijkl"), Text("x"), found, ())


def test_the_best_threshold_by_hand() -> None:
    """Gold: 4 of 12 characters in the first pair, 4 of 4 in the second. From 0.5 on, the first word
    of both pairs is reported: F1 = 1. From 0.3 on, one word too many: F1 = 16 / 20."""
    pairs = [labelled((0, 4, 1.0), (5, 9, 0.4), (10, 14, 0.0)), labelled((0, 4, 0.5))]
    words = [
        [("a", 0, 4, 0.9), ("a", 5, 9, 0.3), ("a", 10, 14, 0.1)],
        [("a", 0, 4, 0.52), ("a", 5, 9, 2.0)],  # the second word has no label
    ]
    curve = Curve([counted(pair, own) for pair, own in zip(pairs, words, strict=True)])
    best = learn(curve)
    assert (best.threshold, best.result) == (0.5, SpanResult(8, 8, 8))
    assert curve.at(0.3).f1 == pytest.approx(16 / 20)
    assert curve.at(0.6) == SpanResult(4, 4, 8)
    # the threshold of the first pair, 0.9, finds nothing in the second; that of the second, 0.52
    # (0 would do: there is nothing below), finds all words of the first
    halves = [Curve(curve.pairs[:1]), Curve(curve.pairs[1:])]
    assert [half.best() for half in halves] == [0.9, 0.0]
    assert best.held_out == pytest.approx(2 * 4 / (12 + 8))
    nothing = Curve([counted(labelled((0, 4, 0.0)), [("a", 0, 4, 1.0)])])
    assert nothing.best() == float("inf")
    assert nothing.at(nothing.best()) == SpanResult(0, 0, 0)


def test_a_threshold_has_few_digits_and_the_same_result() -> None:
    assert rounded_between(0.4, 0.52) == 0.5
    assert rounded_between(0.5199999, 0.52) == 0.52
    assert rounded_between(-0.31, -0.2) == -0.2
    assert rounded_between(0.1, 0.1 + 1e-13) == 0.1 + 1e-13
