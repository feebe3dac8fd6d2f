"""Unfinished runs: what a run was started with, how far it has come, and how it is resumed.

A run works in the folder ``OUT.part``, and ``OUT`` appears when it is complete. The record in that
folder, ``_tertium.json``, holds the job (everything that must not change until the run is finished)
and the state (how much of the results counts). Results are on disk before the state says so: what
a killed run wrote after its last state is dropped when it is resumed.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import socket
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from tertium.errors import InputError, OutputError, ResumeError, first_line
from tertium.storage.atomic import check_writable, write_text

UNSUPPORTED = (errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOTSUP)


class Lock:
    """An exclusive lock on an output, held by ``OUT.lock`` beside it.

    Two runs that write to the same output at once would spoil each other's results. The lock
    belongs to the operating system, which releases it when the process ends, however it ends. The
    lock file only names the process: one that a killed process has left behind blocks nobody.

    On a file system without locks (some network file systems) it does nothing.
    """

    def __init__(self, target: Path) -> None:
        from filelock import FileLock

        self.target = target
        self.path = target.with_name(target.name + ".lock")
        self.held = False
        self._lock = FileLock(self.path, timeout=0.1, poll_interval=0.02, thread_local=False)

    def acquire(self) -> None:
        """Lock, or raise an :class:`~tertium.errors.OutputError` that names the other process."""
        from filelock import Timeout

        if self.held:
            return
        check_writable(self.path.parent)  # filelock would create it, or wait for nothing
        try:
            self._lock.acquire()
        except Timeout:
            raise OutputError(
                f"{self.target} is in use by another run ({self._owner()}); "
                "wait until it has finished, stop it, or choose another output"
            ) from None
        except OSError as error:
            if error.errno not in UNSUPPORTED:
                raise
        self.held = True
        with suppress(OSError):  # a full disk, or Windows: the lock holds without a name
            self.path.write_text(_this_process())

    def release(self) -> None:
        """Unlock and remove the lock file, if it is held."""
        if not self.held:
            return
        self.held = False
        with suppress(OSError):
            # without a name if the disk is full; another's if somebody has removed ours
            if self.path.read_text(errors="replace") in ("", _this_process()):
                self.path.unlink()
        self._lock.release()
        if os.name == "nt":
            self.path.unlink(missing_ok=True)

    def _owner(self) -> str:
        with suppress(OSError):
            return self.path.read_text(errors="replace") or "another process"
        return "another process"


def _this_process() -> str:
    return f"process {os.getpid()} on {socket.gethostname()}"


@contextmanager
def locked(target: Path) -> Iterator[None]:
    """Hold the lock on an output, such as a folder of results, for a block."""
    lock = Lock(target)
    lock.acquire()
    try:
        yield
    finally:
        lock.release()


RECORD = "_tertium.json"
"""Readers of Parquet folders ignore names that start with an underscore."""
OLD = "_old"
"""Where a finished folder is while a new one takes its place."""
FULL = (errno.ENOSPC, errno.EDQUOT)
START_OVER = "start over with {overwrite:True}"
"""The cure for a run that cannot be resumed."""
State = Mapping[str, Any]


class Record(NamedTuple):
    """What a run was started with, and its last state; None if nothing was saved yet."""

    job: dict[str, Any]
    state: dict[str, Any] | None


class UnfinishedRun:
    """A run that writes to ``OUT.part``: locked, resumed, started over or refused.

    ``files`` is a regular expression for the names of all files that the run writes there, and
    ``results`` a glob pattern for those that make it worth resuming. Nothing else is ever deleted.
    """

    def __init__(
        self, out: Path, *, files: str, results: str, resume: bool = False, overwrite: bool = False
    ) -> None:
        if resume and overwrite:
            raise InputError(
                "a run is either resumed or discarded",
                cure="use only one of {resume:True} and {overwrite:True}",
            )
        self.out = out
        self.resume, self.overwrite = resume, overwrite
        self._files, self._results = re.compile(files), results
        self._lock = Lock(self.part)
        self._job: Mapping[str, Any] = {}
        self._saved = False

    @property
    def part(self) -> Path:
        """The folder that the run works in."""
        return self.out.with_name(self.out.name + ".part")

    def start(self, job: Mapping[str, Any]) -> dict[str, Any] | None:
        """Lock the output and start; returns the last state if an unfinished run is resumed."""
        self.lock()
        self._job, self._saved = job, False
        try:
            state = self._resumed_state(job)
            if state is None:
                self.check_folder(self.part)
                with self.explaining():
                    self._create()
            self._saved = state is not None
        except BaseException:
            self._lock.release()
            raise
        return state

    def save(self, state: State) -> None:
        """Record how much of the results counts; they must be on disk before."""
        with self.explaining():
            self._write_record(state)
        self._saved = True

    def finish(self) -> None:
        """The results have been moved to their place: remove the folder."""
        self.remove(self.part)
        self._lock.release()

    def finish_as_folder(self) -> None:
        """The results are complete: ``OUT.part`` becomes ``OUT``, in place of one that was there.

        The old folder moves into the new one until that has its place: under any other name it
        could not be told from a folder that Tertium has not written.
        """
        with self.explaining():
            if has_record(self.part):  # otherwise it was finished before
                if self.out.exists():
                    self.check_folder(self.out)
                    self.remove(self.part / OLD)
                    os.replace(self.out, self.part / OLD)
                os.replace(self.part, self.out)
            self.remove(self.out / OLD)
        self._lock.release()

    def close(self) -> None:
        """Release the lock; a run that has saved no results leaves nothing behind."""
        if self._lock.held and has_record(self.part) and not (self._saved and self._has_results()):
            self.remove(self.part)
        self._lock.release()

    def lock(self) -> None:
        """Refuse to run beside another run on the same output."""
        with explaining_write_errors(self.part, self._has_results):
            self._lock.acquire()

    @contextmanager
    def explaining(self) -> Iterator[None]:
        """Turn a failure to write into an error that says what to do."""
        with explaining_write_errors(self.part, lambda: self._saved and self._has_results()):
            yield

    def check_folder(self, folder: Path) -> None:
        """Refuse a folder that contains anything that no run has written."""
        if os.path.lexists(folder) and not folder.is_dir():
            raise InputError(
                f"{folder} is a file that Tertium has not written; move it away, or choose another "
                "output"
            )
        for file in _entries(folder):
            if not self.owns(file):
                raise InputError(
                    f"{folder} contains files that Tertium has not written, such as {file.name}; "
                    "move them away, or choose another output"
                )

    def owns(self, file: Path) -> bool:
        """Whether a run has written it; results count only beside a record."""
        if file.name == OLD:
            whole = file.is_dir() and all(self.owns(inner) for inner in _entries(file))
            return whole or file.is_symlink()
        if file.is_dir():
            return False
        if self._files.fullmatch(file.name):
            return has_record(file.parent)
        return file.name in (RECORD, RECORD + ".new")

    def clear(self, folder: Path) -> None:
        """Delete what a run has written; the record, which says that it is a run's, goes last."""
        files = [file for file in _entries(folder) if self.owns(file)]
        for file in sorted(files, key=lambda file: file.name == RECORD):
            if file.name == OLD:
                self.remove(file)
            else:
                file.unlink(missing_ok=True)

    def remove(self, folder: Path) -> None:
        """Remove a run's folder, unless it contains other files as well."""
        if folder.is_symlink():
            folder.unlink()
            return
        self.clear(folder)
        with suppress(OSError):
            folder.rmdir()

    def _create(self) -> None:
        self.clear(self.part)
        self.part.mkdir(exist_ok=True)
        try:
            self._write_record(None)
        except BaseException:
            with suppress(OSError):
                self.part.rmdir()
            raise

    def _resumed_state(self, job: Mapping[str, Any]) -> dict[str, Any] | None:
        if self.overwrite or not has_record(self.part):
            return None
        record = read_record(self.part)
        if record.state is None or not self._has_results():
            return None  # killed before any result was saved
        if not self.resume:
            raise ResumeError(
                f"{self.part} is an unfinished run",
                cure=("resume it with {resume:True}", START_OVER),
            )
        check_same_job(self.part, record.job, job)
        return record.state

    def _has_results(self) -> bool:
        return any(self.part.glob(self._results))

    def _write_record(self, state: State | None) -> None:
        write_text(self.part / RECORD, json.dumps({"job": self._job, "state": state}))


