"""What tables of measures share: a column a dataset, averages, and the top significance cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tertium.stats.arrays import Floats
from tertium.stats.clusters import bootstrap_p_values, top_cluster
from tertium.stats.resampling import combine

AVERAGE = "macro-average"
TOP_NOTE = "Bold, *: in the top significance cluster (paired bootstrap, p < 0.05)."


@dataclass(frozen=True)
class Column:
    """What the measures have on a task, or on average over some; those that have nothing miss."""

    heading: str
    values: Mapping[str, float]
    replicates: Mapping[str, Floats]
    """The same in each bootstrap sample."""

    def top(self, names: Sequence[str] | None = None) -> set[str]:
        """Those that no other one is significantly better than, as Koehn (2004) tests it."""
        names = [name for name in names or self.values if name in self.values]
        names = [name for name in names if not np.isnan(self.values[name])]
        if not names:
            return set()
        values = [self.values[name] for name in names]
        replicates = [self.replicates[name] for name in names]
        p_values = bootstrap_p_values(values, replicates, tail="koehn")
        return {names[place] for place in top_cluster(p_values)}


def with_averages(columns: Sequence[tuple[str, Column]]) -> list[Column]:
    """Add the average of each group of several columns, and that of all groups at the end."""
    found, averages = [], []
    for group in dict.fromkeys(group for group, _ in columns):
        own = [column for other, column in columns if other == group]
        found += own
        average = own[0]
        if len(own) > 1:
            average = average_column(f"{group.rstrip('+')} Avg.", own)
            found.append(average)
        averages.append(average)
    return [*found, average_column(AVERAGE, averages)] if len(averages) > 1 else found


def average_column(heading: str, parts: Sequence[Column]) -> Column:
    """The mean of some columns, for the measures that are in all of them."""
    common = [name for name in parts[0].values if all(name in part.values for part in parts)]
    return Column(
        heading,
        {name: float(np.mean([part.values[name] for part in parts])) for name in common},
        {name: combine([part.replicates[name] for part in parts]) for name in common},
    )
