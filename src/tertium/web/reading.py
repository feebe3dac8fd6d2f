"""Files that a client sends, read as the command line reads them."""

from __future__ import annotations

import binascii
import re
import tempfile
from base64 import b64decode
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from tertium.data.identify import CONFIDENT
from tertium.data.lines import MAGIC, OPENERS
from tertium.data.pairs import (
    ALIASES,
    Columns,
    Languages,
    TablePairs,
    choose_columns,
    find_column,
    reference_columns,
)
from tertium.data.records import SUFFIXES, Format, RecordFile, open_table, sniffed
from tertium.errors import InputError, no_parameters
from tertium.models.guess import guess_language as best_guess
from tertium.models.languages import LanguageSet
from tertium.text import Row
from tertium.web.limits import Limits, TooLargeError
from tertium.web.schema import (
    FileContent,
    FileRequest,
    FileRoles,
    FileScoreRequest,
    GuessResponse,
    IdentifyRequest,
    IdentifyResponse,
    LanguageRole,
    ReadResponse,
    RowPreview,
)

PREVIEWED = 5
SAMPLED = 50
"""Rows from which the language of a column is identified."""
LONGEST_NAME = 80
TEXT_SUFFIXES = {suffix: each for suffix, each in SUFFIXES.items() if each != "parquet"}


@dataclass(frozen=True)
class ReadFile:
    """The rows of a file, and how it was read."""

    table: RecordFile
    roles: Columns
    items: Sequence[Row]

    @property
    def good(self) -> list[Row]:
        """The rows that can be scored."""
        return [item for item in self.items if item.error is None]


def read(request: FileRequest, limits: Limits, measures: Sequence[str] = ()) -> ReadFile:
    """Read a table with one pair per row; a row that cannot be scored is marked, not refused."""
    with uploaded([request.file]) as [path]:
        table, roles = _opened(path, request)
        given = request if isinstance(request, FileScoreRequest) else None
        languages = Languages() if given is None else _languages(roles, given)
        items = list(_items(TablePairs(table, roles, languages, tolerant=True), limits, measures))
    if not items:
        raise InputError(f"{path.name} is empty: there is nothing to score")
    return ReadFile(table, roles, items)


def response(found: ReadFile, languages: LanguageSet) -> ReadResponse:
    """Describe how a file was read, with a guess for the languages that it does not name."""
    roles, sample = found.roles, found.good[:SAMPLED]
    texts: dict[LanguageRole, tuple[str | None, list[str]]] = {
        "lang": (roles.hyp_lang, [item.hypothesis.text for item in sample]),
        "reference_lang": (
            roles.ref_lang,
            [text.text for item in sample for text in item.references],
        ),
        "source_lang": (roles.src_lang, [item.source.text for item in sample if item.source]),
    }
    return ReadResponse(
        name=found.table.path.name,
        format=found.table.format,
        header=found.table.header,
        rows=len(found.items),
        columns=found.table.columns(),
        roles=FileRoles(
            hyp=str(roles.hyp),
            refs=list(roles.refs),
            src=roles.src,
            lang=roles.hyp_lang,
            ref_lang=roles.ref_lang,
            src_lang=roles.src_lang,
        ),
        preview=[_preview(item) for item in found.items[:PREVIEWED]],
        refused=len(found.items) - len(found.good),
        guesses={
            role: None if column else guess_language("\n".join(several), languages)
            for role, (column, several) in texts.items()
        },
    )


def guess_language(text: str, languages: LanguageSet) -> GuessResponse | None:
    """Identify the language of a text, if that is sure enough."""
    guess = best_guess(text, languages)
    if guess is None or guess.probability < CONFIDENT:
        return None
    return GuessResponse(**guess._asdict())


def identified(
    request: IdentifyRequest, languages: LanguageSet, limits: Limits
) -> IdentifyResponse:
    """Identify the language of each text."""
    limits.check_translation(request.texts)
    return IdentifyResponse(guesses=[guess_language(text, languages) for text in request.texts])


@contextmanager
def uploaded(files: Sequence[FileContent]) -> Iterator[list[Path]]:
    """Put files into a temporary folder while they are read; errors do not name the folder."""
    with tempfile.TemporaryDirectory(prefix="tertium-") as scratch:
        paths = []
        for file in files:
            path = Path(scratch, safe_name(file.name))
            if path in paths:
                raise InputError(f"two files have the name {path.name!r}; rename one of them")
            path.write_bytes(_content(file, path.name))
            paths.append(path)
        try:
            yield paths
        except InputError as error:
            fact, place = (
                text.replace(f"{scratch}/", "").replace(scratch, "")
                for text in (error.message.fact, error.message.place)
            )
            raise error.saying(replace(error.message, fact=fact, place=place)) from None


