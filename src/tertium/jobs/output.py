"""Where scored rows are written, and how: to a stream or a file, as TSV, CSV, JSON or text."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import re
import shutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import IO, Any, Protocol

from tertium.data.records import PARQUET
from tertium.errors import InputError, ResumeError
from tertium.jobs.parquet import lines_to_parquet
from tertium.registry import check_extras
from tertium.storage.atomic import check_writable, replacing_text, write_at
from tertium.storage.resume import START_OVER, State, UnfinishedRun, has_record

CUT = "cut"
"""The column that marks rows whose text was too long for the model."""
MARKS = "marks"
"""The column with all marks of a row, separated by commas (see :mod:`tertium.measures.marks`)."""
PARTS = "parts"
"""The column with the aligned parts of texts that were split."""
ROWS_WRITTEN = 1024
"""Rows that are written at once."""
BREAKS = str.maketrans({"\t": " ", "\n": " ", "\r": " "})
Fields = Mapping[str, Any]


class Layout(ABC):
    """Turns scored rows into text. Every row has all columns, in order."""

    digits: int | None = None
    """Decimals of numbers, if they are not the default of the layout."""

    def head(self, columns: Sequence[str]) -> str:
        return ""

    @abstractmethod
    def body(self, rows: Sequence[Fields]) -> str: ...

    def tail(self, summary: Fields) -> str:
        """Close what :meth:`head` has opened, with the results over all rows."""
        return ""


class TsvLayout(Layout):
    """No quoting: a tab or a line break inside a text becomes a space."""

    def head(self, columns: Sequence[str]) -> str:
        return "\t".join(name.translate(BREAKS) for name in columns) + "\n"

    def body(self, rows: Sequence[Fields]) -> str:
        return "".join(
            "\t".join(plain(value, self.digits).translate(BREAKS) for value in row.values()) + "\n"
            for row in rows
        )


class CsvLayout(Layout):
    """Quoted where needed."""

    delimiter = ","

    def head(self, columns: Sequence[str]) -> str:
        return self._write([columns])

    def body(self, rows: Sequence[Fields]) -> str:
        return self._write([[plain(each, self.digits) for each in row.values()] for row in rows])

    def _write(self, rows: Sequence[Sequence[str]]) -> str:
        stream = io.StringIO()
        csv.writer(stream, delimiter=self.delimiter, lineterminator="\n").writerows(rows)
        return stream.getvalue()


class QuotedTsvLayout(CsvLayout):
    r"""Like CSV, with tabs between the fields.

    >>> QuotedTsvLayout().body([{"a": "1\n2", "b": "x"}])
    '"1\n2"\tx\n'
    """

    delimiter = "\t"


class JsonLinesLayout(Layout):
    """One object per line, numbers in full precision."""

    def body(self, rows: Sequence[Fields]) -> str:
        return "".join(to_json(rounded(row, self.digits)) + "\n" for row in rows)


class JsonDocumentLayout(Layout):
    """One JSON object: the rows as its member ``segments``, then the members of the summary.

    >>> layout = JsonDocumentLayout()
    >>> layout.head(["x"]) + layout.body([{"x": 1}, {"x": 2}]) + layout.tail({"rows": 2})
    '{"segments": [\\n{"x": 1},\\n{"x": 2}\\n],\\n"rows": 2\\n}\\n'
    """

    def __init__(self) -> None:
        self._separator = ""

    def head(self, columns: Sequence[str]) -> str:
        return '{"segments": [\n'

    def body(self, rows: Sequence[Fields]) -> str:
        written = []
        for row in rows:
            written.append(self._separator + to_json(rounded(row, self.digits)))
            self._separator = ",\n"
        return "".join(written)

    def tail(self, summary: Fields) -> str:
        members = (
            f",\n{json.dumps(name)}: {json.dumps(value, indent=1, ensure_ascii=False)}"
            for name, value in rounded(summary, self.digits).items()
        )
        return "\n]" + "".join(members) + "\n}\n"


class TextLayout(Layout):
    """The hypothesis of each row, one per line."""

    def body(self, rows: Sequence[Fields]) -> str:
        return "".join(row["hyp"].translate(BREAKS) + "\n" for row in rows)


class MosesLayout(Layout):
    """N-best lists as Moses writes them: group (from 0), text, features, score.

    >>> row = {"group": 1, "hyp": "Hi.", "score": -0.5, "log_prob": -1.5, "length": 3}
    >>> MosesLayout().body([row])
    '0 ||| Hi. ||| log_prob= -1.500000 length= 3 ||| -0.500000\\n'
    """

    features = ("log_prob", "length")

    def body(self, rows: Sequence[Fields]) -> str:
        return "".join(
            " ||| ".join(
                (
                    str(int(row["group"]) - 1),
                    row["hyp"].translate(BREAKS).replace("|||", "| | |"),
                    " ".join(f"{name}= {plain(row[name])}" for name in self.features),
                    plain(row["score"]),
                )
            )
            + "\n"
            for row in rows
        )


@dataclass
class TerminalLayout(Layout):
    """Scores first, then the texts, one row per line, cut to the width of the terminal."""

    measures: Sequence[str]

    def head(self, columns: Sequence[str]) -> str:
        return " ".join(f"{name:>9}" for name in self.measures) + "\n"

    def body(self, rows: Sequence[Fields]) -> str:
        width = shutil.get_terminal_size().columns
        return "".join(self._line(row, width) + "\n" for row in rows)

    def _line(self, row: Fields, width: int) -> str:
        digits = 4 if self.digits is None else self.digits
        scores = " ".join(
            " " * 9 if row[name] is None else f"{row[name]:9.{digits}f}" for name in self.measures
        )
        marks = f" ({row[MARKS].replace(',', ', ')})" if row[MARKS] else ""
        texts = " | ".join(
            value for name, value in row.items() if isinstance(value, str) and name != MARKS
        )
        line = f"{scores}{marks}  {texts}".translate(BREAKS)
        return line if len(line) <= width else line[: width - 1] + "…"


LAYOUTS: dict[str, type[Layout]] = {
    ".tsv": TsvLayout,
    ".csv": CsvLayout,
    ".jsonl": JsonLinesLayout,
    ".parquet": JsonLinesLayout,  # until it is complete, and then converted to Parquet
}
TEXT_LAYOUTS: dict[str, type[Layout]] = {**LAYOUTS, ".txt": TextLayout}
"""Also one text per line, for texts that were translated or chosen."""
CANDIDATE_LAYOUTS: dict[str, type[Layout]] = {**TEXT_LAYOUTS, ".nbest": MosesLayout}


def layout_for(path: Path, layouts: Mapping[str, type[Layout]] = LAYOUTS) -> Layout:
    """The layout of an output file, by its name; the file must be one that can be written."""
    if path.suffix not in layouts:
        raise InputError(
            f"{path}: cannot infer the format from the file name; use {', '.join(layouts)}"
        )
    check_output_file(path)
    if path.suffix == ".parquet":
        check_extras("writing Parquet", PARQUET)
    return layouts[path.suffix]()


def check_output_file(path: Path) -> None:
    """Refuse a name that cannot become a file, nor is a folder of shards that a cluster wrote."""
    if path.is_dir() and next(path.glob("*.parquet"), None) is None:
        raise InputError(f"{path} is a folder; choose a file")
    check_writable(path.parent)


class Output(Protocol):
    """Takes the rows of one part after the other, each with its outcome."""

    resumable: bool
    """Whether it keeps outcomes, so that an interrupted run can be resumed."""

    @property
    def hides_progress(self) -> bool:
        """Whether rows appear where a progress bar would be."""
        ...

    def begin(self, job: State, columns: Sequence[str]) -> list[Fields]:
        """Start; returns the outcomes of the parts that an unfinished run has done."""
        ...

    def add(self, rows: Sequence[Fields], outcome: Fields) -> None: ...

    def finish(self, summary: Fields) -> None:
        """All rows are written: complete the output."""
        ...

    def close(self) -> None:
        """Release the output, finished or not."""
        ...


class StreamOutput:
    """Writes rows to an open stream as they come."""

    resumable = False

    def __init__(self, stream: IO[str], layout: Layout) -> None:
        self.stream = stream
        self.layout = layout
        self._head = ""

    @property
    def hides_progress(self) -> bool:
        return self.stream.isatty()

    def begin(self, job: State, columns: Sequence[str]) -> list[Fields]:
        self._head = self.layout.head(columns)  # with the first rows, if they can be scored
        return []

    def add(self, rows: Sequence[Fields], outcome: Fields) -> None:
        self.stream.write(self._head + self.layout.body(rows))
        self.stream.flush()
        self._head = ""

    def finish(self, summary: Fields) -> None:
        self.stream.write(self.layout.tail(summary))
        self.stream.flush()

    def close(self) -> None:
        """The stream belongs to the caller."""


class KeptRows:
    """Keeps all rows in memory."""

    resumable = False
    hides_progress = False

    def __init__(self) -> None:
        self.rows: list[Fields] = []

    def begin(self, job: State, columns: Sequence[str]) -> list[Fields]:
        return []

    def add(self, rows: Sequence[Fields], outcome: Fields) -> None:
        self.rows += rows

    def finish(self, summary: Fields) -> None:
        """Nothing is written."""

    def close(self) -> None:
        """Nothing is open."""


class FileOutput:
    """Writes a file; until it is complete, its rows and their outcomes are in ``OUT.part``.

    With ``notes_only``, it keeps only outcomes: the plan of the run writes the file at its end.
    """

    ROWS = "rows"
    OUTCOMES = "outcomes"
    CACHE = "cache.sqlite"
    hides_progress = False
    resumable = True

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
        self.layout = None if notes_only else layout_for(path, layouts)
        self.run = UnfinishedRun(
            path,
            files=rf"{self.ROWS}|{self.OUTCOMES}|{re.escape(self.CACHE)}.*|{SCRATCH}",
            results=self.OUTCOMES,
            resume=resume,
            overwrite=overwrite,
        )
        refuse_complete(path, self.run)
        self._head = b""
        self._sizes = {self.OUTCOMES: 0} if notes_only else {self.ROWS: 0, self.OUTCOMES: 0}
        self._done = 0

    @property
    def cache(self) -> Path:
        """Where a run without the common cache keeps model results until it is finished."""
        return self.run.part / self.CACHE

    def begin(self, job: State, columns: Sequence[str]) -> list[Fields]:
        if self.run.overwrite and self.run.part.is_file():
            self.run.part.unlink()  # replaced on request, as OUT itself is
        self._head = b"" if self.layout is None else self.layout.head(columns).encode()
        state = self.run.start(job)
        if state is None:
            return []
        self._sizes, self._done = state["sizes"], state["rows"]
        for name, size in self._sizes.items():
            file = self.run.part / name
            if not file.exists() or file.stat().st_size < size:
                raise ResumeError(f"{file} is shorter than it was", cure=START_OVER)
        with (self.run.part / self.OUTCOMES).open("rb") as stream:
            lines = stream.read(self._sizes[self.OUTCOMES]).splitlines()
        return [json.loads(line) for line in lines]

    def add(self, rows: Sequence[Fields], outcome: Fields) -> None:
        new = {self.OUTCOMES: json.dumps(outcome).encode() + b"\n"}
        if self.layout is not None:
            head = b"" if self._sizes[self.ROWS] else self._head
            new = {self.ROWS: head + self.layout.body(rows).encode(), **new}
        with self.run.explaining():
            for name, more in new.items():
                self._sizes[name] = write_at(self.run.part / name, self._sizes[name], more)
        self._done += outcome["rows"]
        self.run.save({"sizes": self._sizes, "rows": self._done})

    def finish(self, summary: Fields) -> None:
        rows = self.run.part / self.ROWS
        with self.run.explaining():
            if self.layout is None:
                pass  # written by the plan
            elif self.path.suffix == ".parquet":
                lines_to_parquet(rows, self.path)
            else:
                os.replace(rows, self.path)
        self.run.finish()

    def close(self) -> None:
        self.run.close()


def refuse_complete(path: Path, run: UnfinishedRun) -> None:
    """Refuse to resume what is complete, perhaps the output of another command."""
    if run.resume and path.exists() and not has_record(run.part):
        raise ResumeError(
            f"{path} is complete, so that nothing is left to resume",
            cure=("use {force:True} to replace it", "choose another output"),
        )


def write_all(
    stream: IO[str],
    layout: Layout,
    columns: Iterable[str],
    rows: Iterable[Fields],
    summary: Fields,
) -> None:
    """Write rows in a layout, from its head to its tail."""
    stream.write(layout.head(list(columns)))
    rest = iter(rows)
    while some := list(islice(rest, ROWS_WRITTEN)):
        stream.write(layout.body(some))
    stream.write(layout.tail(summary))


SCRATCH = (
    r"array-([0-9a-f]{64}|joined\d*)\.npy(\..+\.new)?|[0-9a-f]{32}\..+"
    r"|(kept|removed)(\.\d)?(\.new)?"
)
"""The names of the arrays, vectors and files that plans and tasks write to the folder of a run."""
WriteRow = Callable[[Fields], None]


class RowSink(Protocol):
    """Takes rows, some at a time, apart from a run: all of them, or none."""

    def open(self, scratch: Path) -> AbstractContextManager[WriteRow]:
        """Write rows until the context ends, which completes the output."""
        ...


@dataclass(frozen=True)
class StreamSink:
    """Writes rows to an open stream, as TSV or in another layout."""

    stream: IO[str]
    columns: Sequence[str]
    layout: Layout = field(default_factory=TsvLayout)

    @contextmanager
    def open(self, scratch: Path) -> Iterator[WriteRow]:
        self.stream.write(self.layout.head(self.columns))
        yield lambda fields: _write(self.stream, self.layout, fields, self.columns)
        self.stream.write(self.layout.tail({}))
        self.stream.flush()


@dataclass(frozen=True)
class TableSink:
    """Writes a .tsv, .csv, .jsonl or .parquet file."""

    path: Path
    columns: Sequence[str]

    def __post_init__(self) -> None:
        layout_for(self.path)

    @contextmanager
    def open(self, scratch: Path) -> Iterator[WriteRow]:
        layout = layout_for(self.path)
        parquet = self.path.suffix == ".parquet"
        new = scratch.with_name(scratch.name + ".new")
        with replacing_text(scratch if parquet else self.path, new) as stream:
            stream.write(layout.head(self.columns))
            yield lambda fields: _write(stream, layout, fields, self.columns)
        if parquet:
            lines_to_parquet(scratch, self.path)


@dataclass(frozen=True)
class ParallelSink:
    """Writes two plain text files with one text per line: those of two columns."""

    source: Path
    target: Path
    columns: Sequence[str]

    def __post_init__(self) -> None:
        for path in (self.source, self.target):
            check_output_file(path)

    @contextmanager
    def open(self, scratch: Path) -> Iterator[WriteRow]:
        with ExitStack() as stack:
            streams = [
                stack.enter_context(replacing_text(path, scratch.with_name(f"{scratch.name}.{n}")))
                for n, path in enumerate((self.source, self.target))
            ]

            def write(fields: Fields) -> None:
                for stream, name in zip(streams, self.columns, strict=True):
                    stream.write(fields[name].translate(BREAKS) + "\n")

            yield write


def _write(stream: IO[str], layout: Layout, fields: Fields, columns: Sequence[str]) -> None:
    stream.write(layout.body([{name: fields.get(name) for name in columns}]))


def rounded(value: Any, digits: int | None) -> Any:
    """Round the numbers in plain data, if that is requested.

    >>> rounded({"chrf": 54.325, "marks": ["cut"]}, 1), rounded(0.25, None)
    ({'chrf': 54.3, 'marks': ['cut']}, 0.25)
    """
    if digits is None:
        return value
    if isinstance(value, float):
        return round(value, digits)
    if isinstance(value, Mapping):
        return {name: rounded(each, digits) for name, each in value.items()}
    return [rounded(each, digits) for each in value] if isinstance(value, list | tuple) else value


def plain(value: Any, digits: int | None = None) -> str:
    """Write a value as text; numbers have six decimals, unless others are requested.

    >>> plain(0.25), plain(True), plain(None), plain(["a"])
    ('0.250000', '1', '', '["a"]')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, float):
        return f"{value:.{6 if digits is None else digits}f}"
    if isinstance(value, list | dict):
        return to_json(value)
    return str(value)


def to_json(value: Any) -> str:
    """Write a value as strict JSON: no NaN, and dates as text."""
    return json.dumps(jsonable(value), ensure_ascii=False, allow_nan=False)


def jsonable(value: Any) -> Any:
    """Convert a value to one that JSON can represent."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, Mapping):
        return {str(name): jsonable(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [jsonable(item) for item in value]
    return str(value)
