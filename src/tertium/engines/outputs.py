"""Where scored rows go: to a stream, or to a file that is finished or not there."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, BinaryIO, Protocol

from tertium.atomic import write_text
from tertium.engines.layouts import CsvLayout, JsonLinesLayout, Layout, TsvLayout
from tertium.errors import InputError, ResumeError

LAYOUTS: dict[str, type[Layout]] = {
    ".tsv": TsvLayout,
    ".csv": CsvLayout,
    ".jsonl": JsonLinesLayout,
    ".parquet": JsonLinesLayout,  # while it grows; it is turned into Parquet at the end
}
PARQUET_BLOCK = 4 << 20


class Output(Protocol):
    """Takes scored rows, and remembers how far it has come."""

    def begin(self, job: Mapping[str, Any], columns: Sequence[str]) -> Mapping[str, Any] | None:
        """Start; returns the last saved state if an unfinished run is taken up again."""
        ...

    def add(self, rows: Sequence[Mapping[str, Any]], state: Mapping[str, Any]) -> None: ...

    def finish(self) -> None: ...


@dataclass
class StreamOutput:
    """Writes rows to an open stream as they come."""

    stream: IO[str]
    layout: Layout

    def begin(self, job: Mapping[str, Any], columns: Sequence[str]) -> Mapping[str, Any] | None:
        self.stream.write(self.layout.head(columns))
        return None

    def add(self, rows: Sequence[Mapping[str, Any]], state: Mapping[str, Any]) -> None:
        self.stream.write(self.layout.body(rows))
        self.stream.flush()

    def finish(self) -> None:
        self.stream.flush()


class Nowhere:
    """Keeps no rows: for those who want the system score alone."""

    def begin(self, job: Mapping[str, Any], columns: Sequence[str]) -> Mapping[str, Any] | None:
        return None

    def add(self, rows: Sequence[Mapping[str, Any]], state: Mapping[str, Any]) -> None:
        return None

    def finish(self) -> None:
        return None


@dataclass
class FileOutput:
    """Writes to ``OUT.part``, with ``OUT.part.json`` telling how far it is good; then to ``OUT``.

    Rows are on disk before the state says so. After a kill the part file is cut back to the state,
    and the run goes on from there.
    """

    path: Path
    resume: bool = False
    overwrite: bool = False
    layout: Layout = field(init=False)
    _stream: BinaryIO = field(init=False)

    def __post_init__(self) -> None:
        if self.path.suffix not in LAYOUTS:
            raise InputError(
                f"{self.path}: its name does not tell the format; use {', '.join(LAYOUTS)}"
            )
        if not self.path.parent.is_dir():
            raise InputError(f"{self.path.parent}: there is no such folder")
        self.layout = LAYOUTS[self.path.suffix]()

    @property
    def part(self) -> Path:
        return self.path.with_name(self.path.name + ".part")

    @property
    def state_file(self) -> Path:
        return self.part.with_name(self.part.name + ".json")

    @property
    def answers(self) -> Path:
        """Where a run that uses no common cache keeps its answers until it is finished."""
        return self.part.with_name(self.part.name + ".answers")

    def begin(self, job: Mapping[str, Any], columns: Sequence[str]) -> Mapping[str, Any] | None:
        self.job = job
        state = self._saved_state()
        if state is not None:
            self._check_job(state["job"])
            self._stream = self.part.open("r+b")
            self._stream.truncate(state["bytes"])
            self._stream.seek(state["bytes"])
            return state
        self._stream = self.part.open("wb")
        self._stream.write(self.layout.head(columns).encode())
        return None

    def add(self, rows: Sequence[Mapping[str, Any]], state: Mapping[str, Any]) -> None:
        self._stream.write(self.layout.body(rows).encode())
        self._sync()
        saved = {"job": self.job, "bytes": self._stream.tell(), **state}
        write_text(self.state_file, json.dumps(saved))

    def finish(self) -> None:
        self._sync()
        self._stream.close()
        if self.path.suffix == ".parquet":
            write_parquet(self.part, self.path)
            self.part.unlink()
        else:
            os.replace(self.part, self.path)
        self._forget()

    def _sync(self) -> None:
        self._stream.flush()
        os.fsync(self._stream.fileno())

    def _saved_state(self) -> Mapping[str, Any] | None:
        unfinished = self.part.exists() or self.state_file.exists()
        if unfinished and not self.resume and not self.overwrite:
            raise ResumeError(
                f"{self.part} is an unfinished run; "
                "take it up again with --resume, or begin anew with --overwrite"
            )
        if not self.resume:
            self._forget()
        if not self.part.exists() or not self.state_file.exists():
            return None  # killed before the first rows were safe
        state: Mapping[str, Any] = json.loads(self.state_file.read_text(encoding="utf-8"))
        if self.part.stat().st_size < state["bytes"]:
            raise ResumeError(f"{self.part} is shorter than it was; begin anew with --overwrite")
        return state

    def _check_job(self, before: Mapping[str, Any]) -> None:
        now = json.loads(json.dumps(self.job))
        for name in {**before, **now}:
            if before.get(name) != now.get(name):
                raise ResumeError(
                    f"{self.part} was begun with {name} = {before.get(name)!r}, not "
                    f"{now.get(name)!r}; give the same settings, or begin anew with --overwrite"
                )

    def _forget(self) -> None:
        for suffix in ("", "-wal", "-shm"):
            self.answers.with_name(self.answers.name + suffix).unlink(missing_ok=True)
        self.state_file.unlink(missing_ok=True)


def write_parquet(lines: Path, out: Path) -> None:
    """Turn JSON Lines into Parquet in a stream; ``out`` appears whole."""
    from pyarrow import json as arrow_json
    from pyarrow.parquet import ParquetWriter

    scratch = out.with_name(out.name + ".new")
    options = arrow_json.ReadOptions(block_size=PARQUET_BLOCK)
    with (
        arrow_json.open_json(lines, read_options=options) as reader,
        ParquetWriter(scratch, reader.schema) as writer,
    ):
        for batch in reader:
            writer.write_batch(batch)
    os.replace(scratch, out)
