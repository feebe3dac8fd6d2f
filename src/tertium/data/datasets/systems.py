"""A test set in one table, a column a system, and a table with a human score for each system."""

from __future__ import annotations

from pathlib import Path

from tertium.data.datasets.base import JudgedSegment, fault
from tertium.data.datasets.values import number, text
from tertium.data.records import open_table
from tertium.errors import InputError
from tertium.text import Text

NOT_SYSTEMS = ("id", "source", "reference")


def read_systems(path: Path, lang_pair: str) -> list[JudgedSegment]:
    """Read source, reference and the outputs of all systems; no output is judged by itself."""
    source_lang, _, lang = lang_pair.partition("-")
    table = open_table(path)
    for column in ("source", "reference"):
        if column not in table.columns():
            raise InputError(f"{path} has no column {column!r}: {', '.join(table.columns())}")
    systems = [name for name in table.columns() if name not in NOT_SYSTEMS]
    if not systems:
        raise InputError(f"{path} has no system: name a column after each")
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
    """Read the systems' human scores from the columns pair, system and score."""
    found = {}
    for row, record in enumerate(open_table(path), start=1):
        if record.get("pair") != lang_pair:
            continue
        score = number(record.get("score"), "score", path, row)
        if score is None:
            raise fault(path, row, "no score", "leave the system out")
        found[text(record, "system", path, row)] = score
    return found
