"""Records (rows with named fields) from TSV, CSV, JSON Lines and Parquet, as a stream."""

from __future__ import annotations

import csv
import json
import math
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import Any, Literal, get_args

from tertium.data.codes import SCRIPTS
from tertium.data.lines import (
    BYTE_ORDER_MARK,
    OPENERS,
    PEEK_BYTES,
    READING_ERRORS,
    STANDARD_INPUT,
    STDIN,
    check_file,
    name_of,
    numbered,
    open_bytes,
    read_lines,
    unreadable,
    without_trailing_blanks,
)
from tertium.errors import InputError, first_line
from tertium.registry import Extra, check_extras
from tertium.text import check_characters, whole

PARQUET = (Extra("parquet", ("pyarrow",)),)

Format = Literal["tsv", "csv", "jsonl", "parquet"]
Record = dict[str, Any]

SUFFIXES: dict[str, Format] = {
    ".tsv": "tsv",
    ".txt": "tsv",
    ".csv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
}
TEXT_SUFFIXES = {*SUFFIXES, ".json", ".tmx", ".hyp", ".ref", ".src", ".tgt", ".mt", ".out"}
"""Suffixes of files with texts, besides those of compressed files and language codes."""
PARQUET_ROWS = 1024
LONGEST_FIELD = 1 << 30
MOST_NAMES = 20
DEEPEST = 100


