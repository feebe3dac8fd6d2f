"""Lines of text from plain or compressed files; invalid bytes are errors that name the line."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any, cast

from tertium.errors import InputError, MissingFileError

OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".xz": lzma.open, ".bz2": bz2.open}
MAGIC: dict[bytes, Callable[..., Any]] = {
    b"\x1f\x8b": gzip.open,
    b"\xfd7zXZ\x00": lzma.open,
    b"BZh": bz2.open,
}
"""How compressed data begins."""
STDIN = Path("-")
PEEK_BYTES = 1 << 16
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
READING_ERRORS = (EOFError, OSError, lzma.LZMAError, zlib.error)
"""Errors that reading and decompressing may raise."""


class StandardInput:
    """Standard input, decompressed if need be, whose beginning can be looked at first."""

    def __init__(self) -> None:
        self._of: object = None
        self._reader: Any = None

    def open(self) -> Any:
        """The same reader again, until standard input is another stream."""
        if sys.stdin is None:
            raise InputError("standard input is closed; give a file")
        if self._of is not sys.stdin:
            stream: Any = sys.stdin.buffer
            reader = stream if hasattr(stream, "peek") else io.BufferedReader(stream)
            start = reader.peek(PEEK_BYTES)
            opener = next((each for magic, each in MAGIC.items() if start.startswith(magic)), None)
            self._of, self._reader = sys.stdin, reader if opener is None else opener(reader, "rb")
        return self._reader

    def beginning(self) -> bytes:
        """The first bytes, which are still there to be read."""
        try:
            return cast("bytes", self.open().peek(PEEK_BYTES))
        except READING_ERRORS as error:
            raise unreadable(STDIN, error) from None


STANDARD_INPUT = StandardInput()


def open_bytes(path: Path) -> IO[bytes]:
    """Open a file for reading, decompressed by its suffix; ``-`` is standard input."""
    if path == STDIN:
        return cast("IO[bytes]", STANDARD_INPUT.open())
    try:
        return cast("IO[bytes]", OPENERS.get(path.suffix, open)(path, "rb"))
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from None


def read_lines(path: Path, *, replace_invalid: bool = False) -> Iterator[str]:
    r"""Read lines that end in ``\n`` or ``\r\n``; nothing else is a line break.

    (``str.splitlines`` would also break at U+2028 or a form feed, which occur within sentences.)
    """
    with open_bytes(path) as stream:
        try:
            for number, line in enumerate(stream, start=1):
                content = line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line
                content = content.removesuffix(b"\n").removesuffix(b"\r")
                try:
                    yield content.decode("utf-8", "replace" if replace_invalid else "strict")
                except UnicodeDecodeError as error:
                    raise InputError(
                        f"{name_of(path)}, line {number}: byte {error.start + 1} "
                        f"(0x{content[error.start]:02X}) is not valid UTF-8",
                        cure=("convert the file", "replace invalid bytes ({replace_invalid:True})"),
                    ) from None
        except READING_ERRORS as error:
            raise unreadable(path, error) from None


def unreadable(path: Path, error: Exception) -> InputError:
    """The error for a file that cannot be read or decompressed."""
    if isinstance(error, OSError) and error.strerror:
        return InputError(f"{name_of(path)} cannot be read: {error.strerror}")
    return InputError(
        f"{name_of(path)} cannot be decompressed: {error}; "
        "it is incomplete, damaged, or not of the format that its name says"
    )


def check_file(path: Path) -> None:
    """Check that a file exists and can be read several times."""
    try:
        is_file, exists = path == STDIN or path.is_file(), path.exists()
    except OSError as error:  # the name is too long, or the folder is not accessible
        raise unreadable(path, error) from None
    if is_file:
        return
    if exists:
        raise InputError(f"{path} is not a regular file; pass it by standard input (-)")
    raise MissingFileError(f"{path}: there is no such file")


def numbered(row: int, line: int | None = None) -> str:
    """A row in a message, counted from 1 without the header; with its line, if that differs.

    >>> numbered(3), numbered(3, 3), numbered(3, 4)
    ('row 3', 'row 3', 'row 3 (line 4)')
    """
    return f"row {row}" if line in (None, row) else f"row {row} (line {line})"


def without_trailing_blanks(lines: Iterable[str]) -> Iterator[str]:
    """Leave out empty lines at the end.

    >>> list(without_trailing_blanks(["a", "", "b", "", ""]))
    ['a', '', 'b']
    """
    blank = 0
    for line in lines:
        if line:
            yield from [""] * blank
            yield line
            blank = 0
        else:
            blank += 1


def name_of(path: Path) -> str:
    """The name of a file in messages."""
    return "standard input" if path == STDIN else str(path)


def names_of(paths: Sequence[Path]) -> tuple[str, ...]:
    """Short names of files: without folder and suffix, if these are distinct.

    >>> names_of([Path("out/a.txt"), Path("b.en.gz")]), names_of([Path("x/hyp"), Path("y/hyp")])
    (('a', 'b'), ('x/hyp', 'y/hyp'))
    """
    short = []
    for path in paths:
        name = path.name.removesuffix(path.suffix) if path.suffix in OPENERS else path.name
        short.append(name.rpartition(".")[0] or name)
    if len(set(short)) == len(short):
        return tuple(short)
    return tuple(map(str, paths))


def suffix_of(path: Path) -> str:
    """The suffix of a file before that of its compression.

    >>> suffix_of(Path("de.po")), suffix_of(Path("memory.TMX.gz"))
    ('.po', '.tmx')
    """
    suffixes = [suffix.lower() for suffix in path.suffixes if suffix not in OPENERS]
    return suffixes[-1] if suffixes else ""
