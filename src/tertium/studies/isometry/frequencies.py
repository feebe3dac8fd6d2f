"""The frequency of each behaviour (table 2), with intervals and differences between models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tertium.data.datasets.isometry import Predictions
from tertium.errors import InputError
from tertium.report.tables import Cell, Table
from tertium.stats.arrays import Bools, Ints
from tertium.stats.conventions import ALPHA, Interval
from tertium.stats.proportions import combined_interval, combined_p_value
from tertium.studies.isometry.classes import BEHAVIOURS, THRESHOLD, Behaviour, decisions, mode

MEAN = "mean"
"""The macro-average over the data sets (mu in the paper)."""

SWEEP = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


@dataclass(frozen=True)
class Frequency:
    """The share of pairs with a behaviour, or the mean of the shares of several data sets."""

    members: Sequence[Bools]
    """By data set, which pairs show the behaviour."""

    @property
    def value(self) -> float:
        return float(np.mean([own.mean() for own in self.members]))

    @property
    def interval(self) -> Interval:
        return combined_interval(self.members, self._weights)

    def less(self, other: Frequency) -> Difference:
        """The difference from the same share of another model."""
        members = [*self.members, *other.members]
        weights = [*self._weights, *(-weight for weight in other._weights)]
        return Difference(
            self.value - other.value,
            combined_interval(members, weights),
            combined_p_value(members, weights),
        )

    @property
    def _weights(self) -> list[float]:
        return [1 / len(self.members)] * len(self.members)


@dataclass(frozen=True)
class Difference:
    """A difference between two models; p < 0.05 if and only if the interval does not hold 0."""

    value: float
    interval: Interval
    p: float


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


def frequencies(found: Sequence[Predictions], *, threshold: float = THRESHOLD) -> Frequencies:
    """Count the behaviours; every model needs results on every data set."""
    modes = {(each.model, each.dataset): mode(decisions(each, threshold)) for each in found}
    models = list(dict.fromkeys(each.model for each in found))
    datasets = list(dict.fromkeys(each.dataset for each in found))
    _check_complete(modes, models, datasets)
    sizes = {name: len(modes[models[0], name]) for name in datasets}
    shares: dict[tuple[str, str, Behaviour], Frequency] = {}
    for model in models:
        for behaviour in BEHAVIOURS:
            own = [np.asarray(modes[model, name] == behaviour.code) for name in datasets]
            for name, members in zip(datasets, own, strict=True):
                shares[model, name, behaviour] = Frequency([members])
            shares[model, MEAN, behaviour] = Frequency(own)
    return Frequencies(models, datasets, shares, sizes)


def frequency_table(found: Frequencies) -> Table:
    """Table 2: one row per behaviour, one column per model and data set, with 95 % intervals."""
    columns = found.columns()
    rows, data = [], []
    for behaviour in BEHAVIOURS:
        own = [found.shares[model, name, behaviour] for model, name in columns]
        first = [Cell(f"{behaviour.symbol} {behaviour.name}")]
        rows.append([*first, *(Cell(share.value, ".3f") for share in own)])
        limits = [f"{each.interval.low:.3f}-{each.interval.high:.3f}" for each in own]
        rows.append([Cell(""), *map(Cell, limits)])
        for (model, name), each in zip(columns, own, strict=True):
            count = sum(int(members.sum()) for members in each.members)
            numbers = (count, each.value, each.interval.low, each.interval.high)
            data.append([Cell(model), Cell(name), *first, *map(Cell, numbers)])
    header = ["M(S)", *(f"{model}, {name}" for model, name in columns)]
    note = "Below each frequency: its 95 % interval (Wilson's; of a mean, from those of its parts)."
    names = ["model", "data", "M(S)", "pairs", "frequency", "low", "high"]
    return Table(header, rows, "Relative frequency of each behaviour", note, Table(names, data))


def sweep(
    found: Sequence[Predictions], thresholds: Sequence[float] = SWEEP
) -> dict[float, Frequencies]:
    """The frequencies at several thresholds."""
    return {threshold: frequencies(found, threshold=threshold) for threshold in thresholds}


def sweep_table(found: Mapping[float, Frequencies]) -> Table:
    """How often models are isometric at each threshold; CSV has every behaviour."""
    columns = next(iter(found.values())).columns()
    rows, data = [], []
    for threshold, own in found.items():
        values = [own.shares[model, name, BEHAVIOURS[0]].value for model, name in columns]
        rows.append([Cell(threshold, "g"), *(Cell(value, ".3f") for value in values)])
        for model, name in columns:
            for behaviour in BEHAVIOURS:
                share = own.shares[model, name, behaviour]
                first = [Cell(threshold), Cell(model), Cell(name)]
                limits = share.interval
                numbers = (share.value, limits.low, limits.high)
                label = Cell(f"{behaviour.symbol} {behaviour.name}")
                data.append([*first, label, *map(Cell, numbers)])
    header = ["threshold", *(f"{model}, {name}" for model, name in columns)]
    names = ["threshold", "model", "data", "M(S)", "frequency", "low", "high"]
    title = "Relative frequency of isometry, by threshold"
    return Table(header, rows, title, data=Table(names, data))


def difference_table(found: Frequencies) -> Table | None:
    """The differences in frequency between models, with p-values that agree with the intervals."""
    rows, data = [], []
    names = [*found.datasets, *([MEAN] if len(found.datasets) > 1 else [])]
    for place, one in enumerate(found.models):
        for other in found.models[place + 1 :]:
            for name in names:
                for behaviour in BEHAVIOURS:
                    a, b = (found.shares[model, name, behaviour] for model in (one, other))
                    difference = a.less(b)
                    first = [Cell(name), Cell(f"{behaviour.symbol} {behaviour.name}")]
                    value, limits, p = difference.value, difference.interval, difference.p
                    shown = Cell(f"{limits.low:+.3f} to {limits.high:+.3f}")
                    cells = [Cell(value, "+.3f", bold=p < ALPHA), shown, Cell(p, ".3f")]
                    rows.append([Cell(f"{one} - {other}"), *first, *cells])
                    numbers = map(Cell, (value, limits.low, limits.high, p))
                    data.append([Cell(one), Cell(other), *first, *numbers])
    if not rows:
        return None
    header = ["model", "other", "data", "M(S)", "difference", "low", "high", "p"]
    return Table(
        ["models", "data", "M(S)", "difference", "95 % interval", "p"],
        rows,
        "Differences between models",
        "Shares of the same pairs (Newcombe's interval; p is two-sided, and below 0.05 where the "
        f"interval does not hold 0); bold, *: p < {ALPHA:.2f}, not corrected for many tests.",
        Table(header, data),
    )


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
