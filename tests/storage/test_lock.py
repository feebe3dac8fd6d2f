"""Two runs on one output: the second is refused, unless the first is dead."""

from __future__ import annotations

import errno
import os
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NoReturn

import pytest

from tertium.errors import InputError, OutputError
from tertium.storage.resume import Lock, locked

HOLD = """
import sys, time
from pathlib import Path
from tertium.storage.resume import Lock

lock = Lock(Path(sys.argv[1]))
lock.acquire()
print("locked", flush=True)
time.sleep(600)
"""


def holder(target: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(target)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "locked\n"
    return process


def test_the_process_that_holds_a_lock_is_named(tmp_path: Path) -> None:
    out = tmp_path / "out"
    process = holder(out)
    try:
        name = f"process {process.pid} on {socket.gethostname()}"
        with pytest.raises(OutputError, match=rf"out is in use by another run \({name}\); wait"):
            Lock(out).acquire()
        assert (tmp_path / "out.lock").read_text() == name
    finally:
        process.kill()
        process.communicate()


def test_a_killed_process_holds_no_lock(tmp_path: Path) -> None:
    out = tmp_path / "out"
    process = holder(out)
    process.kill()
    process.communicate()
    assert (tmp_path / "out.lock").exists()
    with locked(out):
        assert f"process {os.getpid()} " in (tmp_path / "out.lock").read_text()
    assert list(tmp_path.iterdir()) == []


def test_one_process_at_a_time_within_a_process_too(tmp_path: Path) -> None:
    out, other = Lock(tmp_path / "out"), Lock(tmp_path / "out")
    out.acquire()
    out.acquire()  # it has it already
    with pytest.raises(OutputError, match=f"process {os.getpid()} "):
        other.acquire()
    assert out.held
    assert not other.held
    other.release()
    assert (tmp_path / "out.lock").exists()  # not the other's to remove
    out.release()
    other.acquire()
    other.release()
    assert list(tmp_path.iterdir()) == []


def test_never_two_at_once(tmp_path: Path) -> None:
    """The file is created, locked, unlocked and removed in all possible orders."""
    inside: list[int] = []
    most: list[int] = []

    def work(number: int) -> int:
        entered = 0
        for _ in range(300):
            lock = Lock(tmp_path / "out")
            try:
                lock.acquire()
            except OutputError:
                continue
            inside.append(number)
            most.append(len(inside))
            entered += 1
            inside.remove(number)
            lock.release()
        return entered

    with ThreadPoolExecutor(4) as pool:
        entered = list(pool.map(work, range(4)))
    assert len(most) == sum(entered) > 0
    assert set(most) == {1}
    assert list(tmp_path.iterdir()) == []


def test_a_lock_file_that_somebody_else_has_replaced_stays(tmp_path: Path) -> None:
    lock = Lock(tmp_path / "out")
    lock.acquire()
    lock.path.unlink()
    process = holder(tmp_path / "out")
    try:
        lock.release()
        with pytest.raises(OutputError, match=f"process {process.pid} "):
            lock.acquire()
    finally:
        process.kill()
        process.communicate()


def test_a_file_system_without_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unsupported(*_: object) -> NoReturn:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr("fcntl.flock", unsupported)
    with locked(tmp_path / "out"), locked(tmp_path / "out"):
        assert (tmp_path / "out.lock").exists()
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such folder"):
        Lock(tmp_path / "none" / "out").acquire()