def safe_name(name: str) -> str:
    """A name for a file in the temporary folder.

    >>> safe_name("../out/a b.tsv"), safe_name("C:\\\\x.csv"), safe_name(".."), safe_name("a\\0b")
    ('a b.tsv', 'x.csv', 'file', 'a_b')
    """
    last = PurePosixPath(name.replace("\\", "/")).name.encode("utf-8", "replace").decode()
    printable = re.sub(r"[\x00-\x1f\x7f-\x9f]", "_", last).strip()[-LONGEST_NAME:]
    return "file" if printable in ("", ".", "..", "-") else printable


def _content(file: FileContent, name: str) -> bytes:
    if file.base64 is None:
        return (file.text or "").encode("utf-8", "surrogatepass")
    try:
        content = b64decode(file.base64, validate=True)
    except (binascii.Error, ValueError):
        raise InputError(f"{name}: the content is not valid base64") from None
    return content


def table_format(path: Path) -> Format:
    """The format of a table, by its name or by its first line; it must be plain text."""
    with path.open("rb") as stream:
        beginning = stream.read(1 << 12)
    if not beginning.strip():
        raise InputError(f"{path.name} is empty: there is nothing to score")
    compressed = path.suffix in OPENERS or any(map(beginning.startswith, MAGIC))
    if compressed:
        raise InputError(f"{path.name} is compressed; decompress it first")
    guessed, _ = sniffed(beginning)
    if guessed == "parquet" or path.suffix.lower() == ".parquet":
        raise InputError(f"{path.name} is Parquet, which only the command line reads")
    return TEXT_SUFFIXES.get(path.suffix.lower(), guessed)


def _opened(path: Path, request: FileRequest) -> tuple[RecordFile, Columns]:
    """Open a table; without a recognised name in its first line, it has no header."""
    kind = table_format(path)
    header = request.header is not False or kind == "jsonl"
    columns = request.columns.model_dump()

    def open_it(header: bool) -> RecordFile:
        return open_table(
            path,
            format=kind,
            header=header,
            replace_invalid=request.replace_invalid,
            quoting=request.quoting,
        )

    table = open_it(header)
    first_line = [str(name) for name in next(iter(open_it(False)), {}).values()]
    named = any(columns.values()) or _is_recognised(table.columns() or first_line)
    if kind != "jsonl" and (not header or (request.header is None and not named)):
        table = open_it(False)
        if len(table.columns()) < 2:
            raise InputError(
                f"{path.name} has one column; two texts per row are needed, separated by a tab"
            )
        if not columns["hyp"] and not columns["refs"] and not columns["src"]:
            columns |= {"hyp": "1", "refs": ["2"]}
    return table, choose_columns(table, **columns)


def _is_recognised(names: Sequence[str]) -> bool:
    return bool(reference_columns(names)) or any(
        find_column(names, aliases) for aliases in ALIASES.values()
    )


def _languages(roles: Columns, request: FileScoreRequest) -> Languages:
    """The languages of the request, where the file names none."""
    return Languages(
        None if roles.hyp_lang else request.lang,
        None if roles.ref_lang else request.reference_lang or request.lang,
        None if roles.src_lang else request.source_lang,
    )


def _items(pairs: TablePairs, limits: Limits, measures: Sequence[str]) -> Iterator[Row]:
    """Read rows; those with a text that is too long are marked."""
    uses_ter = limits.uses_ter(measures)
    characters = 0
    for rows, item in enumerate(pairs, start=1):
        texts = [text.text for text in (item.hypothesis, *item.references)]
        texts += [item.source.text] if item.source else []
        characters += sum(map(len, texts))
        limits.check_file(rows, characters)
        try:
            limits.check_texts(texts, item.number, uses_ter)
        except TooLargeError as error:
            yield Row(item.number, record=item.record, error=error.said(no_parameters))
            continue
        if item.error is None:
            yield item
        else:
            yield replace(item, error=item.error.replace(f"{pairs.name}, ", ""))


def _preview(item: Row) -> RowPreview:
    first = item.references[0] if item.references else None
    return RowPreview(
        row=item.number,
        hypothesis=item.hypothesis.text,
        references=[text.text for text in item.references],
        source=item.source and item.source.text,
        lang=item.hypothesis.lang,
        reference_lang=first and first.lang,
        source_lang=item.source and item.source.lang,
        error=item.error,
    )


def columns_given(names: Sequence[str]) -> Mapping[str, bool]:
    """Which languages a table names by a column."""
    return {
        role: find_column(names, ALIASES[role]) is not None
        for role in ("hyp_lang", "ref_lang", "src_lang")
    }
