"""Fields of a row turned into numbers and labels, with the row named where that fails."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tertium.data.datasets.base import fault
from tertium.text import check_text

LABELS = {"1": True, "0": False, "1.0": True, "0.0": False, "true": True, "false": False}
MISSING = ("", "none", "nan", "na", "-")


def text(record: Mapping[str, Any], column: str, path: Path, row: int) -> str:
    """The text in a column, which must be there."""
    value = record.get(column)
    if not isinstance(value, str):
        there = ", ".join(record)
        raise fault(path, row, f"no text in {column!r}", f"its columns are {there}")
    return check_text(value, role=column, row=row)


def label(value: object, path: Path, row: int) -> bool:
    """1 or 0, true or false.

    >>> label("1", Path("a.tsv"), 1), label(0, Path("a.tsv"), 2)
    (True, False)
    """
    found = LABELS.get(str(value).strip().lower())
    if found is None:
        raise fault(path, row, f"the label is {value!r}", "it must be 1 (paraphrase) or 0")
    return found


def number(value: object, column: str, path: Path, row: int) -> float | None:
    """A finite number, or None where the field says that there is none.

    >>> number("0.5", "score", Path("a.tsv"), 1)
    0.5
    >>> number("None", "score", Path("a.tsv"), 1) is None
    True
    """
    if value is None or str(value).strip().lower() in MISSING:
        return None
    try:
        found = float(str(value))
    except ValueError:
        found = math.inf
    if not math.isfinite(found):
        raise fault(
            path, row, f"{value!r} in {column!r} is no number", "leave it empty if there is none"
        )
    return found
