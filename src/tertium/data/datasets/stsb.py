"""The STS benchmark: how similar two sentences are, from 0 to 5.

Two layouts are read: the original (``sts-dev.csv``, ``sts-test.csv``: tabs, no quoting) and that of
stsb-multi-mt (``stsb-LANG-SPLIT.csv``: machine-translated, with CSV's quoting); or the latter on
the hub.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from tertium.data.datasets.base import JudgedSegment, check_count, fault
from tertium.data.datasets.hub import hub_records
from tertium.data.datasets.values import number
from tertium.data.lines import read_lines
from tertium.data.records import open_table
from tertium.errors import InputError
from tertium.text import Text

HUB_ID = "PhilipMay/stsb_multi_mt"
PAIRS = {"train": 5749, "dev": 1500, "test": 1379}

Row = tuple[Path, int, str, str, object]


def read_stsb(
    lang: str,
    split: Literal["train", "dev", "test"],
    *,
    folder: Path | None = None,
    offline: bool = False,
) -> list[JudgedSegment]:
    """Read a split; the first sentence is the hypothesis, the second the reference."""
    if folder is None:
        rows = _hub(lang, split, offline)
    elif lang == "en" and (original := next(folder.rglob(f"sts-{split}.csv"), None)):
        rows = _original(original)
    elif translated := next(folder.rglob(f"stsb-{lang}-{split}.csv"), None):
        rows = _translated(translated)
    else:
        raise InputError(f"{folder} has neither sts-{split}.csv nor stsb-{lang}-{split}.csv")
    segments = [
        JudgedSegment(
            str(row),
            Text(a, lang),
            (Text(b, lang),),
            score=number(score, "score", path, row),
        )
        for path, row, a, b, score in rows
    ]
    check_count(f"STS-B {lang} {split}: pairs", len(segments), PAIRS[split])
    return segments


def _hub(lang: str, split: str, offline: bool) -> Iterator[Row]:
    for path, row, record in hub_records(HUB_ID, f"{lang}/{split}-*.parquet", offline=offline):
        yield path, row, record["sentence1"], record["sentence2"], record["similarity_score"]


def _original(path: Path) -> Iterator[Row]:
    """Read genre, file, year, id, score and the two sentences; a licence may follow."""
    for row, line in enumerate(read_lines(path), start=1):
        fields = line.split("\t")
        if len(fields) < 7:
            raise fault(path, row, f"{len(fields)} fields, not 7", "fetch the release anew")
        yield path, row, fields[5], fields[6], fields[4]


def _translated(path: Path) -> Iterator[Row]:
    for row, record in enumerate(open_table(path, header=False), start=1):
        if len(record) != 3:
            raise fault(path, row, f"{len(record)} fields, not 3", "fetch the file anew")
        yield path, row, record["1"], record["2"], record["3"]
