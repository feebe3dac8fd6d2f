"""A folder of Parquet shards: each is whole or not there, and so is the folder."""

from __future__ import annotations

import json
import os
import re
import socket
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tertium.engines.layouts import jsonable
from tertium.engines.outputs import how_to_go_on
from tertium.engines.parquet import write_parquet
from tertium.errors import InputError, OutputError, ResumeError, first_line
from tertium.storage.atomic import write_text
from tertium.storage.resume import check_same_job

JOB_FILE = "_tertium.json"
"""What the run is; readers of Parquet folders pass over names that begin so."""
NOTE = b"tertium"
"""The key of a shard's note among the metadata in its footer."""
OLD = "_old"
"""Where a finished folder is for the moment in which a new one takes its place."""
SHARD_FILES = re.compile(r"part-\d{6,}\.(parquet(\..+\.\d+\.new)?|begun(\.new)?)")
FILES = (".tsv", ".csv", ".jsonl")


class ShardError(Exception):
    """Why a shard cannot be used."""


@dataclass(frozen=True)
class Shard:
    """One file of a folder; its note, which tells what it holds, is part of it."""

    folder: Path
    number: int

    @property
    def path(self) -> Path:
        return self.folder / f"part-{self.number:06}.parquet"

    def note(self) -> dict[str, Any] | None:
        """What :meth:`write` was told; None if the shard is not there.

        All of the shard is read, so that one with a good note is good.
        """
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile

        if not self.path.exists():
            return None
        try:
            with ParquetFile(self.path) as file:
                rows = file.read().num_rows
                note: object = json.loads(file.schema_arrow.metadata[NOTE])
        except (ArrowException, OSError) as error:
            raise ShardError(first_line(error)) from None
        except (KeyError, TypeError, ValueError):
            raise ShardError("it has no note of what it holds") from None
        if not isinstance(note, dict) or note.get("rows") != rows:
            raise ShardError("its note is not about these rows")
        return note

    def write(self, rows: Iterable[Mapping[str, Any]], schema: Any, note: object) -> None:
        """Write rows and note, whole or not at all; several processes may do so at once."""
        signed = schema.with_metadata({NOTE: json.dumps(note).encode()})
        mine = f"{self.path.name}.{socket.gethostname()}.{os.getpid()}.new"
        records = ({name: jsonable(value) for name, value in row.items()} for row in rows)
        with saying_how_to_go_on(self.folder):
            write_parquet(records, signed, self.path, self.folder / mine)
            self._begun.unlink(missing_ok=True)

    def begin(self) -> int:
        """Note that somebody begins with it; returns how often that was so before."""
        with saying_how_to_go_on(self.folder):
            before = int(self._begun.read_text() or 0) if self._begun.exists() else 0
            write_text(self._begun, str(before + 1))
        return before

    @property
    def _begun(self) -> Path:
        return self.path.with_suffix(".begun")


