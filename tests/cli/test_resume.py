"""A killed and resumed run writes the same bytes as an uninterrupted run."""

from __future__ import annotations

import json
import os
import random
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tertium.storage.resume import RECORD

from .conftest import TERTIUM, Run

WHO = ("My brother", "The old man", "She", "Our teacher", "The dog")
DOES = ("reads", "sees", "wants", "finds", "has")
WHAT = ("a book.", "the sea.", "a new car.", "the red house.", "three letters today.")


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    draw = random.Random(5)
    lines = [
        "\t".join(f"{draw.choice(WHO)} {draw.choice(DOES)} {draw.choice(WHAT)}" for _ in range(2))
        for _ in range(150)
    ]
    file = tmp_path / "pairs.tsv"
    file.write_text("hyp\tref\n" + "\n".join(lines) + "\n")
    return file


def command(pairs: Path, out: Path, *more: str) -> list[str]:
    measures = ["-m", "direct", "-m", "cross", "-m", "chrf", "--lang", "en"]
    rows = ["--rows-at-a-time", "8", "--resume", "--json", "-o", str(out)]
    return [*TERTIUM, "score", str(pairs), *measures, *rows, *more]


def saved_rows(out: Path) -> int:
    record = out.with_name(out.name + ".part") / RECORD
    try:
        state = json.loads(record.read_text())["state"]
    except FileNotFoundError:
        return 0
    return int(state["rows"]) if state else 0


@pytest.mark.parametrize(
    "settings",
    [(), ("--no-cache",), ("--no-cache", "--compute-type", "float32")],
    ids=["cache", "no cache", "float32"],
)
def test_kill_at_random_moments(tmp_path: Path, pairs: Path, settings: tuple[str, ...]) -> None:
    whole, broken = tmp_path / "whole.tsv", tmp_path / "broken.tsv"
    environment = {**os.environ, "TERTIUM_CACHE": str(tmp_path / "one")}
    unbroken = subprocess.run(
        command(pairs, whole, *settings), env=environment, check=True, capture_output=True
    )
    environment["TERTIUM_CACHE"] = str(tmp_path / "two")
    draw = random.Random(str(settings))
    for rows in (0, draw.randrange(8, 60), draw.randrange(60, 120)):
        process = subprocess.Popen(
            command(pairs, broken, *settings), env=environment, stdout=subprocess.DEVNULL
        )
        while process.poll() is None and saved_rows(broken) < rows:
            time.sleep(0.001)
        time.sleep(draw.uniform(0, 0.05))
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
        assert not broken.exists()
    summary = subprocess.run(
        command(pairs, broken, *settings), env=environment, check=True, capture_output=True
    ).stdout
    assert broken.read_bytes() == whole.read_bytes()
    assert summary.split(b'"queries"')[0] == unbroken.stdout.split(b'"queries"')[0]
    assert sorted(file.name for file in tmp_path.glob("*.tsv*")) == [
        "broken.tsv",
        "pairs.tsv",
        "whole.tsv",
    ]


