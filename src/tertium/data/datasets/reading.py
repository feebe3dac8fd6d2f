"""What readers share: errors that name the row, fields as numbers and labels, files of the hub."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tertium.data.hub import download_files
from tertium.data.lines import check_file, name_of
from tertium.data.records import PARQUET, Record, counted, open_table
from tertium.errors import InputError
from tertium.registry import check_extras
from tertium.text import check_text

LABELS = {"1": True, "0": False, "1.0": True, "0.0": False, "true": True, "false": False}
MISSING = ("", "none", "nan", "na", "-")
DOWNLOAD_AGAIN = "download it again"

FileRecord = tuple[Path, int, Record]
"""A record with its file and its row, for error messages."""


def row_error(path: Path, row: int, reason: str, cure: str) -> InputError:
    """The error for a row that cannot be read, with what to do about it."""
    return InputError(f"{name_of(path)}, row {row}: {reason}; {cure}")


def text(record: Mapping[str, Any], column: str, path: Path, row: int) -> str:
    """The text in a column; a missing one is an error."""
    value = record.get(column)
    if not isinstance(value, str):
        columns = ", ".join(record)
        raise row_error(path, row, f"no text in {column!r}", f"its columns are {columns}")
    return check_text(value, role=column, row=row)


def label(value: object, path: Path, row: int) -> bool:
    """1 or 0, true or false.

    >>> label("1", Path("a.tsv"), 1), label(0, Path("a.tsv"), 2)
    (True, False)
    """
    parsed = LABELS.get(str(value).strip().lower())
    if parsed is None:
        raise row_error(path, row, f"the label is {value!r}", "it must be 1 (paraphrase) or 0")
    return parsed


def number(value: object, column: str, path: Path, row: int) -> float | None:
    """A finite number, or None if the field is empty or says that there is none.

    >>> number("0.5", "score", Path("a.tsv"), 1)
    0.5
    >>> number("None", "score", Path("a.tsv"), 1) is None
    True
    """
    if value is None or str(value).strip().lower() in MISSING:
        return None
    try:
        parsed = float(str(value))
    except ValueError:
        parsed = math.inf
    if not math.isfinite(parsed):
        raise row_error(
            path, row, f"{value!r} in {column!r} is not a number", "leave it empty if there is none"
        )
    return parsed


def check_fields(fields: list[str], count: int, path: Path, row: int) -> list[str]:
    """Return the fields of a row if there are as many as there should be."""
    if len(fields) != count:
        raise row_error(path, row, f"{counted(len(fields), 'field')}, not {count}", DOWNLOAD_AGAIN)
    return fields


def table_records(path: Path, **options: Any) -> Iterator[FileRecord]:
    """Read the records of a table, each with its file and its row."""
    for row, record in enumerate(open_table(path, **options), start=1):
        yield path, row, record


def hub_records(
    hub_id: str, pattern: str, *, revision: str | None = None, offline: bool = False
) -> Iterator[FileRecord]:
    """Download the files of a dataset that match (Parquet or CSV), and read their records."""
    if pattern.endswith(".parquet"):
        check_extras("reading Parquet", PARQUET)
    folder = download_files(hub_id, [pattern], kind="dataset", revision=revision, offline=offline)
    files = sorted(folder.glob(pattern))
    if not files:
        raise InputError(f"the dataset {hub_id} has no {pattern}; has its layout changed?")
    for file in files:
        yield from table_records(file)


def read_json(path: Path, expected: type[list[Any]] | type[dict[str, Any]]) -> Any:
    """Read a JSON file that holds a list or an object."""
    check_file(path)
    try:
        content = json.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise InputError(f"{path} is not JSON: {error}; {DOWNLOAD_AGAIN}") from None
    if not isinstance(content, expected):
        what = "list" if expected is list else "object"
        raise InputError(f"{path} is not a JSON {what}; {DOWNLOAD_AGAIN}")
    return content
