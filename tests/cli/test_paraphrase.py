"""``tertium paraphrase``."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tertium.cli import running
from tertium.jobs.task import JobProgress

from .conftest import Run

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


def test_mistakes(tertium: Run, tmp_path: Path) -> None:
    unclear = tertium("paraphrase", "Ok.")
    assert unclear.returncode == 2
    assert "--lang" in unclear.stderr
    wrong = tertium("paraphrase", "I have to go now.", *QUICK, "-o", tmp_path / "out.txt")
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
        yield JobProgress(
            lambda done, count=None: advanced.append(done), lambda *each: details.append(each)
        )

    monkeypatch.setattr(running, "progress_bar", record)
    assert tertium("paraphrase", texts, *QUICK, "--rows-at-a-time", "1").returncode == 0
    assert totals == [2]
    assert advanced[-2:] == [1, 2]
    assert details[0] == ("translating", 1, 3)  # three searches
    assert {what for what, _, _ in details} == {"translating", "scoring"}


def test_a_run_is_kept_and_resumed_like_any_other(tertium: Run, tmp_path: Path) -> None:
    out = tmp_path / "out.tsv"
    assert tertium("paraphrase", "I have to go now.", *QUICK, "-o", out).returncode == 0
    again = tertium("paraphrase", "I have to go now.", *QUICK, "-o", out)
    assert again.returncode == 2
    assert "--force" in again.stderr
    assert "nothing is left to resume" in (
        tertium("paraphrase", "I have to go now.", *QUICK, "-o", out, "--resume").stderr
    )


def test_the_language_is_identified(tertium: Run) -> None:
    done = tertium("paraphrase", "I have to go now.", "--beam-size", "2", "-n", "1", "-f", "json")
    assert done.returncode == 0, done.stderr
    assert "assumed language: en" in done.stderr
    assert json.loads(done.stdout)["segments"][0]["text"] == "I have to go now."