@dataclass
class RecordFile:
    """A file of records. CSV is quoted; in TSV a quotation mark is a character by default.

    It can be read several times; standard input only once, after its columns were looked up.
    """

    path: Path
    format: Format
    header: bool = True
    replace_invalid: bool = False
    quoting: bool | None = False
    """Whether fields of TSV may be quoted; None: they are not, and quoted ones are an error."""
    delimiter: str = ","
    """What separates the fields of CSV."""
    _begun: Iterator[Record] | None = field(default=None, repr=False)
    _columns: list[str] | None = field(default=None, repr=False)
    _kinds: dict[str, set[type]] | None = field(default=None, repr=False)

    def __iter__(self) -> Iterator[Record]:
        if self._begun is not None:
            begun, self._begun = self._begun, None
            return begun
        if self.format == "parquet":
            return self._parquet()
        if self.format == "jsonl":
            return self._jsonl()
        return self._delimited()

    def read_from(self, start: int) -> Iterator[Record]:
        """Read the records after the first ``start``; Parquet skips them without reading."""
        if self.format == "parquet":
            return self._parquet(start)
        return islice(self, start, None)

    def columns(self) -> list[str]:
        """The names of the fields; for standard input, those of the first record."""
        if self._columns is None:
            names = self._find_columns()
            for name in names:
                check_characters(name, f"{name_of(self.path)}: the name of the field {name!a}")
            self._columns = names
        return self._columns

    def kinds(self) -> dict[str, set[type]]:
        """The Python types of the values of each field; not for standard input."""
        if self._kinds is None:
            self._kinds = self._find_kinds()
        return self._kinds

    def _find_columns(self) -> list[str]:
        if self.format == "parquet":
            return list(self._parquet_schema().names)
        if self.format == "jsonl" and self.path != STDIN:  # any record may have additional fields
            return list(self.kinds())
        records = iter(self)
        first = next(records, None)
        if first is None:
            return []
        if self.path == STDIN:
            self._begun = chain([first], records)
        return list(first)

    def _find_kinds(self) -> dict[str, set[type]]:
        if self.format == "parquet":
            return {field.name: python_types(field.type) for field in self._parquet_schema()}
        if self.format == "jsonl":
            kinds: dict[str, set[type]] = {}
            for record in self:
                for name, value in record.items():
                    kinds.setdefault(name, set()).add(python_type(value))
            return kinds
        return {name: {str} for name in self.columns()}

    def count(self) -> int:
        """Count the records by reading them, which takes little time compared with scoring."""
        if self.format == "parquet":
            return int(self._parquet_file().metadata.num_rows)
        return sum(1 for _ in self)

    def _delimited(self) -> Iterator[Record]:
        lines = read_lines(self.path, replace_invalid=self.replace_invalid)
        names: Sequence[str] | None = None
        number = line = 0
        try:
            for line, row in self._fields(without_trailing_blanks(lines)):
                if not row:  # a blank line in CSV
                    continue
                if self.format == "tsv" and self.quoting is None:
                    self._check_quotes(row, 0 if names is None and self.header else number + 1)
                if names is None:
                    names = row if self.header else [str(place + 1) for place in range(len(row))]
                    self._check_names(names)
                    if self.header:
                        continue
                number += 1
                if len(row) != len(names):
                    reason, cure = self._wrong_count(row, len(names))
                    raise InputError(
                        f"{name_of(self.path)}, {numbered(number, line)}: "
                        f"{counted(len(row), 'field')}, where the first line has {len(names)}"
                        f"{reason}",
                        cure=cure,
                    )
                yield dict(zip(names, row, strict=True))
        except csv.Error as error:
            raise InputError(f"{name_of(self.path)}, after row {number}: {error}") from None

    def _fields(self, lines: Iterable[str]) -> Iterator[tuple[int, Sequence[str]]]:
        """The fields of each row, and the number of the line on which it ends."""
        if self.format == "tsv" and not self.quoting:
            for number, line in enumerate(lines, start=1):
                yield number, line.split("\t")
            return
        csv.field_size_limit(LONGEST_FIELD)
        delimiter = "\t" if self.format == "tsv" else self.delimiter
        reader = csv.reader((line + "\n" for line in lines), delimiter=delimiter, strict=True)
        for row in reader:
            yield reader.line_num, row

    def _check_quotes(self, row: Sequence[str], number: int) -> None:
        """Refuse a field that was quoted when the table was written, as pandas does."""
        for field_text in row:
            if is_quoted(field_text, header=number == 0):
                where = "the header" if number == 0 else f"row {number}"
                raise InputError(
                    f"{name_of(self.path)}, {where}: {shortened(field_text)} is quoted, as "
                    "pandas and spreadsheets write TSV",
                    cure=(
                        "read it with {quoting:True}",
                        "with {quoting:False} if the quotation marks are part of the text",
                    ),
                )

    def _wrong_count(self, row: Sequence[str], expected: int) -> tuple[str, str]:
        """A possible reason for a row that has more or fewer fields than the header; its cure."""
        if self.format != "tsv":
            return "", ""
        if row == [""]:
            return "; the line is empty", ""
        if not self.quoting and any(text.startswith('"') for text in row):
            return "; a quoted text with tabs or line breaks?", "read it with {quoting:True}"
        return "; a tab inside a text?" if len(row) > expected else "", ""

    def _check_names(self, names: Sequence[str]) -> None:
        twice = sorted(name for name, count in Counter(names).items() if count > 1)
        if twice:
            raise InputError(f"{name_of(self.path)}: the header names {listed(twice)} twice")

    def _jsonl(self) -> Iterator[Record]:
        number = 0
        lines = read_lines(self.path, replace_invalid=self.replace_invalid)
        for place, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            number += 1
            where = f"{name_of(self.path)}, {numbered(number, place)}"
            try:
                record = json.loads(line, parse_constant=_no_number, parse_float=_finite)
            except (RecursionError, ValueError) as error:
                raise InputError(f"{where}: not JSON: {error}") from None
            if not isinstance(record, dict):
                raise InputError(f"{where}: not a JSON object; there must be one per line")
            if is_deeper(record, DEEPEST):
                raise InputError(
                    f"{where}: nested more than {DEEPEST} levels deep; remove the field"
                )
            yield whole(record) if self.replace_invalid else record

    def _parquet_file(self) -> Any:
        check_extras("reading Parquet", PARQUET)
        from pyarrow.parquet import ParquetFile

        try:
            file = ParquetFile(self.path)
            self._check_names(file.schema_arrow.names)
            return file
        except InputError:
            raise
        except Exception as error:  # of Arrow, or of the system: a damaged file can cause any
            raise InputError(
                f"{self.path} cannot be read as Parquet: {first_line(error)}"
            ) from None

    def _parquet_schema(self) -> Any:
        return self._parquet_file().schema_arrow

    def _parquet(self, start: int = 0) -> Iterator[Record]:
        file = self._parquet_file()
        skipped = group = 0  # whole row groups are stepped over
        while group < file.num_row_groups:
            size = file.metadata.row_group(group).num_rows
            if skipped + size > start:
                break
            skipped += size
            group += 1
        wanted = range(group, file.num_row_groups)
        batches = file.iter_batches(batch_size=PARQUET_ROWS, row_groups=list(wanted))
        return islice(self._records_of(batches, skipped), start - skipped, None)

    def _records_of(self, batches: Iterator[Any], number: int) -> Iterator[Record]:
        """The records of batches that begin after row ``number``."""
        while True:
            try:
                records = next(batches).to_pylist()
            except StopIteration:
                return
            except Exception as error:  # of Arrow, of UTF-8, or of a value that Python cannot hold
                raise InputError(
                    f"{self.path}, after row {number}: cannot be read as Parquet: "
                    f"{first_line(error)}; the file is damaged, or holds what is no text"
                ) from None
            number += len(records)
            yield from records


