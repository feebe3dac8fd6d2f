"""``tertium score`` from every kind of input to every kind of output."""

from __future__ import annotations

import io
import json
import sys
from datetime import date
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

import tertium as library

from .conftest import Run

EXAMPLES = Path(__file__).parents[2] / "examples" / "pairs.tsv"
ROWS = [
    ("I see a dog.", "I see a cat."),
    ("She is here.", "She is here."),
    ("", "Nothing."),
    ("🙂 ok", "שלום"),
]


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    file = tmp_path / "pairs.tsv"
    file.write_text("hyp\tref\n" + "".join(f"{a}\t{b}\n" for a, b in ROWS), encoding="utf-8")
    return file


def column(text: str, name: str) -> list[float]:
    head, *lines = text.splitlines()
    place = head.split("\t").index(name)
    return [float(line.split("\t")[place]) for line in lines]


@pytest.mark.filterwarnings("ignore:.* script that the model was not trained on")
def test_the_same_numbers_as_the_library(tertium: Run, pairs: Path) -> None:
    done = tertium("score", pairs, "-m", "direct", "-m", "chrf", "--lang", "en", "--rows")
    assert done.returncode == 0
    for name in ("direct", "chrf"):
        made = library.load(name)
        scores = made.score([a for a, _ in ROWS], [b for _, b in ROWS], lang="en")
        assert column(done.stdout, name) == [round(score, 6) for score in scores]
        assert f"{name} {scores.system:.4f}" in done.stderr
        assert scores.signature.short in done.stderr


def test_the_summary_tells_what_was_saved(tertium: Run, pairs: Path) -> None:
    first = tertium("score", pairs, "-m", "direct", "-m", "prism-ref", "--lang", "en")
    assert "4 rows in" in first.stderr
    assert "24 queries, 13 distinct, 0 from cache" in first.stderr
    again = tertium("score", pairs, "-m", "direct", "-m", "prism-ref", "--lang", "en")
    assert "24 queries, 13 distinct, 13 from cache" in again.stderr
    assert again.stdout == first.stdout
    fresh = tertium("score", pairs, "-m", "direct", "-m", "prism-ref", "--lang", "en", "--no-cache")
    assert "13 distinct, 0 from cache" in fresh.stderr
    assert fresh.stdout == first.stdout


@pytest.mark.filterwarnings("ignore:.* script that the model was not trained on")
def test_json_is_one_document_with_full_numbers(tertium: Run, pairs: Path) -> None:
    done = tertium("score", pairs, "-m", "direct", "--lang", "en", "--json")
    document = json.loads(done.stdout)
    made = library.load("direct")
    scores = made.score([a for a, _ in ROWS], [b for _, b in ROWS], lang="en")
    assert [row["direct"] for row in document["segments"]] == scores.segments
    assert document["measures"]["direct"]["system"] == scores.system
    assert document["measures"]["direct"]["signature"] == scores.signature.long
    assert document["rows"] == 4


def test_every_output_format_holds_the_same(tertium: Run, pairs: Path, tmp_path: Path) -> None:
    command = ("score", pairs, "-m", "direct", "--lang", "en", "--rows-at-a-time", "3", "-q", "-o")
    outs = {suffix: tmp_path / f"out.{suffix}" for suffix in ("tsv", "csv", "jsonl", "parquet")}
    for out in outs.values():
        assert tertium(*command, out).returncode == 0
    records = [json.loads(line) for line in outs["jsonl"].read_text("utf-8").splitlines()]
    assert [(record["hyp"], record["ref"]) for record in records] == ROWS
    assert parquet.read_table(outs["parquet"]).to_pylist() == records
    rounded = [round(record["direct"], 6) for record in records]
    assert column(outs["tsv"].read_text("utf-8"), "direct") == rounded
    assert len(outs["csv"].read_text("utf-8").splitlines()) == 5
    leftovers = {file.name for file in tmp_path.iterdir()} - {out.name for out in outs.values()}
    assert leftovers <= {"pairs.tsv", "tertium-cache"}


def test_scores_only(tertium: Run, pairs: Path) -> None:
    done = tertium("score", pairs, "-m", "chrf", "--scores-only", "--rows")
    assert done.stdout.splitlines()[0] == "chrf\tcut\tmarks"


