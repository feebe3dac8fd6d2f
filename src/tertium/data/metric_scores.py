"""Scores of metrics that were submitted to WMT, or computed by other tools.

Files ``METRIC.seg.score`` and ``METRIC.sys.score``, plain or compressed, in one of two formats:

- of the metrics tasks: METRIC LANGPAIR TESTSET SYSTEM [SEGMENT] SCORE, perhaps with more fields;
- of mt-metrics-eval: SYSTEM SCORE, in the order of the segments, in a folder with the name of the
  language pair (``metric-scores/en-de/COMET-refA.seg.score``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tertium.data.datasets.reading import number, row_error
from tertium.data.datasets.wmt import system_name
from tertium.data.lines import read_lines
from tertium.errors import InputError

NAME = re.compile(r"(?P<metric>.+)\.(?P<kind>seg|sys)\.score(\.gz|\.xz|\.bz2)?")
SEPARATOR = re.compile(r"\t| +")
FORMATS = "METRIC LANGPAIR TESTSET SYSTEM [SEGMENT] SCORE, or SYSTEM SCORE"


@dataclass
class SubmittedMetric:
    """The scores of a metric for one language pair."""

    name: str
    segments: dict[tuple[str, str], float] = field(default_factory=dict)
    """By system and segment, which is numbered from 1."""
    systems: dict[str, float] = field(default_factory=dict)


def read_metric_scores(
    places: Sequence[Path], lang_pair: str, systems: Sequence[str] | None = None
) -> dict[str, SubmittedMetric]:
    """Read the scores of a language pair from files, and from folders at any depth.

    With ``systems``, only theirs, since a file may be of several test sets.
    """
    metrics: dict[str, SubmittedMetric] = {}
    for path, kind, metric in _files(places):
        _read(path, kind, metric, lang_pair, systems, metrics)
    return metrics


def _files(places: Sequence[Path]) -> list[tuple[Path, str, str]]:
    found = []
    for place in places:
        if not place.exists():
            raise InputError(f"{place} does not exist; give files *.seg.score or *.sys.score")
        files = sorted(place.rglob("*.score*")) if place.is_dir() else [place]
        matches = [(path, match) for path in files if (match := NAME.fullmatch(path.name))]
        if not matches:
            raise InputError(f"{place} has no files *.seg.score or *.sys.score")
        found += [(path, match["kind"], match["metric"]) for path, match in matches]
    return found


def _read(
    path: Path,
    kind: str,
    metric: str,
    lang_pair: str,
    systems: Sequence[str] | None,
    metrics: dict[str, SubmittedMetric],
) -> None:
    """Add the scores of a file that are of the language pair."""
    counts: dict[str, int] = {}
    for row, line in enumerate(read_lines(path), start=1):
        fields = SEPARATOR.split(line.strip())
        if fields == [""]:
            continue
        shortest = 6 if kind == "seg" else 5
        if len(fields) >= shortest:
            name, pair, _, system = fields[:4]
            segment = fields[4] if kind == "seg" else ""
            value = fields[shortest - 1]
        elif len(fields) == 2:
            name, pair, (system, value) = metric, path.parent.name, fields
            counts[system] = counts.get(system, 0) + 1
            segment = str(counts[system])
        else:
            raise row_error(path, row, f"{len(fields)} fields", f"the formats are: {FORMATS}")
        if pair != lang_pair:
            continue
        system = system_name(system, pair)
        if systems is not None and system not in systems:
            continue
        score = number(value, "score", path, row)
        if score is None:
            continue
        own = metrics.setdefault(name, SubmittedMetric(name))
        key = (system, segment)
        known = own.segments.get(key) if kind == "seg" else own.systems.get(system)
        if known is not None and known != score:
            where = f"{system}, segment {segment}" if kind == "seg" else system
            raise row_error(
                path, row, f"{name} has two scores for {where}", "give the files of one test set"
            )
        if kind == "seg":
            own.segments[key] = score
        else:
            own.systems[system] = score
