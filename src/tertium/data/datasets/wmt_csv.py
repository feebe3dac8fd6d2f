"""WMT judgements in one table (lp, src, mt, ref, score), as the hub has DA and MQM of all years."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from tertium.data.datasets.base import JudgedSegment, fault
from tertium.data.datasets.hub import hub_records
from tertium.data.datasets.values import number, text
from tertium.data.records import Record, open_table
from tertium.errors import InputError
from tertium.text import Text

HUB_IDS = {
    "da": "RicardoRei/wmt-da-human-evaluation",
    "mqm": "RicardoRei/wmt-mqm-human-evaluation",
}


def read_wmt_table(
    kind: Literal["da", "mqm"],
    lang_pair: str,
    *,
    year: int | None = None,
    path: Path | None = None,
    offline: bool = False,
) -> list[JudgedSegment]:
    """Read a language pair, of one year or all, from a file or from the hub."""
    source_lang, _, lang = lang_pair.partition("-")
    rows = hub_records(HUB_IDS[kind], "*.csv", offline=offline) if path is None else _rows(path)
    segments = []
    for file, row, record in rows:
        if record.get("lp") is None:
            raise fault(file, row, "no column 'lp'", f"it has {', '.join(record)}")
        if record["lp"] != lang_pair:
            continue
        if year is not None and number(record.get("year"), "year", file, row) != year:
            continue
        segments.append(
            JudgedSegment(
                str(row),
                Text(text(record, "mt", file, row), lang),
                (Text(text(record, "ref", file, row), lang),),
                Text(text(record, "src", file, row), source_lang),
                str(record.get("system", "")),
                number(record.get("score"), "score", file, row),
            )
        )
    if not segments:
        raise InputError(
            f"{path or HUB_IDS[kind]} has nothing for {lang_pair}, {year or 'any year'}"
        )
    return segments


def _rows(path: Path) -> Iterator[tuple[Path, int, Record]]:
    for row, record in enumerate(open_table(path), start=1):
        yield path, row, record
