"""Tables of measures by dataset: averages, the top significance cluster, and intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from tertium.report.tables import Cell, Table
from tertium.stats.arrays import Floats
from tertium.stats.conventions import Interval
from tertium.stats.resampling import bootstrap_p_values, combine, percentile_interval, top_cluster

AVERAGE = "macro-average"
TOP_NOTE = "Bold, *: in the top significance cluster ({test}, p < 0.05)."
BOOTSTRAP = "paired bootstrap"
OVERLAP_NOTE = "Bold, *: no other 95 % interval is above that of the measure (Prism, section 4.5)."


@dataclass(frozen=True)
class Column:
    """The values of the measures on a dataset, or on average over several."""

    heading: str
    values: Mapping[str, float]
    """A measure that could not be scored is missing."""
    replicates: Mapping[str, Floats]
    """The same in each bootstrap sample."""
    p_values: Mapping[tuple[str, str], float] = field(default_factory=dict)
    """Of "the first measure is better than the second", if another test than the bootstrap is
    used."""
    n: int | None = None
    """How many outputs, rankings or systems the values are of."""

    def interval(self, name: str) -> Interval | None:
        """The 95 % interval of a measure; None if its value is undefined in all samples."""
        if np.isnan(self.replicates[name]).all():
            return None
        return percentile_interval(self.replicates[name])

    def limits(self, name: str) -> tuple[float, float] | None:
        """The ends of the interval; None for a measure that is missing or undefined."""
        interval = self.interval(name) if name in self.values else None
        return None if interval is None else (interval.low, interval.high)

    def not_outperformed(self) -> set[str]:
        """The measures whose interval no other interval is above: the significance of Prism, 4.5.

        A measure is significantly worse than another if their 95 % intervals do not overlap.
        """
        intervals = {name: self.interval(name) for name in self.values}
        defined = {name: each for name, each in intervals.items() if each is not None}
        highest = max((each.low for each in defined.values()), default=0.0)
        return {name for name, each in defined.items() if each.high >= highest}

    def top(self, names: Sequence[str] | None = None) -> set[str]:
        """The measures that no other is significantly better than; the bootstrap is Koehn's."""
        names = [name for name in names or self.values if name in self.values]
        names = [name for name in names if not np.isnan(self.replicates[name]).all()]
        names = [name for name in names if not np.isnan(self.values[name])]
        if not names:
            return set()
        if self.p_values:
            p_values = np.array([[self.p_values.get((a, b), 1.0) for b in names] for a in names])
        else:
            values = [self.values[name] for name in names]
            replicates = [self.replicates[name] for name in names]
            p_values = bootstrap_p_values(values, replicates, tail="koehn")
        return {names[place] for place in top_cluster(p_values)}


def finding(
    columns: Sequence[Column], what: str, *, scale: float = 1.0, digits: str = ".3f"
) -> str:
    """The result of a table in a sentence: the best measure of its last column, and its rivals."""
    if not columns or not columns[-1].values:
        return ""
    column = columns[-1]
    defined = {name: value for name, value in column.values.items() if not np.isnan(value)}
    if not defined:
        return ""
    best = max(defined, key=lambda name: defined[name])
    value = f"{scale * defined[best]:{digits}}"
    limits = column.limits(best)
    if limits is not None:
        low, high = (f"{scale * limit:{digits}}" for limit in limits)
        value += f", 95 % interval {low} to {high}"
    sentence = f"{what}, {column.heading}: {best} is highest ({value})"
    rivals = [name for name in column.values if name in column.top() and name != best]
    if len(defined) == 1:
        return f"{what}, {column.heading}: {best} has {value}."
    if rivals:
        return f"{sentence}; not significantly lower: {', '.join(rivals)}."
    return f"{sentence}, significantly higher than all others."


def with_averages(columns: Sequence[tuple[str, Column]]) -> list[Column]:
    """Add the average of each group of several columns, and at the end that of all groups."""
    result, averages = [], []
    for group in dict.fromkeys(group for group, _ in columns):
        members = [column for other, column in columns if other == group]
        result += members
        average = members[0]
        if len(members) > 1:
            average = average_column(f"{group.rstrip('+')} Avg.", members)
            result.append(average)
        averages.append(average)
    return [*result, average_column(AVERAGE, averages)] if len(averages) > 1 else result


def average_column(heading: str, parts: Sequence[Column]) -> Column:
    """The mean of several columns, for the measures that are in all of them."""
    common = [name for name in parts[0].values if all(name in part.values for part in parts)]
    return Column(
        heading,
        {name: float(np.mean([part.values[name] for part in parts])) for name in common},
        {name: combine([part.replicates[name] for part in parts]) for name in common},
    )


def agreement_table(
    columns: Sequence[Column],
    title: str,
    measures: Sequence[str] | None = None,
    *,
    scale: float = 1.0,
    digits: str = ".3f",
    test: str = BOOTSTRAP,
    overlap: bool = False,
) -> Table:
    """One row per measure, one column per dataset; the top significance cluster in bold.

    With ``overlap``, bold are the measures that no other is better than by intervals that do not
    overlap.
    """
    names = measures or list(dict.fromkeys(name for column in columns for name in column.values))
    tops = [column.not_outperformed() if overlap else column.top() for column in columns]
    rows = []
    for name in names:
        cells = [Cell(name)]
        for column, top in zip(columns, tops, strict=True):
            value = column.values.get(name)
            cells.append(Cell(None if value is None else scale * value, digits, name in top))
        rows.append(cells)
    if any(column.n is not None for column in columns):
        rows.append([Cell("n"), *(Cell(column.n, "d") for column in columns)])
    header = ["measure", *(column.heading for column in columns)]
    note = OVERLAP_NOTE if overlap else TOP_NOTE.format(test=test)
    return Table(header, rows, title, note)


def interval_table(columns: Sequence[Column], title: str) -> Table:
    """The values with 95 % intervals, one per row: the data of figures 3 and 4 of NMTScore."""
    rows = []
    for column in columns:
        top = column.top()
        for measure, value in column.values.items():
            limits: list[Cell] = [Cell(None), Cell(None)]
            if (interval := column.interval(measure)) is not None:
                limits = [Cell(interval.low, ".3f"), Cell(interval.high, ".3f")]
            name = Cell(f"{column.heading}, {measure}")
            value_cell = Cell(value, ".3f", measure in top)
            rows.append([name, value_cell, *limits, Cell(column.n, "d")])
    note = TOP_NOTE.format(test=BOOTSTRAP)
    return Table(["", "value", "low", "high", "n"], rows, f"{title}: 95 % intervals", note)
