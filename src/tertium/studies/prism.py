"""Tables 2 to 4 and 7 to 25 of the Prism paper, from the packages of the metrics tasks.

Thompson and Post (2020). Their numbers are in ``prism_tables.json``, as printed in appendices D to
G; tables 2 to 4 are excerpts of these.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Literal

from tertium.errors import InputError
from tertium.measures.loading import MeasureSpec
from tertium.report.tables import Cell, Table
from tertium.stats.conventions import SAMPLES
from tertium.stats.resampling import spawn
from tertium.studies.columns import Column, agreement_table
from tertium.studies.judgements.agreement import ranking_column, system_column, system_judgements
from tertium.studies.judgements.sets import JudgedSet
from tertium.studies.judgements.study import ScoresByMeasure
from tertium.studies.report import Report

Kind = Literal["segments", "best", "systems"]
FILE = Path(__file__).with_name("prism_tables.json")
BEST = 4
"""So many systems are "the top systems" of the paper."""
MEASURES = ("prism-ref", "prism-src", "chrf:beta=3", "bleu:tokenize=intl,lowercase=yes")
"""Those of the paper that need no other package; the surface measures as WMT computed them."""
ROWS = {
    "prism-ref": ("Prism-ref", "Prism-ref"),
    "prism-src": ("Prism-src", "Prism-src"),
    "chrf": ("CHRF", "SACREBLEU.CHRF"),
    "bleu": ("SENTBLEU", "SACREBLEU.BLEU"),
    "bertscore": ("BERTSCORE", "BERTSCORE"),
}
"""The rows of measures in the paper: for segments, for systems."""
NUMBERS: Mapping[int, tuple[int, Kind, bool | None, str]] = {
    7: (2018, "segments", None, ""),
    8: (2018, "segments", None, ""),
    9: (2018, "systems", None, ""),
    10: (2018, "systems", None, ""),
    11: (2019, "segments", False, " and 2"),
    12: (2019, "segments", False, " and 2"),
    13: (2019, "segments", False, " and 2"),
    14: (2019, "segments", True, " and 4"),
    15: (2019, "segments", True, " and 4"),
    16: (2019, "segments", True, " and 4"),
    17: (2019, "best", None, " and 3"),
    18: (2019, "best", None, " and 3"),
    19: (2019, "best", None, " and 3"),
    20: (2019, "systems", False, ""),
    21: (2019, "systems", False, ""),
    22: (2019, "systems", False, ""),
    23: (2019, "systems", True, ""),
    24: (2019, "systems", True, ""),
    25: (2019, "systems", True, ""),
}
"""By table: the year; what is correlated; whether measures read the source, the reference, or
either; and the table of the main text with an excerpt."""
TITLES: Mapping[Kind, str] = {
    "segments": "segments, Kendall-like tau of relative rankings",
    "best": f"the best {BEST} systems, Pearson's r",
    "systems": "systems, Pearson's r",
}


@dataclass(frozen=True)
class PublishedTable:
    """A table of the paper."""

    number: int
    year: int
    kind: Kind
    from_source: bool | None
    excerpt: str
    pairs: Sequence[str]
    n: Sequence[int]
    rows: Mapping[str, Sequence[float | None]]

    @property
    def title(self) -> str:
        quality = ", quality estimation" if self.from_source else ""
        return f"Table {self.number}{self.excerpt}: WMT {self.year}, {TITLES[self.kind]}{quality}"

    def row_of(self, measure: str) -> str | None:
        """The row of a measure that is computed here, or of a submitted metric by its name."""
        base = MeasureSpec.parse(measure).measure if measure.split(":")[0].islower() else ""
        if base in ROWS:
            return next((name for name in ROWS[base][self.kind != "segments" :][:1]), None)
        folded = measure.casefold().replace("_", " ").removesuffix(" (submitted)")
        return next((name for name in self.rows if name.casefold() == folded), None)

    def value(self, row: str, pair: str) -> float | None:
        """What the paper has."""
        values = self.rows.get(row)
        return None if values is None else values[self.pairs.index(pair)]

    def shows(self, measure: str) -> bool:
        """Whether the table is for this measure: one that reads sources is for quality estimation.

        A submitted metric is in the tables that have a row of its name.
        """
        if self.from_source is None:
            return True
        row = self.row_of(measure)
        if row in self.rows:
            return True
        return not self.from_source and row != "Prism-src"


@lru_cache(maxsize=1)
def published_tables() -> tuple[PublishedTable, ...]:
    """The tables of the appendices.

    >>> table = published_tables()[4]
    >>> table.number, table.value("Prism-ref", "de-en"), table.n[0]
    (11, 0.204, 85365)
    """
    content = json.loads(FILE.read_text(encoding="utf-8"))
    return tuple(
        PublishedTable(number, *NUMBERS[number], **content[str(number)]) for number in NUMBERS
    )


def pairs_of(package: Path, year: int) -> list[str]:
    """The language pairs of the paper that a package has outputs of."""
    pairs = dict.fromkeys(
        pair for table in published_tables() if table.year == year for pair in table.pairs
    )
    available = {
        path.name
        for outputs in package.rglob("system-outputs")
        for path in outputs.glob("*/*")
        if path.is_dir()
    }
    found = [pair for pair in pairs if pair in available]
    if not found:
        raise InputError(
            f"{package} has no system-outputs/TESTSET/PAIR of the language pairs of {year}: "
            f"{', '.join(pairs)}; unpack the package of the metrics task there"
        )
    return found


def prism_report(
    sets: Mapping[str, JudgedSet],
    scores: Mapping[str, ScoresByMeasure],
    year: int,
    *,
    samples: int = SAMPLES,
    seed: int = 0,
) -> Report:
    """Make every table of a year; ``sets`` are by language pair, ``scores`` by name of the set.

    Each table has the values of the paper below those found here, and n of both, and is shown
    twice: with the paired bootstrap, and with intervals that do not overlap, as the paper has it.
    """
    tables, findings = {}, []
    for table in published_tables():
        if table.year != year:
            continue
        columns = []
        seeds = spawn(seed, len(table.pairs))
        for pair, own_seed in zip(table.pairs, seeds, strict=True):
            judged = sets.get(pair)
            if judged is None:
                continue
            shown = {name: own for name, own in scores[judged.name].items() if table.shows(name)}
            column = _column(table, judged, shown, samples=samples, seed=own_seed)
            if column is not None and column.values:
                columns.append((pair, column))
        if columns:
            stem = f"table-{table.number:02}"
            findings += [_top_of(table, columns)]
            tables[stem] = with_paper(table, columns, overlap=False)
            tables[f"{stem}-by-intervals"] = with_paper(table, columns, overlap=True)
    if not tables:
        raise InputError("the package has neither relative rankings nor scores of systems")
    title = f"The Prism paper: WMT {year}"
    return Report(title, tables, findings=[text for text in findings if text])


def _top_of(table: PublishedTable, columns: Sequence[tuple[str, Column]]) -> str:
    """How often Prism is among the best measures of a table, in a sentence."""
    tops = [(column.top(), column.values) for _, column in columns]
    names = dict.fromkeys(name for _, values in tops for name in values if "prism" in name.lower())
    told = [
        f"{name} in {sum(name in top for top, _ in tops)} of {len(tops)}"
        for name in names
        if len(tops[0][1]) > 1
    ]
    if not told:
        return ""
    return f"{table.title}: in the top cluster of measures are {', '.join(told)} language pairs."


def with_figures(report: Report, figures: Sequence[Report]) -> Report:
    """Add the tables and figures of other reports."""
    return replace(
        report,
        tables={
            **report.tables,
            **{n: each for made in figures for n, each in made.tables.items()},
        },
        figures={n: each for made in figures for n, each in made.figures.items()},
    )


def _column(
    table: PublishedTable, judged: JudgedSet, scores: ScoresByMeasure, *, samples: int, seed: int
) -> Column | None:
    """Correlate the scores of a language pair; None if the package lacks the judgements."""
    if table.kind == "segments":
        if not judged.rankings:
            return None
        return ranking_column(judged, scores, samples=samples, seed=seed)
    top = BEST if table.kind == "best" else None
    if len(system_judgements(judged)) < (top or 3):
        return None
    return system_column(judged, scores, top=top, samples=samples, seed=seed)


def with_paper(
    table: PublishedTable, columns: Sequence[tuple[str, Column]], *, overlap: bool
) -> Table:
    """A table with the paper's value below each that was found."""
    made = agreement_table([column for _, column in columns], table.title, overlap=overlap)
    rows = []
    for row in made.rows:
        rows.append(row)
        name = str(row[0])
        paper: list[float | int | None]
        if name == "n":
            paper = [table.n[table.pairs.index(pair)] for pair, _ in columns]
            rows.append([Cell("n, paper"), *(Cell(count, "d") for count in paper)])
            continue
        published = table.row_of(name)
        if published is not None and published in table.rows:
            paper = [table.value(published, pair) for pair, _ in columns]
            rows.append([Cell(f"{published}, paper"), *(Cell(value, ".3f") for value in paper)])
    return Table(["measure", *(pair for pair, _ in columns)], rows, made.title, made.note)
