"""Anybody's own data: a file of records (TSV, CSV, JSONL, Parquet) with columns by name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tertium.data.datasets.base import JudgedSegment, LabelledPair, ParaphraseSet
from tertium.data.datasets.values import label, number, text
from tertium.data.pairs import ALIASES
from tertium.data.records import Table, open_table
from tertium.errors import InputError
from tertium.text import Text

ID = "id"


def read_pairs(
    path: Path, *, lang: str | None = None, other_lang: str | None = None
) -> list[LabelledPair]:
    """Read labelled pairs from the columns sentence1, sentence2 (or hyp, ref), label and id.

    Without a column ``id``, the rows are numbered from 1. ``other_lang`` is the language of the
    second sentence, if it is another.
    """
    table = open_table(path)
    a, b = (_one_of(table, *ALIASES[role]) for role in ("hyp", "ref"))
    _one_of(table, "label")
    return [
        LabelledPair(
            str(record.get(ID, row)),
            Text(text(record, a, path, row), lang),
            Text(text(record, b, path, row), other_lang or lang),
            label(record.get("label"), path, row),
        )
        for row, record in enumerate(table, start=1)
    ]


def read_judged(
    path: Path,
    *,
    score: str = "score",
    lang: str | None = None,
    source_lang: str | None = None,
    references: Sequence[str] = (),
) -> list[JudgedSegment]:
    """Read judged segments from the columns hypothesis, reference, source, system and ``score``.

    Every column whose name begins with ``reference`` holds a reference, unless ``references`` names
    them; an empty one is no reference. A segment with an empty score was not judged. Where there is
    a second sentence and no hypothesis (as in STS), it is the reference.
    """
    table = open_table(path)
    names = table.columns()
    hypothesis = _one_of(table, *ALIASES["hyp"])
    _one_of(table, score)
    for column in references:
        _one_of(table, column)
    columns = [*references] or [name for name in names if name.startswith("reference")]
    columns = columns or [name for name in ALIASES["ref"] if name in names]
    source = next((name for name in ALIASES["src"] if name in names), None)
    if not columns and source is None:
        raise InputError(
            f"{path}: there is neither a reference nor a source; it has the columns "
            f"{', '.join(names)}"
        )
    segments = []
    for row, record in enumerate(table, start=1):
        texts = [text(record, column, path, row) for column in columns]
        segments.append(
            JudgedSegment(
                str(record.get(ID, row)),
                Text(text(record, hypothesis, path, row), lang),
                tuple(Text(reference, lang) for reference in texts if reference),
                None if source is None else Text(text(record, source, path, row), source_lang),
                str(record.get("system", "")),
                number(record.get(score), score, path, row),
            )
        )
    return segments


def read_sets(path: Path, *, lang: str | None = None) -> list[ParaphraseSet]:
    """Read sets of paraphrases from the columns set_id, sentence and lang; of one language or all.

    The lines of a set need not stand together.
    """
    table = open_table(path)
    for column in ("set_id", "sentence", "lang"):
        _one_of(table, column)
    other = "lang1" if "lang1" in table.columns() else "lang"
    found: dict[tuple[str, str], list[str]] = {}
    for row, record in enumerate(table, start=1):
        code = text(record, "lang", path, row)
        if lang is not None and lang not in (code, record[other]):
            continue
        sentences = found.setdefault((code, text(record, "set_id", path, row)), [])
        sentences.append(text(record, "sentence", path, row))
    return [ParaphraseSet(set_id, code, tuple(each)) for (code, set_id), each in found.items()]


def _one_of(table: Table, *names: str) -> str:
    """The first of some columns that the table has."""
    there = table.columns()
    for name in names:
        if name in there:
            return name
    raise InputError(
        f"{table.path}: no column {' or '.join(map(repr, names))}; it has the columns "
        f"{', '.join(there) or 'none'}: name them in the first line"
    )
