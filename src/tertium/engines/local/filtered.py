"""What a filtering run writes: the rows that are kept and, if wanted, the others and why."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any, Protocol

from tertium.data.bitext import Bitext, BitextRow
from tertium.data.records import require_pyarrow
from tertium.engines.layouts import BREAKS, Layout, TsvLayout
from tertium.engines.local.workfolder import WorkFolder
from tertium.engines.outputs import LAYOUTS
from tertium.engines.parquet import lines_to_parquet
from tertium.errors import InputError
from tertium.filters.base import Filter
from tertium.filters.sequence import number

ROWS = 4096
REASONS = ("removed_by", "reason", "value")
"""The columns that tell why a row was removed."""

Fields = dict[str, Any]


class Sink(Protocol):
    """Takes rows."""

    def open(self, scratch: Path) -> Any:
        """A context that gives a function to write a row with; on leaving, the output is whole."""
        ...


class StandardOutput:
    """TSV, for a pipe."""

    def __init__(self, columns: Sequence[str]) -> None:
        self._columns = columns

    @contextmanager
    def open(self, scratch: Path) -> Iterator[Callable[[BitextRow, Fields], None]]:
        layout = TsvLayout()
        sys.stdout.write(layout.head(self._columns))
        yield lambda row, more: _write(sys.stdout, layout, [{**row.record, **more}])
        sys.stdout.flush()


class TableFile:
    """A .tsv, .csv, .jsonl or .parquet file, by its name."""

    def __init__(self, path: Path, columns: Sequence[str]) -> None:
        check_target(path)
        if path.suffix not in LAYOUTS:
            raise InputError(f"{path}: its name does not tell the format; use {', '.join(LAYOUTS)}")
        if path.suffix == ".parquet":
            require_pyarrow("writing")
        self.path = path
        self._columns = columns

    @contextmanager
    def open(self, scratch: Path) -> Iterator[Callable[[BitextRow, Fields], None]]:
        layout = LAYOUTS[self.path.suffix]()
        with scratch.open("w", encoding="utf-8", newline="") as stream:
            stream.write(layout.head(self._columns))

            def write(row: BitextRow, more: Fields) -> None:
                fields = {**row.record, **more}
                _write(stream, layout, [{name: fields.get(name) for name in self._columns}])

            yield write
            _sync(stream)
        if self.path.suffix == ".parquet":
            lines_to_parquet(scratch, self.path)
        else:
            os.replace(scratch, self.path)


class ParallelFiles:
    """Two text files, line by line side by side."""

    def __init__(self, source: Path, target: Path) -> None:
        for path in (source, target):
            check_target(path)
        self.paths = (source, target)

    @contextmanager
    def open(self, scratch: Path) -> Iterator[Callable[[BitextRow, Fields], None]]:
        parts = [scratch.with_name(f"{scratch.name}.{side}") for side in (1, 2)]
        with ExitStack() as stack:
            streams = [
                stack.enter_context(part.open("w", encoding="utf-8", newline="")) for part in parts
            ]

            def write(row: BitextRow, more: Fields) -> None:
                for stream, text in zip(streams, (row.source, row.target), strict=True):
                    stream.write(text.text.translate(BREAKS) + "\n")

            yield write
            for stream in streams:
                _sync(stream)
        for part, path in zip(parts, self.paths, strict=True):
            os.replace(part, path)


def write_filtered(
    bitext: Bitext,
    filters: Sequence[Filter],
    work: WorkFolder,
    kept: Sink,
    removed: Sink | None = None,
) -> None:
    """Read the rows once more, and put each where its verdict says."""
    with ExitStack() as stack:
        keep = stack.enter_context(kept.open(work.path / "kept"))
        remove = stack.enter_context(removed.open(work.path / "removed")) if removed else None
        stream, start = iter(bitext), 0
        while rows := [row for row, _ in zip(stream, range(ROWS), strict=False)]:
            for row, (by, reason, value) in zip(rows, work.get(start, len(rows)), strict=True):
                if not by:
                    keep(row, {})
                elif remove is not None:
                    one = filters[by - 1]
                    why = (one.name, one.reasons[reason - 1], number(float(value)))
                    remove(row, dict(zip(REASONS, why, strict=True)))
            start += len(rows)


def rejected_columns(bitext: Bitext) -> list[str]:
    """The columns of a file of removed rows."""
    for name in REASONS:
        if name in bitext.columns:
            raise InputError(
                f"{bitext.name} has a column {name!r} already, which the reason would replace; "
                "rename it"
            )
    return [*bitext.columns, *REASONS]


def check_target(path: Path) -> None:
    """Make sure that a file can be written."""
    if path.is_dir():
        raise InputError(f"{path} is a folder; name a file")
    if not path.parent.is_dir():
        raise InputError(f"{path.parent}: there is no such folder")


def _write(stream: IO[str], layout: Layout, rows: Sequence[Fields]) -> None:
    stream.write(layout.body(rows))


def _sync(stream: IO[str]) -> None:
    stream.flush()
    os.fsync(stream.fileno())
