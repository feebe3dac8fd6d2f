"""A full disk: a clear error, nothing lost, and a run that can be resumed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tertium.storage.resume import RECORD

from ..disks import fill, small_disk
from .conftest import TERTIUM, Run

ROWS = 300


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    file = tmp_path / "pairs.tsv"
    lines = [f"hypothesis number {n} {'x' * 400}\treference number {n % 7}" for n in range(ROWS)]
    file.write_text("hyp\tref\n" + "\n".join(lines) + "\n")
    return file


@pytest.mark.parametrize("suffix", ["tsv", "parquet"])
def test_the_scored_rows(tertium: Run, pairs: Path, tmp_path: Path, suffix: str) -> None:
    command = ("score", pairs, "-m", "chrf", "--rows-at-a-time", "32", "-q", "-o")
    whole = tmp_path / f"whole.{suffix}"
    assert tertium(*command, whole).returncode == 0
    with small_disk(tmp_path / "disk", 512 * 1024) as disk:
        out = disk / f"out.{suffix}"
        (disk / "other").write_bytes(bytes(430 * 1024))
        stopped = tertium(*command, out)
        assert stopped.returncode == 2
        assert "No space left on device" in stopped.stderr
        assert "free some disk space, then continue with --resume" in stopped.stderr
        assert not out.exists()
        assert list(disk.glob("*.new")) == []
        again = tertium(*command, out, "--resume")
        assert again.returncode == 2
        assert "--resume" in again.stderr
        (disk / "other").unlink()
        assert tertium(*command, out, "--resume").returncode == 0
        assert out.read_bytes() == whole.read_bytes()
        assert [file.name for file in disk.iterdir()] == [out.name]


def test_no_room_from_the_start(tertium: Run, pairs: Path, tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", 64 * 1024) as disk:
        fill(disk)
        stopped = tertium("score", pairs, "-m", "chrf", "-q", "-o", disk / "out.tsv")
        assert stopped.returncode == 2
        assert "free some disk space, or choose another output" in stopped.stderr
        assert [file.name for file in disk.iterdir()] == ["filler"]


@pytest.mark.filterwarnings("default::tertium.errors.CacheWarning")
def test_the_cache(
    tertium: Run, pairs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Model results cannot be cached, which is reported; the numbers are the same."""
    some = tmp_path / "some.tsv"
    some.write_text("hyp\tref\nThe sea was calm.\tThe sea was quiet.\n")
    command = ("score", some, "-m", "direct", "--lang", "en")
    right = tertium(*command).stdout
    with small_disk(tmp_path / "disk", 64 * 1024) as disk:
        fill(disk)
        monkeypatch.setenv("TERTIUM_CACHE", str(disk))
        done = tertium(*command)
        assert done.returncode == 0
        assert done.stdout == right
        assert done.stderr.count("results are not cached") == 1
        sick = tertium("doctor")
        assert sick.returncode == 1
        assert f"FAIL  disk: 0.0 MB free at {disk}" in sick.stdout
        assert "make room" in sick.stdout


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="NOT TESTED: no /dev/full here")
def test_standard_output(pairs: Path) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*TERTIUM, "score", str(pairs), "-m", "chrf", "-q"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert done.returncode == 2
    assert done.stderr == "tertium: [Errno 28] No space left on device\n"


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX")
def test_standard_input_that_is_closed(pairs: Path) -> None:
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" <&-', "sh", *TERTIUM, "score", "-", "-m", "chrf"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert done.stderr == "tertium: standard input is closed; give a file\n"


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX")
def test_standard_output_that_is_closed() -> None:
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" >&-', "sh", *TERTIUM, "score", "a", "b", "-m", "chrf"],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("tertium: standard output is closed")


def test_a_damaged_state_does_not_resume(tertium: Run, pairs: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.tsv"
    part = out.with_name("out.tsv.part")
    part.mkdir()
    (part / "rows").write_text("hyp\tref\tchrf\tcut\n")
    for state in ("", "{", "[]", "{}", '{"bytes": 3}', "null"):
        (part / RECORD).write_text(state)
        done = tertium("score", pairs, "-m", "chrf", "-q", "-o", out, "--resume")
        assert done.returncode == 2
        assert "is damaged" in done.stderr
        assert "--overwrite" in done.stderr
    assert tertium("score", pairs, "-m", "chrf", "-q", "-o", out, "--overwrite").returncode == 0
