"""MLQE-PE, direct assessment: translations of one system, judged without a reference.

The repository has ``data/direct-assessments/SPLIT/LANGS-SPLIT.tar.gz``; the archives may also be
unpacked. Scores are ``z_mean``; ``model_scores`` are the system's own log-probabilities, not human
scores.
"""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from tertium.data.datasets.base import JudgedSegment, check_count, dataset
from tertium.data.datasets.reading import DOWNLOAD_AGAIN, number, row_error
from tertium.data.lines import read_lines
from tertium.errors import InputError
from tertium.text import Text

COLUMNS = ("original", "translation")
SEGMENTS = {"dev": 1000, "test": 1000, "train": 7000}


@dataset(
    "mlqe",
    JudgedSegment,
    "MLQE-PE: translations of one system with direct assessments, without references",
    origin="https://github.com/sheffieldnlp/mlqe-pe",
    licence="CC0 1.0",
    layout="direct-assessments/SPLIT/LANGS-SPLIT.tar.gz, or their unpacked .tsv files",
)
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
            raise InputError(
                f"{path} has no column {column!r}: its columns are {', '.join(header)}"
            )
    segments = []
    for row, line in enumerate(lines[1:], start=1):
        fields = line.split("\t")  # no quoting: a quotation mark is a character
        if len(fields) != len(header):
            reason = f"{len(fields)} fields, where the first line has {len(header)}"
            raise row_error(path, row, reason, DOWNLOAD_AGAIN)
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
    """Find the table, packed or not: a ``.tsv`` file named after the split and the languages."""
    for path in sorted(folder.rglob("*.tsv")):
        if _matches(path.name, lang_pair, split):
            return path, [line for line in read_lines(path) if line]
    for path in sorted(folder.rglob(f"{lang_pair}-{split}.tar.gz")):
        for name, content in _members(path):
            if _matches(name, lang_pair, split):
                return path, [line.rstrip("\r") for line in content.split("\n") if line]
    raise InputError(f"{folder} has no table of {lang_pair} {split} (direct-assessments)")


def _matches(name: str, lang_pair: str, split: str) -> bool:
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
        raise InputError(f"{path} cannot be unpacked: {error}; {DOWNLOAD_AGAIN}") from None
