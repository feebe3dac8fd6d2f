"""Readers of texts in which people labelled words or spans.

All of them give tokens with a label from 0 (no difference, no error) to 1. Where several raters
marked spans, the label of a word is the share of raters who marked a part of it. The layout is
recognised by the names of the columns:

- RSD (Vamvas and Sennrich, 2023): JSON Lines with ``text_a``, ``text_b``, and for every token
  (split at spaces) a degree of difference in ``labels_a`` and ``labels_b``; -1 is no label;
- MQM ratings (google/wmt-mqm-human-evaluation): TSV with one row per error, between ``<v>`` and
  ``</v>``;
- ratings of mt-metrics-eval: JSON Lines with ``hypothesis``, ``source`` and ``errors``;
- the error span task of WMT25: TSV, quoted as CSV is, with ``start_indices``, ``end_indices`` and
  ``error_types``;
- ESA (WMT24): JSON Lines with ``esa_spans``, whose ``end_i`` is the last character;
- word-level tags of MLQE-PE: the files ``*.mt``, ``*.src``, ``*.tags`` and ``*.source_tags`` of one
  split, given by the name of the ``.tags`` file, or by a folder that has one.

Omissions without a place in a text are ignored. Sources are labelled where the layout marks them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from tertium.data.datasets.mtme import ERROR_TAG, MQM_COLUMNS
from tertium.data.lines import check_file, read_lines
from tertium.data.records import Record, RecordFile, open_table
from tertium.errors import InputError
from tertium.explanation.exchange import MISSING, NO_ERROR
from tertium.explanation.spans import A, B
from tertium.explanation.words import split_words
from tertium.text import Text, check_text

ERRORS = frozenset({"minor", "major", "critical"})
"""Severities that count; others are neutral, undecided and no-error."""
TAGS, SOURCE_TAGS = ".tags", ".source_tags"
OK, BAD = "OK", "BAD"
TOKEN = re.compile(r"\S+")


@dataclass(frozen=True)
class LabelledToken:
    """Characters of a text, and their label."""

    start: int
    end: int
    label: float


@dataclass(frozen=True)
class LabelledPair:
    """Two texts with their labelled tokens; a side without labels has none."""

    a: Text
    b: Text
    tokens_a: tuple[LabelledToken, ...]
    tokens_b: tuple[LabelledToken, ...]

    @property
    def pair(self) -> tuple[Text, Text]:
        return self.a, self.b

    def tokens(self, side: str) -> tuple[LabelledToken, ...]:
        return self.tokens_a if side == A else self.tokens_b


Marks = list[tuple[int, int]]
"""The spans that a rater marked."""


@dataclass
class Marked:
    """A segment, and what each of its raters marked in the hypothesis (a) and the source (b)."""

    texts: dict[str, str]
    langs: dict[str, str | None]
    raters: dict[str, dict[str, Marks]] = field(default_factory=dict)

    def of(self, rater: str) -> dict[str, Marks]:
        return self.raters.setdefault(rater, {A: [], B: []})


def read_labels(
    path: Path, lang_a: str | None, lang_b: str | None, limit: int | None = None
) -> list[LabelledPair]:
    """Read labelled pairs in any of the layouts; the languages are those of hypothesis and source.

    ``limit`` is the number of pairs.
    """
    if path.is_dir() or path.name.endswith(TAGS):
        return list(_tagged(_tag_file(path), lang_a, lang_b))[:limit]
    table = open_table(path)
    names = next(read_lines(path), "").split("\t") if table.format == "tsv" else table.columns()
    if "text_a" in names:
        records = enumerate(islice(table, limit), 1)
        return [read_rsd(record, row, lang_a, lang_b) for row, record in records]
    readers: dict[str, Callable[[Path, int, Record], Found]] = {
        "esa_spans": _esa,
        "start_indices": _wmt,
        "errors": _mtme,
        "category": _mqm,
    }
    for name, reader in readers.items():
        if name in names:
            if reader is _wmt:
                table = open_table(path, quoting=True)
            segments = _collected(table, reader, lang_a, lang_b)
            return _labelled(segments, limit)
    raise InputError(
        f"{path} has no labels in a known layout: its columns are {', '.join(names)}; "
        f"needed are text_a and labels_a, or one of {', '.join(readers)}"
    )


def read_rsd(record: Record, row: int, lang_a: str | None, lang_b: str | None) -> LabelledPair:
    """Read a record of RSD, and check that every token has a label."""
    sides = []
    for side, lang in ((A, lang_a), (B, lang_b)):
        text = check_text(record.get(f"text_{side}"), role=f"text_{side}", row=row)
        places = list(TOKEN.finditer(text))
        labels = record.get(f"labels_{side}")
        if not isinstance(labels, list) or len(labels) != len(places):
            raise InputError(
                f"row {row}: labels_{side} must be a list with one number for each token of "
                f"text_{side} ({len(places)})"
            )
        tokens = tuple(
            LabelledToken(place.start(), place.end(), float(label))
            for place, label in zip(places, labels, strict=True)
            if float(label) >= 0
        )
        sides.append((Text(text, lang), tokens))
    (a, tokens_a), (b, tokens_b) = sides
    return LabelledPair(a, b, tokens_a, tokens_b)


Found = tuple[tuple[Any, ...], str, dict[str, str], dict[str, Marks]]
"""Of a record: the key of its segment, the rater, the texts of both sides, and the marks."""


def _collected(
    table: RecordFile,
    reader: Callable[[Path, int, Record], Found],
    lang_a: str | None,
    lang_b: str | None,
) -> Iterable[Marked]:
    """Join what the raters of each segment marked; other texts are another segment."""
    segments: dict[tuple[Any, ...], Marked] = {}
    for row, record in enumerate(table, 1):
        try:
            key, rater, texts, marks = reader(table.path, row, record)
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(
                f"{table.path}, row {row}: a field is missing or malformed ({error!r})"
            ) from None
        segment = segments.setdefault(
            (*key, texts[A], texts[B]), Marked(texts, {A: lang_a, B: lang_b})
        )
        for side, spans in marks.items():
            for start, end in spans:
                if not 0 <= start < end <= len(texts[side]):
                    raise InputError(
                        f"{table.path}, row {row}: characters {start} to {end} are not in a text "
                        f"of {len(texts[side])} characters"
                    )
            segment.of(rater)[side] += spans
    return segments.values()


def _labelled(segments: Iterable[Marked], limit: int | None) -> list[LabelledPair]:
    """The shares of raters; sources are labelled if any source of the file is."""
    chosen = list(segments)[:limit]
    sides = [A] + [B] * any(marks[B] for segment in chosen for marks in segment.raters.values())
    return [
        LabelledPair(
            Text(segment.texts[A], segment.langs[A]),
            Text(segment.texts[B], segment.langs[B]),
            *(_shares(segment, side) if side in sides else () for side in (A, B)),
        )
        for segment in chosen
    ]


def _shares(segment: Marked, side: str) -> tuple[LabelledToken, ...]:
    """The share of raters who marked a part of each word."""
    raters = list(segment.raters.values())
    return tuple(
        LabelledToken(
            word.start,
            word.end,
            sum(
                any(start < word.end and word.start < end for start, end in marks[side])
                for marks in raters
            )
            / len(raters),
        )
        for word in split_words(segment.texts[side])
    )


def _mqm(path: Path, row: int, record: Record) -> Found:
    missing = [name for name in MQM_COLUMNS if name not in record]
    if missing:
        raise InputError(f"{path}, row {row}: no column {missing[0]!r} ({', '.join(record)})")
    counts = str(record["severity"]).strip().lower() in ERRORS
    texts, marks = {}, {}
    for side, column in ((A, "target"), (B, "source")):
        texts[side], spans = untagged(str(record[column]))
        marks[side] = spans if counts else []
    key = (record["system"], record.get("doc", ""), record["seg_id"])
    return key, str(record["rater"]), texts, marks


def untagged(text: str) -> tuple[str, Marks]:
    """Remove ``<v>`` and ``</v>``, and return where the text between them is.

    >>> untagged("a <v>b c</v> d")
    ('a b c d', [(2, 5)])
    """
    plain, marks, start, place = "", [], None, 0
    for tag in ERROR_TAG.finditer(text):
        plain += text[place : tag.start()]
        place = tag.end()
        if tag[0] == "<v>":
            start = len(plain)
        elif start is not None:
            marks.append((start, len(plain)))
            start = None
    plain += text[place:]
    if start is not None:
        marks.append((start, len(plain)))
    return plain, [mark for mark in marks if mark[0] < mark[1]]


def _mtme(path: Path, row: int, record: Record) -> Found:
    texts = {A: str(record["hypothesis"]), B: str(record["source"])}
    marks: dict[str, Marks] = {A: [], B: []}
    errors = record["errors"]
    for error in errors if isinstance(errors, list) else _json(errors, path, row, "errors"):
        start, end = int(error["start"]), int(error["end"])
        if str(error.get("severity")).lower() in ERRORS and start < end:
            marks[B if error.get("is_source_error") else A].append((start, end))
    names = ("system_id", "document_id", "segment_id")
    return tuple(map(record.get, names)), str(record.get("rater_id")), texts, marks


def _wmt(path: Path, row: int, record: Record) -> Found:
    texts = {A: str(record["hypothesis_segment"]), B: str(record["source_segment"])}
    lists = [str(record[name]).split() for name in ("start_indices", "end_indices", "error_types")]
    if len({len(each) for each in lists}) != 1:
        raise InputError(
            f"{path}, row {row}: start_indices, end_indices and error_types have different lengths"
        )
    marks: dict[str, Marks] = {A: [], B: []}
    for start, end, severity in zip(*lists, strict=True):
        if severity in ERRORS and MISSING not in (start, end):
            marks[A].append((int(start), int(end)))
        elif severity not in {*ERRORS, NO_ERROR, "undecided", "neutral"}:
            raise InputError(f"{path}, row {row}: unknown error type {severity!r}")
    names = ("source_lang", "target_lang", "set_id", "system_id", "doc_id", "segment_id")
    return tuple(map(record.get, names)), "", texts, marks


def _esa(path: Path, row: int, record: Record) -> Found:
    texts = {A: str(record["tgt"]), B: str(record["src"])}
    spans = record["esa_spans"]
    marks: dict[str, Marks] = {A: [], B: []}
    for span in spans if isinstance(spans, list) else _json(spans, path, row, "esa_spans"):
        start, end = span["start_i"], span["end_i"]
        if span["severity"] in ERRORS and MISSING not in (start, end):
            # annotation tools count a line break at the end
            marks[A].append((int(start), min(int(end) + 1, len(texts[A]))))
    names = ("langs", "system", "doc_id", "line_id")
    return tuple(map(record.get, names)), str(record.get("annotator")), texts, marks


def _json(value: Any, path: Path, row: int, name: str) -> list[Any]:
    """Read a list from the text of a table."""
    try:
        found = json.loads(value)
    except (TypeError, ValueError):
        found = None
    if not isinstance(found, list):
        raise InputError(f"{path}, row {row}: {name} is not a list in JSON")
    return found


def _tag_file(path: Path) -> Path:
    """The tags of a split: a file, or the only one in a folder."""
    if path.is_file():
        return path
    found = sorted(path.glob(f"*{TAGS}"))
    if len(found) != 1:
        names = ", ".join(file.name for file in found) or "none"
        raise InputError(f"{path} must have one {TAGS} file ({names}); give that of one split")
    return found[0]


def _tagged(file: Path, lang_a: str | None, lang_b: str | None) -> Iterator[LabelledPair]:
    """Read tags of words: of 2 n + 1 tags of a translation, every second one is that of a gap."""
    stem = file.name.removesuffix(TAGS)
    columns: dict[str, Sequence[str]] = {}
    for suffix in (TAGS, ".mt", ".src", SOURCE_TAGS):
        other = file.with_name(stem + suffix)
        if suffix == SOURCE_TAGS and not other.exists():
            continue
        check_file(other)
        columns[suffix] = list(read_lines(other))
        if len(columns[suffix]) != len(columns[TAGS]):
            raise InputError(
                f"{other} has {len(columns[suffix])} lines, {file.name} {len(columns[TAGS])}"
            )
    for row, (tags, mt, src) in enumerate(
        zip(columns[TAGS], columns[".mt"], columns[".src"], strict=True), 1
    ):
        words = tags.split()[1::2] if len(tags.split()) > len(mt.split()) else tags.split()
        tokens_a = _tags(file, row, mt, words)
        tokens_b: tuple[LabelledToken, ...] = ()
        if SOURCE_TAGS in columns:
            of_source = columns[SOURCE_TAGS][row - 1].split()
            tokens_b = _tags(file.with_name(stem + SOURCE_TAGS), row, src, of_source)
        yield LabelledPair(Text(mt, lang_a), Text(src, lang_b), tokens_a, tokens_b)


def _tags(file: Path, row: int, text: str, tags: Sequence[str]) -> tuple[LabelledToken, ...]:
    places = list(TOKEN.finditer(text))
    if len(places) != len(tags) or not {OK, BAD}.issuperset(tags):
        raise InputError(
            f"{file}, row {row}: {len(tags)} tags for {len(places)} tokens; needed are {OK} or "
            f"{BAD} for each token"
        )
    return tuple(
        LabelledToken(place.start(), place.end(), float(tag == BAD))
        for place, tag in zip(places, tags, strict=True)
    )
