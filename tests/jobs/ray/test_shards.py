"""A folder of shards: what may be deleted, and what is refused."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tertium.errors import InputError, OutputError, ResumeError
from tertium.jobs.ray.shards import Shard, ShardFolder
from tertium.storage.resume import OLD, RECORD

JOB = {"measures": [], "rows": 3}
WAYS: list[dict[str, Any]] = [{}, {"overwrite": True}, {"resume": True}]


def fill(folder: Path) -> None:
    Shard(folder, 0).write([{"hyp": "a"}], pa.schema([("hyp", pa.string())]), {"size": 1})


def names(folder: Path) -> list[str]:
    return sorted(str(file.relative_to(folder)) for file in folder.rglob("*"))


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """Where a run has finished."""
    folder = ShardFolder(tmp_path / "out")
    fill(folder.begin(JOB))
    folder.finish()
    return folder.path


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("foreign", ["thesis.txt", "sub/", "part-000000.parquet", "a.new"])
def test_a_part_folder_of_somebody_else(way: dict[str, Any], foreign: str, tmp_path: Path) -> None:
    part = tmp_path / "out.part"
    part.mkdir()
    if foreign.endswith("/"):
        (part / foreign).mkdir()
    else:
        (part / foreign).touch()
    before = names(tmp_path)
    with pytest.raises(InputError, match=f"such as {foreign.rstrip('/')}; move them away"):
        ShardFolder(tmp_path / "out", **way)
    assert names(tmp_path) == before


def test_a_file_in_the_place_of_the_part_folder(tmp_path: Path) -> None:
    (tmp_path / "out.part").write_text("mine")
    with pytest.raises(InputError, match=r"out\.part is a file that .*; move it away"):
        ShardFolder(tmp_path / "out", overwrite=True)
    assert (tmp_path / "out.part").read_text() == "mine"


@pytest.mark.parametrize("foreign", ["notes.txt", "sub", "part-000001.parquet/x", OLD, f"{OLD}/x"])
def test_what_somebody_put_beside_the_shards(foreign: str, out: Path) -> None:
    (out / foreign).parent.mkdir(exist_ok=True)
    (out / foreign).touch()
    before = names(out)
    with pytest.raises(InputError, match=f"such as {foreign.split('/')[0]}; move them away"):
        ShardFolder(out, overwrite=True)
    assert names(out) == before
    again = ShardFolder(out, resume=True)
    assert again.begin(JOB) == out  # deletes nothing
    again.close()
    assert names(out) == before


def test_what_somebody_puts_there_while_the_run_is_under_way(out: Path) -> None:
    new = ShardFolder(out, overwrite=True)
    fill(new.begin(JOB))
    (out / "notes.txt").touch()
    with pytest.raises(InputError, match=r"such as notes\.txt"):
        new.finish()
    assert names(out) == [RECORD, "notes.txt", "part-000000.parquet"]
    new.close()
    (out / "notes.txt").unlink()
    again = ShardFolder(out, resume=True)
    assert again.begin(JOB) == again.run.part
    again.finish()
    assert names(out.parent) == ["out", f"out/{RECORD}", "out/part-000000.parquet"]


@pytest.mark.parametrize("way", WAYS)
def test_the_second_of_two_runs_is_refused(way: dict[str, Any], tmp_path: Path) -> None:
    first, second = ShardFolder(tmp_path / "out"), ShardFolder(tmp_path / "out", **way)
    fill(first.begin(JOB))
    before = names(tmp_path)
    with pytest.raises(OutputError, match=rf"in use by another run \(process {os.getpid()} on"):
        second.begin(JOB)
    second.close()
    assert names(tmp_path) == before
    first.finish()
    assert names(tmp_path) == ["out", f"out/{RECORD}", "out/part-000000.parquet"]


def test_a_run_that_fails_leaves_what_is_not_its_own(tmp_path: Path) -> None:
    folder = ShardFolder(tmp_path / "out")
    (folder.begin(JOB) / "notes.txt").touch()
    folder.close()
    assert names(folder.run.part) == ["notes.txt"]


def test_a_folder_named_old_is_somebody_elses(out: Path) -> None:
    old = out.with_name("out.old")
    old.mkdir()
    (old / "thesis.txt").touch()
    new = ShardFolder(out, overwrite=True)
    fill(new.begin(JOB))
    new.finish()
    assert names(old) == ["thesis.txt"]


def test_a_finished_folder_stays_beside_an_empty_one(out: Path) -> None:
    out.with_name("out.part").mkdir()
    before = names(out)
    again = ShardFolder(out, resume=True)
    assert again.begin(JOB) == out
    again.finish()
    assert names(out) == before


@pytest.mark.parametrize("moved", [False, True])
def test_killed_while_the_new_folder_takes_its_place(moved: bool, out: Path) -> None:
    new = ShardFolder(out, overwrite=True)
    fill(new.begin(JOB))
    out.rename(new.run.part / OLD)
    if moved:
        new.run.part.rename(out)
    new.close()
    again = ShardFolder(out, resume=True)
    again.begin(JOB)
    again.finish()
    assert names(out.parent) == ["out", f"out/{RECORD}", "out/part-000000.parquet"]


def test_scraps_of_a_killed_run_are_its_own(tmp_path: Path) -> None:
    killed = ShardFolder(tmp_path / "out")
    folder = killed.begin(JOB)
    fill(folder)
    killed.close()
    for scrap in (
        "part-000001.parquet.a.host-1.77.new",
        "part-000001.attempts",
        "part-000001.attempts.new",
    ):
        (folder / scrap).touch()
    (folder / f"{RECORD}.new").touch()
    new = ShardFolder(tmp_path / "out", overwrite=True)
    assert names(new.begin(JOB)) == [RECORD]


@pytest.mark.parametrize("content", ["", "{", "3", "\0\0"])
def test_a_damaged_job_file_is_named(content: str, out: Path) -> None:
    (out / RECORD).write_text(content)
    with pytest.raises(ResumeError, match=r"is damaged.*; start over with overwrite=True"):
        ShardFolder(out, resume=True).begin(JOB)


def test_a_folder_that_cannot_be_written_is_named(
    out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    new = ShardFolder(out, overwrite=True)
    fill(new.begin(JOB))
    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(
        OutputError, match=r"out\.part cannot be written on .* \(Read-only file sys"
    ):
        new.finish()
    with pytest.raises(OutputError, match="; make it writable, or choose another output"):
        ShardFolder(out.with_name("other")).begin(JOB)
