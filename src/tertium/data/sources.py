"""What is translated: a text, the lines of a file, or a column of a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from tertium.data.codes import language_code
from tertium.data.lines import STDIN, check_file, name_of, read_lines, without_trailing_blanks
from tertium.data.pairs import ALIASES, Item, find_column
from tertium.data.records import RecordFile, listed
from tertium.errors import InputError
from tertium.text import Text, check_fields, check_text, field_value

SRC = "src"
NO_TEXT = Text("")


class Sources(Protocol):
    """Items with a source and nothing else, which can be iterated more than once."""

    @property
    def name(self) -> str: ...

    @property
    def columns(self) -> Sequence[str]:
        """The names of the records' fields."""
        ...

    def __iter__(self) -> Iterator[Item]: ...

    def count(self) -> int | None:
        """The number of items, if it is known in advance."""
        ...


@dataclass(frozen=True)
class OneSource:
    """A single text."""

    text: str
    lang: str | None = None
    name: str = "command line"
    columns: Sequence[str] = (SRC,)

    def count(self) -> int | None:
        return 1

    def __iter__(self) -> Iterator[Item]:
        text = check_text(self.text, role="text", row=1)
        yield Item(1, NO_TEXT, (), Text(text, self.lang), {SRC: text})


@dataclass(frozen=True)
class LineSources:
    """The lines of a plain text file, or of standard input."""

    path: Path
    lang: str | None = None
    replace_invalid: bool = False
    columns: Sequence[str] = (SRC,)

    def __post_init__(self) -> None:
        check_file(self.path)

    @property
    def name(self) -> str:
        return name_of(self.path)

    def count(self) -> int | None:
        return None if self.path == STDIN else sum(1 for _ in self._lines())

    def _lines(self) -> Iterator[str]:
        return without_trailing_blanks(read_lines(self.path, replace_invalid=self.replace_invalid))

    def __iter__(self) -> Iterator[Item]:
        for number, line in enumerate(self._lines(), start=1):
            yield Item(number, NO_TEXT, (), Text(line, self.lang), {SRC: line})


@dataclass(frozen=True)
class TableSources:
    """A column of a table; ``lang`` is for rows without a language of their own."""

    table: RecordFile
    column: str
    lang_column: str | None = None
    lang: str | None = None

    @classmethod
    def choose(
        cls,
        table: RecordFile,
        *,
        column: str | None = None,
        lang_column: str | None = None,
        lang: str | None = None,
    ) -> TableSources:
        """Use the columns that are given, or find them by their usual names."""
        names = table.columns()
        there = f"{name_of(table.path)} has the columns {listed(names)}"
        found = find_column(names, ALIASES["src"] if column is None else [column])
        if found is None:
            which = "which column is the source?" if column is None else f"no column {column!r}:"
            raise InputError(f"{which} {there}; use --src-column")
        langs = find_column(names, ALIASES["src_lang"] if lang_column is None else [lang_column])
        if langs is None and lang_column is not None:
            raise InputError(f"no column {lang_column!r}: {there}")
        return cls(table, found, langs, lang)

    @property
    def name(self) -> str:
        return name_of(self.table.path)

    @property
    def columns(self) -> Sequence[str]:
        return self.table.columns()

    def count(self) -> int | None:
        return None if self.table.path == STDIN else self.table.count()

    def __iter__(self) -> Iterator[Item]:
        for number, record in enumerate(self.table, start=1):
            try:
                value = field_value(record, self.column, role="source", row=number)
                text = check_text(value, role="source", row=number)
                check_fields(record, row=number)
                given = record.get(self.lang_column) if self.lang_column is not None else None
                lang = language_code(given) if isinstance(given, str) and given else self.lang
            except InputError as error:
                raise InputError(f"{self.name}, {error}") from None
            yield Item(number, NO_TEXT, (), Text(text, lang), record)
