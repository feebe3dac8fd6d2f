"""What is scored: which column, file or string is the hypothesis, reference or source."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, zip_longest
from pathlib import Path
from typing import Protocol

from tertium.data.lines import STDIN, check_file, name_of, read_lines
from tertium.data.records import Record, Table, listed
from tertium.errors import InputError
from tertium.text import Row, Text, check_fields, check_text

ALIASES = {
    "hyp": ("hyp", "hypothesis", "mt", "sentence1"),
    "ref": ("ref", "reference", "sentence2"),
    "src": ("src", "source"),
    "hyp_lang": ("hyp_lang", "lang"),
    "ref_lang": ("ref_lang", "lang"),
    "src_lang": ("src_lang",),
}
"""Column names that are recognised by default."""


@dataclass(frozen=True, slots=True)
class Item(Row):
    """A row, and the record that it was read from."""

    record: Record = field(default_factory=dict)


class Pairs(Protocol):
    """A source of items that can be iterated more than once."""

    @property
    def name(self) -> str: ...

    @property
    def columns(self) -> Sequence[str]:
        """The names of the records' fields."""
        ...

    @property
    def has_references(self) -> bool: ...

    @property
    def has_source(self) -> bool: ...

    def __iter__(self) -> Iterator[Item]: ...

    def count(self) -> int | None:
        """The number of items, if it is known in advance."""
        ...


class StoredPairs(Pairs, Protocol):
    """Pairs in files, of which any process can read a part."""

    @property
    def paths(self) -> Sequence[Path]: ...

    def between(self, start: int, stop: int) -> Iterator[Item]:
        """Read the items of a range of rows, counted from 0; they keep their numbers."""
        ...

    def kinds(self) -> Mapping[str, set[type]]:
        """The Python types of the values of each field."""
        ...


@dataclass(frozen=True)
class Languages:
    """Languages of all rows."""

    hyp: str | None = None
    ref: str | None = None
    src: str | None = None


@dataclass(frozen=True)
class Columns:
    """The column of each role; None if there is none."""

    hyp: str
    refs: tuple[str, ...]
    src: str | None
    hyp_lang: str | None
    ref_lang: str | None
    src_lang: str | None


def choose_columns(
    table: Table,
    languages: Languages | None = None,
    *,
    hyp: str | None = None,
    refs: Sequence[str] = (),
    src: str | None = None,
    lang: str | None = None,
    ref_lang: str | None = None,
    src_lang: str | None = None,
) -> Columns:
    """Use the columns that are given, and find the others by their usual names.

    A language in ``languages`` holds for all rows: no column is looked for then.
    """
    names = table.columns()
    common = languages or Languages()
    if not names:
        raise InputError(f"{name_of(table.path)} is empty: there is nothing to score")
    there = f"{name_of(table.path)} has the columns {listed(names)}"

    def pick(role: str, given: str | None) -> str | None:
        if given is not None:
            if given not in names:
                raise InputError(f"no column {given!r}: {there}")
            return given
        return next((alias for alias in ALIASES[role] if alias in names), None)

    def pick_language(role: str, given: str | None, common: str | None) -> str | None:
        return None if given is None and common is not None else pick(role, given)

    hyp = pick("hyp", hyp)
    if hyp is None:
        raise InputError(f"which column is the hypothesis? {there}; use --hyp-column")
    found = [pick("ref", given) for given in refs] or [pick("ref", None)]
    src = pick("src", src)
    hyp_lang = pick_language("hyp_lang", lang, common.hyp)
    if ref_lang is None and lang is not None and "ref_lang" not in names:
        ref_lang = lang
    columns = Columns(
        hyp=hyp,
        refs=tuple(column for column in found if column is not None),
        src=src,
        hyp_lang=hyp_lang,
        ref_lang=pick_language("ref_lang", ref_lang, common.ref),
        src_lang=pick_language("src_lang", src_lang, common.src),
    )
    if not columns.refs and src is None:
        raise InputError(
            f"which column is the reference, or the source? {there}; "
            "use --ref-column or --src-column"
        )
    return columns


