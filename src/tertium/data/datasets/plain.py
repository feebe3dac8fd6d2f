"""Plain tables (TSV, CSV, JSONL, Parquet) with named columns: the layout for your own data.

:func:`write_records` writes any dataset in this layout.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path

from tertium.data.datasets.base import (
    DatasetRecord,
    JudgedSegment,
    LabelledPair,
    ParaphraseSet,
    RankedPair,
)
from tertium.data.datasets.reading import label, number, row_error, text
from tertium.data.pairs import ALIASES
from tertium.data.records import Record, RecordFile, open_table
from tertium.errors import InputError
from tertium.storage.atomic import write_text
from tertium.text import Text

ID = "id"
NOT_SYSTEMS = ("id", "source", "reference")
WRITTEN = (".tsv", ".csv", ".jsonl")


def read_pairs(
    path: Path, *, lang: str | None = None, other_lang: str | None = None
) -> list[LabelledPair]:
    """Read labelled pairs from the columns sentence1, sentence2 (or hyp, ref), label and id.

    Without a column ``id``, the rows are numbered from 1. ``other_lang`` is the language of the
    second sentence, if it differs.
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

    Every column whose name starts with ``reference`` holds a reference, unless ``references`` names
    the columns; empty references are ignored. A segment with an empty score was not judged. Without
    a reference column, the second sentence (as in STS) is the reference.
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
            f"{path}: no reference and no source column; its columns are {', '.join(names)}"
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
    """Read paraphrase sets from the columns set_id, sentence and lang; of one language or all.

    The rows of a set need not be adjacent.
    """
    table = open_table(path)
    for column in ("set_id", "sentence", "lang"):
        _one_of(table, column)
    other = "lang1" if "lang1" in table.columns() else "lang"
    sets: dict[tuple[str, str], list[str]] = {}
    for row, record in enumerate(table, start=1):
        code = text(record, "lang", path, row)
        if lang is not None and lang not in (code, record[other]):
            continue
        sentences = sets.setdefault((code, text(record, "set_id", path, row)), [])
        sentences.append(text(record, "sentence", path, row))
    return [ParaphraseSet(set_id, code, tuple(each)) for (code, set_id), each in sets.items()]


def read_systems(path: Path, lang_pair: str) -> list[JudgedSegment]:
    """Read a table with the columns source and reference and one column per system; no scores."""
    source_lang, _, lang = lang_pair.partition("-")
    table = open_table(path)
    for column in ("source", "reference"):
        if column not in table.columns():
            columns = ", ".join(table.columns())
            raise InputError(f"{path} has no column {column!r}; its columns are {columns}")
    systems = [name for name in table.columns() if name not in NOT_SYSTEMS]
    if not systems:
        raise InputError(f"{path} has no column with the outputs of a system")
    return [
        JudgedSegment(
            str(record.get("id", row)),
            Text(text(record, system, path, row), lang),
            (Text(text(record, "reference", path, row), lang),),
            Text(text(record, "source", path, row), source_lang),
            system,
        )
        for row, record in enumerate(table, start=1)
        for system in systems
    ]


def read_system_scores(path: Path, lang_pair: str) -> dict[str, float]:
    """Read human scores of systems from the columns pair, system and score."""
    scores = {}
    for row, record in enumerate(open_table(path), start=1):
        if record.get("pair") != lang_pair:
            continue
        score = number(record.get("score"), "score", path, row)
        if score is None:
            raise row_error(path, row, "no score", "leave the system out")
        scores[text(record, "system", path, row)] = score
    return scores


def write_records(path: Path, records: Sequence[DatasetRecord]) -> None:
    """Write records of a dataset as a plain table; the file name says the format."""
    suffix = path.suffix
    if suffix not in WRITTEN:
        raise InputError(f"{path}: the file name must end in one of {', '.join(WRITTEN)}")
    rows = [row for record in records for row in plain_rows(record)]
    columns = list(dict.fromkeys(name for row in rows for name in row))
    if "score" in columns:  # after all references, whichever row has most
        columns.append(columns.pop(columns.index("score")))
    if suffix == ".jsonl":
        lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        write_text(path, "".join(lines))
        return
    fields = [[_field(row.get(name)) for name in columns] for row in rows]
    if suffix == ".csv":
        stream = io.StringIO()
        csv.writer(stream, lineterminator="\n").writerows([columns, *fields])
        write_text(path, stream.getvalue())
        return
    for number_, row in enumerate(fields, start=1):
        if any(character in field for field in row for character in "\t\r\n"):
            raise row_error(
                path, number_, "a field contains a tab or a line break", "write a .jsonl file"
            )
    write_text(path, "".join("\t".join(row) + "\n" for row in [columns, *fields]))


def plain_rows(record: DatasetRecord) -> list[Record]:
    """The rows of a plain table for one record.

    >>> plain_rows(LabelledPair("7", Text("a"), Text("b"), True))
    [{'id': '7', 'sentence1': 'a', 'sentence2': 'b', 'label': 1}]
    """
    if isinstance(record, LabelledPair):
        texts = {"sentence1": record.a.text, "sentence2": record.b.text}
        return [{ID: record.id, **texts, "label": int(record.label)}]
    if isinstance(record, RankedPair):
        systems = {"better": record.better, "worse": record.worse}
        return [{"pair": record.lang_pair, "segment": record.segment, **systems}]
    if isinstance(record, ParaphraseSet):
        return [
            {"lang": record.lang, "set_id": record.id, "sentence": sentence}
            for sentence in record.sentences
        ]
    row: Record = {ID: record.id, "system": record.system}
    row |= {"domain": record.domain} if record.domain else {}
    row |= {"document": record.document} if record.document else {}
    if record.source is not None:
        row["source"] = record.source.text
    row["hypothesis"] = record.hypothesis.text
    for place, reference in enumerate(record.references, start=1):
        row[f"reference{place}"] = reference.text
    return [{**row, "score": record.score}]


def _field(value: object) -> str:
    return "" if value is None else str(value)


def _one_of(table: RecordFile, *names: str) -> str:
    """The first of these columns that the table has."""
    columns = table.columns()
    for name in names:
        if name in columns:
            return name
    raise InputError(
        f"{table.path}: no column {' or '.join(map(repr, names))}; it has the columns "
        f"{', '.join(columns) or 'none'}: name them in the first line"
    )
