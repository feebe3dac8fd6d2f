"""A folder of Parquet shards: each is either complete or absent, and so is the folder."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tertium.data.records import open_table
from tertium.errors import InputError, ResumeError, first_line
from tertium.jobs.output import (
    LAYOUTS,
    SCRATCH,
    Fields,
    Layout,
    jsonable,
    layout_for,
    refuse_complete,
    write_all,
)
from tertium.jobs.parquet import schema_of, write_parquet
from tertium.storage.atomic import replacing_text, write_text
from tertium.storage.resume import (
    START_OVER,
    UnfinishedRun,
    check_same_job,
    explaining_write_errors,
    has_record,
    read_record,
)

NOTE = b"tertium"
"""The key of a shard's note in the metadata of its footer."""
SHARD = "part-000000.parquet"
NOTHING: Mapping[str, Any] = {}
SHARD_FILES = rf"part-\d{{6,}}\.(parquet(\..+\.\d+\.new)?|attempts(\.new)?)|{SCRATCH}"
SCRAPS = (".new", ".attempts")
"""What a killed worker leaves."""


class ShardError(Exception):
    """Why a shard cannot be used."""


@dataclass(frozen=True)
class Shard:
    """One file of a folder, which contains a note about what it holds."""

    folder: Path
    number: int

    @property
    def path(self) -> Path:
        return self.folder / f"part-{self.number:06}.parquet"

    def note(self) -> dict[str, Any] | None:
        """The note that :meth:`write` was given; None if there is no shard.

        The whole shard is read, so that one with a valid note is valid.
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
        if not isinstance(note, dict) or note.get("size") != rows:
            raise ShardError("its note does not match its rows")
        return note

    def write(self, rows: Iterable[Mapping[str, Any]], schema: Any, note: object) -> None:
        """Write rows and note atomically; several processes may do so at once."""
        annotated = schema.with_metadata({NOTE: json.dumps(note).encode()})
        scratch = f"{self.path.name}.{socket.gethostname()}.{os.getpid()}.new"
        records = ({name: jsonable(value) for name, value in row.items()} for row in rows)
        with self._explaining():
            write_parquet(records, annotated, self.path, self.folder / scratch)
            self._attempts.unlink(missing_ok=True)

    def start(self) -> int:
        """Record that a worker starts to score it; returns how many have done so before."""
        with self._explaining():
            before = int(self._attempts.read_text() or 0) if self._attempts.exists() else 0
            write_text(self._attempts, str(before + 1))
        return before

    @property
    def _attempts(self) -> Path:
        return self.path.with_suffix(".attempts")

    def _explaining(self) -> AbstractContextManager[None]:
        return explaining_write_errors(self.folder, lambda: any(self.folder.glob("*.parquet")))


class ShardFolder:
    """Shards are written to ``OUT.part``, which becomes ``OUT`` when all are complete.

    If ``OUT`` is the name of a file, such as ``scores.tsv``, they are joined to that file. With
    ``notes_only``, only the notes of the shards count: the plan of the run writes the file.
    """

    def __init__(
        self,
        path: Path,
        *,
        resume: bool = False,
        overwrite: bool = False,
        layouts: Mapping[str, type[Layout]] = LAYOUTS,
        notes_only: bool = False,
    ) -> None:
        self.path = path
        self.notes_only = notes_only
        self.run = UnfinishedRun(
            path, files=SHARD_FILES, results="*.parquet", resume=resume, overwrite=overwrite
        )
        is_file = path.suffix in layouts and not notes_only
        self.layout = layout_for(path, layouts) if is_file else None
        if self.layout is None and not notes_only and path.exists() and not path.is_dir():
            raise InputError(f"{path} is a file; choose a folder for the shards")
        if self.layout is not None or notes_only:
            refuse_complete(path, self.run)
        if not path.parent.is_dir():
            raise InputError(f"{path.parent}: no such folder")
        self._check_folders()

    def begin(self, job: Mapping[str, Any]) -> Path:
        """Start or resume; returns the folder to work in: ``OUT`` itself if it is complete."""
        run = self.run
        run.lock()
        try:
            self._check_folders()
            if not has_record(run.part) and has_record(self.path):
                if run.resume:
                    check_same_job(self.path, read_record(self.path).job, job)
                    with run.explaining():
                        self._remove_scraps(self.path)
                    return self.path
                if not run.overwrite:
                    raise ResumeError(f"{self.path} already exists", cure=START_OVER)
            run.start(job)
            run.save({})  # the state is in the shards
            with run.explaining():
                self._remove_scraps(run.part)
        except BaseException:
            run.close()
            raise
        return run.part

    def finish(self, columns: Mapping[str, set[type]] = NOTHING, summary: Fields = NOTHING) -> None:
        """All shards are complete: give the folder its name, or join them to a file.

        A file needs the columns with the types of their values, and the summary of all rows.
        """
        with self.run.explaining():
            self._remove_scraps(self.run.part)
        if self.notes_only:
            self.run.finish()
            return
        if self.layout is None:
            self.run.finish_as_folder()
            return
        with self.run.explaining():
            if self.path.suffix == ".parquet":
                write_parquet(self.rows(columns), schema_of(columns), self.path)
            else:
                with replacing_text(self.path, self.run.part / f"{SHARD}.new") as stream:
                    write_all(stream, self.layout, columns, self.rows(columns), summary)
        self.run.finish()

    def rows(self, columns: Mapping[str, set[type]]) -> Iterator[dict[str, Any]]:
        """Read the rows of all shards, in order."""
        lists = [name for name, kinds in columns.items() if list in kinds]
        folder = self.run.part if has_record(self.run.part) else self.path
        for shard in sorted(folder.glob("*.parquet")):
            for record in open_table(shard):
                parsed = {name: json.loads(record[name]) for name in lists if record[name]}
                yield {**record, **parsed}

    def close(self) -> None:
        """Release the folder; a run without a single shard leaves nothing behind."""
        self.run.close()

    def _check_folders(self) -> None:
        """Check that everything that will be deleted was written by a run."""
        run = self.run
        if not (run.resume and has_record(run.part)):
            if run.resume and has_record(self.path):
                return
            run.check_folder(run.part)
        if not self.notes_only:
            run.check_folder(self.path)

    def _remove_scraps(self, folder: Path) -> None:
        for file in folder.glob("*"):
            if file.suffix in SCRAPS and self.run.owns(file):
                file.unlink(missing_ok=True)