def test_plain_files(tertium: Run, tmp_path: Path) -> None:
    for name, lines in (("h", "a b\nc\n"), ("r", "a b\nd\n"), ("s", "A B\nC\n")):
        (tmp_path / name).write_text(lines)
    files = ("--hyp", tmp_path / "h", "--ref", tmp_path / "r", "--src", tmp_path / "s")
    done = tertium("score", *files, "-m", "chrf", "-m", "prism-src", "--lang", "en", "--json")
    document = json.loads(done.stdout)
    assert document["segments"][0]["chrf"] == pytest.approx(100)
    assert "against:source" in document["measures"]["prism-src"]["signature"]
    assert "against" not in document["measures"]["chrf"]["signature"]


def test_the_source_is_compared_with_only_on_request(tertium: Run, tmp_path: Path) -> None:
    file = tmp_path / "a.tsv"
    file.write_text("src\tmt\nWo ist sie?\tWhere is she?\n", encoding="utf-8")
    refused = tertium("score", file, "-m", "cross")
    assert refused.returncode == 2
    assert "cross compares with references" in refused.stderr
    assert "against=source" in refused.stderr
    done = tertium("score", file, "-m", "cross", "--against", "source", "--json")
    document = json.loads(done.stdout)
    expected = library.score("Where is she?", "Wo ist sie?", measure="cross")
    assert document["segments"][0]["cross"] == expected
    assert "against:source" in document["measures"]["cross"]["signature"]


def test_standard_input(tertium: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"hyp\tref\na\ta\nb\tb\n")))
    done = tertium("score", "-", "-m", "chrf", "-q", "--rows")
    assert column(done.stdout, "chrf") == [100, 100]
    assert done.stderr == ""


def test_two_texts(tertium: Run) -> None:
    done = tertium("score", "Hello!", "Hello!", "-m", "cross")
    assert column(done.stdout, "cross") == [1]


def test_settings_reach_the_measures_that_have_them(tertium: Run, pairs: Path) -> None:
    done = tertium(
        *(
            "score",
            pairs,
            "-m",
            "direct",
            "-m",
            "pivot",
            "-m",
            "chrf",
            "--lang",
            "en",
            "--base",
            "2",
        ),
        *("--not-normalized", "--one-way", "--pivot-lang", "de", "--beam-size", "2", "--json"),
    )
    measures = json.loads(done.stdout)["measures"]
    assert "base:2" in measures["direct"]["signature"]
    assert "normalized:no" in measures["direct"]["signature"]
    assert "directions:hyp-given-ref" in measures["direct"]["signature"]
    assert "pivot_lang:de|beam_size:2" in measures["pivot"]["signature"]
    refused = tertium("score", pairs, "-m", "chrf", "--pivot-lang", "de")
    assert refused.returncode == 2
    assert "chrf has no setting pivot_lang" in refused.stderr


def test_references_are_taken_from_several_columns(tertium: Run, tmp_path: Path) -> None:
    file = tmp_path / "a.tsv"
    file.write_text("hyp\tr1\tr2\na b c\tx\ta b c\n")
    done = tertium(
        "score", file, "-m", "chrf", "--ref-column", "r1", "--ref-column", "r2", "--rows"
    )
    assert column(done.stdout, "chrf") == [100]


