"""Several systems in one ``tertium score``: tables, intervals, formats, thresholds, bad rows."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

import tertium as library
from tertium.data.lines import read_lines
from tertium.jobs.output import TerminalLayout
from tertium.jobs.tasks.score import Scorer
from tertium.measures.surface import ChrF

from .conftest import TERTIUM, Run

REFERENCES = ["The cat sat on the mat.", "It rained all day.", "She is at home."]
SYSTEMS = {
    "good": ["The cat sat on a mat.", "It rained all day.", "She is home."],
    "poor": ["A cat is sitting.", "Rain fell.", "She is at work."],
}


@pytest.fixture
def files(tmp_path: Path) -> Path:
    for name, lines in {**SYSTEMS, "ref": REFERENCES}.items():
        (tmp_path / f"{name}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path


def score(tertium: Run, files: Path, *options: str | Path) -> subprocess.CompletedProcess[str]:
    systems = (files / "good.txt", files / "poor.txt")
    return tertium("score", "-t", *systems, "-r", files / "ref.txt", *options)


def test_one_row_per_system_and_one_column_per_measure(tertium: Run, files: Path) -> None:
    done = score(tertium, files, "-m", "chrf", "-m", "bleu")
    assert done.returncode == 0, done.stderr
    table = [line.split() for line in done.stdout.splitlines()]
    assert table[0] == ["system", "chrf", "bleu"]
    for row, (name, outputs) in zip(table[1:], SYSTEMS.items(), strict=True):
        expected = [library.load(m).score(outputs, REFERENCES).system for m in ("chrf", "bleu")]
        assert row == [name, *(f"{value:.2f}" for value in expected)]
    assert "m:chrf|" in done.stderr
    assert "2 systems, 3 rows each" in done.stderr


def test_repeated_hyp_scores_all_of_them(tertium: Run, files: Path) -> None:
    done = tertium(
        *("score", "--hyp", files / "good.txt", "--hyp", files / "poor.txt"),
        *("--ref", files / "ref.txt", "-m", "chrf"),
    )
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["system", "good", "poor"]


def test_a_file_given_twice_is_not_one_system(tertium: Run, files: Path) -> None:
    done = tertium(
        *("score", "-t", files / "good.txt", files / "good.txt", "-r", files / "ref.txt"),
        *("-m", "chrf"),
    )
    assert done.returncode == 2
    assert "given twice" in done.stderr


def test_the_table_in_other_formats(tertium: Run, files: Path) -> None:
    for name, start in (("markdown", "| system | chrf |"), ("latex", r"\begin{table}")):
        assert score(tertium, files, "-m", "chrf", "-f", name).stdout.startswith(start)
    rows = csv.DictReader(io.StringIO(score(tertium, files, "-m", "chrf", "-f", "csv").stdout))
    expected = library.load("chrf").score(SYSTEMS["good"], REFERENCES).system
    assert float(next(rows)["chrf"]) == expected
    document = json.loads(score(tertium, files, "-m", "chrf", "-f", "json").stdout)
    assert document["systems"]["good"]["chrf"]["system"] == expected
    assert document["systems"]["good"]["chrf"]["signature"].startswith("measure:chrf|")
    assert [row["system"] for row in document["segments"]] == ["good"] * 3 + ["poor"] * 3
    assert document["rows"] == 3


def test_confidence_intervals_are_those_of_compare(tertium: Run, files: Path) -> None:
    done = score(tertium, files, "-m", "chrf", "--confidence", "-f", "csv")
    compared = library.compare(SYSTEMS, REFERENCES, measures="chrf")["chrf"]
    for row in csv.DictReader(io.StringIO(done.stdout)):
        interval = compared.intervals[row["system"]]
        assert float(row["chrf low"]) == pytest.approx(interval.low)
        assert float(row["chrf high"]) == pytest.approx(interval.high)
    shown = score(tertium, files, "-m", "chrf", "--confidence").stdout
    assert "95% interval" in shown.splitlines()[0]
    interval = compared.intervals["good"]
    assert f"{interval.low:.2f} to {interval.high:.2f}" in shown


def test_segment_scores_of_all_systems(tertium: Run, files: Path) -> None:
    out = files / "out.jsonl"
    assert score(tertium, files, "-m", "chrf", "-m", "cross", "-o", out).returncode == 0
    rows = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert [(row["system"], row["segment"]) for row in rows] == [
        (name, number) for name in SYSTEMS for number in (1, 2, 3)
    ]
    for name, outputs in SYSTEMS.items():
        expected = library.score(outputs, REFERENCES, measure="chrf")
        assert [row["chrf"] for row in rows if row["system"] == name] == expected
    assert rows[0]["hyp"] == SYSTEMS["good"][0]


def test_the_system_score_alone(tertium: Run, files: Path) -> None:
    done = tertium(
        *("score", "-t", files / "good.txt", "-r", files / "ref.txt", "-m", "chrf", "-b", "-w", "1")
    )
    expected = library.load("chrf").score(SYSTEMS["good"], REFERENCES).system
    assert done.stdout == f"{expected:.1f}\n"
    assert done.stderr == ""
    both = score(tertium, files, "-m", "chrf", "bleu", "--score-only").stdout
    assert [len(line.split("\t")) for line in both.splitlines()] == [2, 2]


def test_a_threshold_sets_the_exit_code(tertium: Run, files: Path) -> None:
    one = ("score", "-t", files / "good.txt", "-r", files / "ref.txt", "-m", "chrf", "-q")
    assert tertium(*one, "--fail-under", "10").returncode == 0
    failed = tertium(*one, "--fail-under", "99.5")
    assert failed.returncode == 3
    assert "is below 99.5" in failed.stderr
    several = score(tertium, files, "-m", "chrf", "bleu", "--fail-under", "chrf=60")
    assert several.returncode == 3
    assert several.stderr.count("is below") == 1
    assert "poor: chrf" in several.stderr
    unclear = score(tertium, files, "-m", "chrf", "bleu", "--fail-under", "60")
    assert unclear.returncode == 2
    assert "--fail-under chrf=60" in unclear.stderr


def test_bad_rows_are_skipped_or_marked(tertium: Run, tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text(
        '{"hyp": "a b", "ref": "a b"}\n{"hyp": "a"}\n{"hyp": null, "ref": "b"}\n'
        '{"hyp": "c d", "ref": "c e"}\n'
    )
    command = ("score", file, "-m", "chrf", "--json")
    assert tertium(*command).returncode == 2
    done = tertium(*command, "--on-error", "skip")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    expected = library.load("chrf").score(["a b", "c d"], ["a b", "c e"])
    assert [row["chrf"] for row in document["segments"]] == expected.segments
    assert document["measures"]["chrf"]["system"] == expected.system
    assert "2 rows could not be scored and were skipped" in done.stderr
    assert [document[name] for name in ("rows", "scored", "not_scored")] == [4, 2, 2]
    assert re.findall(r"row \d", " ".join(document["reasons"])) == ["row 2", "row 3"]
    as_table = json.loads(tertium(*command, "--on-error", "skip", "--confidence").stdout)
    assert [as_table[name] for name in ("rows", "scored", "not_scored")] == [4, 2, 2]
    shown = tertium(*command[:-1], "--on-error", "skip")
    assert "2 of 4 rows scored in " in shown.stderr
    assert re.search("row 2: .*field 'ref' is missing", done.stderr)
    marked = json.loads(tertium(*command, "--on-error", "mark").stdout)
    assert [row["chrf"] is None for row in marked["segments"]] == [False, True, True, False]
    assert "field 'ref' is missing" in marked["segments"][1]["error"]
    assert marked["segments"][0]["error"] is None
    assert marked["measures"]["chrf"]["system"] == expected.system


def test_skipped_rows_are_counted_after_a_resumed_run(
    tertium: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, out = tmp_path / "a.jsonl", tmp_path / "out.tsv"
    file.write_text('{"hyp": "a"}\n{"hyp": "a b", "ref": "a b"}\n{"hyp": "c", "ref": "d"}\n')
    command = (
        "score",
        file,
        "-m",
        "chrf",
        "--on-error",
        "skip",
        "--rows-at-a-time",
        "1",
        "-o",
        out,
    )
    whole = tertium(*command)
    content = out.read_bytes()
    out.unlink()
    real, calls = ChrF.segments, []

    def stops(self: ChrF, *arguments: Any) -> Any:
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return real(self, *arguments)

    monkeypatch.setattr(ChrF, "segments", stops)
    assert tertium(*command).returncode == 130
    resumed = tertium(*command, "--resume", "--json")
    assert out.read_bytes() == content
    document = json.loads(resumed.stdout)
    assert [document[name] for name in ("rows", "scored", "not_scored")] == [3, 1 + 1, 1]
    assert "row 1" in document["reasons"][0]
    assert "1 row could not be scored" in whole.stderr
    assert "1 row could not be scored" in resumed.stderr


def test_the_language_of_all_texts_is_checked(tertium: Run, files: Path) -> None:
    german = "Wie geht's?\nGuten Tag!\nIch weiß es noch nicht.\nWir gehen jetzt nach Hause.\n" * 3
    english = "How are you?\nGood day!\nI do not know it yet, sir.\nWe are going home now.\n" * 3
    for name, text in (("de.txt", german), ("en.txt", english), ("r.txt", english)):
        (files / name).write_text(text, encoding="utf-8")
    systems = ("-t", files / "en.txt", files / "de.txt", "-m", "chrf")
    unknown = tertium("score", *systems, "-r", files / "r.txt")
    assert "de: most hypotheses are in de and most references in en" in unknown.stderr
    given = tertium("score", *systems, "-r", files / "r.txt", "-l", "en", "-f", "json")
    expected = ["de: most hypotheses are in another language (de) than given (en)"]
    assert json.loads(given.stdout)["warnings"] == expected
    assert expected[0] in given.stderr
    compared = tertium("compare", *systems, "-r", files / "r.txt", "-l", "en", "--segments", "0")
    assert expected[0] in " ".join(compared.stdout.split())
    alone = tertium(
        "score", "-t", files / "de.txt", "-r", files / "r.txt", "-l", "en", "-m", "chrf"
    )
    assert expected[0].removeprefix("de: ") in alone.stderr


def test_a_copy_of_the_source_does_not_win_in_silence(tertium: Run, files: Path) -> None:
    (files / "src.txt").write_text("Der Hund ist hier.\nEs regnet heute sehr.\n", encoding="utf-8")
    (files / "copy.txt").write_bytes((files / "src.txt").read_bytes())
    (files / "real.txt").write_text("The dog is here.\nIt rains a lot today.\n", encoding="utf-8")
    command = ("score", "-t", files / "copy.txt", files / "real.txt", "-s", files / "src.txt")
    done = tertium(*command, "-m", "cross", "--against", "source")
    assert done.stdout.splitlines()[0].split() == ["system", "cross", "marks"]
    assert done.stdout.splitlines()[1].split() == ["copy", "(?)", "1.0000", "copy", "2"]
    assert "(mark: copy): copy 2" in done.stderr
    document = json.loads(tertium(*command, "-m", "cross", "--against", "source", "--json").stdout)
    assert document["marks"] == {"copy": {"copy": 2}, "real": {}}


def test_marked_rows_have_no_score_in_a_terminal() -> None:
    layout = TerminalLayout(["chrf"])
    row = {"hyp": "a", "chrf": None, "cut": None, "marks": None, "error": "field 'ref' is missing"}
    assert layout.body([row]).split() == ["a", "|", "field", "'ref'", "is", "missing"]


def test_rows_that_a_measure_refuses_are_skipped(tertium: Run, tmp_path: Path) -> None:
    file = tmp_path / "a.tsv"
    file.write_text("hyp\tref\tlang\nHallo.\tHallo.\tde\nHi.\tHi.\tzz\nHola.\tHola.\tes\n")
    command = ("score", file, "-m", "direct", "--json", "--rows-at-a-time", "1")
    assert tertium(*command).returncode == 2
    done = tertium(*command, "--on-error", "skip")
    assert done.returncode == 0, done.stderr
    assert [row["hyp"] for row in json.loads(done.stdout)["segments"]] == ["Hallo.", "Hola."]
    assert "1 row could not be scored and was skipped" in done.stderr
    assert "zz" in done.stderr
    file.write_text("hyp\tref\tlang\nHi.\tHi.\tzz\n")
    nothing = tertium(*command, "--on-error", "skip")
    assert nothing.returncode == 2
    assert "no row can be scored" in nothing.stderr


def test_an_existing_output_is_kept(tertium: Run, files: Path) -> None:
    out = files / "out.tsv"
    out.write_text("precious")
    one = ("score", "-t", files / "good.txt", "-r", files / "ref.txt", "-m", "chrf", "-o", out)
    refused = tertium(*one)
    assert refused.returncode == 2
    assert "--force" in refused.stderr
    assert out.read_text() == "precious"
    assert tertium(*one, "--force").returncode == 0
    assert out.read_text().startswith("hyp\tref\tchrf")


def test_files_of_mt_metrics_eval(tertium: Run, files: Path) -> None:
    folder = files / "scores"
    done = score(tertium, files, "-m", "chrf", "prism-ref", "-l", "en", "--mtme", folder)
    assert done.returncode == 0, done.stderr
    names = ("chrf-refA.seg", "chrf-refA.sys", "prism-ref-refA.seg", "prism-ref-refA.sys")
    assert sorted(path.name for path in folder.iterdir()) == [f"{name}.score" for name in names]
    lines = [line.split("\t") for line in read_lines(folder / "chrf-refA.seg.score")]
    assert [name for name, _ in lines] == ["good"] * 3 + ["poor"] * 3
    expected = library.score(SYSTEMS["good"], REFERENCES, measure="chrf")
    assert [float(value) for _, value in lines[:3]] == expected
    again = score(tertium, files, "-m", "chrf", "--model", "none", "--mtme", folder)
    assert again.returncode == 2
    assert "--force" in again.stderr
    assert score(tertium, files, "-m", "chrf", "--mtme", folder, "--force").returncode == 0


def test_measures_without_references_name_the_source_for_mt_metrics_eval(
    tertium: Run, files: Path
) -> None:
    folder = files / "scores"
    done = tertium(
        *("score", "-t", files / "good.txt", "-s", files / "ref.txt", "-l", "en"),
        *("-m", "prism-src", "--mtme", folder),
    )
    assert done.returncode == 0, done.stderr
    assert (folder / "prism-src-src.seg.score").exists()


def test_the_same_measure_twice_has_two_columns(tertium: Run, files: Path) -> None:
    done = score(tertium, files, "-m", "chrf", "chrf:beta=1", "chrf++", "-f", "csv")
    row = next(csv.DictReader(io.StringIO(done.stdout)))
    assert list(row) == ["system", "chrf", "chrf:beta=1", "chrf++"]
    for name, settings in (
        ("chrf", {}),
        ("chrf:beta=1", {"beta": 1}),
        ("chrf++", {"word_order": 2}),
    ):
        expected = library.load("chrf", **settings).score(SYSTEMS["good"], REFERENCES)  # type: ignore[arg-type]
        assert float(row[name]) == expected.system
    rows = tertium(
        *("score", "-t", files / "good.txt", "-r", files / "ref.txt", "-m", "chrf,chrf:beta=1"),
        "--rows",
    )
    assert rows.stdout.splitlines()[0].split("\t")[:4] == ["hyp", "ref", "chrf", "chrf:beta=1"]


def test_a_comparison_is_written_as_a_table(tertium: Run, files: Path) -> None:
    systems = ("-t", files / "good.txt", files / "poor.txt", "-r", files / "ref.txt")
    command = ("compare", *systems, "-m", "chrf", "bleu", "-q", "-o")
    assert tertium(*command, files / "out.csv").returncode == 0
    rows = list(csv.DictReader(io.StringIO((files / "out.csv").read_text("utf-8"))))
    assert [(row["measure"], row["system"]) for row in rows] == [
        ("chrf", "good"),
        ("chrf", "poor"),
        ("bleu", "good"),
        ("bleu", "poor"),
    ]
    compared = library.compare(SYSTEMS, REFERENCES, measures="chrf")["chrf"]
    assert float(rows[1]["diff"]) == compared.pair("poor", "good").difference
    assert rows[0]["diff"] == ""
    for name, start in (("out.md", "| system | measure |"), ("out.tex", r"\begin{table}")):
        assert tertium(*command, files / name).returncode == 0
        assert (files / name).read_text("utf-8").startswith(start)
    assert "--force" in tertium(*command, files / "out.csv").stderr
    assert "cannot infer the format" in tertium(*command, files / "out.docx").stderr


def test_piped_comparisons_do_not_break_names(tertium: Run, files: Path) -> None:
    long = files / ("a-system-with-a-very-long-name-" * 4 + ".txt")
    long.write_text("\n".join(SYSTEMS["good"]) + "\n")
    done = tertium(
        *("compare", "-t", long, files / "poor.txt", "-r", files / "ref.txt", "-m", "chrf")
    )
    assert f"1  {long.stem}  " in done.stdout


def test_several_systems_are_resumed(
    tertium: Run, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A table of systems, killed half-way, is the same after it was resumed."""
    inputs = ("-t", files / "good.txt", files / "poor.txt", "-r", files / "ref.txt")
    command = ("score", *inputs, "-m", "chrf", "ter", "--confidence", "--rows-at-a-time", "1")
    whole, out = files / "whole.tsv", files / "out.tsv"
    expected = tertium(*command, "-o", whole)
    score = Scorer.__call__
    calls = 0

    def stop(self: Scorer, *arguments: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 4:
            raise KeyboardInterrupt
        return score(self, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(Scorer, "__call__", stop)
        stopped = tertium(*command, "-o", out)
    assert stopped.returncode == 130
    assert f"continue with --resume ({out} is not finished)" in stopped.stderr
    plain = tertium(*command[:-3], "--rows-at-a-time", "1", "-o", out, "--resume", "-m", "bleu")
    assert "was started with measures" in plain.stderr
    done = tertium(*command, "-o", out, "--resume")
    assert done.stdout == expected.stdout
    assert "3 of them scored before" in done.stderr
    assert out.read_bytes() == whole.read_bytes()


def test_bad_rows_in_a_document(tertium: Run, tmp_path: Path) -> None:
    table = tmp_path / "pairs.jsonl"
    table.write_text('{"hyp": "A cat.", "ref": "A cat."}\n{"hyp": 3, "ref": "A dog."}\n')
    command = ("score", table, "-m", "chrf", "-f", "json", "--confidence", "--on-error", "skip")
    done = tertium(*command)
    document = json.loads(done.stdout)
    assert (document["rows"], document["scored"]) == (2, 1)
    assert "row 2: the hypothesis is int" in document["reasons"][0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--fail-under", "chrf=high"), "is not a number"),
        (("--fail-under", "bleu=1"), "the measures are chrf"),
        (("bluu",), "no such file"),
    ],
)
def test_mistakes_are_explained(
    tertium: Run, files: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...],
    message: str,
) -> None:  # fmt: skip
    monkeypatch.chdir(files)
    done = (
        tertium("score", *options, "-m", "chrf", "-r", "ref.txt", "-t", "good.txt", "poor.txt")
        if (options[0].startswith("-"))
        else tertium("score", "-m", "chrf", "-r", "ref.txt", "-t", "good.txt", *options)
    )
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_test_set_by_name(files: Path, tmp_path: Path) -> None:
    cache = tmp_path / "sacrebleu"
    (cache / "wmt20").mkdir(parents=True)
    for field in ("src", "ref", "docid", "genre", "origlang"):
        lines = REFERENCES if field == "ref" else ["x"] * len(REFERENCES)
        (cache / "wmt20" / f"wmt20.de-en.{field}").write_text("\n".join(lines) + "\n")
    environment = {**os.environ, "SACREBLEU": str(cache), "https_proxy": "http://127.0.0.1:9"}
    environment |= {"http_proxy": "http://127.0.0.1:9"}
    command = [*TERTIUM, "score", "-t", str(files / "good.txt"), "-m", "chrf", "-b", "-w", "6"]

    def run(*options: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*command, *options], env=environment, capture_output=True, text=True, check=False
        )

    expected = library.load("chrf").score(SYSTEMS["good"], REFERENCES).system
    assert float(run("-d", "wmt20", "-l", "de-en").stdout) == pytest.approx(expected, abs=1e-5)
    assert float(run("-d", "wmt20:de-en").stdout) == pytest.approx(expected, abs=1e-5)
    offline = run("-d", "wmt19", "-l", "de-en")
    assert offline.returncode == 2
    assert "cannot be downloaded from http" in offline.stderr
    assert str(cache) in offline.stderr
    assert "it has " in run("-d", "wmt20", "-l", "de-eo").stderr
    assert "no test set 'wmt99'" in run("-d", "wmt99", "-l", "de-en").stderr
    assert "-l de-en" in run("-d", "wmt20").stderr
