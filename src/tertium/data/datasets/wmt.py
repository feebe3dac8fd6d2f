"""WMT judgements: the packages of the metrics tasks (2016 to 2020), and single tables of the hub.

A package contains (at any depth) ``DA-seglevel.csv`` (LP DATA SYSTEM SID HUMAN) or
``RR-seglevel.csv`` (LP DATA SID BETTER WORSE), with spaces between the fields, and the folders
``sources``, ``references`` and ``system-outputs``. Segments are numbered from 1. A single table has
the columns lp, src, mt, ref and score.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeVar

from tertium.data.datasets.base import JudgedSegment, RankedPair, dataset
from tertium.data.datasets.reading import (
    DOWNLOAD_AGAIN,
    check_fields,
    hub_records,
    number,
    row_error,
    table_records,
    text,
)
from tertium.data.lines import read_lines
from tertium.errors import DataWarning, InputError
from tertium.text import Text

Judgement = TypeVar("Judgement", JudgedSegment, RankedPair)

SYSTEMS = "DA-syslevel.csv"
RANKINGS = ("RR-seglevel.csv", "DArr-seglevel.csv")
HUB_IDS = {
    "da": "RicardoRei/wmt-da-human-evaluation",
    "mqm": "RicardoRei/wmt-mqm-human-evaluation",
}
ORIGIN = "https://www.statmt.org (metrics tasks, 2016 to 2020)"
LICENCE = "free use for research (WMT)"


@dataclass
class TestSetTexts:
    """The texts of a test set; each file is read when first needed."""

    folder: Path
    testset: str
    lang_pair: str
    _read: dict[Path, list[str]] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """The number of segments."""
        self.reference(1)
        place = f"references/{self._stem()}-ref.{self.lang_pair.partition('-')[2]}"
        return len(self._read[_find(self.folder, place)])

    def source(self, segment: int) -> str:
        source, _, _ = self.lang_pair.partition("-")
        return self._line(f"sources/{self._stem()}-src.{source}", segment)

    def reference(self, segment: int) -> str:
        target = self.lang_pair.partition("-")[2]
        return self._line(f"references/{self._stem()}-ref.{target}", segment)

    def output(self, system: str, segment: int) -> str:
        place = f"system-outputs/{self.testset}/{self.lang_pair}/{self.testset}.{system}"
        return self._line(f"{place}.{self.lang_pair}", segment)

    def _stem(self) -> str:
        return f"{self.testset}-{self.lang_pair.replace('-', '')}"

    def _line(self, place: str, segment: int) -> str:
        path = _find(self.folder, place)
        if path not in self._read:
            self._read[path] = list(read_lines(path))
        lines = self._read[path]
        if not 1 <= segment <= len(lines):
            raise InputError(f"{path} has no line {segment}, only {len(lines)} lines")
        return lines[segment - 1]


@dataset(
    "wmt-da",
    JudgedSegment,
    "WMT metrics task: segments with direct assessments (z-scores)",
    origin=ORIGIN,
    licence=LICENCE,
    layout="an unpacked package of a metrics task: DA-seglevel.csv, references, system-outputs",
)
def read_wmt_da(folder: Path, lang_pair: str) -> list[JudgedSegment]:
    """Read the segments with a direct assessment; the score is a z-score.

    Where several systems gave the same output, ``system`` has their names joined by ``+``.
    """
    path = _find(folder, "DA-seglevel.csv")
    segments, texts = [], None
    source_lang, _, lang = lang_pair.partition("-")
    for row, (pair, testset, system, segment, score) in _rows(path):
        if pair != lang_pair:
            continue
        texts = texts or TestSetTexts(folder, testset, lang_pair)
        place = _segment(segment, path, row)
        system = "+".join(system_name(each, lang_pair) for each in system.split("+"))
        segments.append(
            JudgedSegment(
                segment,
                Text(texts.output(system.split("+")[0], place), lang),
                (Text(texts.reference(place), lang),),
                Text(texts.source(place), source_lang),
                system,
                number(score, "HUMAN", path, row),
            )
        )
    return _not_empty(segments, path, lang_pair)


@dataset(
    "wmt-outputs",
    JudgedSegment,
    "WMT metrics task: all outputs of all systems, without scores",
    origin=ORIGIN,
    licence=LICENCE,
    layout="an unpacked package of a metrics task: sources, references and system-outputs",
)
def read_wmt_outputs(folder: Path, lang_pair: str) -> list[JudgedSegment]:
    """Read all outputs of all systems, without scores."""
    places = [path for path in sorted(folder.rglob(lang_pair)) if path.is_dir()]
    place = next((path for path in places if path.parent.parent.name == "system-outputs"), None)
    if place is None:
        raise InputError(f"{folder} has no system-outputs/TESTSET/{lang_pair}")
    testset = place.parent.name
    texts = TestSetTexts(folder, testset, lang_pair)
    source_lang, _, lang = lang_pair.partition("-")
    segments = []
    for path in sorted(place.iterdir()):
        system = system_name(path.name.removeprefix(f"{testset}."), lang_pair)
        lines = list(read_lines(path))
        if len(lines) < texts.count:
            first = len(lines) + 1
            warnings.warn(
                f"{path} has {len(lines)} lines: {system} has no outputs of the last "
                f"{texts.count - len(lines)} of {texts.count} segments, from {first} on",
                DataWarning,
                stacklevel=2,
            )
        for segment, line in enumerate(lines, start=1):
            segments.append(
                JudgedSegment(
                    str(segment),
                    Text(line, lang),
                    (Text(texts.reference(segment), lang),),
                    Text(texts.source(segment), source_lang),
                    system,
                )
            )
    return segments


def read_wmt_systems(folder: Path, lang_pair: str) -> dict[str, float]:
    """Read human scores of the systems (LP, perhaps DATA, SYSTEM, HUMAN)."""
    path = _find(folder, SYSTEMS)
    scores = {}
    for row, line in enumerate(read_lines(path)):
        fields = line.split()
        if row == 0 or not fields or fields[0] != lang_pair:
            continue
        if len(fields) < 3:
            raise row_error(path, row, f"{len(fields)} fields, not 3", DOWNLOAD_AGAIN)
        score = number(fields[-1], "HUMAN", path, row)
        if score is not None:
            scores[system_name(fields[-2], lang_pair)] = score
    return scores


@dataset(
    "wmt-rankings",
    RankedPair,
    "WMT metrics task: which of two systems is better on a segment (daRR)",
    origin=ORIGIN,
    licence=LICENCE,
    layout="an unpacked package of a metrics task: RR-seglevel.csv or DArr-seglevel.csv",
)
def read_wmt_rankings(folder: Path, lang_pair: str) -> list[RankedPair]:
    """Read relative judgements of two systems on a segment (daRR)."""
    path = next(
        (file for name in RANKINGS for file in sorted(folder.rglob(name))), folder / RANKINGS[0]
    )
    ranked = [
        RankedPair(pair, segment, system_name(better, pair), system_name(worse, pair))
        for _, (pair, _, segment, better, worse) in _rows(path)
        if pair == lang_pair
    ]
    return _not_empty(ranked, path, lang_pair)


@dataset(
    "wmt-table",
    JudgedSegment,
    "WMT judgements of all years in one table: direct assessment, or MQM",
    origin="https://huggingface.co/RicardoRei",
    licence="see the hub",
    layout="the columns lp, src, mt, ref and score",
    hub_id=", ".join(HUB_IDS.values()),
)
def read_wmt_table(
    kind: Literal["da", "mqm"],
    lang_pair: str,
    *,
    year: int | None = None,
    path: Path | None = None,
    offline: bool = False,
) -> list[JudgedSegment]:
    """Read a language pair, of one year or all years, from a file or from the hub."""
    source_lang, _, lang = lang_pair.partition("-")
    if path is None:
        rows = hub_records(HUB_IDS[kind], "*.csv", offline=offline)
    else:
        rows = table_records(path)
    segments = []
    for file, row, record in rows:
        if record.get("lp") is None:
            raise row_error(file, row, "no column 'lp'", f"its columns are {', '.join(record)}")
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


def system_name(name: str, lang_pair: str) -> str:
    """The name of a system without the languages, which some files of a package append.

    >>> system_name("Baidu-system.6940.zh-en", "zh-en"), system_name("online-A.0", "zh-en")
    ('Baidu-system.6940', 'online-A.0')
    """
    while name.endswith(f".{lang_pair}"):
        name = name.removesuffix(f".{lang_pair}")
    return name


def _find(folder: Path, place: str) -> Path:
    name = Path(place).name
    parent = Path(place).parent.as_posix()
    for path in sorted(folder.rglob(name)):
        if parent == "." or path.parent.as_posix().endswith(parent):
            return path
    raise InputError(f"{folder} has no {place}; unpack the whole package of the metrics task there")


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Read five fields per line after the header (which lacks a name in 2018)."""
    if not path.exists():
        raise InputError(f"{path} is missing; unpack the package of the metrics task there")
    for row, line in enumerate(read_lines(path)):
        if row == 0 or not line.strip():
            continue
        yield row, check_fields(line.split(), 5, path, row)


def _segment(value: str, path: Path, row: int) -> int:
    if not value.isdecimal():
        raise row_error(path, row, f"the segment is {value!r}", "it must be a positive integer")
    return int(value)


def _not_empty(judgements: list[Judgement], path: Path, lang_pair: str) -> list[Judgement]:
    if not judgements:
        raise InputError(f"{path} has nothing for {lang_pair}")
    return judgements
