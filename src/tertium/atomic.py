"""Files that are written whole, or not at all."""

from __future__ import annotations

import os
from pathlib import Path


def write_text(path: Path, text: str) -> None:
    """Write UTF-8 as it is, line ends included."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, content: bytes) -> None:
    """Write beside the file, then put the new one in its place."""
    scratch = path.with_name(path.name + ".new")
    with scratch.open("wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())
    os.replace(scratch, path)
