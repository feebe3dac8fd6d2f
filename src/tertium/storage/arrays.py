"""Arrays in files of their own, named by their content."""

from __future__ import annotations

import hashlib
import io
import os
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
        values: NDArray[Any] = np.load(folder / name, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError):
        raise ResumeError(f"{folder / name} is missing or damaged", cure=START_OVER) from None
    return values


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
