"""``tertium explain`` with methods: two texts, files, reports, and interrupted runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import tertium as library
import tertium as tertium_package
from tertium.explanation.coverage import Factors
from tertium.explanation.decisions import LEVELS, Decisions, LearnedDecisions
from tertium.explanation.review import PairReview, Reviewer

from .conftest import Run

DE, EN = "Ich habe ein Auto.", "I have a car and a house."
ROWS = [
    (DE, EN),
    ("Guten Morgen!", "Good morning!"),
    ("Er kam 1998.", "He came in 1989."),
    ("Sie trinkt Tee mit Milch und Zucker.", "She drinks tea."),
    ('<b>"x"</b> & שלום', "a <script>"),
]

EDITABLE = [
    (
        "Mary is in Paris with bread and butter for 12 old men today.",
        "Maria ist heute in Paris mit Brot und Butter für 12 alte Männer.",
    ),
    (
        "We were at home when Peter came back from Rome in 1998.",
        "Wir waren zu Hause, als Peter 1998 aus Rom zurückkam.",
    ),
]


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    file = tmp_path / "pairs.tsv"
    lines = ["hyp\tsrc\tlang\tsrc_lang", *(f"{de}\t{en}\tde\ten" for de, en in ROWS)]
    file.write_text("\n".join(lines) + "\n", "utf-8")
    return file


def test_two_texts_with_a_method(tertium: Run, tmp_path: Path) -> None:
    page = tmp_path / "pair.html"
    texts = (DE, EN, "-l", "de", "--ref-lang", "en")
    done = tertium("explain", *texts, "--method", "coverage", "--html", page)
    assert done.returncode == 0, done.stderr
    assert "I have a car [and a house]." in done.stdout
    assert "major omission: and a house" in done.stdout
    assert ">and a house</button>" in page.read_text("utf-8")


def test_two_texts_are_not_a_file(tertium: Run, tmp_path: Path) -> None:
    done = tertium("explain", "a", "b", "-l", "en", "-o", tmp_path / "out.tsv")
    assert done.returncode == 2
    assert "--output: two texts are not rows; give a file of pairs" in done.stderr


def test_an_unknown_method_is_refused(tertium: Run, pairs: Path) -> None:
    done = tertium("explain", pairs, "--method", "coverage,magic")
    assert done.returncode == 2
    assert "unknown method 'magic': use coverage, opposites, unlikely" in done.stderr


def test_a_file_gets_spans_flags_and_a_report(tertium: Run, tmp_path: Path, pairs: Path) -> None:
    out, page = tmp_path / "spans.jsonl", tmp_path / "report.html"
    done = tertium("explain", pairs, "-o", out, "--html", page)
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert [row["hyp"] for row in rows] == [de for de, _ in ROWS]
    for row in rows:
        for span in row["spans"]:
            assert row[span["side"]][span["start"] : span["end"]] == span["text"]
    kinds = [[(span["side"], span["kind"], span["text"]) for span in row["spans"]] for row in rows]
    assert kinds[0] == [("src", "omission", "and a house")]
    assert kinds[1] == []
    assert {("hyp", "number", "1998"), ("src", "number", "1989")} <= set(kinds[2])
    assert ("hyp", "addition", "mit Milch und Zucker") in kinds[3]
    assert rows[0]["severity"] == "major"
    assert rows[2]["flags"] == ["number"]
    assert "of 5 rows with a span or a flag" in done.stderr
    html = page.read_text("utf-8")
    assert "<script" not in html
    assert 'id="kind-omission"' in html
    assert ".row.has-omission" in html
    assert "Guten Morgen" not in html  # nothing to report


def test_the_same_spans_from_python(tertium: Run, pairs: Path) -> None:
    review = library.explain(DE, EN, lang="de", reference_lang="en", methods="coverage,flags")
    done = tertium("explain", pairs, "-q")
    assert done.returncode == 0, done.stderr
    head, first, *_ = [line.split("\t") for line in done.stdout.splitlines()]
    row = dict(zip(head, first, strict=True))
    [span] = json.loads(row["spans"])
    assert span == {**review.spans[0].to_dict(), "side": "src"}
    assert row["severity"] == "major"


def test_references_instead_of_sources(tertium: Run, tmp_path: Path) -> None:
    hyp, ref = tmp_path / "hyp.txt", tmp_path / "ref.txt"
    hyp.write_text("I have a car.\n")
    ref.write_text("I have a car and a house.\n")
    done = tertium("explain", "--hyp", hyp, "--ref", ref, "-l", "en", "--method", "coverage", "-q")
    assert done.returncode == 0, done.stderr
    [_, row] = done.stdout.splitlines()
    [span] = json.loads(row.split("\t")[2])
    assert (span["side"], span["kind"], span["text"]) == ("ref", "omission", "and a house")
    done = tertium("explain", "--hyp", hyp, "--ref", ref, "-l", "en", "--against", "source")
    assert "has no sources" in done.stderr


def test_direction_over_a_file(tertium: Run, pairs: Path) -> None:
    done = tertium("explain", pairs, "--method", "direction")
    assert done.returncode == 0, done.stderr
    assert "is more likely the original" in done.stderr
    assert "p = " in done.stderr
    assert done.stdout.splitlines()[0].split("\t")[-1] == "direction"


def test_an_interrupted_run_is_resumed(
    tertium: Run, tmp_path: Path, pairs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, broken = tmp_path / "whole.jsonl", tmp_path / "broken.jsonl"
    command = (
        *("explain", pairs, "--rows-at-a-time", "2", "--no-cache"),
        *("--method", "coverage,direction,flags"),
    )
    all_at_once = tertium(*command, "-o", whole)
    assert all_at_once.returncode == 0
    review = Reviewer.__call__
    calls = 0

    def stop(self: Reviewer, *arguments: Any) -> list[PairReview]:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise KeyboardInterrupt
        return review(self, *arguments)

    report = ("--html", tmp_path / "broken.html")
    with monkeypatch.context() as patch:
        patch.setattr(Reviewer, "__call__", stop)
        done = tertium(*command, "-o", broken, *report)
    assert done.returncode == 130
    assert "--resume" in done.stderr
    assert not broken.exists()
    assert "--resume" in tertium(*command, "-o", broken).stderr
    other = tertium(*command, "-o", broken, "--resume", "--threshold", "0.9", *report)
    assert "threshold" in other.stderr
    other = tertium(*command, "-o", broken, "--resume")
    assert "was started with report = True, not False" in other.stderr
    done = tertium(*command, "-o", broken, "--resume", *report)
    assert done.returncode == 0, done.stderr
    assert "2 rows done before" in done.stderr
    assert broken.read_bytes() == whole.read_bytes()
    [direction] = [line for line in done.stderr.splitlines() if line.startswith("direction")]
    assert direction in all_at_once.stderr
    html = (tmp_path / "broken.html").read_text("utf-8")
    assert ">and a house</button>" in html  # of a row that was done before
    assert ">mit Milch und Zucker</button>" in html


def test_a_column_that_would_be_replaced_is_refused(tertium: Run, tmp_path: Path) -> None:
    file = tmp_path / "pairs.tsv"
    file.write_text("hyp\tref\tspans\na\tb\tc\n")
    done = tertium("explain", file, "-l", "en")
    assert done.returncode == 2
    assert "already has a column 'spans'" in done.stderr


def test_the_study_of_spans(tertium: Run, tmp_path: Path) -> None:
    file = tmp_path / "pairs.tsv"
    rows = ["hyp\tsrc", *(f"{a}\t{b}" for a, b in EDITABLE)]
    file.write_text("\n".join(rows) + "\n", "utf-8")
    command = ("study", "spans", file, "-l", "en", "--src-lang", "de", "--samples", "10")
    done = tertium(*command, "--method", "coverage,flags", "-o", tmp_path / "out", "-q")
    assert done.returncode == 0, done.stderr
    assert "coverage, deleted" in done.stdout
    assert "flags, number" in done.stdout
    assert (tmp_path / "out" / "edits.csv").exists()
    done = tertium(*command, "--edit", "magic")
    assert "--edit magic: use deleted" in done.stderr


def test_the_layouts_of_other_tools(tertium: Run, tmp_path: Path, pairs: Path) -> None:
    out = tmp_path / "mqm.tsv"
    done = tertium("explain", pairs, "--layout", "mqm", "-o", out)
    assert done.returncode == 0, done.stderr
    head, first, *_ = [line.split("\t") for line in out.read_text("utf-8").splitlines()]
    row = dict(zip(head, first, strict=True))
    assert row["source"] == "I have a car <v>and a house</v>."
    assert (row["target"], row["category"], row["severity"]) == (DE, "Accuracy/Omission", "Major")
    done = tertium("explain", pairs, "--layout", "esa", "-q")
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["src"] for line in lines] == [en for _, en in ROWS]
    assert lines[0]["esa_spans"][0]["start_i"] == "missing"
    labelled = tertium("study", "spans", "--labels", out, "-l", "de", "--src-lang", "en")
    assert labelled.returncode == 0, labelled.stderr
    assert "Best thresholds" in labelled.stdout


def test_a_layout_is_checked_before_any_work(tertium: Run, tmp_path: Path, pairs: Path) -> None:
    refused = {
        ("--layout", "xml"): "no layout 'xml': use mqm, mtme, wmt, esa",
        ("--layout", "mqm", "-o", str(tmp_path / "a.jsonl")): "writes a .tsv file, not a.jsonl",
        ("--layout", "mqm", "--against", "reference"): "has no references",
    }
    for options, reason in refused.items():
        done = tertium("explain", pairs, *options)
        assert done.returncode == 2
        assert reason in done.stderr
    file = tmp_path / "refs.tsv"
    file.write_text("hyp\tref\na\tb\n")
    done = tertium("explain", file, "-l", "en", "--layout", "wmt")
    assert "--layout wmt needs sources" in done.stderr


def test_thresholds_and_pairs_of_models(tertium: Run) -> None:
    texts = (DE, EN, "-l", "de", "--ref-lang", "en")
    done = tertium("explain", *texts, "--method", "coverage", "--threshold", "coverage=9")
    assert "nothing flagged by coverage" in done.stdout, done.stderr
    done = tertium("explain", *texts, "--method", "coverage", "--threshold", "unlikely=9")
    assert "one of the chosen methods that have a threshold (coverage)" in done.stderr
    assert "--threshold needs --method" in tertium("explain", *texts, "--threshold", "1").stderr
    both = "tertium-mini+tertium-mini"
    done = tertium("explain", *texts, "--method", "coverage", "--model", both)
    assert "I have a car [and a house]." in done.stdout, done.stderr
    done = tertium("explain", *texts, "--model", both)
    assert f"({both})" in done.stdout, done.stderr
    assert "instead of" in done.stdout
    done = tertium("explain", *texts, "--method", "differences", "--model", both)
    assert "has no common encoder; choose one with --encoder" in done.stderr
    done = tertium("explain", *texts, "--model", "tertium-mini++tertium-mini")
    assert "a pair of models is written FIRST+SECOND" in done.stderr


def test_hallucinations_in_a_file(tertium: Run, tmp_path: Path) -> None:
    file, out = tmp_path / "pairs.tsv", tmp_path / "out.jsonl"
    file.write_text("hyp\tsrc\nWir essen Brot.\tI lost my keys.\nGuten Morgen!\tGood morning!\n")
    done = tertium("explain", file, "-l", "de", "--src-lang", "en", "-o", out)
    assert done.returncode == 0, done.stderr
    first, second = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert first["flags"] == ["hallucination"]
    assert [span["text"] for span in first["spans"]] == ["Wir essen Brot."]
    assert second["flags"] == []
    assert "hallucination 1" in done.stderr


def test_the_report_names_rows_and_kinds(tertium: Run, tmp_path: Path) -> None:
    file, page = tmp_path / "pairs.tsv", tmp_path / "report.html"
    file.write_text(
        "seg_id\thyp\tref\nq-17\tThe film opens in 3 days.\tThe movie closes in 2 days.\n"
    )
    done = tertium("explain", file, "-l", "en", "--method", "flags,opposites", "--html", page)
    assert done.returncode == 0, done.stderr
    html = page.read_text("utf-8")
    assert "row 1, q-17</span>" in html
    assert 'data-kind="opposite" class="mark opposite' in html
    assert 'data-kind="number"' in html
    assert '<span class="changed">film</span>' in html


def test_decisions_are_columns(tertium: Run, tmp_path: Path) -> None:
    """By a file of thresholds for the bundled model that no score reaches, but flags count."""
    model = tertium_package.load_model(cache=False)
    kinds = ("omission", "addition", "negation", "opposite", "change", "hallucination")
    never = Decisions(
        kinds,
        ("coverage", "opposites", "hallucination", "flags"),
        {kind: (1e9,) * len(LEVELS) for kind in kinds},
        {"news": {"0000000": 1}},
        {},
        {"flags": 2.0},
        -1.0,
    )
    encoder = tertium_package.load_encoder("tertium-mini-encoder").fingerprint
    learned = LearnedDecisions(
        model.fingerprint, encoder, Factors(0.5, 0.003), 6, {"translations": never}, {}
    )
    decisions = tmp_path / "decisions.json"
    decisions.write_text(learned.text())
    file, out = tmp_path / "pairs.tsv", tmp_path / "out.tsv"
    file.write_text(
        "hyp\tsrc\nIch habe 3 Katzen.\tI have 2 cats.\nWir essen Brot.\tI lost my keys.\n"
    )
    languages = ("-l", "de", "--src-lang", "en")
    done = tertium("explain", file, *languages, "--decisions", decisions, "--error-free", "-o", out)
    assert done.returncode == 0, done.stderr
    lines = [line.split("\t") for line in out.read_text("utf-8").splitlines()]
    columns = ["error_probability", "score", "error_free"]
    assert lines[0][-3:] == columns
    # the log odds are -1 + 2 with a flag, and -1 without
    assert lines[1][-3:] == ["0.731100", "26.890000", "0"]
    assert lines[2][-3:] == ["0.268900", "73.110000", "1"]
    texts = ("Wir essen Brot.", "I lost my keys.", *languages[:2], "--ref-lang", "en")
    methods = ("--method", "coverage,opposites,hallucination,flags", "--decisions", decisions)
    shown = tertium("explain", *texts, *methods, "--false-alarms", "0.02")
    by = "coverage, opposites, hallucination, flags at 2 % false alarms"
    assert f"nothing flagged by {by}\nscore 73 of 100" in shown.stdout
    refused = tertium(
        "explain", file, *languages, "--error-free", "--method", "flags", "-o", out, "--force"
    )
    assert refused.returncode == 2
    assert "the probability of an error is one of learned decisions" in refused.stderr
