"""Tables of measures by dataset: averages, the top significance cluster, and intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from tertium.report.tables import Cell, Table
from tertium.stats.arrays import Floats
from tertium.stats.resampling import bootstrap_p_values, combine, percentile_interval, top_cluster

AVERAGE = "macro-average"
TOP_NOTE = "Bold, *: in the top significance cluster ({test}, p < 0.05)."
BOOTSTRAP = "paired bootstrap"


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
) -> Table:
    """One row per measure, one column per dataset; the top significance cluster in bold."""
    names = measures or list(dict.fromkeys(name for column in columns for name in column.values))
    tops = [column.top() for column in columns]
    rows = []
    for name in names:
        cells = [Cell(name)]
        for column, top in zip(columns, tops, strict=True):
            value = column.values.get(name)
            cells.append(Cell(None if value is None else scale * value, digits, name in top))
        rows.append(cells)
    header = ["measure", *(column.heading for column in columns)]
    return Table(header, rows, title, TOP_NOTE.format(test=test))


def interval_table(columns: Sequence[Column], title: str) -> Table:
    """The values with 95 % intervals, one per row: the data of figures 3 and 4 of NMTScore."""
    rows = []
    for column in columns:
        top = column.top()
        for measure, value in column.values.items():
            limits: list[Cell] = [Cell(None), Cell(None)]
            if not np.isnan(column.replicates[measure]).all():
                interval = percentile_interval(column.replicates[measure])
                limits = [Cell(interval.low, ".3f"), Cell(interval.high, ".3f")]
            name = Cell(f"{column.heading}, {measure}")
            rows.append([name, Cell(value, ".3f", measure in top), *limits])
    note = TOP_NOTE.format(test=BOOTSTRAP)
    return Table(["", "value", "low", "high"], rows, f"{title}: 95 % intervals", note)
