"""The STS benchmark: the similarity of two sentences, from 0 to 5.

Two layouts are supported: the original (``sts-dev.csv``, ``sts-test.csv``: tab-separated, not
quoted) and stsb-multi-mt (``stsb-LANG-SPLIT.csv``: machine-translated, quoted CSV; also on the
hub).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from tertium.data.datasets.base import JudgedSegment, check_count, dataset
from tertium.data.datasets.reading import (
    DOWNLOAD_AGAIN,
    hub_records,
    number,
    row_error,
    table_records,
)
from tertium.data.lines import read_lines
from tertium.errors import InputError
from tertium.text import Text

HUB_ID = "PhilipMay/stsb_multi_mt"
PAIRS = {"train": 5749, "dev": 1500, "test": 1379}

ScoredPair = tuple[Path, int, str, str, object]


@dataset(
    "stsb",
    JudgedSegment,
    "STS benchmark: similarity of sentence pairs, also machine-translated",
    origin="https://github.com/PhilipMay/stsb-multi-mt",
    licence="CC BY-SA 4.0 (scores); texts by source",
    layout="sts-SPLIT.csv or stsb-LANG-SPLIT.csv",
    hub_id=HUB_ID,
)
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


def _hub(lang: str, split: str, offline: bool) -> Iterator[ScoredPair]:
    for path, row, record in hub_records(HUB_ID, f"{lang}/{split}-*.parquet", offline=offline):
        yield path, row, record["sentence1"], record["sentence2"], record["similarity_score"]


def _original(path: Path) -> Iterator[ScoredPair]:
    """Read genre, file, year, id, score and the two sentences; a licence may follow."""
    for row, line in enumerate(read_lines(path), start=1):
        fields = line.split("\t")
        if len(fields) < 7:
            raise row_error(path, row, f"{len(fields)} fields, not 7", DOWNLOAD_AGAIN)
        yield path, row, fields[5], fields[6], fields[4]


def _translated(path: Path) -> Iterator[ScoredPair]:
    for _, row, record in table_records(path, header=False):
        if len(record) != 3:
            raise row_error(path, row, f"{len(record)} fields, not 3", DOWNLOAD_AGAIN)
        yield path, row, record["1"], record["2"], record["3"]
