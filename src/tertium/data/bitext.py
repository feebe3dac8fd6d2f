"""Bitext: rows with a source and a target, from tables, parallel text files or TMX."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple, Protocol

from tertium.data.lines import check_file, name_of, read_lines
from tertium.data.pairs import find_column
from tertium.data.records import Record, RecordFile, listed
from tertium.data.tmx import Unit, read_tmx
from tertium.errors import InputError
from tertium.text import Text, check_fields, check_text, field_value

SOURCE_NAMES = ("src", "source", "sentence1", "sentence_a")
TARGET_NAMES = ("tgt", "target", "ref", "hyp", "sentence2", "sentence_b")
SOURCE_LANG_NAMES = ("src_lang", "lang_a")
TARGET_LANG_NAMES = ("tgt_lang", "lang_b")


class BitextRow(NamedTuple):
    """A record, and its source and target."""

    record: Record
    source: Text
    target: Text


class Bitext(Protocol):
    """A bitext that can be read several times."""

    @property
    def name(self) -> str: ...

    @property
    def columns(self) -> Sequence[str]: ...

    def __iter__(self) -> Iterator[BitextRow]: ...


@dataclass(frozen=True)
class BitextColumns:
    """The columns of the texts, and of their languages (None if there are none)."""

    source: str
    target: str
    source_lang: str | None = None
    target_lang: str | None = None


def bitext_columns(
    table: RecordFile,
    *,
    source_lang: str | None = None,
    target_lang: str | None = None,
    source: str | None = None,
    target: str | None = None,
) -> BitextColumns:
    """Choose columns: those that are given, otherwise by language code or common names."""
    names = table.columns()
    columns_are = f"{name_of(table.path)} has the columns {listed(names)}"
    if not names:
        raise InputError(f"{name_of(table.path)} is empty")

    def pick(given: str | None, lang: str | None, usual: Sequence[str], option: str) -> str:
        if given is not None and find_column(names, [given]) is None:
            raise InputError(f"no column {given!r}: {columns_are}")
        wanted = [given] if given else [*([lang] if lang else []), *usual]
        column = find_column(names, wanted)
        if column is None:
            raise InputError(f"which column is the {option}? {columns_are}; use --{option}-column")
        return column

    def pick_language(given: str | None, usual: Sequence[str]) -> str | None:
        return None if given else find_column(names, usual)

    columns = BitextColumns(
        pick(source, source_lang, SOURCE_NAMES, "src"),
        pick(target, target_lang, TARGET_NAMES, "tgt"),
        pick_language(source_lang, SOURCE_LANG_NAMES),
        pick_language(target_lang, TARGET_LANG_NAMES),
    )
    if columns.source == columns.target:
        raise InputError(
            f"the column {columns.source!r} cannot be both source and target: {columns_are}; "
            "use --src-column and --tgt-column"
        )
    return columns


@dataclass(frozen=True)
class TableBitext:
    """The rows of a table, with all its columns."""

    table: RecordFile
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
        value = field_value(record, column, role=role, row=number)
        return check_text(value, role=role, row=number)

    @staticmethod
    def _lang(record: Record, column: str | None, otherwise: str | None) -> str | None:
        lang = record.get(column) if column is not None else None
        return str(lang) if lang else otherwise


@dataclass(frozen=True)
class ParallelBitext:
    """Two parallel text files, one sentence per line, as OPUS and Moses use them."""

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
                raise InputError(f"{short} ends before line {number}, but the other file continues")
            yield BitextRow(
                {"src": source, "tgt": target},
                Text(source, self.source_lang),
                Text(target, self.target_lang),
            )


@dataclass(frozen=True)
class TmxBitext:
    """Translation units that have both languages; several segments give several rows."""

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
    """The segments in a language; ``en`` includes ``en-GB``, but not the other way round.

    >>> segments({"en-gb": ["Colour"], "de": ["Farbe"]}, "en")
    ['Colour']
    """
    wanted = lang.lower()
    return [
        text
        for code, texts in unit.items()
        if code == wanted or code.startswith((f"{wanted}-", f"{wanted}_"))
        for text in texts
    ]
