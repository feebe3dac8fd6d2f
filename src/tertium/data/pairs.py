"""What is scored: which column, file or string is the hypothesis, reference or source."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice, zip_longest
from pathlib import Path
from typing import NamedTuple, Protocol, Self

from tertium.data.codes import language_code, primary
from tertium.data.lines import STDIN, check_file, name_of, read_lines, without_trailing_blanks
from tertium.data.records import Record, RecordFile, listed
from tertium.errors import InputError, no_parameters
from tertium.text import NO_TEXT, Row, Text, check_fields, check_text, field_value

ALIASES = {
    "hyp": ("hyp", "hypothesis", "mt", "sentence1", "sentence_a"),
    "ref": ("ref", "reference", "target", "tgt", "sentence2", "sentence_b"),
    "src": ("src", "source"),
    "hyp_lang": ("hyp_lang", "lang", "tgt_lang", "target_lang", "lang_a"),
    "ref_lang": ("ref_lang", "lang", "tgt_lang", "target_lang", "lang_b"),
    "src_lang": ("src_lang", "source_lang"),
}
"""Column names that are recognised by default, in any case; see also :func:`reference_columns`."""
BITEXT = {
    "hyp": ("tgt", "target", "ref", "hyp", "mt", "sentence2", "sentence_b"),
    "src": (*ALIASES["src"], "sentence1", "sentence_a"),
    "hyp_lang": ("tgt_lang", "target_lang", "lang_b", "lang"),
    "src_lang": (*ALIASES["src_lang"], "lang_a"),
}
"""The same for texts with their translations, which are then the hypotheses."""
RESULTS = frozenset({"cut", "split", "marks", "parts", "error", "spans", "flags", "severity"})
"""Columns that Tertium writes besides scores: never texts, unless they are given explicitly."""
NUMBERED_REFERENCE = re.compile(r"(?:ref|reference)s?[ _-]?(\d+|[a-z])?", re.IGNORECASE)


class Source(Protocol):
    """A source of rows that can be read more than once (standard input: once)."""

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

    @property
    def paths(self) -> Sequence[Path]:
        """The files that it is read from."""
        ...

    def __iter__(self) -> Iterator[Row]: ...

    def count(self) -> int | None:
        """The number of rows, if it is known in advance."""
        ...

    def between(self, start: int, stop: int) -> Iterator[Row]:
        """Read a range of rows, counted from 0; they keep their numbers."""
        ...

    def kinds(self) -> Mapping[str, set[type]]:
        """The Python types of the values of each field."""
        ...


class TextSource:
    """A source whose fields are texts: what it can do by its other methods."""

    def between(self: Source, start: int, stop: int) -> Iterator[Row]:
        """Read a range of rows from the beginning on."""
        return islice(self, start, stop)

    def kinds(self: Source) -> Mapping[str, set[type]]:
        """All fields are texts."""
        return {name: {str} for name in self.columns}


class FileSource(TextSource, ABC):
    """A source that is read from files, and named after the first of them."""

    @property
    @abstractmethod
    def paths(self) -> Sequence[Path]: ...

    @property
    def name(self) -> str:
        return name_of(self.paths[0])


@dataclass(frozen=True)
class DerivedSource:
    """Rows made of those of another source, with the same fields."""

    source: Source

    @property
    def name(self) -> str:
        return self.source.name

    @property
    def columns(self) -> Sequence[str]:
        return self.source.columns

    @property
    def has_references(self) -> bool:
        return self.source.has_references

    @property
    def has_source(self) -> bool:
        return self.source.has_source

    @property
    def paths(self) -> Sequence[Path]:
        return self.source.paths

    def kinds(self) -> Mapping[str, set[type]]:
        """The types of the other source."""
        return self.source.kinds()


@dataclass(frozen=True)
class RowList(TextSource):
    """Rows that are in memory."""

    rows: Sequence[Row]
    name: str
    has_references: bool = True
    has_source: bool = False
    columns: Sequence[str] = ()
    paths: Sequence[Path] = ()

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def count(self) -> int:
        return len(self.rows)


@dataclass(frozen=True)
class Languages:
    """Languages of all rows; names and codes in any case become codes.

    >>> Languages("EN", "german")
    Languages(hyp='en', ref='de', src=None)
    """

    hyp: str | None = None
    ref: str | None = None
    src: str | None = None

    def __post_init__(self) -> None:
        for role in ("hyp", "ref", "src"):
            lang = getattr(self, role)
            object.__setattr__(self, role, None if lang is None else language_code(lang))


@dataclass(frozen=True)
class Columns:
    """The column of each role; None if there is none."""

    hyp: str | None = None
    refs: tuple[str, ...] = ()
    src: str | None = None
    hyp_lang: str | None = None
    ref_lang: str | None = None
    src_lang: str | None = None
    bitext: bool = False
    """Whether the hypothesis is called the target."""


def find_column(names: Sequence[str], wanted: Sequence[str]) -> str | None:
    """The first of the wanted names that is a column, in any case.

    >>> find_column(["ID", "Hyp"], ["hypothesis", "hyp"])
    'Hyp'
    """
    lower = {name.lower(): name for name in reversed(names)}
    return next(
        (
            name if name in names else lower[name.lower()]
            for name in wanted
            if name.lower() in lower
        ),
        None,
    )


def reference_columns(names: Sequence[str]) -> list[str]:
    """All columns with references, in the order of their numbers.

    ``ref``, ``reference``, ``ref2``, ``ref_2``, ``reference-3``, ``refA`` and so on; if there is
    none of them, ``target``, ``tgt`` or ``sentence2``.

    >>> reference_columns(["mt", "ref_2", "Reference", "ref_10", "ref_lang"])
    ['Reference', 'ref_2', 'ref_10']
    >>> reference_columns(["source", "target", "mt"])
    ['target']
    """
    found = []
    for place, name in enumerate(names):
        match = NUMBERED_REFERENCE.fullmatch(name)
        if match is not None:
            number = (match[1] or "").lower()
            found.append((len(number), number, place, name))
    if found:
        return [name for *_, name in sorted(found)]
    other = find_column(names, ALIASES["ref"])
    return [] if other is None else [other]


@dataclass(frozen=True)
class ColumnChooser:
    """Finds the columns of a table: those that are given, or others by their usual names."""

    table: RecordFile
    purpose: str = "score"
    """For the message about an empty table."""

    @cached_property
    def names(self) -> list[str]:
        names = self.table.columns()
        if not names:
            raise InputError(f"{name_of(self.table.path)} is empty: nothing to {self.purpose}")
        return names

    @property
    def there(self) -> str:
        return f"{name_of(self.table.path)} has the columns {listed(self.names)}"

    def __call__(self, usual: Sequence[str], given: str | None = None) -> str | None:
        """The column that is given, which must be there, or the first of the usual ones."""
        column = find_column(self.names, usual if given is None else [given])
        if column is None and given is not None:
            raise InputError(f"no column {given!r}: {self.there}")
        return column

    def references(self, given: Sequence[str], *, besides: str | None) -> tuple[str, ...]:
        """The columns with references, except for one that has another role."""
        found = [self((), name) for name in given] if given else reference_columns(self.names)
        return tuple(name for name in found if name is not None and name != besides)


def choose_columns(
    table: RecordFile,
    *,
    hyp: str | None = None,
    refs: Sequence[str] = (),
    src: str | None = None,
    lang: str | None = None,
    ref_lang: str | None = None,
    src_lang: str | None = None,
    alone: bool = False,
) -> Columns:
    """Use the columns that are given, and find the others by their usual names.

    There must be references or a source, unless hypotheses may stand ``alone``.
    """
    pick = ColumnChooser(table)
    hyp = pick(ALIASES["hyp"], hyp)
    if hyp is None and len(pick.names) == 1:
        raise InputError(
            f"{name_of(table.path)} has one column, and is not a table of pairs",
            cure="of plain text, give hypotheses with {hyp} and references with {ref}",
        )
    if hyp is None:
        raise InputError(
            f"which column is the hypothesis? {pick.there}",
            cure=("use {hyp_column}", "compare systems, one column per system"),
        )
    found = pick.references(refs, besides=hyp)
    src = pick(ALIASES["src"], src)
    if not found and src is None and not alone:
        raise InputError(
            f"which column is the reference, or the source? {pick.there}",
            cure="use {ref_column} or {src_column}",
        )
    if ref_lang is None and lang is not None:
        ref_lang = find_column(pick.names, ["ref_lang"]) or lang
    return Columns(
        hyp,
        found,
        src,
        pick(ALIASES["hyp_lang"], lang),
        pick(ALIASES["ref_lang"], ref_lang),
        pick(ALIASES["src_lang"], src_lang),
    )


def source_columns(
    table: RecordFile, *, src: str | None = None, src_lang: str | None = None
) -> Columns:
    """The column with the source alone, and that of its language."""
    pick = ColumnChooser(table, "translate")
    found = pick(ALIASES["src"], src)
    if found is None:
        raise InputError(f"which column is the source? {pick.there}", cure="use {src_column}")
    return Columns(src=found, src_lang=pick(ALIASES["src_lang"], src_lang))


def bitext_columns(
    table: RecordFile,
    *,
    src: str | None = None,
    tgt: str | None = None,
    langs: Languages | None = None,
) -> Columns:
    """The columns of texts and their translations, which may be named after the languages."""
    pick = ColumnChooser(table, "filter")

    def find(role: str, given: str | None, lang: str | None, name: str, cure: str) -> str:
        column = pick([*([lang] if lang else []), *BITEXT[role]], given)
        if column is None:
            raise InputError(f"which column is the {name}? {pick.there}", cure=cure)
        return column

    langs = langs or Languages()
    source = find("src", src, langs.src, "source", cure="use {src_column}")
    target = find("hyp", tgt, langs.hyp, "target", cure="use {tgt_column}")
    if source == target:
        raise InputError(
            f"the column {source!r} cannot be both source and target: {pick.there}",
            cure="use {src_column} and {tgt_column}",
        )
    target_lang, source_lang = pick(BITEXT["hyp_lang"]), pick(BITEXT["src_lang"])
    return Columns(target, (), source, target_lang, None, source_lang, bitext=True)


@dataclass(frozen=True)
class TablePairs:
    """Rows from a table. In JSON, a reference may be a list of references.

    ``languages`` holds for rows without a language of their own; contradictions are errors.
    """

    table: RecordFile
    roles: Columns
    languages: Languages = field(default_factory=Languages)
    tolerant: bool = False
    """Whether rows that cannot be read are marked (:attr:`Row.error`), instead of an error."""

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

    def __iter__(self) -> Iterator[Row]:
        return self.rows(self.table)

    def between(self, start: int, stop: int) -> Iterator[Row]:
        return self.rows(islice(self.table.read_from(start), stop - start), start + 1)

    def rows(self, records: Iterable[Record], first: int = 1) -> Iterator[Row]:
        """Make rows of records, which are numbered from ``first``."""
        for number, record in enumerate(records, first):
            try:
                row = self._row(number, record)
                check_fields(record, row=number)
            except InputError as error:
                if not self.tolerant:
                    raise error.at(f"{self.name}, ") from None
                told = error.at(f"{self.name}, ").said(no_parameters)
                row = Row(number, record=record, error=told)
            yield row

    def _row(self, number: int, record: Record) -> Row:
        roles = self.roles
        hyp_lang, ref_lang, src_lang = self._languages(number, record)

        def texts(column: str, role: str, lang: str | None) -> list[Text]:
            value = field_value(record, column, role=role, row=number)
            several = value if isinstance(value, list) and role == "reference" else [value]
            return [Text(check_text(text, role=role, row=number), lang) for text in several]

        hypothesis = NO_TEXT
        if roles.hyp is not None:
            [hypothesis] = texts(roles.hyp, "target" if roles.bitext else "hypothesis", hyp_lang)
        references = [
            text for column in roles.refs for text in texts(column, "reference", ref_lang)
        ]
        if roles.refs and not references:
            raise InputError(f"row {number}: its list of references is empty")
        source = None
        if roles.src is not None:
            [source] = texts(roles.src, "source", src_lang)
        return Row(number, hypothesis, tuple(references), source, record)

    def _languages(self, number: int, record: Record) -> tuple[str | None, str | None, str | None]:
        """The languages of hypothesis, references and source.

        A language for all rows fills gaps. If it contradicts a column, that is an error, except
        that the language given for references is more specific than a column that they share with
        hypotheses.
        """
        roles, common = self.roles, self.languages

        def value(column: str | None) -> str | None:
            lang = record.get(column) if column is not None else None
            if lang is not None and not isinstance(lang, str):
                raise InputError(f"row {number}: the language in {column!r} is not text: {lang!r}")
            return language_code(lang) if lang else None

        def agreed(column: str | None, given: str | None, parameter: str) -> str | None:
            lang = value(column)
            if lang is not None and given is not None and primary(lang) != primary(given):
                raise InputError(
                    f"row {number}: the language in {column!r} is {record[str(column)]!r}, but "
                    f"{given!r} was given, which is only for rows without a language",
                    cure=(f"leave out {{{parameter}}}", "correct the column"),
                )
            return lang or given

        shared = roles.ref_lang == roles.hyp_lang
        specific = common.ref if common.ref != common.hyp else None  # one is for both otherwise
        if shared:
            ref = specific or value(roles.ref_lang) or common.ref
        else:
            ref = agreed(roles.ref_lang, specific, "reference_lang") or common.ref
        return (
            agreed(roles.hyp_lang, common.hyp, "target_lang" if roles.bitext else "lang"),
            ref,
            agreed(roles.src_lang, common.src, "source_lang"),
        )


class LineCount(NamedTuple):
    """The number of lines of a file, and without empty lines at the end."""

    lines: int
    to_last_text: int

    @classmethod
    def of(cls, lines: Iterable[str]) -> Self:
        """Count lines.

        >>> LineCount.of(["a", "", "b", ""])
        LineCount(lines=4, to_last_text=3)
        """
        total = last = 0
        for total, line in enumerate(lines, start=1):
            last = total if line else last
        return cls(total, last)


@dataclass(frozen=True)
class FilePairs(FileSource):
    """Rows from parallel plain-text files, one text per line.

    Empty lines at the end are ignored, unless another file has text there.
    """

    hyp: Path | None = None
    refs: tuple[Path, ...] = ()
    src: Path | None = None
    languages: Languages = field(default_factory=Languages)
    replace_invalid: bool = False
    alone: bool = False
    """Whether hypotheses, or sources, may stand alone."""
    bitext: bool = False
    """Whether the hypothesis is called the target, and comes after the source."""

    def __post_init__(self) -> None:
        if len(self.paths) < 2 and not self.alone:
            raise InputError(
                "a file with references or sources is needed: -r ref.txt; "
                "or without references, -s src.txt -m prism-src -l de-en"
            )
        if self.paths.count(STDIN) > 1:
            raise InputError("only one of the files can be standard input")
        for path in self.paths:
            check_file(path)
        counts = {path: LineCount.of(self._lines(path)) for path in self.paths if path != STDIN}
        rows = max((count.to_last_text for count in counts.values()), default=None)
        if rows is not None and min(count.lines for count in counts.values()) < rows:
            lines = ", ".join(f"{path} has {count.to_last_text}" for path, count in counts.items())
            raise InputError(f"the files differ in their number of lines: {lines}")
        object.__setattr__(self, "_count", rows)

    @property
    def files(self) -> dict[str, Path]:
        """The files by the names of their columns, in order."""
        refs = ("ref" if n == 1 else f"ref{n}" for n in range(1, len(self.refs) + 1))
        hyp = {} if self.hyp is None else {"tgt" if self.bitext else "hyp": self.hyp}
        src = {} if self.src is None else {"src": self.src}
        between = dict(zip(refs, self.refs, strict=True))
        return {**src, **hyp} if self.bitext else {**hyp, **between, **src}

    @property
    def paths(self) -> list[Path]:
        return list(self.files.values())

    @property
    def columns(self) -> Sequence[str]:
        return list(self.files)

    @property
    def has_references(self) -> bool:
        return bool(self.refs)

    @property
    def has_source(self) -> bool:
        return self.src is not None

    def count(self) -> int | None:
        """None if there is only standard input, whose lines cannot be counted beforehand."""
        count: int | None = self._count  # type: ignore[attr-defined]
        return count

    def __iter__(self) -> Iterator[Row]:
        langs, rows = self.languages, self.count()
        streams = [self._lines(path) for path in self.paths]
        if rows is None:
            streams = [without_trailing_blanks(stream) for stream in streams]
        for number, lines in enumerate(zip_longest(*streams), start=1):
            if rows is not None and number > rows and not any(lines):
                continue  # empty lines at the end
            if None in lines:
                short = name_of(self.paths[lines.index(None)])
                raise InputError(f"{short} ends before line {number}; other files are longer")
            record = dict(zip(self.files, lines, strict=True))
            given = {name: Text(line, langs.ref) for name, line in record.items()}
            hypothesis = given.pop("tgt" if self.bitext else "hyp", NO_TEXT)
            source = given.pop("src", None)
            yield Row(
                number,
                hypothesis._replace(lang=langs.hyp),
                tuple(given.values()),
                None if source is None else source._replace(lang=langs.src),
                record,
            )

    def _lines(self, path: Path) -> Iterator[str]:
        return read_lines(path, replace_invalid=self.replace_invalid)


def single_row(languages: Languages, **texts: str) -> RowList:
    """A single row of texts: ``hyp``, ``ref`` or ``src``."""
    names = ("first text", "second text") if len(texts) > 1 else ("text",)
    for name, text in zip(names, texts.values(), strict=True):
        check_text(text, role=name, row=1)
    given = {role: Text(text, getattr(languages, role)) for role, text in texts.items()}
    references = (given["ref"],) if "ref" in given else ()
    row = Row(1, given.get("hyp", NO_TEXT), references, given.get("src"), texts)
    return RowList([row], "command line", bool(references), "src" in texts, list(texts))
