"""The frequency of each behaviour (table 2), with intervals and differences between models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tertium.data.datasets.isometry import Predictions
from tertium.errors import InputError
from tertium.report.tables import Cell, Table
from tertium.stats.arrays import Floats, Ints
from tertium.stats.conventions import ALPHA, SAMPLES, Interval
from tertium.stats.resampling import (
    bootstrap_counts,
    bootstrap_p_value,
    combine,
    percentile_interval,
    spawn,
)
from tertium.studies.isometry.classes import BEHAVIOURS, THRESHOLD, Behaviour, decisions, mode

MEAN = "mean"
"""The macro-average over the data sets (mu in the paper)."""


@dataclass(frozen=True)
class Frequency:
    """The share of pairs with a behaviour."""

    value: float
    replicates: Floats
    """The same in each bootstrap sample; all models on a data set share their samples."""

    @property
    def interval(self) -> Interval:
        return percentile_interval(self.replicates)


@dataclass(frozen=True)
class Frequencies:
    """The shares by model, data set (or MEAN) and behaviour."""

    models: Sequence[str]
    datasets: Sequence[str]
    shares: Mapping[tuple[str, str, Behaviour], Frequency]
    sizes: Mapping[str, int]
    """The number of pairs of each data set."""

    def columns(self) -> list[tuple[str, str]]:
        """Models and data sets, in the order of the tables of the paper."""
        extra = [MEAN] if len(self.datasets) > 1 else []
        return [(model, name) for model in self.models for name in (*self.datasets, *extra)]


def frequencies(
    found: Sequence[Predictions],
    *,
    threshold: float = THRESHOLD,
    samples: int = SAMPLES,
    seed: int = 0,
) -> Frequencies:
    """Count the behaviours; every model needs results on every data set."""
    modes = {(each.model, each.dataset): mode(decisions(each, threshold)) for each in found}
    models = list(dict.fromkeys(each.model for each in found))
    datasets = list(dict.fromkeys(each.dataset for each in found))
    _check_complete(modes, models, datasets)
    seeds = dict(zip(datasets, spawn(seed, len(datasets)), strict=True))
    shares: dict[tuple[str, str, Behaviour], Frequency] = {}
    sizes = {name: len(modes[models[0], name]) for name in datasets}
    for name in datasets:
        counts = bootstrap_counts(sizes[name], samples=samples, seed=seeds[name])
        for model in models:
            for behaviour in BEHAVIOURS:
                shown = (modes[model, name] == behaviour.code).astype(np.float64)
                replicates = np.asarray(counts @ shown / sizes[name])
                shares[model, name, behaviour] = Frequency(float(shown.mean()), replicates)
    for model in models:
        for behaviour in BEHAVIOURS:
            parts = [shares[model, name, behaviour] for name in datasets]
            value = float(np.mean([part.value for part in parts]))
            shares[model, MEAN, behaviour] = Frequency(
                value, combine([part.replicates for part in parts])
            )
    return Frequencies(models, datasets, shares, sizes)


def frequency_table(found: Frequencies) -> Table:
    """Table 2: one row per behaviour, one column per model and data set, with 95 % intervals."""
    columns = found.columns()
    rows = []
    for behaviour in BEHAVIOURS:
        own = [found.shares[model, name, behaviour] for model, name in columns]
        first = [Cell(f"{behaviour.symbol} {behaviour.name}")]
        rows.append([*first, *(Cell(share.value, ".3f") for share in own)])
        limits = [f"{each.interval.low:.3f}-{each.interval.high:.3f}" for each in own]
        rows.append([Cell(""), *map(Cell, limits)])
    header = ["M(S)", *(f"{model}, {name}" for model, name in columns)]
    note = "Below each frequency: its 95 % interval (bootstrap over the pairs)."
    return Table(header, rows, "Relative frequency of each behaviour", note)


def difference_table(found: Frequencies) -> Table | None:
    """The differences in frequency between models, with p-values.

    The test is the two-sided paired bootstrap: all models translate the same pairs.
    """
    rows = []
    names = [*found.datasets, *([MEAN] if len(found.datasets) > 1 else [])]
    for place, one in enumerate(found.models):
        for other in found.models[place + 1 :]:
            for name in names:
                rows += [_difference(found, one, other, name, each) for each in BEHAVIOURS]
    if not rows:
        return None
    return Table(
        ["models", "data", "M(S)", "difference", "95 % interval", "p"],
        rows,
        "Differences between models",
        f"Paired bootstrap, two-sided; bold, *: p < {ALPHA:.2f}, not corrected for many tests.",
    )


def _difference(
    found: Frequencies, one: str, other: str, name: str, behaviour: Behaviour
) -> list[Cell]:
    a, b = (found.shares[model, name, behaviour] for model in (one, other))
    observed = a.value - b.value
    p = bootstrap_p_value(a.replicates, b.replicates, observed, tail="two-sided")
    limits = percentile_interval(a.replicates - b.replicates)
    return [
        Cell(f"{one} - {other}"),
        Cell(name),
        Cell(f"{behaviour.symbol} {behaviour.name}"),
        Cell(observed, "+.3f", bold=p < ALPHA),
        Cell(f"{limits.low:+.3f} to {limits.high:+.3f}"),
        Cell(p, ".3f"),
    ]


def _check_complete(
    modes: Mapping[tuple[str, str], Ints], models: Sequence[str], datasets: Sequence[str]
) -> None:
    if not modes:
        raise InputError("there are no predictions")
    for name in datasets:
        sizes = set()
        for model in models:
            if (model, name) not in modes:
                raise InputError(
                    f"{model} has no results on {name}, so that models cannot be compared"
                )
            sizes.add(len(modes[model, name]))
        if len(sizes) > 1:
            raise InputError(f"{name} has different numbers of pairs by model: {sorted(sizes)}")
