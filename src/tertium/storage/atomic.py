"""Files and folders that are either complete or absent, and what a killed process leaves."""

from __future__ import annotations

import os
import platform
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import IO, Any, BinaryIO, TextIO, TypeVar

from tertium.errors import InputError, ModelError

Stream = TypeVar("Stream", bound=IO[Any])


def check_writable(folder: Path) -> None:
    """Refuse a folder that is not there, or that nothing can be written into."""
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder")
    if not os.access(folder, os.W_OK):
        raise InputError(f"{folder}: no permission to write into this folder")


def write_text(path: Path, text: str) -> None:
    """Replace a file by this text, in UTF-8, with line ends as they are."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, content: bytes) -> None:
    """Replace a file by these bytes."""
    with replacing(path) as stream:
        stream.write(content)


def replacing(path: Path, scratch: Path | None = None) -> AbstractContextManager[BinaryIO]:
    """Open a stream to the new content of a file.

    It is written to ``scratch`` (default: the name with ``.new``) and replaces the file when the
    block ends. If the block fails, the scratch file is removed and the file stays as it was.
    """
    scratch = scratch or path.with_name(path.name + ".new")
    return _replacing(path, scratch, lambda: scratch.open("wb"))


def replacing_text(path: Path, scratch: Path | None = None) -> AbstractContextManager[TextIO]:
    """Like :func:`replacing`, for UTF-8 text with line ends as they are."""
    scratch = scratch or path.with_name(path.name + ".new")
    return _replacing(path, scratch, lambda: scratch.open("w", encoding="utf-8", newline=""))


@contextmanager
def _replacing(path: Path, scratch: Path, opened: Callable[[], Stream]) -> Iterator[Stream]:
    try:
        stream = opened()
        try:
            yield stream
            sync(stream)
        except BaseException:
            with suppress(OSError):  # what made writing fail makes closing fail, too
                stream.close()
            raise
        stream.close()
        os.replace(scratch, path)
    except BaseException:
        scratch.unlink(missing_ok=True)  # on a full disk, every byte counts
        raise


def write_at(path: Path, offset: int, content: bytes, *, truncate: bool = True) -> int:
    """Write bytes at an offset of a file and wait until they are on disk; returns their end.

    By default, whatever follows the offset is dropped: the part of a file that a killed process
    had not yet recorded as complete.
    """
    with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | _BINARY, 0o666), "r+b") as stream:
        if truncate:
            stream.truncate(offset)
        stream.seek(offset)
        stream.write(content)
        sync(stream)
    return offset + len(content)


def sync(stream: IO[Any]) -> None:
    """Wait until everything written to a stream is on disk."""
    stream.flush()
    os.fsync(stream.fileno())


_BINARY = getattr(os, "O_BINARY", 0)  # Windows would translate line ends otherwise


MARK = ".unfinished-"


@contextmanager
def appearing(out: Path) -> Iterator[Path]:
    """Make a folder in a scratch folder, and move it to its place when it is complete."""
    if out.exists():
        raise ModelError(f"{out} already exists; remove it, or choose another folder")
    with scratch_beside(out) as scratch:
        made = scratch / "model"
        yield made
        made.rename(out)


@contextmanager
def derived(out: Path, is_complete: Callable[[], bool]) -> Iterator[Path]:
    """Make a folder that several processes may make at once, in a scratch folder.

    If ``out`` is complete by the time that it is made, it is kept; a damaged one is replaced.
    """
    with scratch_beside(out) as scratch:
        made = scratch / "made"
        made.mkdir()
        yield made
        if is_complete():
            return
        if out.exists():
            out.rename(scratch / "damaged")
        try:
            made.rename(out)
        except OSError:  # another process has made the same folder
            if not is_complete():
                raise


@contextmanager
def scratch_beside(out: Path) -> Iterator[Path]:
    """A scratch folder on the same disk to make ``out`` in.

    Its name contains the process. What a killed process has left of the same ``out`` is removed.
    """
    out.parent.mkdir(parents=True, exist_ok=True)
    check_writable(out.parent)
    for left in leftovers(out.parent):
        if left.name.startswith(f".{out.name}-"):
            shutil.rmtree(left, ignore_errors=True)
    process = f"{MARK}{_host()}-{os.getpid()}"
    with tempfile.TemporaryDirectory(
        dir=out.parent, prefix=f".{out.name}-", suffix=process
    ) as scratch:
        yield Path(scratch)


def leftovers(folder: Path) -> list[Path]:
    """The scratch folders in a folder whose process no longer runs.

    Those of processes on other machines are not listed: they may still be running.
    """
    return [path for path in sorted(folder.glob(f".*{MARK}*")) if not _may_be_running(path)]


def _may_be_running(path: Path) -> bool:
    host, _, process = path.name.rpartition(MARK)[2].rpartition("-")
    if host != _host() or not process.isdecimal() or os.name == "nt":
        return True
    try:
        os.kill(int(process), 0)  # sends no signal, only checks
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def _host() -> str:
    return re.sub(r"[^A-Za-z0-9]", "", platform.node()) or "here"