@dataclass(frozen=True)
class TablePairs:
    """Items from a table. In JSON, a reference may be a list of references."""

    table: Table
    roles: Columns
    languages: Languages = field(default_factory=Languages)

    @property
    def name(self) -> str:
        return name_of(self.table.path)

    @property
    def columns(self) -> Sequence[str]:
        return self.table.columns()

    @property
    def has_references(self) -> bool:
        return bool(self.roles.refs)

    @property
    def has_source(self) -> bool:
        return self.roles.src is not None

    def count(self) -> int | None:
        return None if self.table.path == STDIN else self.table.count()

    @property
    def paths(self) -> Sequence[Path]:
        return [self.table.path]

    def kinds(self) -> Mapping[str, set[type]]:
        return self.table.kinds()

    def __iter__(self) -> Iterator[Item]:
        return self._items(self.table, 1)

    def between(self, start: int, stop: int) -> Iterator[Item]:
        return self._items(islice(self.table.read_from(start), stop - start), start + 1)

    def item(self, number: int, record: Record) -> Item:
        """The item of one record; an error concerns this row alone."""
        [item] = self._items([record], number)
        return item

    def _items(self, records: Iterable[Record], first: int) -> Iterator[Item]:
        for number, record in enumerate(records, first):
            try:
                item = self._item(number, record)
                check_fields(record, row=number)
                yield item
            except InputError as error:
                raise InputError(f"{self.name}, {error}") from None

    def _item(self, number: int, record: Record) -> Item:
        roles, common = self.roles, self.languages

        def lang(column: str | None, otherwise: str | None) -> str | None:
            value = record.get(column) if column is not None else None
            if value is not None and not isinstance(value, str):
                raise InputError(f"row {number}: the language in {column!r} is not text: {value!r}")
            return value or otherwise

        def texts(column: str, role: str, lang: str | None) -> list[Text]:
            if column not in record:
                raise InputError(f"row {number}: field {column!r} is missing")
            value = record[column]
            several = value if isinstance(value, list) and role == "reference" else [value]
            return [Text(check_text(text, role=role, row=number), lang) for text in several]

        [hypothesis] = texts(roles.hyp, "hypothesis", lang(roles.hyp_lang, common.hyp))
        ref_lang = lang(roles.ref_lang, common.ref)
        references = [
            text for column in roles.refs for text in texts(column, "reference", ref_lang)
        ]
        if roles.refs and not references:
            raise InputError(f"row {number}: its list of references is empty")
        source = None
        if roles.src is not None:
            [source] = texts(roles.src, "source", lang(roles.src_lang, common.src))
        return Item(number, hypothesis, tuple(references), source, record)


@dataclass(frozen=True)
class FilePairs:
    """Items from parallel plain-text files, one text per line."""

    hyp: Path
    refs: tuple[Path, ...]
    src: Path | None = None
    languages: Languages = field(default_factory=Languages)
    replace_invalid: bool = False

    def __post_init__(self) -> None:
        if len(self.paths) < 2:
            raise InputError("a file with references or sources is needed (--ref, --src)")
        if self.paths.count(STDIN) > 1:
            raise InputError("only one of the files can be standard input")
        for path in self.paths:
            check_file(path)
        counts = {
            path: sum(1 for _ in read_lines(path, replace_invalid=self.replace_invalid))
            for path in self.paths
            if path != STDIN
        }
        if len(set(counts.values())) > 1:
            lines = ", ".join(f"{path} has {count}" for path, count in counts.items())
            raise InputError(f"the files differ in their number of lines: {lines}")
        object.__setattr__(self, "_count", next(iter(counts.values())))

    @property
    def name(self) -> str:
        return name_of(self.hyp)

    @property
    def paths(self) -> list[Path]:
        """All the files, in the order of the columns."""
        return [self.hyp, *self.refs, *([] if self.src is None else [self.src])]

    @property
    def columns(self) -> Sequence[str]:
        refs = ["ref", *(f"ref{n}" for n in range(2, len(self.refs) + 1))][: len(self.refs)]
        return ["hyp", *refs, *([] if self.src is None else ["src"])]

    @property
    def has_references(self) -> bool:
        return bool(self.refs)

    @property
    def has_source(self) -> bool:
        return self.src is not None

    def count(self) -> int | None:
        count: int = self._count  # type: ignore[attr-defined]
        return count

    def kinds(self) -> Mapping[str, set[type]]:
        return {name: {str} for name in self.columns}

    def between(self, start: int, stop: int) -> Iterator[Item]:
        return islice(self, start, stop)

    def __iter__(self) -> Iterator[Item]:
        paths, names, langs = self.paths, self.columns, self.languages
        streams = [read_lines(path, replace_invalid=self.replace_invalid) for path in paths]
        for number, lines in enumerate(zip_longest(*streams), start=1):
            if None in lines:
                short = name_of(paths[lines.index(None)])
                raise InputError(f"{short} ends before line {number}; other files are longer")
            source = None if self.src is None else Text(lines[-1], langs.src)
            references = tuple(Text(line, langs.ref) for line in lines[1 : 1 + len(self.refs)])
            record = dict(zip(names, lines, strict=True))
            yield Item(number, Text(lines[0], langs.hyp), references, source, record)


@dataclass(frozen=True)
class TwoStrings:
    """A single item, given as two strings."""

    hyp: str
    ref: str
    languages: Languages = field(default_factory=Languages)
    name: str = "command line"
    columns: Sequence[str] = ("hyp", "ref")
    has_references: bool = True
    has_source: bool = False

    def count(self) -> int | None:
        return 1

    def __iter__(self) -> Iterator[Item]:
        hypothesis = check_text(self.hyp, role="first text", row=1)
        reference = check_text(self.ref, role="second text", row=1)
        yield Item(
            1,
            Text(hypothesis, self.languages.hyp),
            (Text(reference, self.languages.ref),),
            None,
            {"hyp": hypothesis, "ref": reference},
        )
