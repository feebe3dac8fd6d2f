"""``tertium mine``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from tertium.measures.base import Segments
from tertium.measures.translation import Cross
from tertium.models.base import Progress
from tertium.text import Row

from .conftest import Run

GERMAN = [
    "Ich habe eine Katze.",
    "Der Zug ist heute wieder verspätet.",
    "Wir gehen morgen ins Kino.",
    "",
    "Kannst du mir bitte helfen?",
]
ENGLISH = [
    "Can you help me, please?",
    "We are going to the cinema tomorrow.",
    "I have a cat.",
    "The train is late again today.",
]
TRUE = {(1, 3), (2, 4), (3, 2), (5, 1)}
LANGS = ("--src-lang", "de", "--tgt-lang", "en")


@pytest.fixture
def lists(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    monkeypatch.setenv("TERTIUM_CACHE", str(tmp_path / "cache"))
    german, english = tmp_path / "de.txt", tmp_path / "en.txt"
    german.write_text("\n".join(GERMAN) + "\n")
    english.write_text("\n".join(ENGLISH) + "\n")
    return german, english


def read(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_translations(tertium: Run, lists: tuple[Path, Path], tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    done = tertium("mine", *lists, *LANGS, "--rescore", "cross:beam_size=1", "-o", out)
    assert done.returncode == 0, done.stderr
    rows = read(out)
    assert {(row["src_line"], row["tgt_line"]) for row in rows} == TRUE
    for row in rows:
        assert GERMAN[int(str(row["src_line"])) - 1] == row["src"]
        assert " ".join(row) == "src tgt src_line tgt_line cosine margin cross cut"
    scores = [float(str(row["cross"])) for row in rows]
    assert scores == sorted(scores, reverse=True)
    assert "4 and 4 texts" in done.stderr
    assert not (tmp_path / "out.jsonl.part").exists()
    assert not (tmp_path / "cache" / "vectors").exists()
    for _ in range(2):
        tsv = tertium("mine", *lists, *LANGS, "-q", "--vectors", tmp_path / "kept")
        assert len(list((tmp_path / "kept").glob("*.npy"))) == 2
    assert tsv.stdout.splitlines()[0] == "src\ttgt\tsrc_line\ttgt_line\tcosine\tmargin\tcut"
    assert tsv.stderr == ""


def test_interrupted_and_resumed(
    tertium: Run, lists: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, out = tmp_path / "whole.tsv", tmp_path / "out.tsv"
    command = ("mine", *lists, *LANGS, "--rescore", "cross:beam_size=1", "--rows-at-a-time", "5")
    assert tertium(*command, "-o", whole).returncode == 0
    segments = Cross.segments
    scored: list[int] = []

    def stops(self: Cross, rows: Sequence[Row], progress: Progress | None = None) -> Segments:
        if len(scored) == 2:
            raise KeyboardInterrupt
        scored.append(len(rows))
        return segments(self, rows, progress)

    with monkeypatch.context() as patch:
        patch.setattr(Cross, "segments", stops)
        stopped = tertium(*command, "-o", out)
    assert stopped.returncode == 130
    assert "--resume" in stopped.stderr
    assert not out.exists()
    assert "--resume" in tertium(*command, "-o", out).stderr
    assert tertium(*command, "-o", out, "--resume").returncode == 0
    assert scored == [5, 5]
    assert out.read_bytes() == whole.read_bytes()
    assert not (tmp_path / "out.tsv.part").exists()


def test_threshold_from_labels(tertium: Run, lists: tuple[Path, Path], tmp_path: Path) -> None:
    labelled, out = tmp_path / "gold.tsv", tmp_path / "out.parquet"
    rows = [f"{GERMAN[a - 1]}\t{ENGLISH[b - 1]}" for a, b in TRUE]
    labelled.write_text("src\ttgt\n" + "\n".join(rows) + "\n")
    command = ("mine", *lists, *LANGS, "--pairs", "all", "--rescore", "cross:beam_size=1")
    done = tertium(*command, "--labelled", labelled, "-o", out)
    assert done.returncode == 0, done.stderr
    assert "precision" in done.stderr
    pytest.importorskip("pyarrow")
    from pyarrow.parquet import read_table

    found = read_table(out).to_pylist()
    assert {(row["src_line"], row["tgt_line"]) for row in found} == TRUE
    none = tertium(*command, "--threshold", "2", "-q")
    assert none.stdout.count("\n") == 1


def test_precision_from_a_sample(tertium: Run, lists: tuple[Path, Path], tmp_path: Path) -> None:
    sample, labelled = tmp_path / "sample.tsv", tmp_path / "labelled.tsv"
    command = ("mine", *lists, *LANGS, "--pairs", "all", "-k", "2", "--threshold", "0")
    done = tertium(*command, "--sample", sample, "--sample-size", "4")
    assert done.returncode == 0, done.stderr
    head, *rows = sample.read_text().splitlines()
    assert head.split("\t")[-1] == "label"
    assert len(rows) == 4
    assert set(rows) < {row + "\t" for row in done.stdout.splitlines()}
    judged = [f"{row}{label}" for row, label in zip(rows, "110", strict=False)]
    labelled.write_text("\n".join([head, *judged, rows[3]]) + "\n")  # the last one is left open
    again = tertium(*command, "--labelled", labelled)
    assert again.returncode == 0, again.stderr
    # Wilson's interval of 2 in 3, by hand: (2/3 + 3.8415/6 +- 1.96 sqrt(...)) / (1 + 3.8415/3)
    assert "precision 66.7 % (95 %: 20.8 to 93.9), from 3 labelled pairs" in again.stderr
    assert "exists" in tertium(*command, "--sample", sample).stderr


def test_paraphrases_and_search(tertium: Run, lists: tuple[Path, Path], tmp_path: Path) -> None:
    texts = tmp_path / "texts.txt"
    texts.write_text("\n".join([*ENGLISH, "Could you please help me?", "I have a cat!"]) + "\n")
    done = tertium("mine", texts, "--src-lang", "en", "-k", "2", "--max-overlap", "0.9", "-q")
    assert done.returncode == 0, done.stderr
    rows = [line.split("\t") for line in done.stdout.splitlines()[1:]]
    assert ["1", "5"] in [row[2:4] for row in rows]
    assert ["3", "6"] not in [row[2:4] for row in rows]
    queries = tmp_path / "queries.txt"
    queries.write_text("Help me!\nThe train was late.\n")
    found = tertium("mine", queries, "--in", texts, "-k", "2", "--src-lang", "en", "-q")
    rows = [line.split("\t") for line in found.stdout.splitlines()[1:]]
    assert [row[2] for row in rows] == ["1", "1", "2", "2"]
    assert rows[2][3] == "4"


def test_filters(tertium: Run, lists: tuple[Path, Path]) -> None:
    every = tertium("mine", *lists, *LANGS, "--pairs", "all", "-q")
    some = tertium("mine", *lists, *LANGS, "--pairs", "all", "-q", "--filters", "ratio")
    assert 1 < len(some.stdout.splitlines()) <= len(every.stdout.splitlines())
    wrong = tertium("mine", *lists, "--filters", "shape")
    assert wrong.returncode == 2
    assert "shape" in wrong.stderr


def test_mistakes(tertium: Run, lists: tuple[Path, Path], tmp_path: Path) -> None:
    german, english = lists
    assert "two lists" in tertium("mine", german, english, german).stderr
    assert "no such file" in tertium("mine", german, tmp_path / "none.txt").stderr
    assert "--output" in tertium("mine", german, english, "--resume").stderr
    assert "--labelled" in tertium("mine", german, "--plot", "a.png").stderr
    table = tmp_path / "texts.tsv"
    table.write_text("One text\n")
    assert "is the input" in tertium("mine", table, english, "-o", table).stderr
    blank = tmp_path / "blank.txt"
    blank.write_text("\n\n")
    wrong = tertium("mine", german, blank)
    assert wrong.returncode == 2
    assert "blank.txt has no texts" in wrong.stderr
    labels = tmp_path / "labels.tsv"
    labels.write_text("a\tb\n1\t2\n")
    named = tertium("mine", german, english, "--labelled", labels, "--plot", "a.gif")
    assert "a figure must be" in named.stderr
    assert "no column 'src'" in tertium("mine", german, english, "--labelled", labels).stderr