def test_a_broken_row_is_named_and_nothing_is_left(tertium: Run, tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text('{"hyp": "a", "ref": "b"}\n{"hyp": "a"}\n')
    out = tmp_path / "out.tsv"
    done = tertium("score", file, "-m", "chrf", "-o", out)
    assert done.returncode == 2
    assert done.stderr.strip().endswith("row 2: the field 'ref' is missing")
    assert not out.exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "give a file of pairs"),
        (("a", "b", "c"), "give a file of pairs"),
        (("none.tsv",), "no such file"),
        ((EXAMPLES, EXAMPLES), "is given twice"),
        ((EXAMPLES, "-o", EXAMPLES), "is the input"),
        ((EXAMPLES, "--format", "josn"), "no format 'josn'"),
        ((EXAMPLES, "--hyp", EXAMPLES), "give either"),
        (("--ref", EXAMPLES), "need --hyp"),
        ((EXAMPLES, "-m", "bertscroe"), "no measure 'bertscroe'"),
        ((EXAMPLES, "-m", "chrf", "-m", "chrf"), "given twice"),
        ((EXAMPLES, "-m", "prism-src"), "needs sources"),
        ((EXAMPLES, "--model", "nothing"), "no model 'nothing'"),
        ((EXAMPLES, "--resume"), "use --output"),
        ((EXAMPLES, "-o", "out.docx"), "cannot infer the format"),
        ((EXAMPLES, "-o", "none/out.tsv"), "no such folder"),
        ((EXAMPLES, "-m", "direct", "--base", "10"), "must be one of 'e', '2'"),
        ((EXAMPLES, "--compute-type", "int4"), "choose from auto, float32, int8"),
        (("Hi.", "Hi.", "-m", "direct"), "not clear: perhaps"),
        (("Hi.", "Hi.", "-m", "direct", "--lang", "zz"), "de, en, es, fr"),
        (("Hi.", b"\xff".decode("utf-8", "surrogateescape")), "lone surrogate"),
    ],
)
def test_mistakes_are_explained(
    tertium: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...], message: str,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    done = tertium("score", *arguments)
    assert done.returncode == 2
    assert done.stderr.startswith("tertium: ")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_records_may_have_their_fields_in_any_order(tertium: Run, tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text(
        '{"hyp": "h1", "ref": "r1"}\n{"ref": "r2", "hyp": "h2"}\n'
        '{"hyp": "h3", "ref": "r3", "lang": "de", "id": 7}\n'
    )
    done = tertium("score", file, "-m", "chrf", "-q", "--rows")
    head, *rows = [line.split("\t") for line in done.stdout.splitlines()]
    assert head == ["hyp", "ref", "lang", "id", "chrf", "cut", "marks"]
    assert [row[:4] for row in rows] == [
        ["h1", "r1", "", ""],
        ["h2", "r2", "", ""],
        ["h3", "r3", "de", "7"],
    ]


def test_the_language_of_the_references_may_be_another_one(tertium: Run, tmp_path: Path) -> None:
    file = tmp_path / "a.tsv"
    file.write_text("hyp\tref\tlang\nHallo.\tHallo.\tde\n")
    command = ("score", file, "-m", "direct", "--json")
    for options, expected in (
        ((), "lang:de|reference_lang:de"),
        (("--lang", "German"), "lang:de|reference_lang:de"),
        (("--ref-lang", "en"), "lang:de|reference_lang:en"),
    ):
        document = json.loads(tertium(*command, *options).stdout)
        assert expected in document["measures"]["direct"]["signature"]


def test_parquet_keeps_text_text(tertium: Run, tmp_path: Path) -> None:
    file, out = tmp_path / "a.jsonl", tmp_path / "out.parquet"
    file.write_text(
        '{"hyp": "a", "ref": "b", "when": "2020-01-01", "id": 1, "none": null}\n'
        '{"hyp": "a", "ref": "b", "when": "2020-01-02", "id": "x", "none": null}\n'
    )
    assert tertium("score", file, "-m", "chrf", "-o", out).returncode == 0
    first, second = parquet.read_table(out).to_pylist()
    assert (first["when"], first["id"], second["id"], first["none"]) == (
        "2020-01-01",
        "1",
        "x",
        None,
    )


def test_dates_and_missing_numbers_can_be_written(tertium: Run, tmp_path: Path) -> None:
    file = tmp_path / "a.parquet"
    row = {"hyp": "a", "ref": "b", "day": date(2020, 1, 2), "x": float("nan"), "raw": b"\xff"}
    parquet.write_table(pa.Table.from_pylist([row]), file)
    document = json.loads(tertium("score", file, "-m", "chrf", "--json").stdout)
    assert document["segments"][0]["day"] == "2020-01-02"
    assert document["segments"][0]["x"] is None
    assert tertium("score", file, "-m", "chrf", "-o", tmp_path / "o.parquet").returncode == 0


def test_long_texts_are_not_names_of_files(tertium: Run) -> None:
    assert tertium("score", "word " * 100, "a dog", "-m", "chrf").returncode == 0


def test_the_empty_file(tertium: Run, tmp_path: Path) -> None:
    file = tmp_path / "a.tsv"
    for content in ("", "hyp\tref\n"):
        file.write_text(content)
        done = tertium("score", file)
        assert done.returncode == 2
        assert "is empty" in done.stderr


def test_a_column_is_not_overwritten(tertium: Run, tmp_path: Path) -> None:
    file = tmp_path / "a.tsv"
    file.write_text("hyp\tref\tchrf\na\tb\t7\n")
    done = tertium("score", file, "-m", "chrf")
    assert done.returncode == 2
    assert "already has a column 'chrf'" in done.stderr
    assert tertium("score", file, "-m", "chrf", "--scores-only").returncode == 0


def test_overlong_lines_are_marked(tertium: Run, tmp_path: Path) -> None:
    file = tmp_path / "a.tsv"
    file.write_text("hyp\tref\n" + "word " * 2_000 + "\tshort\nshort\tshort\n")
    done = tertium("score", file, "-m", "direct", "-l", "en", "--rows")
    assert column(done.stdout, "cut") == [0, 0]
    assert "1 of 2 rows hold text that was split into sentences" in done.stderr
    assert "|long:split|" in done.stderr
    cut = tertium("score", file, "-m", "direct", "-l", "en", "--long", "cut", "--rows")
    assert column(cut.stdout, "cut") == [1, 0]
    assert "1 of 2 rows hold text that is longer" in cut.stderr
    assert "|long:cut|" in cut.stderr


def test_the_example_file(tertium: Run) -> None:
    done = tertium("score", EXAMPLES, "--rows")
    assert done.returncode == 0
    scores = column(done.stdout, "cross")
    assert len(scores) == 23
    kinds = [line.split("\t")[0] for line in done.stdout.splitlines()[1:]]
    assert scores[kinds.index("identical")] == 1
    unrelated = [s for s, kind in zip(scores, kinds, strict=True) if kind == "unrelated"]
    others = [
        s for s, kind in zip(scores, kinds, strict=True) if kind in ("paraphrase", "translation")
    ]
    assert max(unrelated) < min(others)


def test_marks_are_a_column_and_a_summary(tertium: Run, tmp_path: Path) -> None:
    file = tmp_path / "a.tsv"
    file.write_text(
        "src\tref\thyp\nWo ist sie?\tWhere is she?\tWo ist sie?\n"
        "Ja.\tYes.\t\n\t\t\nNein.\tNo.\tNo.\nDa.\tThere.\tГде находится вокзал?\n",
        encoding="utf-8",
    )
    done = tertium("score", file, "-m", "cross", "-m", "chrf", "--rows")
    marks = [line.split("\t")[-1] for line in done.stdout.splitlines()]
    assert marks == ["marks", "copy", "empty", "empty", "", "unknown"]
    assert column(done.stdout, "cross")[1:3] == [0, 0]
    assert "2 of 5 rows have an empty text" in done.stderr
    assert "1 of 5 rows hold text in a language or script" in done.stderr
    document = json.loads(tertium("score", file, "-m", "cross", "--json").stdout)
    assert document["marks"] == {"copy": 1, "empty": 2, "unknown": 1}


def test_identified_languages_are_shown_and_change_nothing(tertium: Run) -> None:
    texts = ("Where did you learn to speak French?", "Where have you learnt French so well?")
    guessed = tertium("score", *texts, "-m", "cross", "--rows")
    assert "no language was given; identified: en (1); if that is wrong, use --lang" in (
        guessed.stderr
    )
    given = tertium("score", *texts, "-m", "cross", "--lang", "en", "--rows")
    assert "identified" not in given.stderr
    assert column(given.stdout, "cross") == column(guessed.stdout, "cross")
    needed = tertium("score", *texts, "-m", "direct")
    assert "assumed languages: hypotheses en, references en" in needed.stderr
    assert "|l:en (assumed)|rl:en (assumed)|" in needed.stderr
    given = tertium("score", *texts, "-m", "direct", "--lang", "en")
    assert given.stdout == needed.stdout


def test_a_hypothesis_in_another_language_is_marked(tertium: Run) -> None:
    texts = ("Wo hast du so gut Französisch gelernt?", "Where did you learn French?")
    done = tertium("score", *texts, "-m", "chrf", "--lang", "en", "--rows")
    assert done.stdout.splitlines()[1].split("\t")[-1] == "language"
