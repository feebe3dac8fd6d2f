"""Files that are written whole, or not at all."""

from __future__ import annotations

import os
from pathlib import Path


def write_text(path: Path, text: str) -> None:
    """Write beside the file, then put the new one in its place."""
    scratch = path.with_name(path.name + ".new")
    with scratch.open("w", encoding="utf-8", newline="\n") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())
    os.replace(scratch, path)


def write_bytes(path: Path, content: bytes) -> None:
    """As :func:`write_text`, for bytes."""
    scratch = path.with_name(path.name + ".new")
    with scratch.open("wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())
    os.replace(scratch, path)
