"""The scores of systems as people and other programs read them."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from tertium.cli.commands import flag
from tertium.cli.formats import OutputFormat
from tertium.data.records import counted
from tertium.errors import InputError
from tertium.jobs.output import Layout, rounded, to_json
from tertium.measures.marks import describe_languages, describe_marks, describe_system_marks
from tertium.measures.scores import ScoreTable, digits_for
from tertium.measures.totals import Signature
from tertium.report.tables import Table
from tertium.stats.conventions import SAMPLES
from tertium.storage.atomic import check_writable, write_text

MTME_REFERENCE = re.compile(r"[a-z]+-[a-z]+\.(\w+)\.txt")
"""A file of references as mt-metrics-eval names it."""


@dataclass(frozen=True)
class TableSettings:
    """What a table of system scores shows, and how."""

    format: OutputFormat = OutputFormat.text
    score_only: bool = False
    confidence: bool = False
    samples: int = SAMPLES
    seed: int = 0
    digits: int | None = None

    def table(self, scores: ScoreTable, *, separate: bool = False) -> Table:
        """The table to print; the only system is not named if it has no name."""
        table = scores.table(
            confidence=self.confidence,
            samples=self.samples,
            seed=self.seed,
            digits=self.digits,
            separate=separate,
        )
        if scores.systems == ("",):
            table = replace(table, header=table.header[1:], rows=[row[1:] for row in table.rows])
        if self.format in (OutputFormat.latex, OutputFormat.markdown):
            table = replace(table, note=". ".join([*signatures(scores), *negations(scores)]))
        if separate and self.digits is not None:
            digits = self.digits
            rows = [
                [replace(cell, value=rounded(cell.value, digits)) for cell in row]
                for row in table.rows
            ]
            table = replace(table, rows=rows)
        return table


def print_systems(
    table: ScoreTable, settings: TableSettings, rows: Sequence[Mapping[str, Any]] = ()
) -> None:
    """Print the system scores: a table, a JSON document with rows, or just the numbers."""
    if settings.format is OutputFormat.json:
        print(document(table, settings, rows))
    elif settings.score_only:
        print(numbers(table, settings.digits))
    elif settings.format in (OutputFormat.csv, OutputFormat.tsv):
        delimiter = "," if settings.format is OutputFormat.csv else "\t"
        print(settings.table(table, separate=True).csv(delimiter=delimiter), end="")
    else:
        made = settings.table(table)
        if settings.format is OutputFormat.markdown:
            print(made.markdown())
        elif settings.format is OutputFormat.latex:
            print(made.latex())
        elif sys.stdout.isatty():
            from rich.console import Console

            made.print(Console(highlight=False))
        else:
            print(made.text())


def worst_rows(table: ScoreTable, count: int) -> list[Mapping[str, Any]]:
    """The rows with the lowest scores by the first measure, worst first."""
    measure = table.measures[0]
    scored = [row for row in table.written if row[measure] is not None]
    return sorted(scored, key=lambda row: float(row[measure]))[:count]


def print_rows(rows: Sequence[Mapping[str, Any]], layout: Layout) -> None:
    """Print rows below the scores of all."""
    columns = list(rows[0]) if rows else []
    print("\n" + layout.head(columns) + layout.body(rows) + layout.tail({}), end="")


def numbers(table: ScoreTable, digits: int | None) -> str:
    """One line per system, with one number per measure, separated by tabs."""
    lines = []
    for system in table.systems:
        row = [table.scores[system, measure] for measure in table.measures]
        decimals = [digits_for([each]) if digits is None else digits for each in row]
        pairs = zip(row, decimals, strict=True)
        lines.append("\t".join(f"{each.system:.{places}f}" for each, places in pairs))
    return "\n".join(lines)


def document(
    table: ScoreTable, settings: TableSettings, rows: Sequence[Mapping[str, Any]] = ()
) -> str:
    """The whole result as one JSON document."""
    made: dict[str, Any] = table.summary(
        confidence=settings.confidence, samples=settings.samples, seed=settings.seed
    )
    if settings.confidence:
        made |= {"samples": settings.samples, "seed": settings.seed}
    if rows:
        made["segments"] = list(rows)
    return to_json(rounded(made, settings.digits))


def signatures(table: ScoreTable) -> list[str]:
    """The short signature of each measure; of several systems, what they have in common.

    >>> import tertium
    >>> signatures(tertium.score(["a"], ["a"], measure=["chrf"]))[0][:14]
    'chrf: m:chrf|c'
    """
    found = []
    for name in table.measures:
        each = [table.scores[system, name].signature for system in table.systems]
        found.append(f"{name}: {Signature.common(each).short}")
    return found


def negations(table: ScoreTable) -> list[str]:
    """Which measures are distances or error rates, negated so that higher is better."""
    first = table.systems[0]
    negated = [
        name
        for name in table.measures
        if table.scores[first, name].signature.choices.get("sign") == "negated"
    ]
    verb = "is" if len(negated) == 1 else "are"
    return [f"{', '.join(negated)} {verb} negated: higher is better"] if negated else []


def report(table: ScoreTable, started: float, *, quiet: bool, plain: bool, scores: bool) -> None:
    """Print signatures and warnings to standard error, and the scores if rows were printed.

    If the output itself is plain numbers or JSON, only what is wrong with the texts is printed.
    """
    from rich.console import Console

    if quiet or plain:
        for line in (*([] if quiet else described(table)), *table.messages):
            print(line, file=sys.stderr)
        return
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    for measure in table.measures:
        found: dict[str, list[str]] = {}
        for system in table.systems:
            its = table.scores[system, measure]
            found.setdefault(its.signature.short, []).append(system)
            if scores:
                name = f"{system}: " if len(table.systems) > 1 else ""
                console.print(f"{name}[bold]{measure}[/bold] {its.system:.4f}")
        for short, systems in found.items():
            which = f"{', '.join(systems)}: " if len(found) > 1 else ""
            console.print(f"{which}{short}", style="dim", markup=False)
    console.print("; ".join([_size(table, time.monotonic() - started), *negations(table)]))
    for message in described(table):
        console.print(message, style="yellow", markup=False)
    if languages := describe_languages(table.identified):
        console.print(f"{languages}; if that is wrong, use {flag('lang')}", markup=False)
    for message in table.messages:
        console.print(message, markup=False)


def described(table: ScoreTable) -> list[str]:
    """What is wrong with the texts of several systems, or of one."""
    marks = {system: table.marks(system) for system in table.systems}
    only = table.systems[0]
    if len(marks) > 1:
        found = describe_system_marks(marks, table.scored, cut=table.cut_reason)
    else:
        found = describe_marks(marks[only], table.scored, cut=table.cut_reason)
    without = [line for system in table.systems if (line := table.without(system))]
    return [*found, *without, *table.warnings]


def _size(table: ScoreTable, seconds: float) -> str:
    rows, count = counted(table.rows, "row"), len(table.systems)
    rows = rows if table.scored == table.rows else f"{table.scored} of {rows} scored"
    each = f"{count} systems, {rows} each, " if count > 1 else f"{rows} "
    facts = [f"{each}in {seconds:.1f} s"]
    if table.resumed:
        facts.append(f"{table.resumed} of them scored before")
    if table.tally is not None:
        facts.append(str(table.tally))
    return "; ".join(facts)


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
    """Refuse to replace a file, unless that is requested, and what cannot be written."""
    check_writable(path.parent)
    if path.is_file() and not force:
        raise InputError(f"{path} exists; use --force to replace it, or choose another name")
