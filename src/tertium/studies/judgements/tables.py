"""Tables of agreement with people: by dataset, with the top cluster, and with intervals."""

from __future__ import annotations

from collections.abc import Sequence

from tertium.report.tables import Cell, Table
from tertium.stats.resampling import percentile_interval
from tertium.studies.columns import TOP_NOTE, Column


def agreement_table(columns: Sequence[Column], title: str) -> Table:
    """A row a measure, a column a dataset; the top significance cluster in bold."""
    measures = list(dict.fromkeys(name for column in columns for name in column.values))
    tops = [column.top() for column in columns]
    rows = [
        [Cell(measure)]
        + [
            Cell(column.values.get(measure), ".3f", measure in top)
            for column, top in zip(columns, tops, strict=True)
        ]
        for measure in measures
    ]
    return Table(["measure", *(column.heading for column in columns)], rows, title, TOP_NOTE)


def interval_table(columns: Sequence[Column], title: str) -> Table:
    """The same with 95 % intervals, a row each: what figures 3 and 4 of NMTScore are drawn from."""
    rows = []
    for column in columns:
        top = column.top()
        for measure, value in column.values.items():
            interval = percentile_interval(column.replicates[measure])
            rows.append(
                [
                    Cell(f"{column.heading}, {measure}"),
                    Cell(value, ".3f", measure in top),
                    Cell(interval.low, ".3f"),
                    Cell(interval.high, ".3f"),
                ]
            )
    return Table(["", "value", "low", "high"], rows, f"{title}: 95 % intervals", TOP_NOTE)
