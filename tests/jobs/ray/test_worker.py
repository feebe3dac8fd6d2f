"""What a worker does with a shard, without a cluster."""

from __future__ import annotations

import errno
import json
import os
import socket
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import pyarrow as pa
import pytest
from pyarrow import parquet

from tertium.data.pairs import Languages, TablePairs, choose_columns
from tertium.data.records import open_table
from tertium.errors import InputError, Message, ResumeError
from tertium.jobs.parquet import schema_of
from tertium.jobs.ray.shards import NOTE, Shard, ShardFolder
from tertium.jobs.ray.worker import TRIES, ShardWorker, Work
from tertium.jobs.task import Input, Job, OnError
from tertium.jobs.tasks.score import ScoreTask
from tertium.measures.loading import MeasureLoader, read_specs
from tertium.storage.resume import RECORD


def job(*pairs: TablePairs, measure: str = "chrf", on_error: OnError = OnError.stop) -> Job:
    task = ScoreTask.requested(MeasureLoader(read_specs([measure])))
    return Job(task, [Input(each) for each in pairs], 2, on_error)


@pytest.fixture
def work(tmp_path: Path) -> Work:
    """Three rows, of which the last two make a shard."""
    file = tmp_path / "pairs.tsv"
    file.write_text("hyp\tref\na\ta\nb\tb\nc\td\n")
    folder = tmp_path / "out.part"
    folder.mkdir()
    (folder / RECORD).touch()
    table = open_table(file)
    chosen = job(TablePairs(table, choose_columns(table)))
    return Work(job=chosen, threads=1, schema=schema_of(chosen.kinds), folder=folder, home=tmp_path)