@dataclass
class ShardFolder:
    """Shards are written to ``OUT.part``, which is renamed to ``OUT`` when all are there.

    Nothing is ever deleted but what a run has written.
    """

    path: Path
    resume: bool = False
    overwrite: bool = False

    def __post_init__(self) -> None:
        if self.path.suffix in FILES:
            raise InputError(
                f"{self.path}: the output is a folder of Parquet shards, and this is the name of "
                f"a {self.path.suffix} file; name a folder"
            )
        if self.path.exists() and not self.path.is_dir():
            raise InputError(f"{self.path} is a file; name a folder for the shards")
        if not self.path.parent.is_dir():
            raise InputError(f"{self.path.parent}: there is no such folder")
        self._check_what_goes()

    @property
    def part(self) -> Path:
        return self.path.with_name(self.path.name + ".part")

    def begin(self, job: Mapping[str, Any]) -> Path:
        """Start, or take up what is there; returns the folder to work in."""
        unfinished, finished = _job_file(self.part), _job_file(self.path)
        found = unfinished or finished
        if found and not (self.resume or self.overwrite):
            raise ResumeError(
                f"{self.part} is an unfinished run; take it up again with --resume, or begin anew "
                "with --overwrite"
                if unfinished
                else f"{self.path} is there already; write it anew with --overwrite"
            )
        self._check_what_goes()
        if found and self.resume:
            check_same_job(found.parent, _job_in(found), job)
            with saying_how_to_go_on(found.parent):
                _remove_scraps(found.parent)
            return found.parent
        with saying_how_to_go_on(self.part):
            _clear(self.part)
            self.part.mkdir(exist_ok=True)
            write_text(self.part / JOB_FILE, json.dumps(job))
        return self.part

    def finish(self) -> None:
        """All shards are there: make the folder whole.

        A folder that was finished before goes into the new one until that has its place: at no
        other name could it be told from a folder of somebody else's.
        """
        with saying_how_to_go_on(self.part):
            if _job_file(self.part):  # otherwise it was finished before
                _remove_scraps(self.part)
                if self.path.exists():
                    _check_ours(self.path)
                    _remove(self.part / OLD)
                    os.replace(self.path, self.part / OLD)
                os.replace(self.part, self.path)
            _remove(self.path / OLD)

    def give_up(self) -> None:
        """Leave nothing behind where nothing was achieved."""
        if not any(self.part.glob("*.parquet")):
            _remove(self.part)

    def _check_what_goes(self) -> None:
        """Make sure, before anything is done, that what will be deleted is a run's."""
        if not (self.resume and _job_file(self.part)):
            if self.resume and _job_file(self.path):
                return
            _check_ours(self.part)
        _check_ours(self.path)


def _job_file(folder: Path) -> Path | None:
    file = folder / JOB_FILE
    return file if file.exists() else None


@contextmanager
def saying_how_to_go_on(folder: Path) -> Iterator[None]:
    """Say of a folder that cannot be written to which it is, where, and what to do."""
    try:
        yield
    except OSError as error:
        kept = any(file.suffix == ".parquet" for file in _files(folder))
        cure = how_to_go_on(error, kept=kept)
        reason = error.strerror or first_line(error)
        raise OutputError(
            f"{folder} cannot be written on {socket.gethostname()} ({reason}); {cure}"
        ) from error


def _job_in(file: Path) -> dict[str, Any]:
    try:
        job = json.loads(file.read_bytes())
    except ValueError as error:
        raise ResumeError(f"{file} is damaged ({error}); begin anew with --overwrite") from None
    if not isinstance(job, dict):
        raise ResumeError(f"{file} is damaged; begin anew with --overwrite")
    return job


def _check_ours(folder: Path) -> None:
    """Refuse a folder with anything in it that no run has written."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file; move it away, or choose another name")
    for file in _files(folder):
        if not _is_ours(file):
            raise InputError(
                f"{folder} is a folder with other things in it, such as {file.name}; move that "
                "away, or choose another name"
            )


def _is_ours(file: Path) -> bool:
    """Whether a run has written it; a folder has no shards before it says what run it is of."""
    if file.name == OLD:
        whole = file.is_dir() and all(_is_ours(inner) for inner in _files(file))
        return whole or file.is_symlink()
    if file.is_dir():
        return False
    if SHARD_FILES.fullmatch(file.name):
        return _job_file(file.parent) is not None
    return file.name in (JOB_FILE, JOB_FILE + ".new")


def _files(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []


def _remove_scraps(folder: Path) -> None:
    """Remove what a killed worker leaves."""
    for file in _files(folder):
        if file.suffix in (".new", ".begun") and _is_ours(file):
            file.unlink(missing_ok=True)


def _clear(folder: Path) -> None:
    """Remove what a run has written; last of all, what tells that it is a run's."""
    ours = [file for file in _files(folder) if _is_ours(file)]
    for file in sorted(ours, key=lambda file: file.name == JOB_FILE):
        if file.name == OLD:
            _remove(file)
        else:
            file.unlink(missing_ok=True)


def _remove(folder: Path) -> None:
    """Remove the folder of a run, unless somebody has put other things there."""
    if folder.is_symlink():
        folder.unlink()
        return
    _clear(folder)
    with suppress(OSError):
        folder.rmdir()
