"""The packages of the WMT metrics tasks (2016 to 2020): plain text, and judgements in tables.

Somewhere in the folder there are ``DA-seglevel.csv`` (LP DATA SYSTEM SID HUMAN) or
``RR-seglevel.csv`` (LP DATA SID BETTER WORSE), all with spaces between the fields, and the folders
``sources``, ``references`` and ``system-outputs``. Segments count from 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from tertium.data.datasets.base import JudgedSegment, RankedPair, fault
from tertium.data.datasets.values import number
from tertium.data.lines import read_lines
from tertium.errors import InputError
from tertium.text import Text

Found = TypeVar("Found")

SYSTEMS = "DA-syslevel.csv"
RANKINGS = ("RR-seglevel.csv", "DArr-seglevel.csv")


@dataclass
class Texts:
    """The texts of a test set, read when they are asked for."""

    folder: Path
    testset: str
    lang_pair: str
    _read: dict[Path, list[str]] = field(default_factory=dict)

    def source(self, segment: int) -> str:
        source, _, _ = self.lang_pair.partition("-")
        return self._line(f"sources/{self._stem()}-src.{source}", segment)

    def reference(self, segment: int) -> str:
        target = self.lang_pair.partition("-")[2]
        return self._line(f"references/{self._stem()}-ref.{target}", segment)

    def output(self, system: str, segment: int) -> str:
        place = f"system-outputs/{self.testset}/{self.lang_pair}/{self.testset}.{system}"
        try:
            return self._line(f"{place}.{self.lang_pair}", segment)
        except InputError:
            return self._line(place, segment)  # some names have the languages in them already

    def _stem(self) -> str:
        return f"{self.testset}-{self.lang_pair.replace('-', '')}"

    def _line(self, place: str, segment: int) -> str:
        path = _find(self.folder, place)
        if path not in self._read:
            self._read[path] = list(read_lines(path))
        lines = self._read[path]
        if not 1 <= segment <= len(lines):
            raise InputError(f"{path} has no line {segment}: it has {len(lines)}")
        return lines[segment - 1]


def read_wmt_da(folder: Path, lang_pair: str) -> list[JudgedSegment]:
    """Read the segments with a direct assessment; the score is that of the table (a z-score).

    Where several systems gave the same output, ``system`` has their names joined by ``+``.
    """
    path = _find(folder, "DA-seglevel.csv")
    segments, texts = [], None
    source_lang, _, lang = lang_pair.partition("-")
    for row, (pair, testset, system, segment, score) in _rows(path):
        if pair != lang_pair:
            continue
        texts = texts or Texts(folder, testset, lang_pair)
        place = _segment(segment, path, row)
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


def read_wmt_outputs(folder: Path, lang_pair: str) -> list[JudgedSegment]:
    """Read all outputs of all systems; none is judged by itself."""
    places = [path for path in sorted(folder.rglob(lang_pair)) if path.is_dir()]
    place = next((path for path in places if path.parent.parent.name == "system-outputs"), None)
    if place is None:
        raise InputError(f"{folder} has no system-outputs/TESTSET/{lang_pair}")
    testset = place.parent.name
    texts = Texts(folder, testset, lang_pair)
    source_lang, _, lang = lang_pair.partition("-")
    segments = []
    for path in sorted(place.iterdir()):
        system = path.name.removeprefix(f"{testset}.").removesuffix(f".{lang_pair}")
        for segment, line in enumerate(read_lines(path), start=1):
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
    """Read people's scores of the systems (LP, perhaps DATA, SYSTEM, HUMAN)."""
    path = _find(folder, SYSTEMS)
    found = {}
    for row, line in enumerate(read_lines(path)):
        fields = line.split()
        if row == 0 or not fields or fields[0] != lang_pair:
            continue
        if len(fields) < 3:
            raise fault(path, row, f"{len(fields)} fields, not 3", "fetch the package anew")
        score = number(fields[-1], "HUMAN", path, row)
        if score is not None:
            found[fields[-2]] = score
    return found


def read_wmt_rankings(folder: Path, lang_pair: str) -> list[RankedPair]:
    """Read which of two systems was better on a segment (daRR)."""
    path = next(
        (found for name in RANKINGS for found in sorted(folder.rglob(name))), folder / RANKINGS[0]
    )
    ranked = [
        RankedPair(pair, segment, better, worse)
        for _, (pair, _, segment, better, worse) in _rows(path)
        if pair == lang_pair
    ]
    return _not_empty(ranked, path, lang_pair)


def _find(folder: Path, place: str) -> Path:
    name = Path(place).name
    parent = Path(place).parent.as_posix()
    for path in sorted(folder.rglob(name)):
        if parent == "." or path.parent.as_posix().endswith(parent):
            return path
    raise InputError(f"{folder} has no {place}; unpack the whole package of the metrics task there")


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Read five fields a line, after a header (which in 2018 lacks a name)."""
    if not path.exists():
        raise InputError(f"{path} is missing; unpack the package of the metrics task there")
    for row, line in enumerate(read_lines(path)):
        if row == 0 or not line.strip():
            continue
        fields = line.split()
        if len(fields) != 5:
            raise fault(path, row, f"{len(fields)} fields, not 5", "fetch the package anew")
        yield row, fields


def _segment(value: str, path: Path, row: int) -> int:
    if not value.isdecimal():
        raise fault(path, row, f"the segment is {value!r}", "it must be a number from 1")
    return int(value)


def _not_empty(found: list[Found], path: Path, lang_pair: str) -> list[Found]:
    if not found:
        raise InputError(f"{path} has nothing for {lang_pair}")
    return found