def python_type(value: Any) -> type:
    """The type of a value; an integer that does not fit into 64 bits has no type in Parquet."""
    return object if type(value) is int and not -(1 << 63) <= value < 1 << 63 else type(value)


def python_types(arrow_type: Any) -> set[type]:
    """The Python types of the values of an Arrow type, as far as it matters for writing."""
    from pyarrow import types

    if types.is_null(arrow_type):
        return set()
    if types.is_boolean(arrow_type):
        return {bool}
    if types.is_uint64(arrow_type):  # may be too large for what we write
        return {object}
    if types.is_integer(arrow_type):
        return {int}
    if types.is_floating(arrow_type):
        return {float}
    return {str}


def is_quoted(text: str, *, header: bool = False) -> bool:
    """Whether a field of TSV was certainly quoted: its inner quotation marks are doubled.

    ``"No."`` may be direct speech; in a header, however, it is a quoted name.

    >>> is_quoted('"He said ""no""."'), is_quoted('"No."'), is_quoted('"hyp"', header=True)
    (True, False, True)
    """
    if len(text) < 2 or text[0] != '"' or text[-1] != '"':
        return False
    inner = text[1:-1]
    return '"' not in inner.replace('""', "") and (header or '""' in inner)


def _no_number(text: str) -> float:
    """Refuse NaN and infinity, which Python reads and JSON does not have."""
    raise ValueError(f"{text} is not a number; use null for a missing value")


def _finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _no_number(shortened(text))


def shortened(text: str, length: int = 40) -> str:
    """The beginning of a text, for messages."""
    return text if len(text) <= length else text[: length - 1] + "…"


def sniffed(beginning: bytes) -> tuple[Format, str]:
    """Infer the format of a table, and the delimiter of CSV, from its first line.

    >>> sniffed(b"hyp\\tref\\n"), sniffed(b"hyp;ref\\n"), sniffed(b'{"hyp": "a, b"}')
    (('tsv', ','), ('csv', ';'), ('jsonl', ','))
    """
    text = beginning.removeprefix(BYTE_ORDER_MARK).lstrip(b"\r\n")
    line = text.split(b"\n")[0]
    if line.startswith(b"{"):
        return "jsonl", ","
    if line.startswith(b"PAR1"):
        return "parquet", ","
    if b"\t" in line or (b"," not in line and b";" not in line):
        return "tsv", ","
    return "csv", ";" if line.count(b";") > line.count(b",") else ","


