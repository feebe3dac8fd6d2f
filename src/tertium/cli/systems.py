"""The scores of systems as people and other programs read them."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from tertium.errors import InputError, SettingError
from tertium.jobs.output import to_json
from tertium.measures.scores import ScoreTable, digits_for
from tertium.report.tables import Table
from tertium.stats.conventions import SAMPLES
from tertium.storage.atomic import write_text

MTME_REFERENCE = re.compile(r"[a-z]+-[a-z]+\.(\w+)\.txt")
"""A file of references as mt-metrics-eval names it."""


class TableFormat(StrEnum):
    """How the system scores are printed."""

    text = "text"
    markdown = "markdown"
    latex = "latex"
    csv = "csv"
    json = "json"


@dataclass(frozen=True)
class TableSettings:
    """What a table of system scores shows, and how."""

    format: TableFormat = TableFormat.text
    score_only: bool = False
    confidence: bool = False
    samples: int = SAMPLES
    seed: int = 0
    digits: int | None = None

    def table(self, scores: ScoreTable, *, separate: bool = False) -> Table:
        """The table to print."""
        return scores.table(
            confidence=self.confidence,
            samples=self.samples,
            seed=self.seed,
            digits=self.digits,
            separate=separate,
        )


def print_systems(table: ScoreTable, settings: TableSettings) -> None:
    """Print the system scores: a table, a JSON document, or just the numbers."""
    if settings.format is TableFormat.json:
        print(document(table, settings))
    elif settings.score_only:
        print(numbers(table, settings.digits))
    elif settings.format is TableFormat.csv:
        print(settings.table(table, separate=True).csv(), end="")
    else:
        made = settings.table(table)
        if settings.format is TableFormat.markdown:
            print(made.markdown())
        elif settings.format is TableFormat.latex:
            print(made.latex())
        elif sys.stdout.isatty():
            from rich.console import Console

            made.print(Console(highlight=False))
        else:
            print(made.text())


def numbers(table: ScoreTable, digits: int | None) -> str:
    """One line per system, with one number per measure, separated by tabs."""
    lines = []
    for system in table.systems:
        row = [table.scores[system, measure] for measure in table.measures]
        decimals = [digits_for([each]) if digits is None else digits for each in row]
        pairs = zip(row, decimals, strict=True)
        lines.append("\t".join(f"{each.system:.{places}f}" for each, places in pairs))
    return "\n".join(lines)


def document(table: ScoreTable, settings: TableSettings) -> str:
    """The whole result as one JSON document."""
    systems = table.document(
        confidence=settings.confidence, samples=settings.samples, seed=settings.seed
    )
    facts = {name: value for name, value in table.facts().items() if name != "queries"}
    facts["marks"] = {system: dict(table.marks(system)) for system in table.systems}
    made: dict[str, Any] = {"systems": systems, **facts}
    if settings.confidence:
        made |= {"samples": settings.samples, "seed": settings.seed}
    if table.written and not settings.score_only:
        made["segments"] = list(table.written)
    return to_json(made)


def reference_names(refs: Sequence[Path]) -> list[str]:
    """The names of references for mt-metrics-eval: as its files have them, or refA, refB, ...

    >>> reference_names([Path("en-de.refB.txt")]), reference_names([Path("r1.txt"), Path("r2")])
    (['refB'], ['refA', 'refB'])
    """
    named = [MTME_REFERENCE.fullmatch(path.name) for path in refs]
    if all(named):
        return [match[1] for match in named if match is not None]
    return [f"ref{letter}" for letter, _ in zip(ascii_uppercase, refs, strict=False)]


def refuse_existing_mtme(folder: Path, columns: Sequence[str]) -> None:
    """Refuse, before any work, to replace score files of the same measures."""
    for column in columns:
        for path in sorted(folder.glob(f"{_stem(column)}-*.score")):
            refuse_existing(path, force=False)


def write_mtme(table: ScoreTable, refs: Sequence[str], folder: Path) -> list[Path]:
    """Write the files NAME-REF.seg.score and NAME-REF.sys.score of mt-metrics-eval."""
    contents: dict[Path, str] = {}
    names = {system: re.sub(r"\s+", "_", system) for system in table.systems}
    for column in table.measures:
        scores = {system: table.scores[system, column] for system in table.systems}
        measure = next(iter(scores.values())).measure
        against = "src" if measure is not None and measure.reads == ("source",) else ".".join(refs)
        stem = f"{_stem(column)}-{against}"
        contents[folder / f"{stem}.seg.score"] = "".join(
            f"{names[system]}\t{score!r}\n" for system, each in scores.items() for score in each
        )
        contents[folder / f"{stem}.sys.score"] = "".join(
            f"{names[system]}\t{each.system!r}\n" for system, each in scores.items()
        )
    folder.mkdir(parents=True, exist_ok=True)
    for path, content in contents.items():
        write_text(path, content)
    return list(contents)


def _stem(column: str) -> str:
    """The name of a measure as part of a file name."""
    return re.sub(r"[^\w.+=@-]", "_", column)


def refuse_existing(path: Path, *, force: bool) -> None:
    """Refuse to replace a file, unless that is requested."""
    if path.is_file() and not force:
        raise InputError(f"{path} exists; use --force to replace it, or choose another name")


def read_thresholds(texts: Sequence[str], measures: Sequence[str]) -> dict[str, float]:
    """Read --fail-under: a number, or MEASURE=NUMBER if there are several measures.

    >>> read_thresholds(["0.4"], ["cross"]), read_thresholds(["chrf=40"], ["chrf", "bleu"])
    ({'cross': 0.4}, {'chrf': 40.0})
    """
    thresholds = {}
    for text in texts:
        name, equals, value = text.rpartition("=")
        if not equals and len(measures) > 1:
            raise SettingError(
                f"--fail-under {text}: there are several measures; "
                f"use --fail-under {measures[0]}={text}"
            )
        name = name or measures[0]
        if name not in measures:
            raise SettingError(f"--fail-under {text}: the measures are {', '.join(measures)}")
        try:
            thresholds[name] = float(value)
        except ValueError:
            raise SettingError(f"--fail-under {text}: {value!r} is not a number") from None
    return thresholds


def failures(scores: Mapping[tuple[str, str], float], limits: Mapping[str, float]) -> list[str]:
    """The system scores that are below their thresholds, for people."""
    return [
        f"{system}: {measure} {score:.4f} is below {limits[measure]:g}"
        for (system, measure), score in scores.items()
        if measure in limits and not score >= limits[measure]
    ]
