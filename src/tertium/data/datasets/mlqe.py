"""MLQE-PE, direct assessments: translations of one system, judged without a reference.

The repository has ``data/direct-assessments/SPLIT/LANGS-SPLIT.tar.gz``; what is in them can also
lie unpacked in the folder. Scores are ``z_mean``; ``model_scores`` are the system's own, and no
judgement.
"""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from tertium.data.datasets.base import JudgedSegment, check_count, fault
from tertium.data.datasets.values import number
from tertium.data.lines import read_lines
from tertium.errors import InputError
from tertium.text import Text

COLUMNS = ("original", "translation")
SEGMENTS = {"dev": 1000, "test": 1000, "train": 7000}


def read_mlqe(
    lang_pair: str,
    split: Literal["train", "dev", "test"] = "test",
    *,
    folder: Path,
    score: str = "z_mean",
) -> list[JudgedSegment]:
    """Read a language pair and a split."""
    source_lang, _, lang = lang_pair.partition("-")
    path, lines = _table(folder, lang_pair, split)
    header = lines[0].split("\t")
    for column in (*COLUMNS, score):
        if column not in header:
            raise InputError(f"{path} has no column {column!r}: it has {', '.join(header)}")
    segments = []
    for row, line in enumerate(lines[1:], start=1):
        fields = line.split("\t")  # no quoting: a quotation mark is a character
        if len(fields) != len(header):
            reason = f"{len(fields)} fields, where the first line has {len(header)}"
            raise fault(path, row, reason, "fetch the file anew")
        record = dict(zip(header, fields, strict=True))
        segments.append(
            JudgedSegment(
                record.get("index", str(row)),
                Text(record["translation"], lang),
                source=Text(record["original"], source_lang),
                score=number(record[score], score, path, row),
            )
        )
    check_count(f"MLQE-PE {lang_pair} {split}: segments", len(segments), SEGMENTS[split])
    return segments


def _table(folder: Path, lang_pair: str, split: str) -> tuple[Path, list[str]]:
    """Find the table, packed or not: a ``.tsv`` named after the languages and the split."""
    for path in sorted(folder.rglob("*.tsv")):
        if _is_it(path.name, lang_pair, split):
            return path, [line for line in read_lines(path) if line]
    for path in sorted(folder.rglob(f"{lang_pair}-{split}.tar.gz")):
        for name, content in _members(path):
            if _is_it(name, lang_pair, split):
                return path, [line.rstrip("\r") for line in content.split("\n") if line]
    raise InputError(f"{folder} has no table of {lang_pair} {split} (direct-assessments)")


def _is_it(name: str, lang_pair: str, split: str) -> bool:
    return name.startswith(split) and lang_pair.replace("-", "") in name


def _members(path: Path) -> Iterator[tuple[str, str]]:
    try:
        with tarfile.open(path) as archive:
            for member in archive:
                stream = archive.extractfile(member)
                if stream is not None and member.name.endswith(".tsv"):
                    content = io.TextIOWrapper(stream, "utf-8", newline="\n").read()
                    yield Path(member.name).name, content
    except (tarfile.TarError, OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be unpacked: {error}; fetch it anew") from None
