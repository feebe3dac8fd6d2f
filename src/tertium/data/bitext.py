"""Bitext: rows with a source and a target, from tables, parallel text files or TMX."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple, Protocol

from tertium.data.lines import check_file, name_of, read_lines
from tertium.data.records import Record, Table, listed
from tertium.data.tmx import Unit, read_tmx
from tertium.errors import InputError
from tertium.text import Text, check_fields, check_text

SOURCE_NAMES = ("src", "source", "sentence1", "sentence_a")
TARGET_NAMES = ("tgt", "target", "ref", "hyp", "sentence2", "sentence_b")
SOURCE_LANG_NAMES = ("src_lang", "lang_a")
TARGET_LANG_NAMES = ("tgt_lang", "lang_b")


class BitextRow(NamedTuple):
    """A record, and the two texts in it."""

    record: Record
    source: Text
    target: Text


class Bitext(Protocol):
    """Anything that rows can be read from, as often as one likes."""

    @property
    def name(self) -> str: ...

    @property
    def columns(self) -> Sequence[str]: ...

    def __iter__(self) -> Iterator[BitextRow]: ...


@dataclass(frozen=True)
class BitextColumns:
    """Which columns hold the texts, and which their languages, if any do."""

    source: str
    target: str
    source_lang: str | None = None
    target_lang: str | None = None


def bitext_columns(
    table: Table,
    *,
    source_lang: str | None = None,
    target_lang: str | None = None,
    source: str | None = None,
    target: str | None = None,
) -> BitextColumns:
    """Take the columns that are named; find the others by a language's code or the usual names."""
    names = table.columns()
    there = f"{name_of(table.path)} has the columns {listed(names)}"
    if not names:
        raise InputError(f"{name_of(table.path)} is empty: there is nothing to filter")

    def pick(given: str | None, lang: str | None, usual: Sequence[str], option: str) -> str:
        if given is not None and given not in names:
            raise InputError(f"no column {given!r}: {there}")
        found = given or next((name for name in (lang, *usual) if name in names), None)
        if found is None:
            raise InputError(f"which column is the {option}? {there}; say --{option}-column")
        return found

    def pick_language(said: str | None, usual: Sequence[str]) -> str | None:
        return None if said else next((name for name in usual if name in names), None)

    columns = BitextColumns(
        pick(source, source_lang, SOURCE_NAMES, "src"),
        pick(target, target_lang, TARGET_NAMES, "tgt"),
        pick_language(source_lang, SOURCE_LANG_NAMES),
        pick_language(target_lang, TARGET_LANG_NAMES),
    )
    if columns.source == columns.target:
        raise InputError(
            f"the column {columns.source!r} cannot be both source and target: {there}; "
            "say --src-column and --tgt-column"
        )
    return columns


@dataclass(frozen=True)
class TableBitext:
    """Rows of a table; all its columns are kept."""

    table: Table
    roles: BitextColumns
    source_lang: str | None = None
    target_lang: str | None = None

    @property
    def name(self) -> str:
        return name_of(self.table.path)

    @property
    def columns(self) -> Sequence[str]:
        return self.table.columns()

    def __iter__(self) -> Iterator[BitextRow]:
        for number, record in enumerate(self.table, start=1):
            try:
                source = self._text(record, self.roles.source, "source", number)
                target = self._text(record, self.roles.target, "target", number)
                check_fields(record, row=number)
            except InputError as error:
                raise InputError(f"{self.name}, {error}") from None
            source_lang = self._lang(record, self.roles.source_lang, self.source_lang)
            target_lang = self._lang(record, self.roles.target_lang, self.target_lang)
            yield BitextRow(record, Text(source, source_lang), Text(target, target_lang))

    @staticmethod
    def _text(record: Record, column: str, role: str, number: int) -> str:
        if column not in record:
            raise InputError(f"row {number}: it has no {column!r}")
        return check_text(record[column], role=role, row=number)

    @staticmethod
    def _lang(record: Record, column: str | None, otherwise: str | None) -> str | None:
        found = record.get(column) if column is not None else None
        return str(found) if found else otherwise


@dataclass(frozen=True)
class ParallelBitext:
    """Two text files, line by line side by side, as OPUS and Moses have them."""

    source: Path
    target: Path
    source_lang: str | None = None
    target_lang: str | None = None
    replace_invalid: bool = False
    columns: Sequence[str] = ("src", "tgt")

    def __post_init__(self) -> None:
        for path in (self.source, self.target):
            check_file(path)

    @property
    def name(self) -> str:
        return f"{name_of(self.source)} and {name_of(self.target)}"

    def __iter__(self) -> Iterator[BitextRow]:
        paths = (self.source, self.target)
        streams = [read_lines(path, replace_invalid=self.replace_invalid) for path in paths]
        for number, (source, target) in enumerate(zip_longest(*streams), start=1):
            if source is None or target is None:
                short = name_of(paths[0 if source is None else 1])
                raise InputError(f"{short} ends before line {number}, the other goes on")
            yield BitextRow(
                {"src": source, "tgt": target},
                Text(source, self.source_lang),
                Text(target, self.target_lang),
            )


@dataclass(frozen=True)
class TmxBitext:
    """The units of a translation memory that have both languages; several renderings are rows."""

    path: Path
    source_lang: str
    target_lang: str
    columns: Sequence[str] = ("src", "tgt")

    @property
    def name(self) -> str:
        return name_of(self.path)

    def __iter__(self) -> Iterator[BitextRow]:
        for unit in read_tmx(self.path):
            for source in segments(unit, self.source_lang):
                for target in segments(unit, self.target_lang):
                    yield BitextRow(
                        {"src": source, "tgt": target},
                        Text(source, self.source_lang),
                        Text(target, self.target_lang),
                    )


def segments(unit: Unit, lang: str) -> list[str]:
    """The segments in a language; asked for ``en``, ``en-GB`` will do, but not the other way round.

    >>> segments({"en-gb": ["Colour"], "de": ["Farbe"]}, "en")
    ['Colour']
    """
    asked = lang.lower()
    return [
        text
        for code, texts in unit.items()
        if code == asked or code.startswith((f"{asked}-", f"{asked}_"))
        for text in texts
    ]