@pytest.fixture(autouse=True)
def _stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker changes to the folder where the run was started; change back."""
    monkeypatch.chdir(tmp_path)


def outcome(work: Work, **part: int) -> dict[str, Any]:
    batch = {"number": [0], "input": [0], "start": [1], "stop": [3]}
    batch |= {name: [value] for name, value in part.items()}
    [found] = ShardWorker(work)(batch)["outcome"]
    result: dict[str, Any] = json.loads(found)
    return result


def said(found: dict[str, Any]) -> str:
    """The message of an outcome."""
    message = found["message"]
    return str(Message(**{**message, "cures": tuple(message["cures"])}))


def test_a_shard_is_scored_once(work: Work) -> None:
    first = outcome(work)
    assert (first["rows"], first["lost"]) == (2, 0)
    shard = Shard(work.folder, 0)
    assert parquet.read_table(shard.path).to_pylist() == [
        {"hyp": "b", "ref": "b", "chrf": 100.0, "cut": False, "marks": ""},
        {"hyp": "c", "ref": "d", "chrf": 0.0, "cut": False, "marks": ""},
    ]
    written = shard.path.stat().st_mtime_ns
    again = outcome(work)
    assert again == first
    assert shard.path.stat().st_mtime_ns == written
    assert sorted(file.name for file in work.folder.iterdir()) == [RECORD, shard.path.name]


def test_rows_that_have_changed_are_noticed(work: Work) -> None:
    outcome(work)
    [file] = work.job.inputs[0].source.paths
    file.write_text("hyp\tref\na\ta\nb\tb\nc\tc\n")
    assert "some of the rows 2 to 3 differ" in said(outcome(work))
    file.write_text("hyp\tref\na\ta\n")
    assert "has become shorter" in said(outcome(work, number=1))


def cut_off(shard: Shard) -> None:
    os.truncate(shard.path, 300)


def spoil(shard: Shard) -> None:
    """Leave the footer as it is."""
    content = bytearray(shard.path.read_bytes())
    content[4:200] = bytes(196)
    shard.path.write_bytes(content)


def write_other(note: dict[bytes, bytes] | None) -> Callable[[Shard], None]:
    def write(shard: Shard) -> None:
        table = parquet.read_table(shard.path)
        parquet.write_table(table.replace_schema_metadata(note), shard.path)

    return write


OTHER_NOTE = (
    b'{"size": 2, "digest": "%s", "description": {}, "input": 0, "rows": 2, "bad": [], '
    b'"reasons": [], "written": [], "note": {"totals": {}, "cut": 0}}'
)
DAMAGE = {
    "cut off": cut_off,
    "spoilt": spoil,
    "no metadata": write_other(None),
    "another's": write_other({b"pandas": b"{}"}),
    "no JSON": write_other({NOTE: b"{"}),
    "no object": write_other({NOTE: b"3"}),
    "no digest": write_other({NOTE: b'{"size": 2}'}),
    "other rows": write_other({NOTE: b'{"size": 3}'}),
    "digest of another form": write_other({NOTE: OTHER_NOTE % b"x"}),
    "no totals": write_other({NOTE: OTHER_NOTE % (b"a" * 64)}),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_shard_is_scored_again(kind: str, work: Work) -> None:
    first = outcome(work)
    shard = Shard(work.folder, 0)
    DAMAGE[kind](shard)
    again = outcome(work)
    damage = again.pop("damage")
    assert damage.startswith(f"{shard.path} is damaged (")
    assert "\n" not in damage
    del first["damage"]
    assert again == first
    assert parquet.read_table(shard.path).column("chrf").to_pylist() == [100.0, 0.0]
    assert outcome(work)["damage"] is None


def test_a_damaged_shard_in_a_finished_folder_is_named(work: Work) -> None:
    outcome(work)
    shard = Shard(work.folder, 0)
    cut_off(shard)
    found = outcome(replace(work, finished=True))
    assert found["error"] == "ResumeError"
    assert said(found).startswith(f"{shard.path} is damaged (")
    assert found["message"]["cures"] == ["start over with {overwrite:True}"]
    assert shard.path.stat().st_size == 300


FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def fail(*_: object) -> NoReturn:
    raise FULL


@pytest.mark.parametrize("method", ["write_parquet", "write_text"])
def test_a_full_disk(method: str, work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"tertium.jobs.ray.shards.{method}", fail)
    found = outcome(work)
    assert found["error"] == "OutputError"
    fact = f"{work.folder} cannot be written on {socket.gethostname()} (No space left on device)"
    assert said(found) == f"{fact}; free some disk space, or choose another output"
    Shard(work.folder, 7).path.touch()
    kept = "the results so far are kept: free some disk space, then continue with {resume:True}"
    assert outcome(work)["message"]["cures"] == [kept]


def test_an_input_that_cannot_be_read(work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*_: object) -> NoReturn:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), "pairs.tsv")

    monkeypatch.setattr(TablePairs, "between", denied)
    found = outcome(work)
    assert found["error"] == "ClusterError"
    assert said(found) == f"on {socket.gethostname()}, pairs.tsv: Permission denied"


def test_a_shard_that_brings_down_its_workers_is_given_up(work: Work) -> None:
    for _ in range(TRIES):
        Shard(work.folder, 0).start()
    found = outcome(work)
    assert found["error"] == "ClusterError"
    assert f"{TRIES} workers were lost over the rows 2 to 3 of" in said(found)


def test_a_cache_that_fails_is_told_of(work: Work, tmp_path: Path) -> None:
    Path(os.environ["TERTIUM_CACHE"]).touch()  # a file, where a folder should be
    pairs = work.job.inputs[0].source
    assert isinstance(pairs, TablePairs)
    english = job(replace(pairs, languages=Languages("en", "en")), measure="direct")
    found = outcome(replace(work, job=english, schema=schema_of(english.kinds)))
    assert found["rows"] == 2
    [message] = found["warnings"]
    assert "results are not cached" in message


def test_a_folder_that_is_not_shared_is_named(work: Work) -> None:
    (work.folder / RECORD).unlink()
    assert f"does not see {work.folder}" in said(outcome(work))


def test_a_row_that_cannot_be_scored_is_named_with_its_file(work: Work) -> None:
    pairs = work.job.inputs[0].source
    assert isinstance(pairs, TablePairs)
    file = pairs.paths[0].with_suffix(".jsonl")
    file.write_text('{"hyp": "a", "ref": "a"}\n{"hyp": 3, "ref": "a"}\n{"hyp": "a", "ref": "a"}\n')
    table = open_table(file)
    bad = TablePairs(table, choose_columns(table))
    found = outcome(replace(work, job=job(bad)))
    assert found["error"] == "InputError"
    assert said(found).startswith(f"{file}, row 2: the hypothesis is int, not text")
    found = outcome(replace(work, job=job(pairs, bad, measure="direct")))
    assert found["error"] == "LanguageError"
    assert said(found).startswith(f"{pairs.name}, row 2: direct: ")
    marked = job(replace(bad, tolerant=True), on_error=OnError.mark)
    found = outcome(replace(work, job=marked, schema=schema_of(marked.kinds)))
    assert (found["rows"], len(found["bad"])) == (2, 1)
    [reason] = found["reasons"]
    assert "row 2: the hypothesis is int, not text" in reason
    rows = parquet.read_table(Shard(work.folder, 0).path).to_pylist()
    assert [(row["chrf"], row["error"]) for row in rows] == [(None, reason), (100.0, None)]


JOB = {"measures": [], "rows": 3}


def fill(folder: Path) -> None:
    Shard(folder, 0).write([{"hyp": "a"}], pa.schema([("hyp", pa.string())]), {"size": 1})


def test_a_folder_appears_when_it_is_whole(tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = ShardFolder(out)
    folder = first.begin(JOB)
    fill(folder)
    assert not out.exists()
    first.close()
    with pytest.raises(ResumeError, match="is an unfinished run"):
        ShardFolder(out).begin(JOB)
    with pytest.raises(ResumeError, match="was started with rows = 3, not 4"):
        ShardFolder(out, resume=True).begin({**JOB, "rows": 4})
    resumed = ShardFolder(out, resume=True)
    assert resumed.begin(JOB) == folder
    (folder / "part-000001.attempts").touch()
    resumed.finish()
    assert sorted(file.name for file in out.iterdir()) == [RECORD, "part-000000.parquet"]
    assert not folder.exists()
    assert parquet.read_table(out).to_pylist() == [{"hyp": "a"}]


def test_a_finished_folder_is_replaced_only_if_asked(tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = ShardFolder(out)
    fill(first.begin(JOB))
    first.finish()
    with pytest.raises(ResumeError, match="already exists; start over with overwrite=True"):
        ShardFolder(out).begin(JOB)
    again = ShardFolder(out, resume=True)
    assert again.begin(JOB) == out
    again.close()
    new = ShardFolder(out, overwrite=True)
    assert not list(new.begin(JOB).glob("*.parquet"))
    new.finish()
    assert [file.name for file in out.iterdir()] == [RECORD]
    assert [file.name for file in tmp_path.glob("out*")] == ["out"]


def test_a_run_that_achieved_nothing_leaves_nothing(tmp_path: Path) -> None:
    folder = ShardFolder(tmp_path / "out")
    folder.begin(JOB)
    folder.close()
    assert not folder.run.part.exists()
    fill(folder.begin(JOB))
    folder.close()
    assert folder.run.part.exists()


def test_what_is_no_output_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    cases = {
        tmp_path / "file": "is a file; choose a folder",
        tmp_path: "contains files that Tertium has not written",
        tmp_path / "no" / "out": "no such folder",
    }
    for path, reason in cases.items():
        with pytest.raises(InputError, match=reason):
            ShardFolder(path)