@pytest.fixture
def heard_ctrl_c() -> Iterator[None]:
    """In a job in the background Ctrl-C is ignored, also by all processes that it starts."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("heard_ctrl_c")
def test_ctrl_c_says_how_to_go_on(tmp_path: Path, pairs: Path) -> None:
    """The input never ends, so that the run cannot be over before it is stopped."""
    out = tmp_path / "out.tsv"
    process = subprocess.Popen(
        command(Path("-"), out, "--no-cache", "--format", "tsv"),
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    process.stdin.write(pairs.read_text())
    process.stdin.flush()
    while not saved_rows(out):
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, message = process.communicate()
    assert process.returncode == 130
    assert "--resume" in message
    assert not out.exists()


def test_two_processes_on_one_cache(tmp_path: Path, pairs: Path) -> None:
    outs = [tmp_path / "one.tsv", tmp_path / "two.tsv"]
    running = [subprocess.Popen(command(pairs, out), stdout=subprocess.DEVNULL) for out in outs]
    assert [process.wait() for process in running] == [0, 0]
    assert outs[0].read_bytes() == outs[1].read_bytes()


def test_two_processes_on_one_output(tmp_path: Path, pairs: Path) -> None:
    """At any time one of them writes; the others are refused, or start when it has finished."""
    whole, out = tmp_path / "whole.tsv", tmp_path / "out.tsv"
    subprocess.run(command(pairs, whole), check=True, capture_output=True)
    running = [
        subprocess.Popen(
            command(pairs, out), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        for _ in range(3)
    ]
    ended = [(process.communicate()[1], process.returncode) for process in running]
    assert 0 in [code for _, code in ended]
    for message, code in ended:
        assert code == 0 or (code == 2 and "is in use by another run (process " in message)
    assert out.read_bytes() == whole.read_bytes()
    assert sorted(file.name for file in tmp_path.glob("out*")) == ["out.tsv"]


@pytest.mark.parametrize("way", [(), ("--resume",), ("--overwrite",)])
def test_the_second_of_two_runs_is_refused(
    tertium: Run, tmp_path: Path, pairs: Path, way: tuple[str, ...]
) -> None:
    """The first reads an input that never ends; when it is killed, its lock is gone."""
    out = tmp_path / "out.tsv"
    process = subprocess.Popen(
        command(Path("-"), out, "--format", "tsv"), stdin=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    process.stdin.write(pairs.read_text())
    process.stdin.flush()
    while not saved_rows(out):
        assert process.poll() is None
        time.sleep(0.01)
    measures = ("-m", "direct", "-m", "cross", "-m", "chrf", "--lang", "en")
    second = ("score", pairs, *measures, "--rows-at-a-time", "8", "-o", out)
    refused = tertium(*second, *way)
    assert refused.returncode == 2
    owner = f"process {process.pid} on {socket.gethostname()}"
    assert f"{out}.part is in use by another run ({owner})" in refused.stderr
    process.kill()
    process.communicate()
    assert (tmp_path / "out.tsv.part.lock").exists()
    before = saved_rows(out)
    assert before
    done = tertium(*second, "--resume")
    assert done.returncode == 0, done.stderr
    assert "150 rows in" in done.stderr
    assert f"{before} of them scored before" in done.stderr
    assert sorted(file.name for file in tmp_path.glob("out*")) == ["out.tsv"]


def begin(tertium: Run, pairs: Path, out: Path, *more: str) -> None:
    """Leave an unfinished run behind: the second batch holds a row that cannot be scored."""
    good = pairs.read_text().splitlines()[1:17]
    records = [dict(zip(("hyp", "ref"), line.split("\t"), strict=True)) for line in good]
    pairs.with_suffix(".jsonl").write_text(
        "".join(json.dumps(record) + "\n" for record in records) + '{"hyp": 3, "ref": "a"}\n'
    )
    done = tertium(*("score", pairs.with_suffix(".jsonl"), "-m", "chrf"), *more, *ROWS, "-o", out)
    assert done.returncode == 2


ROWS = ("--rows-at-a-time", "16", "-q")
CHRF = ("-m", "chrf", *ROWS)


def test_an_unfinished_run_is_not_lost(tertium: Run, pairs: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.tsv"
    begin(tertium, pairs, out)
    source = pairs.with_suffix(".jsonl")
    again = ("score", source, "-m", "chrf", *ROWS, "-o", out)
    refused = tertium(*again)
    assert "is an unfinished run; resume it with --resume" in refused.stderr
    source.write_text(source.read_text().replace('"hyp": 3', '"hyp": "c"'))
    assert tertium(*again, "--resume").returncode == 0
    resumed = out.read_bytes()
    assert "use --force" in tertium(*again).stderr  # a finished file is replaced on request only
    assert tertium(*again, "--force").returncode == 0
    assert out.read_bytes() == resumed
    assert len(resumed.splitlines()) == 18


def test_other_settings_do_not_mix(tertium: Run, pairs: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.tsv"
    begin(tertium, pairs, out)
    source = pairs.with_suffix(".jsonl")
    other = tertium("score", source, "-m", "ter", *ROWS, "-o", out, "--resume")
    assert other.returncode == 2
    assert "was started with measures = 'chrf', not 'ter'" in other.stderr
    other = tertium("score", source, *CHRF, "--set", "beta=3", "-o", out, "--resume")
    assert "was started with beta = '2', not '3'" in other.stderr
    assert tertium("score", pairs, "-m", "ter", *ROWS, "-o", out, "--overwrite").returncode == 0


def test_measures_in_another_order_do_not_mix(tertium: Run, pairs: Path, tmp_path: Path) -> None:
    source, out = pairs.with_suffix(".jsonl"), tmp_path / "out.tsv"
    begin(tertium, pairs, out, "-m", "ter")
    swapped = tertium("score", source, "-m", "ter", "-m", "chrf", *ROWS, "-o", out, "--resume")
    assert swapped.returncode == 2
    assert "was started with measures" in swapped.stderr


def test_what_is_not_ours_is_left_alone(tertium: Run, pairs: Path, tmp_path: Path) -> None:
    out, part = tmp_path / "out.tsv", tmp_path / "out.tsv.part"
    part.write_text("my notes")
    refused = tertium("score", pairs, *CHRF, "-o", out)
    assert refused.returncode == 2
    assert f"{part} is a file that Tertium has not written" in refused.stderr
    assert part.read_text() == "my notes"
    assert tertium("score", pairs, *CHRF, "-o", out, "--overwrite").returncode == 0
    assert out.exists()
    assert not part.exists()


def test_killed_before_anything_was_scored(tertium: Run, pairs: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.tsv"
    assert tertium("score", pairs, *CHRF, "-o", out).returncode == 0
    whole = out.read_bytes()
    out.unlink()
    (tmp_path / "out.tsv.part").mkdir()
    (tmp_path / "out.tsv.part" / "rows").write_bytes(whole[:10])
    (tmp_path / "out.tsv.part" / RECORD).write_text('{"job": {}, "state": null}')
    assert tertium("score", pairs, *CHRF, "-o", out).returncode == 0
    assert out.read_bytes() == whole


def test_go_on_or_drop_it(tertium: Run, pairs: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.tsv"
    done = tertium("score", pairs, *CHRF, "-o", out, "--resume", "--overwrite")
    assert done.returncode == 2
    assert "use only one" in done.stderr


def test_a_mistake_at_the_start_leaves_nothing(tertium: Run, pairs: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.tsv"
    wrong = ("-m", "direct", "-l", "nl")  # a language that the model does not have
    assert tertium("score", pairs, *wrong, *ROWS, "-o", out).returncode == 2
    assert list(tmp_path.glob("out*")) == []
    done = tertium("score", pairs, "-m", "direct", "--lang", "en", *ROWS, "-o", out)
    assert done.returncode == 0


def test_changed_input_does_not_mix(tertium: Run, pairs: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.tsv"
    begin(tertium, pairs, out)
    source = pairs.with_suffix(".jsonl")
    lines = source.read_text().splitlines()[:-1]
    for changed in (lines[:5], lines[1:] + lines[:1]):
        source.write_text("\n".join(changed) + "\n")
        done = tertium("score", source, "-m", "chrf", *ROWS, "-o", out, "--resume")
        assert done.returncode == 2
        assert "has changed since the run was started" in done.stderr
