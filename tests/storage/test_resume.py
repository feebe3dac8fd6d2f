"""An unfinished run is resumed, started over or refused, and nothing else is deleted."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from typing import Any

import pytest

from tertium.errors import InputError, OutputError, ResumeError
from tertium.storage.atomic import write_text
from tertium.storage.resume import RECORD, UnfinishedRun, check_same_job, first_difference

JOB = {"measures": ["chrf"], "rows_at_a_time": 8}


def a_run(out: Path, **way: bool) -> UnfinishedRun:
    return UnfinishedRun(out, files=r"rows|notes\.\d", results="rows", **way)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """Where a run has saved a state and was then stopped."""
    run = a_run(tmp_path / "out")
    assert run.start(JOB) is None
    (run.part / "rows").write_text("a\nb\n")
    run.save({"bytes": 4})
    run.close()
    return run.out


def names(folder: Path) -> list[str]:
    return sorted(str(file.relative_to(folder)) for file in folder.rglob("*"))


def test_resumed_with_its_state(out: Path) -> None:
    run = a_run(out, resume=True)
    assert run.start(JOB) == {"bytes": 4}
    assert names(out.parent) == ["out.part", "out.part.lock", f"out.part/{RECORD}", "out.part/rows"]
    os.replace(run.part / "rows", out)
    run.finish()
    assert names(out.parent) == ["out"]


def test_started_over(out: Path) -> None:
    run = a_run(out, overwrite=True)
    assert run.start(JOB) is None
    assert names(run.part) == [RECORD]
    run.close()
    assert names(out.parent) == []  # nothing was saved


def test_refused_without_a_choice(out: Path) -> None:
    before = names(out.parent)
    message = "is an unfinished run; resume it with resume=True, or start over with overwrite=True"
    with pytest.raises(ResumeError, match=message):
        a_run(out).start(JOB)
    assert names(out.parent) == before
    with pytest.raises(InputError, match="use only one"):
        a_run(out, resume=True, overwrite=True)


def test_refused_with_another_job(out: Path) -> None:
    with pytest.raises(ResumeError, match=r"out\.part was started with rows_at_a_time = 8, not 9"):
        a_run(out, resume=True).start({**JOB, "rows_at_a_time": 9})
    with pytest.raises(ResumeError, match="not 9; train elsewhere"):
        check_same_job(out, {"seed": 1}, {"seed": 9}, cure="train elsewhere")


@pytest.mark.parametrize("record", ["", "{", "[]", "{}", "null", '{"job": 3, "state": null}'])
def test_a_damaged_record(record: str, out: Path) -> None:
    (out.with_name("out.part") / RECORD).write_text(record)
    for way in ({}, {"resume": True}):
        with pytest.raises(ResumeError, match=r"is damaged.*; start over with overwrite=True"):
            a_run(out, **way).start(JOB)
    assert a_run(out, overwrite=True).start(JOB) is None


@pytest.mark.parametrize("missing", ["state", "rows"])
def test_nothing_to_resume(missing: str, out: Path) -> None:
    """Killed before anything was saved, or after the results were moved to their place."""
    part = out.with_name("out.part")
    if missing == "rows":
        (part / "rows").unlink()
    else:
        write_text(part / RECORD, json.dumps({"job": {}, "state": None}))
    run = a_run(out)
    assert run.start(JOB) is None
    assert names(part) == [RECORD]
    run.close()


def test_what_others_put_there_stays(out: Path) -> None:
    part = out.with_name("out.part")
    (part / "thesis.txt").touch()
    with pytest.raises(InputError, match=r"such as thesis\.txt; move them away"):
        a_run(out, overwrite=True).start(JOB)
    assert names(part) == [RECORD, "rows", "thesis.txt"]
    run = a_run(out, resume=True)
    run.start(JOB)
    run.finish()
    assert names(out.parent) == ["out.part", "out.part/thesis.txt"]


def test_a_refused_run_deletes_nothing_of_the_one_that_goes_on(tmp_path: Path) -> None:
    first, second = a_run(tmp_path / "out"), a_run(tmp_path / "out", overwrite=True)
    first.start(JOB)
    before = names(tmp_path)
    with pytest.raises(OutputError, match="in use by another run"):
        second.start(JOB)
    second.close()
    assert names(tmp_path) == before
    first.close()
    assert names(tmp_path) == []


@pytest.mark.parametrize(
    ("number", "cure"), [(errno.ENOSPC, "free some disk space"), (errno.EROFS, "make it writable")]
)
def test_a_failure_to_write_is_explained(
    number: int, cure: str, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise OSError(number, os.strerror(number))

    run = a_run(out, resume=True)
    run.start(JOB)
    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(OutputError, match=f"results so far are kept: {cure}, then continue with"):
        run.save({"bytes": 5})
    run.close()
    with pytest.raises(OutputError, match=f"{cure}, or choose another output"):
        a_run(out.with_name("other")).start(JOB)


def test_the_first_difference() -> None:
    assert first_difference("", {"a": [1, 2]}, {"a": [1, 3]}) == ("a", 2, 3)
    assert first_difference("", {"a": [1]}, {"a": [1, 3]}) == ("a", [1], [1, 3])
