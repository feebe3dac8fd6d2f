"""Translation pairs from TSV files."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from tertium.data.lines import name_of, read_lines
from tertium.errors import InputError

PAIR_COLUMNS = ("lang_a", "lang_b", "sentence_a", "sentence_b")


class Pair(NamedTuple):
    """Two sentences that translate each other."""

    lang_a: str
    lang_b: str
    a: str
    b: str


def read_bitext(
    path: Path, languages: Collection[str], *, columns: Mapping[str, str] | None = None
) -> Iterator[Pair]:
    """Read the pairs among ``languages`` from a file with a header and no quoting.

    Either the columns are named by language, and every two of them make a pair; or each row says
    its languages in ``lang_a`` and ``lang_b``, and the texts are ``sentence_a`` and
    ``sentence_b``. ``columns`` names the language of columns that are called otherwise.
    """
    lines = read_lines(path)
    names = next(lines, "").split("\t")
    header = [(columns or {}).get(name, name) for name in names]
    if set(PAIR_COLUMNS) <= set(header):
        lang_a, lang_b, a, b = (header.index(column) for column in PAIR_COLUMNS)
        for row in _rows(path, lines, len(header)):
            if row[lang_a] in languages and row[lang_b] in languages:
                yield from _pair(row[lang_a], row[lang_b], row[a], row[b])
        return
    places = [place for place, name in enumerate(header) if name in languages]
    if len(places) < 2:
        raise InputError(
            f"{name_of(path)}: the header ({', '.join(names)}) names fewer than two of the "
            f"languages {', '.join(sorted(languages))}; say which column is which (--column)"
        )
    for row in _rows(path, lines, len(header)):
        for index, a in enumerate(places):
            for b in places[index + 1 :]:
                yield from _pair(header[a], header[b], row[a], row[b])


def _rows(path: Path, lines: Iterator[str], width: int) -> Iterator[list[str]]:
    for number, line in enumerate(lines, start=2):
        row = line.split("\t")
        if len(row) != width:
            raise InputError(
                f"{name_of(path)}, line {number}: {len(row)} fields where the header has {width}; "
                "tabs within a field must be replaced"
            )
        yield row


def _pair(lang_a: str, lang_b: str, a: str, b: str) -> Iterator[Pair]:
    if a.strip() and b.strip():
        yield Pair(lang_a, lang_b, a.strip(), b.strip())
