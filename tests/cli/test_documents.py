"""``tertium score --documents``: one document per row or per file, and its aligned parts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tertium as api

from .conftest import Run

TEXTS = {
    "one": ("I have a cat. She sleeps all day.", "I own a cat. She sleeps the whole day."),
    "two": ("The train is late.\nWe wait.", "The train is late. We wait. It is cold."),
}


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    for name, texts in TEXTS.items():
        for side, text in zip(("hyp", "ref"), texts, strict=True):
            (tmp_path / side).mkdir(exist_ok=True)
            (tmp_path / side / f"{name}.{side}.txt").write_text(text)
    return tmp_path / "hyp", tmp_path / "ref"


def test_folders_rows_and_python(tertium: Run, folders: tuple[Path, Path], tmp_path: Path) -> None:
    """The same numbers from files, from rows and from Python, and the parts that explain them."""
    out = tmp_path / "out.jsonl"
    files = ("-t", folders[0], "-r", folders[1])
    settings = ("--documents", "-m", "direct", "chrf", "-l", "en", "--parts")
    done = tertium("score", *files, *settings, "-o", out)
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert [row["document"] for row in rows] == list(TEXTS)
    assert [row["marks"] for row in rows] == ["split", "split"]
    measure = api.load("direct", long="always")
    hypotheses, references = zip(*TEXTS.values(), strict=True)
    assert [row["direct"] for row in rows] == measure(hypotheses, references, lang="en")
    parts = rows[1]["parts"]
    assert [(part["hyp"], part["ref"]) for part in parts] == [
        ("The train is late.", "The train is late."),
        ("We wait.", "We wait."),
        ("", "It is cold."),
    ]
    assert parts[-1]["score"] == 0
    total = sum(part["weight"] for part in parts)
    mean = sum(part["weight"] * part["score"] for part in parts) / total
    assert rows[1]["direct"] == pytest.approx(mean)
    assert {part["measure"] for part in parts} == {"direct"}
    table = tmp_path / "rows.jsonl"
    table.write_text(
        "".join(json.dumps({"hyp": hyp, "ref": ref}) + "\n" for hyp, ref in TEXTS.values())
    )
    again = tertium("score", table, *settings, "--json", "-q")
    found = json.loads(again.stdout)["segments"]
    assert [(row["direct"], row["parts"]) for row in found] == [
        (row["direct"], row["parts"]) for row in rows
    ]


def test_wrong_inputs(tertium: Run, folders: tuple[Path, Path]) -> None:
    hyp, ref = folders
    done = tertium("score", "--documents", "-t", hyp, "-r", ref / "one.ref.txt")
    assert done.returncode == 2
    assert "give files, or folders" in done.stderr
