"""``tertium paraphrase``."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

import pytest

from tertium.jobs.task import JobProgress

from .conftest import Run

command = import_module("tertium.cli.paraphrase")  # in tertium.cli, the name is a function

QUICK = ("--lang", "en", "--beam-size", "2", "-n", "2")


def test_a_text(tertium: Run) -> None:
    done = tertium("paraphrase", "I have to go now.", *QUICK)
    assert done.returncode == 0, done.stderr
    head, *rows = done.stdout.splitlines()
    assert head == "text\trank\tparaphrase\tsimilarity\tdiversity\tvia"
    assert 1 <= len(rows) <= 2
    assert rows[0].startswith("I have to go now.\t1\t")


def test_a_file_through_a_pivot(tertium: Run, tmp_path: Path) -> None:
    texts, out = tmp_path / "texts.txt", tmp_path / "out.jsonl"
    texts.write_text("I have to go now.\nThe old man slept well.\n")
    pivots = ("--pivot", "fr", "-a", "0.02", "-m", "chrf")
    done = tertium("paraphrase", texts, *QUICK, *pivots, "-o", out)
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert {row["via"] for row in rows} == {"fr"}
    assert {row["text"] for row in rows} == set(texts.read_text().splitlines())
    assert all(abs(row["similarity"] + row["diversity"] - 100) < 1e-6 for row in rows)


def test_a_measure_of_the_source(tertium: Run) -> None:
    done = tertium("paraphrase", "I have to go now.", *QUICK, "-m", "prism-src")
    assert done.returncode == 0, done.stderr
    assert all(float(row.split("\t")[3]) < 0 for row in done.stdout.splitlines()[1:])


def test_mistakes(tertium: Run) -> None:
    assert "--lang" in tertium("paraphrase", "I have to go now.").stderr
    wrong = tertium("paraphrase", "I have to go now.", *QUICK, "-o", "out.txt")
    assert wrong.returncode == 2
    assert "cannot infer the format" in wrong.stderr


def test_progress_is_shown(tertium: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = tmp_path / "texts.txt"
    texts.write_text("I have to go now.\nThe old man slept well.\n")
    totals: list[int | None] = []
    advanced: list[int] = []
    details: list[tuple[str, int, int]] = []

    @contextmanager
    def record(total: Callable[[], int | None], **_: object) -> Iterator[JobProgress]:
        totals.append(total())
        yield JobProgress(advanced.append, lambda *each: details.append(each))

    monkeypatch.setattr(command, "progress_bar", record)
    monkeypatch.setattr(command, "TEXTS_AT_A_TIME", 1)
    assert tertium("paraphrase", texts, *QUICK).returncode == 0
    assert totals == [2]
    assert advanced == [1, 2]
    assert details[0] == ("translating", 1, 3)  # three searches
    assert {what for what, _, _ in details} == {"translating", "scoring"}
