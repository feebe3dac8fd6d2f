"""What is translated: a text, the lines of a file, or a column of a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from tertium.data.codes import language_code
from tertium.data.lines import STDIN, check_file, name_of, read_lines, without_trailing_blanks
from tertium.data.pairs import ALIASES, TextSource, find_column
from tertium.data.records import Record, RecordFile, listed
from tertium.errors import InputError
from tertium.text import NO_TEXT, Row, Text, check_fields, check_text, field_value

SRC = "src"


@dataclass(frozen=True)
class OneSource(TextSource):
    """A single text."""

    text: str
    lang: str | None = None
    name: str = "command line"
    columns: Sequence[str] = (SRC,)
    has_references: bool = False
    has_source: bool = True
    paths: Sequence[Path] = ()

    def count(self) -> int | None:
        return 1

    def __iter__(self) -> Iterator[Row]:
        text = check_text(self.text, role="text", row=1)
        yield Row(1, NO_TEXT, (), Text(text, self.lang), {SRC: text})


@dataclass(frozen=True)
class LineSources(TextSource):
    """The lines of a plain text file, or of standard input."""

    path: Path
    lang: str | None = None
    replace_invalid: bool = False
    columns: Sequence[str] = (SRC,)
    has_references: bool = False
    has_source: bool = True

    def __post_init__(self) -> None:
        check_file(self.path)

    @property
    def name(self) -> str:
        return name_of(self.path)

    @property
    def paths(self) -> Sequence[Path]:
        return [self.path]

    def count(self) -> int | None:
        return None if self.path == STDIN else sum(1 for _ in self._lines())

    def _lines(self) -> Iterator[str]:
        return without_trailing_blanks(read_lines(self.path, replace_invalid=self.replace_invalid))

    def __iter__(self) -> Iterator[Row]:
        for number, line in enumerate(self._lines(), start=1):
            yield Row(number, NO_TEXT, (), Text(line, self.lang), {SRC: line})


@dataclass(frozen=True)
class TableSources:
    """A column of a table; ``lang`` is for rows without a language of their own."""

    table: RecordFile
    column: str
    lang_column: str | None = None
    lang: str | None = None
    has_references: bool = False
    has_source: bool = True

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

    @property
    def paths(self) -> Sequence[Path]:
        return [self.table.path]

    def kinds(self) -> Mapping[str, set[type]]:
        return self.table.kinds()

    def count(self) -> int | None:
        return None if self.table.path == STDIN else self.table.count()

    def __iter__(self) -> Iterator[Row]:
        return self._rows(self.table, 1)

    def between(self, start: int, stop: int) -> Iterator[Row]:
        return self._rows(islice(self.table.read_from(start), stop - start), start + 1)

    def _rows(self, records: Iterable[Record], first: int) -> Iterator[Row]:
        for number, record in enumerate(records, first):
            try:
                value = field_value(record, self.column, role="source", row=number)
                text = check_text(value, role="source", row=number)
                check_fields(record, row=number)
                given = record.get(self.lang_column) if self.lang_column is not None else None
                lang = language_code(given) if isinstance(given, str) and given else self.lang
            except InputError as error:
                raise InputError(f"{self.name}, {error}") from None
            yield Row(number, NO_TEXT, (), Text(text, lang), record)
