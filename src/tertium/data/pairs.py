"""What is scored: which column, file or string is the hypothesis, reference or source."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, zip_longest
from pathlib import Path
from typing import NamedTuple, Protocol, Self

from tertium.data.codes import language_code, primary
from tertium.data.lines import STDIN, check_file, name_of, read_lines
from tertium.data.records import Record, RecordFile, listed
from tertium.errors import InputError
from tertium.text import Row, Text, check_fields, check_text, field_value

ALIASES = {
    "hyp": ("hyp", "hypothesis", "mt", "sentence1"),
    "ref": ("ref", "reference", "target", "tgt", "sentence2"),
    "src": ("src", "source"),
    "hyp_lang": ("hyp_lang", "lang", "tgt_lang", "target_lang"),
    "ref_lang": ("ref_lang", "lang", "tgt_lang", "target_lang"),
    "src_lang": ("src_lang", "source_lang"),
}
"""Column names that are recognised by default, in any case; see also :func:`reference_columns`."""
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

    hyp: str
    refs: tuple[str, ...]
    src: str | None
    hyp_lang: str | None
    ref_lang: str | None
    src_lang: str | None


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
    names = table.columns()
    if not names:
        raise InputError(f"{name_of(table.path)} is empty: there is nothing to score")
    there = f"{name_of(table.path)} has the columns {listed(names)}"

    def pick(role: str, given: str | None) -> str | None:
        if given is None:
            return find_column(names, ALIASES[role])
        column = find_column(names, [given])
        if column is None:
            raise InputError(f"no column {given!r}: {there}")
        return column

    hyp = pick("hyp", hyp)
    if hyp is None and len(names) == 1:
        raise InputError(
            f"{name_of(table.path)} has one column, and is no table of pairs; "
            "of plain text, give hypotheses with -t and references with -r"
        )
    if hyp is None:
        raise InputError(
            f"which column is the hypothesis? {there}; use --hyp-column "
            "(or `tertium compare`, for one column per system)"
        )
    found = [pick("ref", given) for given in refs] if refs else reference_columns(names)
    src = pick("src", src)
    if ref_lang is None and lang is not None:
        ref_lang = find_column(names, ["ref_lang"]) or lang
    columns = Columns(
        hyp=hyp,
        refs=tuple(column for column in found if column is not None and column != hyp),
        src=src,
        hyp_lang=pick("hyp_lang", lang),
        ref_lang=pick("ref_lang", ref_lang),
        src_lang=pick("src_lang", src_lang),
    )
    if not columns.refs and src is None and not alone:
        raise InputError(
            f"which column is the reference, or the source? {there}; "
            "use --ref-column or --src-column"
        )
    return columns


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
                    raise InputError(f"{self.name}, {error}") from None
                row = Row(number, record=record, error=f"{self.name}, {error}")
            yield row

    def _row(self, number: int, record: Record) -> Row:
        roles = self.roles
        hyp_lang, ref_lang, src_lang = self._languages(number, record)

        def texts(column: str, role: str, lang: str | None) -> list[Text]:
            value = field_value(record, column, role=role, row=number)
            several = value if isinstance(value, list) and role == "reference" else [value]
            return [Text(check_text(text, role=role, row=number), lang) for text in several]

        [hypothesis] = texts(roles.hyp, "hypothesis", hyp_lang)
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
        that ``--ref-lang`` is more specific than a column that hypotheses and references share.
        """
        roles, common = self.roles, self.languages

        def value(column: str | None) -> str | None:
            lang = record.get(column) if column is not None else None
            if lang is not None and not isinstance(lang, str):
                raise InputError(f"row {number}: the language in {column!r} is not text: {lang!r}")
            return language_code(lang) if lang else None

        def agreed(column: str | None, given: str | None, option: str) -> str | None:
            lang = value(column)
            if lang is not None and given is not None and primary(lang) != primary(given):
                raise InputError(
                    f"row {number}: the language in {column!r} is {record[str(column)]!r}, but "
                    f"{option} is {given!r}, which is only for rows without a language; "
                    "leave out the option, or correct the column"
                )
            return lang or given

        shared = roles.ref_lang == roles.hyp_lang
        specific = common.ref if common.ref != common.hyp else None  # --lang is for both otherwise
        if shared:
            ref = specific or value(roles.ref_lang) or common.ref
        else:
            ref = agreed(roles.ref_lang, specific, "--ref-lang") or common.ref
        return (
            agreed(roles.hyp_lang, common.hyp, "--lang"),
            ref,
            agreed(roles.src_lang, common.src, "--src-lang"),
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
class FilePairs(TextSource):
    """Rows from parallel plain-text files, one text per line.

    Empty lines at the end are ignored, unless another file has text there.
    """

    hyp: Path
    refs: tuple[Path, ...]
    src: Path | None = None
    languages: Languages = field(default_factory=Languages)
    replace_invalid: bool = False
    alone: bool = False
    """Whether hypotheses may stand alone."""

    def __post_init__(self) -> None:
        if len(self.paths) < 2 and not self.alone:
            raise InputError(
                "a file with references or sources is needed: -r ref.txt; "
                "or without references, -s src.txt -m prism-src -l de-en"
            )
        if self.paths.count(STDIN) > 1:
            raise InputError("only one of the files can be standard input")
        if self.paths == [STDIN]:  # its lines cannot be counted beforehand
            raise InputError("hypotheses alone cannot be read from standard input; use a file")
        for path in self.paths:
            check_file(path)
        counts = {
            path: LineCount.of(read_lines(path, replace_invalid=self.replace_invalid))
            for path in self.paths
            if path != STDIN
        }
        rows = max(count.to_last_text for count in counts.values())
        if min(count.lines for count in counts.values()) < rows:
            lines = ", ".join(f"{path} has {count.to_last_text}" for path, count in counts.items())
            raise InputError(f"the files differ in their number of lines: {lines}")
        object.__setattr__(self, "_count", rows)

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

    def __iter__(self) -> Iterator[Row]:
        paths, names, langs = self.paths, self.columns, self.languages
        streams = [read_lines(path, replace_invalid=self.replace_invalid) for path in paths]
        for number, lines in enumerate(zip_longest(*streams), start=1):
            if number > (self.count() or 0) and not any(lines):
                continue  # empty lines at the end
            if None in lines:
                short = name_of(paths[lines.index(None)])
                raise InputError(f"{short} ends before line {number}; other files are longer")
            source = None if self.src is None else Text(lines[-1], langs.src)
            references = tuple(Text(line, langs.ref) for line in lines[1 : 1 + len(self.refs)])
            record = dict(zip(names, lines, strict=True))
            yield Row(number, Text(lines[0], langs.hyp), references, source, record)


@dataclass(frozen=True)
class TwoStrings(TextSource):
    """A single row, given as two strings."""

    hyp: str
    ref: str
    languages: Languages = field(default_factory=Languages)
    name: str = "command line"
    columns: Sequence[str] = ("hyp", "ref")
    has_references: bool = True
    has_source: bool = False
    paths: Sequence[Path] = ()

    def count(self) -> int | None:
        return 1

    def __iter__(self) -> Iterator[Row]:
        hypothesis = check_text(self.hyp, role="first text", row=1)
        reference = check_text(self.ref, role="second text", row=1)
        yield Row(
            1,
            Text(hypothesis, self.languages.hyp),
            (Text(reference, self.languages.ref),),
            None,
            {"hyp": hypothesis, "ref": reference},
        )
