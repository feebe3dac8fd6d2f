"""Files that are written whole, or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


def write_text(path: Path, text: str) -> None:
    """Write UTF-8 as it is, line ends included."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, content: bytes) -> None:
    """Write beside the file, then put the new one in its place."""
    with replacing(path) as stream:
        stream.write(content)


@contextmanager
def replacing(path: Path, scratch: Path | None = None) -> Iterator[BinaryIO]:
    """A stream to write to beside the file, which takes its place in the end, unless that fails."""
    scratch = scratch or path.with_name(path.name + ".new")
    try:
        with scratch.open("wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(scratch, path)
    except BaseException:
        scratch.unlink(missing_ok=True)  # on a full disk, every byte counts
        raise
