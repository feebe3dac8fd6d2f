"""How scored rows are written: as TSV, CSV, JSON Lines, or lines for people."""

from __future__ import annotations

import csv
import io
import json
import math
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

CUT = "cut"
"""The column that marks rows whose text was too long for the model."""
BREAKS = str.maketrans({"\t": " ", "\n": " ", "\r": " "})
Fields = Mapping[str, Any]


class Layout(Protocol):
    """Turns scored rows into text. Every row has all the columns, in their order."""

    def head(self, columns: Sequence[str]) -> str: ...

    def body(self, rows: Sequence[Fields]) -> str: ...


class TsvLayout:
    """No quoting: a tab or a line break inside a text becomes a space."""

    def head(self, columns: Sequence[str]) -> str:
        return "\t".join(name.translate(BREAKS) for name in columns) + "\n"

    def body(self, rows: Sequence[Fields]) -> str:
        return "".join(
            "\t".join(plain(value).translate(BREAKS) for value in row.values()) + "\n"
            for row in rows
        )


class CsvLayout:
    """Quoted where needed."""

    def head(self, columns: Sequence[str]) -> str:
        return self._write([columns])

    def body(self, rows: Sequence[Fields]) -> str:
        return self._write([[plain(value) for value in row.values()] for row in rows])

    @staticmethod
    def _write(rows: Sequence[Sequence[str]]) -> str:
        stream = io.StringIO()
        csv.writer(stream, lineterminator="\n").writerows(rows)
        return stream.getvalue()


class JsonLinesLayout:
    """One object a line, numbers in full."""

    def head(self, columns: Sequence[str]) -> str:
        return ""

    def body(self, rows: Sequence[Fields]) -> str:
        return "".join(to_json(row) + "\n" for row in rows)


class JsonDocumentLayout:
    """The beginning of one JSON document; whoever has the results writes its end."""

    def __init__(self) -> None:
        self._separator = ""

    def head(self, columns: Sequence[str]) -> str:
        return '{"segments": [\n'

    def body(self, rows: Sequence[Fields]) -> str:
        written = []
        for row in rows:
            written.append(self._separator + to_json(row))
            self._separator = ",\n"
        return "".join(written)


@dataclass
class PeopleLayout:
    """Scores first, then the texts, a row a line, cut to the width of the terminal."""

    measures: Sequence[str]

    def head(self, columns: Sequence[str]) -> str:
        return " ".join(f"{name:>9}" for name in self.measures) + "\n"

    def body(self, rows: Sequence[Fields]) -> str:
        width = shutil.get_terminal_size().columns
        return "".join(self._line(row, width) + "\n" for row in rows)

    def _line(self, row: Fields, width: int) -> str:
        scores = " ".join(f"{row[name]:9.4f}" for name in self.measures)
        mark = " (cut)" if row[CUT] else ""
        texts = " | ".join(value for value in row.values() if isinstance(value, str))
        line = f"{scores}{mark}  {texts}".translate(BREAKS)
        return line if len(line) <= width else line[: width - 1] + "…"


def plain(value: Any) -> str:
    """Write a value as text.

    >>> plain(0.25), plain(True), plain(None), plain(["a"])
    ('0.250000', '1', '', '["a"]')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, float):
        return f"{value:.6f}"
    if isinstance(value, list | dict):
        return to_json(value)
    return str(value)


def to_json(value: Any) -> str:
    """Write a value as JSON that every reader takes: no NaN, and dates as text."""
    return json.dumps(jsonable(value), ensure_ascii=False, allow_nan=False)


def jsonable(value: Any) -> Any:
    """Turn a value into one that JSON has."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, Mapping):
        return {str(name): jsonable(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [jsonable(item) for item in value]
    return str(value)
