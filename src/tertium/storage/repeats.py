"""Equal keys among very many rows, found on disk: memory depends on the rows of one part alone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

ROWS_AT_ONCE = 1_000_000
"""Rows in memory; a part has about as many."""
MAX_PARTS = 256
"""Files that are open at the same time."""
MIX = np.uint64(0x9E3779B97F4A7C15)
"""Of the golden ratio: its products are spread evenly over the high bits."""


class Repeats(NamedTuple):
    """Of each row, the first row that has the same key, and how many before it have this key."""

    first: NDArray[np.int64]
    rank: NDArray[np.int32]


def find_repeats(
    keys: NDArray[np.uint64], folder: Path, *, rows_at_once: int = ROWS_AT_ONCE
) -> Repeats:
    """Find equal keys; a key is a row of two numbers. The results are files in ``folder``.

    >>> keys = np.array([[7, 0], [8, 0], [7, 0], [7, 0]], np.uint64)
    >>> with TemporaryDirectory() as folder:
    ...     first, rank = find_repeats(keys, Path(folder))
    ...     first.tolist(), rank.tolist()
    ([0, 1, 0, 0], [0, 0, 1, 2])
    """
    first = new_array(folder / "first.npy", np.int64, len(keys))
    rank = new_array(folder / "rank.npy", np.int32, len(keys))
    parts = min(MAX_PARTS, -(-len(keys) // rows_at_once))
    with TemporaryDirectory(dir=folder) as scratch:
        with partitioned(Path(scratch), parts) as buckets:
            for start in range(0, len(keys), rows_at_once):
                chunk = np.array(keys[start : start + rows_at_once])
                mixed = (chunk[:, 0] * MIX ^ chunk[:, 1]) * MIX >> np.uint64(32)
                places = np.arange(start, start + len(chunk), dtype=np.uint64)
                buckets.add(np.column_stack([chunk, places]), mixed % np.uint64(max(1, parts)))
        for rows in buckets.read(3, np.uint64):
            order = np.lexsort((rows[:, 1], rows[:, 0]))  # stable: places stay in order
            rows = rows[order]
            new = np.append(True, (rows[1:, :2] != rows[:-1, :2]).any(axis=1))
            starts = np.flatnonzero(new)
            sizes = np.diff(starts, append=len(rows))
            places = rows[:, 2].astype(np.int64)
            first[places] = np.repeat(places[starts], sizes)
            rank[places] = np.arange(len(rows)) - np.repeat(starts, sizes)
    return Repeats(first, rank)


class Buckets:
    """Rows of whole numbers in several files."""

    def __init__(self, files: list[BinaryIO]) -> None:
        self._files = files

    def add(self, rows: NDArray[Any], parts: NDArray[Any]) -> None:
        """Write each row to the file of its part; rows of a part stay in order."""
        order = np.argsort(parts, kind="stable")
        ends = np.searchsorted(parts[order], np.arange(len(self._files)), side="right")
        start = 0
        for file, end in zip(self._files, ends.tolist(), strict=True):
            file.write(np.ascontiguousarray(rows[order[start:end]]).data)
            start = end

    def read(self, columns: int, dtype: Any) -> Iterator[NDArray[Any]]:
        """The rows of each part that has any."""
        for file in self._files:
            rows = np.fromfile(file.name, dtype).reshape(-1, columns)
            if len(rows):
                yield rows


@contextmanager
def partitioned(folder: Path, parts: int) -> Iterator[Buckets]:
    """Open a file for each part; they are complete when the context is left."""
    with ExitStack() as stack:
        yield Buckets([stack.enter_context((folder / f"{n}").open("wb")) for n in range(parts)])


def new_array(file: Path, dtype: Any, length: int) -> NDArray[Any]:
    """A new array, mapped into memory; an empty one cannot be mapped."""
    if not length:
        return np.empty(0, dtype)
    return np.lib.format.open_memmap(file, "w+", dtype, (length,))