def has_record(folder: Path) -> bool:
    """Whether a folder is a run's."""
    return (folder / RECORD).exists()


def read_record(folder: Path) -> Record:
    """Read what the run in a folder was started with, and how far it has come."""
    file = folder / RECORD
    try:
        record = Record(**json.loads(file.read_bytes()))
    except (TypeError, ValueError) as error:
        raise ResumeError(f"{file} is damaged ({error})", cure=START_OVER) from None
    if not isinstance(record.job, dict) or not isinstance(record.state, dict | None):
        raise ResumeError(f"{file} is damaged", cure=START_OVER)
    return record


def check_same_job(
    where: Path,
    before: Mapping[str, Any],
    now: Mapping[str, Any],
    cure: Sequence[str] = ("use the same settings", START_OVER),
) -> None:
    """Refuse to resume with other settings; ``before`` was read from JSON."""
    same = json.loads(json.dumps(now))
    if before != same:
        name, old, new = first_difference("", before, same)
        raise ResumeError(f"{where} was started with {name} = {old!r}, not {new!r}", cure=cure)


def first_difference(name: str, before: Any, now: Any) -> tuple[str, Any, Any]:
    """Descend to the first difference: its name, and the old and the new value.

    >>> first_difference("", {"measures": [["chrf", {}]]}, {"measures": [["chrf", {"beta": 3}]]})
    ('beta', None, 3)
    """
    inner: Iterable[tuple[str, Any, Any]] = ()
    if isinstance(before, Mapping) and isinstance(now, Mapping):
        inner = ((key, before.get(key), now.get(key)) for key in {**before, **now})
    elif isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        inner = ((name, old, new) for old, new in zip(before, now, strict=True))
    for key, old, new in inner:
        if old != new:
            return first_difference(key, old, new)
    return name, before, now


def chain_digest(before: str, contents: Iterable[object]) -> str:
    """Hash the contents of some rows onto the hash of all rows before them.

    >>> chain_digest("", [["a", "b"]]) == chain_digest("", [["ab", ""]])
    False
    """
    digest = hashlib.sha256(before.encode())
    for content in contents:
        digest.update(json.dumps(content, default=str).encode() + b"\n")
    return digest.hexdigest()


def input_changed(name: str, how: str) -> ResumeError:
    """The error for an input that is not the one that the unfinished run has read."""
    return ResumeError(
        f"{name} has changed since the run was started: {how}", cure=("restore it", START_OVER)
    )


@contextmanager
def explaining_write_errors(path: Path, has_results: Callable[[], bool]) -> Iterator[None]:
    """Turn a failure to write into an error that says where, why, and how to continue."""
    try:
        yield
    except OSError as error:
        repair = "free some disk space" if error.errno in FULL else "make it writable"
        reason = error.strerror or first_line(error)
        kept = f"the results so far are kept: {repair}, then continue with {{resume:True}}"
        raise OutputError(
            f"{path} cannot be written on {socket.gethostname()} ({reason})",
            cure=kept if has_results() else (repair, "choose another output"),
        ) from error


def _entries(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []
