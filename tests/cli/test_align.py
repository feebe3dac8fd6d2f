"""``tertium align``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tertium.data.tmx import read_tmx
from tertium.jobs.task import Fields
from tertium.jobs.tasks.align import DocumentAligner
from tertium.models.base import Progress
from tertium.text import Row

from .conftest import Run

GERMAN = """Ich habe eine Katze.

Sie schläft den ganzen Tag. In der Nacht ist sie wach.
Der Zug ist heute wieder verspätet.
Meine Eltern wohnen in Berlin & Rom.
"""
ENGLISH = """I have a cat.
She sleeps all day.
At night she is awake.
The train is late again today.
My parents live in Berlin & Rome.
"""
WANTED = [([1], [1]), ([3], [2, 3]), ([4], [4]), ([5], [5])]
LANGS = ("--src-lang", "de", "--tgt-lang", "en", "--deletion-quantile", "0.5")


@pytest.fixture
def documents(tmp_path: Path) -> tuple[Path, Path]:
    german, english = tmp_path / "de.txt", tmp_path / "en.txt"
    german.write_text(GERMAN)
    english.write_text(ENGLISH)
    return german, english


def test_jsonl_and_tsv(tertium: Run, documents: tuple[Path, Path], tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    done = tertium("align", *documents, *LANGS, "-o", out)
    assert done.returncode == 0, done.stderr
    assert "1 document, 4 units" in done.stderr
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert [(row["src_lines"], row["tgt_lines"]) for row in rows] == WANTED
    assert rows[1]["tgt"] == "She sleeps all day. At night she is awake."
    tsv = tertium("align", *documents, *LANGS, "-q")
    lines = tsv.stdout.splitlines()
    assert lines[0] == "src_lines\ttgt_lines\tsrc\ttgt\tcost"
    assert lines[2].startswith("[3]\t[2, 3]\tSie schläft")
    assert tsv.stderr == ""


def test_a_list(tertium: Run, documents: tuple[Path, Path], tmp_path: Path) -> None:
    pairs, out = tmp_path / "pairs.tsv", tmp_path / "out"
    pairs.write_text("de.txt\ten.txt\n")
    done = tertium("align", "--list", pairs, *LANGS, "--format", "jsonl", "-o", out)
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in (out / "de.jsonl").read_text().splitlines()]
    assert [(row["src_lines"], row["tgt_lines"]) for row in rows] == WANTED
    for wrong, message in (
        (("--list", pairs), "use --output FOLDER"),
        (("--list", pairs, *documents), "either two documents or folders, or --list"),
        ((documents[0],), "give two documents"),
    ):
        done = tertium("align", *wrong)
        assert done.returncode == 2
        assert message in done.stderr


def test_ladder(tertium: Run, documents: tuple[Path, Path], tmp_path: Path) -> None:
    out = tmp_path / "out.ladder"
    assert tertium("align", *documents, *LANGS, "-o", out).returncode == 0
    rungs = [line.split("\t") for line in out.read_text().splitlines()]
    assert [rung[:2] for rung in rungs] == [
        ["0", "0"],
        ["2", "1"],
        ["3", "3"],
        ["4", "4"],
        ["5", "5"],
    ]


def test_tmx(tertium: Run, documents: tuple[Path, Path], tmp_path: Path) -> None:
    out = tmp_path / "out.tmx"
    assert tertium("align", *documents, *LANGS, "-o", out).returncode == 0
    units = list(read_tmx(out))
    assert len(units) == 4
    assert units[3] == {
        "de": ["Meine Eltern wohnen in Berlin & Rom."],
        "en": ["My parents live in Berlin & Rome."],
    }
    assert "--force" in tertium("align", *documents, *LANGS, "-o", out).stderr
    missing = tertium("align", *documents, "-o", out, "--force")
    assert missing.returncode == 2
    assert "--src-lang" in missing.stderr


def test_folders(tertium: Run, tmp_path: Path) -> None:
    for folder, text in (("de", GERMAN), ("en", ENGLISH)):
        (tmp_path / folder).mkdir()
        for name in ("one", "two"):
            (tmp_path / folder / f"{name}.{folder}.txt").write_text(text)
    folders, out = (tmp_path / "de", tmp_path / "en"), tmp_path / "out"
    done = tertium("align", *folders, *LANGS, "--format", "jsonl", "-o", out)
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in out.iterdir()) == ["one.jsonl", "two.jsonl"]
    assert (out / "one.jsonl").read_bytes() == (out / "two.jsonl").read_bytes()
    assert "folder" in tertium("align", *folders, *LANGS).stderr
    (tmp_path / "de" / "three.txt").write_text(GERMAN)
    lonely = tertium("align", *folders, *LANGS, "-o", out)
    assert "three.txt has no counterpart" in lonely.stderr


def test_documents_that_cannot_be_aligned_are_skipped_and_done_later(
    tertium: Run, tmp_path: Path
) -> None:
    for folder, text in (("de", GERMAN), ("en", ENGLISH)):
        (tmp_path / folder).mkdir()
        for name in ("one", "two"):
            (tmp_path / folder / f"{name}.{folder}.txt").write_text(text)
    blank, out = tmp_path / "de" / "two.de.txt", tmp_path / "out"
    blank.write_text("\n")
    command = ("align", tmp_path / "de", tmp_path / "en", *LANGS, "-o", out)
    stopped = tertium(*command)
    assert stopped.returncode == 2
    assert "two.de.txt has no sentences" in stopped.stderr
    assert not list(out.iterdir())  # documents appear when all are aligned
    skipped = tertium(*command, "--resume", "--overwrite")
    assert "only one of --resume and --overwrite" in skipped.stderr
    skipped = tertium(*command, "--on-error", "skip", "--overwrite")
    assert skipped.returncode == 0, skipped.stderr
    assert "1 document could not be aligned and was skipped" in skipped.stderr
    assert [path.name for path in out.iterdir()] == ["one.tsv"]
    before = (out / "one.tsv").stat().st_mtime_ns
    blank.write_text(GERMAN)
    later = tertium(*command, "--resume")
    assert "1 document, 4 units" in later.stderr
    assert (out / "two.tsv").read_bytes() == (out / "one.tsv").read_bytes()
    assert (out / "one.tsv").stat().st_mtime_ns == before
    assert "0 documents" in tertium(*command, "--resume").stderr
    assert "--on-error skip" in tertium(*command, "--on-error", "mark").stderr


def test_an_interrupted_run_is_resumed(
    tmp_path: Path, tertium: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("one", "two", "three")
    for folder, text in (("de", GERMAN), ("en", ENGLISH)):
        (tmp_path / folder).mkdir()
        for name in names:
            (tmp_path / folder / f"{name}.{folder}.txt").write_text(text)
    out = tmp_path / "out"
    command = ("align", tmp_path / "de", tmp_path / "en", *LANGS, "-o", out)
    whole = DocumentAligner._units
    aligned: list[int] = []

    def interrupted(self: DocumentAligner, row: Row, progress: Progress | None) -> list[Fields]:
        if len(aligned) == 2:
            raise KeyboardInterrupt
        aligned.append(row.number)
        return whole(self, row, progress)

    monkeypatch.setattr(DocumentAligner, "_units", interrupted)
    assert tertium(*command).returncode == 130
    assert (tmp_path / "out.part").exists()
    monkeypatch.setattr(DocumentAligner, "_units", whole)
    other = tertium(*command, "--resume", "--max-size", "3")
    assert other.returncode == 2
    assert "--overwrite" in other.stderr
    done = tertium(*command, "--resume")
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in out.iterdir()) == sorted(f"{name}.tsv" for name in names)
    assert aligned == [1, 2]
    assert not (tmp_path / "out.part").exists()


def test_decimals(tertium: Run, documents: tuple[Path, Path]) -> None:
    done = tertium("align", *documents, *LANGS, "-q", "-w", "2")
    costs = [line.split("\t")[-1] for line in done.stdout.splitlines()[1:]]
    assert len(costs) == 4
    assert all(len(cost.partition(".")[2]) == 2 for cost in costs)


def test_splitting(tertium: Run, documents: tuple[Path, Path], tmp_path: Path) -> None:
    pytest.importorskip("icu4py")
    done = tertium("align", *documents, *LANGS, "--split", "--format", "jsonl", "-q")
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(row["src_lines"], row["tgt_lines"]) for row in rows] == [
        ([1], [1]),
        ([3], [2]),
        ([3], [3]),
        ([4], [4]),
        ([5], [5]),
    ]
    assert rows[2]["src"] == "In der Nacht ist sie wach."
    ladder = tertium("align", *documents, *LANGS, "--split", "--format", "ladder")
    assert ladder.returncode == 2
    assert "--split" in ladder.stderr


def test_mistakes(tertium: Run, documents: tuple[Path, Path], tmp_path: Path) -> None:
    german, english = documents
    assert "cannot infer" in tertium("align", german, english, "-o", tmp_path / "a.doc").stderr
    assert "--format html" in tertium("align", german, english, "--format", "html").stderr
    assert "not a document and a folder" in tertium("align", german, tmp_path).stderr
    blank = tmp_path / "blank.txt"
    blank.write_text("\n")
    wrong = tertium("align", german, blank)
    assert wrong.returncode == 2
    assert "blank.txt has no sentences" in wrong.stderr


def test_words_in_pharaoh_format(tertium: Run, tmp_path: Path) -> None:
    german, english, out = tmp_path / "de.txt", tmp_path / "en.txt", tmp_path / "links.txt"
    german.write_text("Ich sehe einen Hund .\n\nDer Zug ist rot .\n")
    english.write_text("I see a dog .\n\nThe train is red .\n")
    done = tertium("align", german, english, "--words", "-l", "de-en", "-o", out)
    assert done.returncode == 0, done.stderr
    assert "3 lines, 10 links" in done.stderr
    lines = out.read_text().splitlines()
    assert lines == ["0-0 1-1 2-2 3-3 4-4", "", "0-0 1-1 2-2 3-3 4-4"]
    again = tertium("align", german, english, "--words", "--words-by", "match", "-q")
    assert again.stdout.splitlines() == lines
    english.write_text("I see a dog .\n")
    for arguments, message in (
        ((german, english), "en.txt has 1"),
        ((german, german, "--words-by", "best"), "use argmax, itermax, match"),
        ((german,), "two files, whose lines belong together"),
        ((german, german, "--split"), "line by line, in Pharaoh format"),
    ):
        refused = tertium("align", *arguments, "--words")
        assert refused.returncode == 2
        assert message in refused.stderr
