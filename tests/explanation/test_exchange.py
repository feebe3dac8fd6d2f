"""Spans in the layouts of other tools, and read from them again."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from tertium.cli.explain import layout_of
from tertium.errors import InputError
from tertium.explanation.exchange import EXCHANGES, errors_of, exchange_for
from tertium.explanation.review import PairReview
from tertium.explanation.spans import Span
from tertium.studies.spans.published import read_labels
from tertium.text import Text

TARGET, SOURCE = "Le 👩\u200d👧 che\u0301rit שלום\tbien.", "The girl likes peace very much now."
ADDED = Span.of(TARGET, 3, 6, side="a", kind="addition", score=0.5, severity="major")
HEBREW = Span.of(TARGET, 15, 19, side="a", kind="unlikely", score=7.0)
OMITTED = Span.of(SOURCE, 31, 34, side="b", kind="omission", score=0.25, evidence="H rises")
REVIEW = PairReview(Text(TARGET, "fr"), Text(SOURCE, "en"), (ADDED, HEBREW, OMITTED))
CLEAN = PairReview(Text("Oui.", "fr"), Text("Yes.", "en"))
CUT = PairReview(Text("Il", "fr"), Text("He said so.", "en"), flags=("truncated", "copy"))


def rows(name: str, record: dict[str, Any] | None = None) -> list[dict[str, Any]]:
    exchange = EXCHANGES[name]
    reviews = [REVIEW, CLEAN, CUT]
    found = [
        fields
        for number, review in enumerate(reviews, 1)
        for fields in exchange.rows(review, number, record or {})
    ]
    assert all(tuple(fields) == exchange.columns for fields in found)
    return found


def written(name: str, folder: Path) -> Path:
    exchange = EXCHANGES[name]
    layout = layout_of(exchange)()
    file = folder / f"spans{exchange.suffix}"
    file.write_text(layout.head(exchange.columns) + layout.body(rows(name)), "utf-8")
    return file


def test_the_offsets_are_those_of_the_texts() -> None:
    assert [span.text for span in (ADDED, HEBREW, OMITTED)] == ["👩\u200d👧", "שלום", "now"]


def test_mqm_has_a_row_for_each_error(tmp_path: Path) -> None:
    found = rows("mqm")
    assert [(row["category"], row["severity"]) for row in found] == [
        ("Accuracy/Addition", "Major"),
        ("Accuracy/Mistranslation", "Minor"),
        ("Accuracy/Omission", "Minor"),
        ("No-error", "No-error"),
        ("Accuracy/Omission", "Major"),  # truncated, without a place
        ("Accuracy/Untranslated text", "Major"),
    ]
    assert found[0]["target"].startswith("Le <v>👩\u200d👧</v> ")
    assert (found[0]["source"], found[3]["source"]) == (SOURCE, "Yes.")
    assert found[2]["source"].endswith("very much <v>now</v>.")
    assert found[2]["comment"] == "H rises"
    assert found[5]["target"] == "<v>Il</v>"
    assert [row["seg_id"] for row in found] == [1, 1, 1, 2, 3, 3]
    # as mt-metrics-eval reads it (score_mqm: no quoting, doc_id is a number)
    with written("mqm", tmp_path).open(encoding="utf-8", newline="") as stream:
        read = list(csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))
    assert [int(row["doc_id"]) for row in read] == [1, 1, 1, 2, 3, 3]
    assert {row["rater"] for row in read} == {"tertium"}


def test_mtme_has_a_rating_for_each_segment() -> None:
    first, clean, cut = rows("mtme")
    assert first["errors"] == [
        {
            "start": start,
            "end": end,
            "category": category,
            "severity": severity,
            "score": score,
            "is_source_error": in_source,
        }
        for start, end, category, severity, score, in_source in (
            (3, 6, "accuracy/addition", "major", 0.5, False),
            (15, 19, "accuracy/mistranslation", "minor", 7.0, False),
            (31, 34, "accuracy/omission", "minor", 0.25, True),
        )
    ]
    assert clean["errors"] == []
    assert [each["segment_id"] for each in (first, clean, cut)] == [0, 1, 2]
    assert (first["src_lang"], first["tgt_lang"]) == ("en", "fr")
    for error in first["errors"]:
        text = SOURCE if error["is_source_error"] else TARGET
        assert text[error["start"] : error["end"]] in ("👩\u200d👧", "שלום", "now")


def test_the_wmt_task_has_offsets_and_severities_in_columns() -> None:
    record = {"doc_id": "d", "segment_id": "7", "system_id": "s", "domain_name": "news"}
    first, clean, cut = rows("wmt", record)
    assert [first[name] for name in ("start_indices", "end_indices", "error_types")] == [
        "3 15 missing",
        "6 19 missing",
        "major minor minor",
    ]
    assert [clean[name] for name in ("start_indices", "end_indices", "error_types")] == [
        *("-1", "-1", "no-error")
    ]
    assert cut["start_indices"] == "missing 0"
    assert {name: first[name] for name in record} == record
    assert (first["source_lang"], first["target_lang"], first["set_id"]) == ("en", "fr", "official")


def test_the_wmt_task_is_quoted_where_needed(tmp_path: Path) -> None:
    review = PairReview(Text('"Oui" - "non".\nEt', "fr"), Text('"Yes', "en"), flags=("copy",))
    [fields] = EXCHANGES["wmt"].rows(review, 1, {})
    layout = layout_of(EXCHANGES["wmt"])()
    file = tmp_path / "wmt.tsv"
    file.write_text(layout.head(list(fields)) + layout.body([fields]), "utf-8")
    with file.open(encoding="utf-8", newline="") as stream:  # as pandas reads it by default
        [read] = csv.DictReader(stream, delimiter="\t")
    assert (read["hypothesis_segment"], read["source_segment"]) == (review.a.text, review.b.text)
    [pair] = read_labels(file, "fr", "en")
    assert pair.pair == (review.a, review.b)


def test_the_last_character_belongs_to_a_span_of_esa() -> None:
    first, clean, _ = rows("esa")
    assert [(span["start_i"], span["end_i"], span["severity"]) for span in first["esa_spans"]] == [
        (3, 5, "major"),
        (15, 18, "minor"),
        ("missing", "missing", "minor"),
    ]
    assert clean["esa_spans"] == []
    assert (first["langs"], first["line_id"]) == ("en-fr", 0)


@pytest.mark.parametrize("name", EXCHANGES)
def test_what_is_written_can_be_read_again(name: str, tmp_path: Path) -> None:
    pairs = read_labels(written(name, tmp_path), "fr", "en")
    assert [pair.b.text for pair in pairs] == [SOURCE, "Yes.", "He said so."]
    first = pairs[0]
    tab = " " if name == "mqm" else "\t"  # the others are quoted, or JSON
    assert first.a.text == TARGET.replace("\t", tab)
    marked = [first.a.text[each.start : each.end] for each in first.tokens_a if each.label]
    assert marked == ["👩\u200d👧", "שלום"]
    assert all(each.label == 0 for each in pairs[1].tokens_a)
    assert [each.label for each in pairs[2].tokens_a] == [1.0]  # the copy
    in_source = [first.b.text[each.start : each.end] for each in first.tokens_b if each.label]
    assert in_source == (["now"] if name in ("mqm", "mtme") else [])


def test_flags_without_a_place_are_errors_once() -> None:
    assert [(error.kind, error.span is None) for error in errors_of(CUT)] == [
        *[("truncated", True), ("copy", False)]
    ]
    number = Span.of("12", 0, 2, side="a", kind="number", score=1.0)
    [error] = errors_of(PairReview(Text("12"), Text("13"), (number,), ("number",)))
    assert error.span == number
    assert json.dumps(EXCHANGES["mtme"].rows(CUT, 1, {}))


def test_wrong_names_and_segments_are_refused() -> None:
    with pytest.raises(InputError, match="no layout 'x': use mqm, mtme, wmt, esa"):
        exchange_for("x")
    with pytest.raises(InputError, match="row 4: the segment is 'one', where the layout needs a"):
        EXCHANGES["mtme"].rows(CLEAN, 4, {"segment_id": "one"})
