"""``tertium translate``."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from .conftest import TERTIUM, Run

SOURCES = ["Thank you!", "I like dogs.", "", "Where is he?"]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    file = tmp_path / "src.txt"
    file.write_text("\n".join(SOURCES) + "\n")
    return file


def test_one_line_per_text(tertium: Run, source: Path) -> None:
    done = tertium("translate", source, "-l", "en-de")
    assert done.stdout == "Danke!\nIch mag Hunde.\n\nWo ist er?\n"
    assert done.stderr == ""
    assert tertium("translate", "Thank you!", "-l", "German").stdout == "Danke!\n"


def test_candidates_in_all_formats_can_be_read_back(
    tertium: Run, source: Path, tmp_path: Path
) -> None:
    from tertium.data.nbest import open_lists

    found = {}
    for name in ("a.tsv", "a.csv", "a.jsonl", "a.nbest", "a.parquet"):
        done = tertium("translate", source, "-l", "en-de", "-n", "2", "-o", tmp_path / name)
        assert done.returncode == 0, done.stderr
        assert "4 texts in" in done.stderr
        assert "7 candidates" in done.stderr
        found[name] = [
            (text.text, score)
            for each in open_lists(tmp_path / name)
            for text, score in zip(each.candidates, each.scores or (), strict=True)
        ]
    for candidates in found.values():
        assert [text for text, _ in candidates] == [text for text, _ in found["a.tsv"]]
        for (_, score), (_, wanted) in zip(candidates, found["a.tsv"], strict=True):
            assert score == pytest.approx(wanted, abs=1e-6)
    [first, *_] = json.loads((tmp_path / "a.jsonl").read_text().splitlines()[0])["candidates"]
    assert first["hyp"] == "Danke!"
    assert first["score"] == pytest.approx(first["log_prob"] / first["length"])


def test_tables_keep_their_columns(tertium: Run, tmp_path: Path) -> None:
    table = tmp_path / "in.tsv"
    table.write_text("id\tsource\tsource_lang\n7\tHallo!\tde\n8\tHello!\ten\n")
    out = tmp_path / "out.jsonl"
    assert tertium("translate", table, "-l", "fr", "-o", out).returncode == 0
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert [row["id"] for row in rows] == ["7", "8"]
    assert all(len(row["candidates"]) == 1 for row in rows)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-l", "en-xx"], "'xx', which the model does not support"),
        ([], "the language of the target is needed"),
        (["-l", "de", "--epsilon", "0.1"], "epsilon is a setting of sampling"),
        (["-l", "de", "-n", "3", "--beam-size", "2"], "a beam size of at least 3"),
        (["-l", "de", "-n", "3", "-o", "out.txt"], "one line per text"),
        (["-l", "de", "-o", "out.doc"], "cannot infer the format"),
        (["-l", "de", "--resume"], "need an output file"),
        (["-l", "de", "--sample", "--beam-size", "2"], "use one of them"),
    ],
)
def test_wrong_options(tertium: Run, source: Path, arguments: list[str], message: str) -> None:
    done = tertium("translate", source, *arguments)
    assert done.returncode == 2
    assert message in done.stderr


def test_missing_and_existing_files(tertium: Run, source: Path, tmp_path: Path) -> None:
    assert "no such file" in tertium("translate", "nothing.txt", "-l", "de").stderr
    out = tmp_path / "out.txt"
    out.write_text("mine\n")
    done = tertium("translate", source, "-l", "de", "-o", out)
    assert f"{out} exists; use --force" in done.stderr
    assert out.read_text() == "mine\n"
    assert "is the input" in tertium("translate", source, "-l", "de", "-o", source).stderr
    empty = tmp_path / "empty.txt"
    empty.touch()
    assert "nothing to translate" in tertium("translate", empty, "-l", "de").stderr


@pytest.mark.parametrize("search", [("--beam-size", "2"), ("--sample", "--epsilon", "0.05")])
def test_killed_and_resumed(tmp_path: Path, search: tuple[str, ...]) -> None:
    source = tmp_path / "src.txt"
    source.write_text("".join(f"There are {n} dogs in the house.\n" for n in range(24)))

    def command(out: Path) -> list[str]:
        options = ["-l", "en-de", "-n", "2", *search, "--rows-at-a-time", "4", "--resume"]
        return [*TERTIUM, "translate", str(source), *options, "-o", str(out)]

    environment = {**os.environ, "TERTIUM_CACHE": str(tmp_path / "one")}
    whole, broken = tmp_path / "whole.jsonl", tmp_path / "broken.jsonl"
    subprocess.run(command(whole), env=environment, check=True, capture_output=True)
    environment["TERTIUM_CACHE"] = str(tmp_path / "two")
    kills = 0
    while not broken.exists():
        process = subprocess.Popen(command(broken), env=environment, stderr=subprocess.PIPE)
        rows = broken.with_name("broken.jsonl.part") / "rows"
        size = rows.stat().st_size if rows.exists() else 0
        while process.poll() is None and kills < 2:
            if rows.exists() and rows.stat().st_size > size:
                process.send_signal(signal.SIGKILL)
                kills += 1
                break
            time.sleep(0.01)
        process.communicate()
    assert kills
    assert broken.read_bytes() == whole.read_bytes()
