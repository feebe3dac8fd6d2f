"""A folder of Parquet shards: each is whole or not there, and so is the folder."""

from __future__ import annotations

import json
import os
import shutil
import socket
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tertium.atomic import write_text
from tertium.engines.jobs import check_same_job
from tertium.engines.layouts import jsonable
from tertium.engines.parquet import write_parquet
from tertium.errors import InputError, ResumeError

JOB_FILE = "_tertium.json"
"""What the run is; readers of Parquet folders pass over names that begin so."""
NOTE = b"tertium"
"""The key of a shard's note among the metadata in its footer."""
FILES = (".tsv", ".csv", ".jsonl")


@dataclass(frozen=True)
class Shard:
    """One file of a folder; its note, which tells what it holds, is part of it."""

    folder: Path
    number: int

    @property
    def path(self) -> Path:
        return self.folder / f"part-{self.number:06}.parquet"

    def note(self) -> dict[str, Any] | None:
        """What :meth:`write` was told; None if the shard is not there."""
        from pyarrow.parquet import read_schema

        if not self.path.exists():
            return None
        found: dict[str, Any] = json.loads(read_schema(self.path).metadata[NOTE])
        return found

    def write(self, rows: Iterable[Mapping[str, Any]], schema: Any, note: object) -> None:
        """Write rows and note, whole or not at all; several processes may do so at once."""
        signed = schema.with_metadata({NOTE: json.dumps(note).encode()})
        mine = f"{self.path.name}.{socket.gethostname()}.{os.getpid()}.new"
        records = ({name: jsonable(value) for name, value in row.items()} for row in rows)
        write_parquet(records, signed, self.path, self.folder / mine)
        self._begun.unlink(missing_ok=True)

    def begin(self) -> int:
        """Note that somebody begins with it; returns how often that was so before."""
        before = int(self._begun.read_text() or 0) if self._begun.exists() else 0
        write_text(self._begun, str(before + 1))
        return before

    @property
    def _begun(self) -> Path:
        return self.path.with_suffix(".begun")


@dataclass
class ShardFolder:
    """Shards are written to ``OUT.part``, which is renamed to ``OUT`` when all are there."""

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
        if self.path.is_dir() and any(self.path.iterdir()) and not self._job_file(self.path):
            raise InputError(f"{self.path} is a folder with other things in it; name a new one")
        if not self.path.parent.is_dir():
            raise InputError(f"{self.path.parent}: there is no such folder")

    @property
    def part(self) -> Path:
        return self.path.with_name(self.path.name + ".part")

    def begin(self, job: Mapping[str, Any]) -> Path:
        """Start, or take up what is there; returns the folder to work in."""
        unfinished, finished = self._job_file(self.part), self._job_file(self.path)
        found = unfinished or finished
        if found and not (self.resume or self.overwrite):
            raise ResumeError(
                f"{self.part} is an unfinished run; take it up again with --resume, or begin anew "
                "with --overwrite"
                if unfinished
                else f"{self.path} is there already; write it anew with --overwrite"
            )
        if found and self.resume:
            check_same_job(found.parent, json.loads(found.read_text("utf-8")), job)
            for begun in found.parent.glob("*.begun"):
                begun.unlink()
            return found.parent
        shutil.rmtree(self.part, ignore_errors=True)
        self.part.mkdir()
        write_text(self.part / JOB_FILE, json.dumps(job))
        return self.part

    def finish(self) -> None:
        """All shards are there: make the folder whole."""
        if not self.part.exists():  # it was finished before
            return
        for scrap in [*self.part.glob("*.new"), *self.part.glob("*.begun")]:
            scrap.unlink()
        if self.path.exists():
            old = self.path.with_name(self.path.name + ".old")
            shutil.rmtree(old, ignore_errors=True)
            os.replace(self.path, old)
            os.replace(self.part, self.path)
            shutil.rmtree(old)
        else:
            os.replace(self.part, self.path)

    def give_up(self) -> None:
        """Leave nothing behind where nothing was achieved."""
        if not any(self.part.glob("*.parquet")):
            shutil.rmtree(self.part, ignore_errors=True)

    @staticmethod
    def _job_file(folder: Path) -> Path | None:
        file = folder / JOB_FILE
        return file if file.exists() else None