def is_deeper(value: Any, levels: int) -> bool:
    """Whether lists and objects are nested more than ``levels`` deep.

    >>> is_deeper({"a": [1, []]}, 3), is_deeper({"a": [1, []]}, 2)
    (False, True)
    """
    if not isinstance(value, list | dict):
        return False
    inside = value.values() if isinstance(value, dict) else value
    return levels == 0 or any(is_deeper(item, levels - 1) for item in inside)


def counted(count: int, noun: str) -> str:
    """A number with a noun, in the singular for one.

    >>> counted(1, "field"), counted(2, "field")
    ('1 field', '2 fields')
    """
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def listed(names: Sequence[str]) -> str:
    """List the first names, and the number of the others.

    >>> listed(["a", "b"]), listed([str(number) for number in range(100)])[-14:]
    ('a, b', '19 and 80 more')
    """
    more = len(names) - MOST_NAMES
    return ", ".join(names[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


def open_table(
    path: Path,
    *,
    format: Format | None = None,  # noqa: A002
    header: bool = True,
    replace_invalid: bool = False,
    quoting: bool | None = False,
) -> RecordFile:
    """Open a file of records; the format is inferred from the file name unless it is given.

    The format of standard input is inferred from its first line, as is the delimiter of CSV. With
    ``quoting=None``, TSV with quoted fields is an error that names them.
    """
    if format is not None and format not in get_args(Format):
        raise InputError(f"no format {format!r}; available: {', '.join(get_args(Format))}")
    if path != STDIN and format is None:
        suffixes = [suffix.lower() for suffix in path.suffixes if suffix not in OPENERS]
        format = SUFFIXES.get(suffixes[-1]) if suffixes else None  # noqa: A001
        if format is None:
            raise InputError(
                f"{path}: cannot infer the format from the file name",
                cure=(
                    f"give {{format}} as one of {', '.join(get_args(Format))}",
                    "{hyp} and {ref} (or {src}) for plain text, one per line",
                ),
            )
    if format == "parquet":
        check_extras("reading Parquet", PARQUET)
    check_file(path)
    delimiter = ","
    if format in (None, "csv"):
        inferred, delimiter = sniffed(first_bytes(path))
        format = format or inferred  # noqa: A001
    if format == "parquet" and path == STDIN:
        raise InputError("Parquet cannot be read from standard input; give a file")
    return RecordFile(path, format, header, replace_invalid, quoting, delimiter)


def first_bytes(path: Path) -> bytes:
    """The beginning of a file, or of standard input."""
    if path == STDIN:
        return STANDARD_INPUT.beginning()
    with open_bytes(path) as stream:
        try:
            return stream.read(PEEK_BYTES)
        except READING_ERRORS as error:
            raise unreadable(path, error) from None


def exists(text: str) -> bool:
    """Whether a text is the name of a file or a folder."""
    try:
        return Path(text).exists()
    except (OSError, ValueError):  # too long for a name, or with a null character
        return False


def has_file_suffix(text: str) -> bool:
    """Whether a text without spaces ends like the name of a file.

    >>> [has_file_suffix(text) for text in ("hyp.txt", "newstest.de", "and/or", "Hi.", "a.b c")]
    [True, True, False, False, False]
    """
    if not text or any(map(str.isspace, text)):
        return False
    suffix = Path(text).suffix.lower()
    named = suffix in TEXT_SUFFIXES or suffix in OPENERS or suffix[1:] in SCRIPTS
    return named and suffix != text.lower()


def looks_like_path(text: str) -> bool:
    """Whether an argument is probably meant as the name of a file.

    It has no spaces, and a path separator or a suffix that files of text have.

    >>> [looks_like_path(text) for text in ("hyp.txt", "out/hyp", "newstest.de", "Hi.", "a.b c")]
    [True, True, True, False, False]
    """
    if any(map(str.isspace, text)):
        return False
    return "/" in text or os.sep in text or has_file_suffix(text)
