"""Arrays in files of their own, named by their content."""

from __future__ import annotations

import hashlib
import io
import os
import socket
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tertium.errors import ResumeError
from tertium.storage.atomic import replacing
from tertium.storage.resume import START_OVER


def save_array(folder: Path, values: NDArray[Any]) -> str:
    """Write an array that is too large for a note; returns the name of its file.

    The name is a hash of its content, so that several processes may write the same.
    """
    stream = io.BytesIO()
    np.save(stream, values, allow_pickle=False)
    content = stream.getvalue()
    name = f"array-{hashlib.sha256(content).hexdigest()}.npy"
    if not (folder / name).exists():
        scratch = folder / f"{name}.{socket.gethostname()}.{os.getpid()}.new"
        with replacing(folder / name, scratch) as file:
            file.write(content)
    return name


def load_array(folder: Path, name: str) -> NDArray[Any]:
    """Map an array of :func:`save_array` into memory."""
    try:
        return load_mapped(folder / name)
    except (OSError, ValueError):
        raise ResumeError(f"{folder / name} is missing or damaged", cure=START_OVER) from None


def join_arrays(parts: Sequence[NDArray[Any]], file: Path) -> NDArray[Any]:
    """All entries of some arrays; if there are several, in a file rather than in memory."""
    if len(parts) == 1:
        return parts[0]
    shape = (sum(map(len, parts)), *parts[0].shape[1:])
    whole = np.lib.format.open_memmap(file, "w+", parts[0].dtype, shape)
    done = 0
    for part in parts:
        whole[done : done + len(part)] = part
        done += len(part)
    return whole


def load_mapped(file: Path) -> NDArray[Any]:
    """Map a ``.npy`` file into memory."""
    values: NDArray[Any] = np.load(file, mmap_mode="r", allow_pickle=False)
    return values


class ArrayWriter:
    """Writes a ``.npy`` file row by row; how many rows it has, is written at the end.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with ArrayWriter(Path(folder) / "a.npy", np.int32, columns=2) as writer:
    ...         writer.append([[1, 2]])
    ...         writer.append([[3, 4], [5, 6]])
    ...     np.load(Path(folder) / "a.npy").tolist()
    [[1, 2], [3, 4], [5, 6]]
    """

    HEADER = 128
    """Bytes before the values."""

    def __init__(self, path: Path, dtype: Any, *, columns: int | None = None) -> None:
        self.rows = 0
        self._dtype = np.dtype(dtype)
        self._columns = () if columns is None else (columns,)
        self._path = path
        self._file = path.open("w+b")
        self._file.write(self._header())

    def append(self, rows: ArrayLike) -> None:
        """Add some rows."""
        values = np.ascontiguousarray(rows, self._dtype).reshape(-1, *self._columns)
        self._file.write(values.tobytes())
        self.rows += len(values)

    def mapped(self, start: int, end: int) -> NDArray[Any]:
        """Rows that were written, mapped into memory."""
        if start == end:
            return np.empty((0, *self._columns), self._dtype)
        self._file.flush()
        row = self._dtype.itemsize * int(np.prod(self._columns))
        shape = (end - start, *self._columns)
        return np.memmap(self._path, self._dtype, "r", self.HEADER + start * row, shape)

    def _header(self) -> bytes:
        """The header of version 1.0 of the format, always of the same length."""
        shape = (self.rows, *self._columns)
        about = {"descr": self._dtype.str, "fortran_order": False, "shape": shape}
        start = np.lib.format.magic(1, 0)
        length = self.HEADER - len(start) - 2
        text = repr(about).ljust(length - 1) + "\n"
        return bytes(start + length.to_bytes(2, "little") + text.encode("ascii"))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        with self._file as file:
            file.seek(0)
            file.write(self._header())
