"""``tertium rerank``."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tertium import load

from .conftest import TERTIUM, Run

LISTS = [
    ("The train is late.", ["The dogs!", "The train is late!", "The train is late."]),
    ("He comes.", ["He comes.", "He comes.", "Dogs!"]),
]


@pytest.fixture
def lists(tmp_path: Path) -> Path:
    file = tmp_path / "lists.jsonl"
    rows = [
        {
            "src": reference,
            "ref": reference,
            "candidates": [
                {"hyp": text, "score": -float(place)} for place, text in enumerate(texts)
            ],
        }
        for reference, texts in LISTS
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def test_chosen_texts_and_gain(tertium: Run, lists: Path) -> None:
    done = tertium("rerank", lists, "-m", "chrf")
    assert done.stdout == "The train is late!\nHe comes.\n"
    assert "2 lists, 6 candidates" in done.stderr
    assert "another than the first in 1; 13 pairs scored" in done.stderr  # 9, and 4 distinct
    chrf = load("chrf")
    references = [reference for reference, _ in LISTS]
    first, chosen = (
        chrf.score(outputs, references).system
        for outputs in (["The dogs!", "He comes."], ["The train is late!", "He comes."])
    )
    gain = f"first {first:.4f}, chosen {chosen:.4f} ({chosen - first:+.4f})"
    assert f"chrf: {gain}, best possible 100.0000" in done.stderr


def test_ranking(tertium: Run, lists: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.tsv"
    options = ["-m", "chrf", "bleu", "--weights", "1,2", "--decoder", "0.5", "--ranking"]
    done = tertium("rerank", lists, *options, "-o", out)
    assert done.returncode == 0, done.stderr
    head, *rows = (line.split("\t") for line in out.read_text().splitlines())
    assert head == [
        *("group", "src", "rank", "place", "hyp", "score", "chrf", "bleu", "decoder", "cut")
    ]
    assert [row[0] for row in rows] == ["1"] * 3 + ["2"] * 3
    assert [row[2] for row in rows] == ["1", "2", "3"] * 2
    scores = [float(row[5]) for row in rows]
    assert scores[:3] == sorted(scores[:3], reverse=True)
    assert tertium("rerank", out, "-m", "chrf").stdout == "The train is late!\nHe comes.\n"


def test_quality_estimation_and_judges(tertium: Run, lists: Path) -> None:
    options = ["-m", "chrf", "--against", "source", "--judge", "bleu", "--judge", "ter"]
    done = tertium("rerank", lists, *options)
    assert done.stdout == "The train is late.\nHe comes.\n"
    assert "\nbleu: first " in done.stderr
    assert "\nter: first " in done.stderr


def test_tuning(tertium: Run, lists: Path) -> None:
    done = tertium("rerank", lists, "-m", "chrf", "--decoder", "1", "--tune", lists)
    assert "tuned weights: chrf " in done.stderr
    assert done.stdout == "The train is late!\nHe comes.\n"


def test_pruned_and_aggregated(tertium: Run, lists: Path) -> None:
    for options in (["--prune", "0.99"], ["--aggregate"]):
        done = tertium("rerank", lists, "-m", "chrf", *options)
        assert done.returncode == 0, done.stderr
        assert len(done.stdout.splitlines()) == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-m", "bleu", "--aggregate"], "bleu cannot aggregate"),
        (["-m", "chrf", "--weights", "a"], "write numbers with commas"),
        (["-m", "chrf", "--ranking", "-o", "out.txt"], "one line per list"),
        (["-m", "chrf", "--tune", "lists.jsonl"], "--tune needs several measures"),
        (["-m", "chrf", "--resume"], "need an output file"),
        (["-m", "chrf", "--group-column", "x"], "no column 'x'"),
    ],
)
def test_wrong_options(tertium: Run, lists: Path, options: list[str], message: str) -> None:
    done = tertium("rerank", lists, *options)
    assert done.returncode == 2
    assert message in done.stderr


def test_judges_need_references(tertium: Run, tmp_path: Path) -> None:
    file = tmp_path / "a.nbest"
    file.write_text("0 ||| Hi. ||| ||| -1\n")
    assert "--judge needs references" in tertium("rerank", file, "--judge", "bleu").stderr
    assert "prism-src needs sources" in tertium("rerank", file, "-m", "prism-src").stderr


def test_killed_and_resumed(tmp_path: Path) -> None:
    file = tmp_path / "a.nbest"
    file.write_text(
        "".join(
            f"{n} ||| There are {n + extra} dogs in the house. ||| ||| {-extra}\n"
            for n in range(24)
            for extra in range(3)
        )
    )
    references = tmp_path / "ref.txt"
    references.write_text("".join(f"There are {n} dogs here.\n" for n in range(24)))

    def command(out: Path) -> list[str]:
        options = ["-m", "cross", "--decoder", "0.1", "-l", "en", "-r", str(references)]
        batches = ["--lists-at-a-time", "4", "--ranking", "--resume"]
        return [*TERTIUM, "rerank", str(file), *options, *batches, "-o", str(out)]

    def gain(errors: bytes) -> bytes:
        return errors.splitlines()[-1]

    environment = {**os.environ, "TERTIUM_CACHE": str(tmp_path / "one")}
    whole, broken = tmp_path / "whole.tsv", tmp_path / "broken.tsv"
    done = subprocess.run(command(whole), env=environment, check=True, capture_output=True)
    environment["TERTIUM_CACHE"] = str(tmp_path / "two")
    kills, errors = 0, b""
    while not broken.exists():
        process = subprocess.Popen(command(broken), env=environment, stderr=subprocess.PIPE)
        rows = broken.with_name("broken.tsv.part") / "rows"
        size = rows.stat().st_size if rows.exists() else 0
        while process.poll() is None and kills < 2:
            if rows.exists() and rows.stat().st_size > size:
                process.send_signal(signal.SIGKILL)
                kills += 1
                break
            time.sleep(0.01)
        _, errors = process.communicate()
    assert kills
    assert broken.read_bytes() == whole.read_bytes()
    assert gain(errors) == gain(done.stderr)
    assert gain(errors).startswith(b"chrf: first ")


def test_languages_are_identified(tertium: Run, tmp_path: Path) -> None:
    file = tmp_path / "lists.jsonl"
    texts = ["The meeting is on Tuesday.", "The meeting is on Monday."]
    row = {"src": "Die Sitzung ist am Montag.", "candidates": texts}
    file.write_text(json.dumps(row) + "\n")
    given = tertium("rerank", file, "-m", "direct:against=source", "-l", "de-en")
    assumed = tertium("rerank", file, "-m", "direct:against=source")
    assert assumed.returncode == 0, assumed.stderr
    assert assumed.stdout == given.stdout
    assert assumed.stderr.startswith(
        "assumed languages: hypotheses en, sources de (identified; to choose others, use --lang, "
        "--src-lang)\n"
    )
    assert "assumed" not in given.stderr
    file.write_text(json.dumps({**row, "candidates": ["ok", "no"]}) + "\n")
    unclear = tertium("rerank", file, "-m", "direct:against=source")
    assert unclear.returncode == 2
    assert "the language of the hypothesis is needed" in unclear.stderr
    assert unclear.stderr.endswith("; use --lang\n")
