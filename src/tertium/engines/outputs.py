"""Where scored rows go: to a stream, or to a file that is finished or not there."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, BinaryIO, Protocol

from tertium.data.records import require_pyarrow
from tertium.engines.layouts import CsvLayout, Fields, JsonLinesLayout, Layout, TsvLayout
from tertium.engines.parquet import lines_to_parquet
from tertium.errors import InputError, OutputError, ResumeError
from tertium.storage.atomic import write_text
from tertium.storage.resume import check_same_job

LAYOUTS: dict[str, type[Layout]] = {
    ".tsv": TsvLayout,
    ".csv": CsvLayout,
    ".jsonl": JsonLinesLayout,
    ".parquet": JsonLinesLayout,  # while it grows; it is turned into Parquet at the end
}
FULL = (errno.ENOSPC, errno.EDQUOT)
State = Mapping[str, Any]


def how_to_go_on(error: OSError, *, kept: bool) -> str:
    """What there is to do when an output cannot be written, and whether what was scored is kept."""
    cure = "make room" if error.errno in FULL else "see to it that it can be"
    if kept:
        return f"what was scored is kept: {cure}, and go on with --resume"
    return f"{cure}, or write elsewhere"


class Output(Protocol):
    """Takes scored rows, and remembers how far it has come."""

    def begin(self, job: State, columns: Sequence[str]) -> State | None:
        """Start; returns the last saved state if an unfinished run is taken up again."""
        ...

    def add(self, rows: Sequence[Fields], state: State) -> None: ...

    def finish(self) -> None:
        """All rows are there: make the output whole."""
        ...

    def close(self) -> None:
        """Let go of what is open, finished or not."""
        ...


@dataclass
class StreamOutput:
    """Writes rows to an open stream as they come."""

    stream: IO[str]
    layout: Layout
    before_rows: Callable[[], None] = lambda: None
    """Called before anything is written."""

    def begin(self, job: State, columns: Sequence[str]) -> State | None:
        self._head: str = self.layout.head(columns)
        return None

    def add(self, rows: Sequence[Fields], state: State) -> None:
        self.before_rows()
        self.stream.write(self._head + self.layout.body(rows))
        self.stream.flush()
        self._head = ""

    def finish(self) -> None:
        self.stream.flush()

    def close(self) -> None:
        """The stream is not ours to close."""


@dataclass
class FileOutput:
    """Writes to ``OUT.part``, with ``OUT.part.json`` telling how far it is good; then to ``OUT``.

    Rows are on disk before the state says so. After a kill the part file is cut back to the state,
    and the run goes on from there. The state is there first, so a part without one is not ours.
    """

    path: Path
    resume: bool = False
    overwrite: bool = False
    layout: Layout = field(init=False)
    _stream: BinaryIO | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        if self.path.suffix not in LAYOUTS:
            raise InputError(
                f"{self.path}: its name does not tell the format; use {', '.join(LAYOUTS)}"
            )
        if self.path.suffix == ".parquet":
            require_pyarrow("writing")
        if self.path.is_dir():
            raise InputError(f"{self.path} is a folder; name a file")
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

    def begin(self, job: State, columns: Sequence[str]) -> State | None:
        self._job: State = job
        self._head: bytes = self.layout.head(columns).encode()
        state = self._saved_state()
        if state is None:
            return None
        check_same_job(self.part, state["job"], self._job)
        self._stream = self.part.open("r+b")
        self._stream.truncate(state["bytes"])
        self._stream.seek(state["bytes"])
        return state

    def add(self, rows: Sequence[Fields], state: State) -> None:
        with self._saying_how_to_go_on():
            if self._stream is None:
                self._save({"rows": 0}, 0)
                self._stream = self.part.open("wb")
                self._stream.write(self._head)
            self._stream.write(self.layout.body(rows).encode())
            self._sync(self._stream)
            self._save(state, self._stream.tell())

    def finish(self) -> None:
        self.close()
        with self._saying_how_to_go_on():
            if self.path.suffix == ".parquet":
                lines_to_parquet(self.part, self.path)
                self.part.unlink()
            else:
                os.replace(self.part, self.path)
        self._forget()

    def close(self) -> None:
        if self._stream is not None:
            with suppress(OSError):  # what counts was synced; the rest has failed before
                self._stream.close()
            self._stream = None

    @contextmanager
    def _saying_how_to_go_on(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            cure = how_to_go_on(error, kept=self.state_file.exists())
            raise OutputError(
                f"{self.path} cannot be written ({error.strerror or error}); {cure}"
            ) from error

    def _save(self, state: State, size: int) -> None:
        write_text(self.state_file, json.dumps({"job": self._job, "bytes": size, **state}))

    @staticmethod
    def _sync(stream: BinaryIO) -> None:
        stream.flush()
        os.fsync(stream.fileno())

    def _saved_state(self) -> State | None:
        if not self.part.exists():
            return None
        if self.overwrite:
            self._forget()
            return None
        if not self.state_file.exists():
            raise ResumeError(
                f"{self.part} is there, and no unfinished run; "
                "move it away, or begin anew with --overwrite"
            )
        state = self._read_state()
        if not state["bytes"]:  # killed before anything was scored
            return None
        if not self.resume:
            raise ResumeError(
                f"{self.part} is an unfinished run; "
                "take it up again with --resume, or begin anew with --overwrite"
            )
        if self.part.stat().st_size < state["bytes"]:
            raise ResumeError(f"{self.part} is shorter than it was; begin anew with --overwrite")
        return state

    def _read_state(self) -> State:
        try:
            state: State = json.loads(self.state_file.read_bytes())
            state["bytes"], state["job"], state["rows"]
        except (KeyError, TypeError, ValueError) as error:
            raise ResumeError(
                f"{self.state_file} is damaged ({error}); begin anew with --overwrite"
            ) from None
        return state

    def _forget(self) -> None:
        for suffix in ("", "-wal", "-shm"):
            self.answers.with_name(self.answers.name + suffix).unlink(missing_ok=True)
        self.state_file.unlink(missing_ok=True)
