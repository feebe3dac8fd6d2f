"""Tables of the isometry study: correlation (3), examples (4) and agreement (figure 5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from tertium.data.datasets.isometry import Predictions
from tertium.report.tables import Cell, Table
from tertium.stats.correlation_test import stars
from tertium.studies.isometry.classes import (
    ALL,
    BEHAVIOURS,
    NONE,
    THRESHOLD,
    agreement,
    decisions,
    mode,
    short_names,
)
from tertium.studies.isometry.correlation import Correlation
from tertium.studies.isometry.frequencies import MEAN

Correlations = Mapping[tuple[str, str, str, str], Correlation]
"""By measure, protocol, model and data set."""


def correlation_table(found: Correlations) -> Table:
    """Table 3, for every measure and protocol; the last column of a model is the mean of its r."""
    models = list(dict.fromkeys(key[2] for key in found))
    datasets = list(dict.fromkeys(key[3] for key in found))
    rows = []
    for measure, protocol in dict.fromkeys(key[:2] for key in found):
        values, limits, words = [], [], []
        for model in models:
            own = [found[measure, protocol, model, name] for name in datasets]
            for each in own:
                values.append(Cell(f"{each.r:.3f}{stars(each.p)}" if each.strength else ""))
                limits.append(_limits(each))
                words.append(Cell(each.strength))
            if len(own) > 1:
                mean = float(np.mean([each.r for each in own]))
                values.append(Cell(None if np.isnan(mean) else mean, ".3f"))
                limits.append(Cell(""))
                words.append(Cell(""))
        rows.append([Cell(measure), Cell(protocol), *values])
        rows.append([Cell(""), Cell("95 % interval"), *limits])
        rows.append([Cell(""), Cell("strength"), *words])
    extra = [MEAN] if len(datasets) > 1 else []
    columns = [f"{model}, {name}" for model in models for name in (*datasets, *extra)]
    return Table(
        ["measure", "protocol", *columns],
        rows,
        "Pearson's r of the scores of both sides with S",
        "One-tailed t-test of r > 0 over all points: *** p <= 0.001, ** 0.01, * 0.05. The points "
        "of a pair are not independent, above all when pooled; the intervals allow for it.",
    )


def agreement_table(found: Sequence[Predictions], threshold: float = THRESHOLD) -> Table:
    """Figure 5 in numbers: how many pairs show a behaviour, by the detectors that agree on it."""
    counts = agreement_counts(found, threshold)
    patterns = list(dict.fromkeys(key for own in counts.values() for _, key in own))
    patterns.sort(key=lambda key: (key == "", key != ALL, -key.count("+"), key))
    rows = []
    for (model, name), own in counts.items():
        for behaviour in BEHAVIOURS:
            numbers = [own.get((behaviour.code, pattern), 0) for pattern in patterns]
            first = [Cell(f"{model}, {name}"), Cell(f"{behaviour.symbol} {behaviour.name}")]
            rows.append([*first, *map(Cell, numbers), Cell(sum(numbers))])
    header = ["model, data", "M(S)", *(pattern or "nobody" for pattern in patterns), "pairs"]
    return Table(header, rows, "Which detectors agree on the behaviour")


def agreement_counts(
    found: Sequence[Predictions], threshold: float = THRESHOLD
) -> dict[tuple[str, str], Counter[tuple[int, str]]]:
    """How many pairs there are of each behaviour and agreement, by model and data set."""
    counts = {}
    for each in found:
        codes = decisions(each, threshold)
        names = short_names(list(each.judged))
        patterns = agreement(codes, [names[name] for name in each.judged])
        modes = mode(codes).tolist()
        shown = (
            (code, "" if code == NONE else pattern)
            for code, pattern in zip(modes, patterns, strict=True)
        )
        counts[each.model, each.dataset] = Counter(shown)
    return counts


def examples_table(
    predictions: Predictions, *, count: int = 1, threshold: float = THRESHOLD
) -> Table:
    """Table 4: pairs on which all detectors agree, those that they are surest of first."""
    codes = decisions(predictions, threshold)
    whole = (codes == codes[0]).all(axis=0)
    probabilities = np.array(
        [[each.source, each.target] for each in predictions.judged.values()], dtype=np.float64
    )
    sureness = np.abs(probabilities - threshold).min(axis=(0, 1))
    rows = []
    for behaviour in BEHAVIOURS:
        places = np.flatnonzero(whole & (codes[0] == behaviour.code))
        for place in places[np.argsort(-sureness[places], kind="stable")][:count].tolist():
            symbol = Cell(f"{behaviour.symbol} {behaviour.name}")
            rows.append(
                [symbol, Cell(place), Cell("source"), *map(Cell, predictions.sources[place])]
            )
            rows.append(
                [Cell(""), Cell(""), Cell("target"), *map(Cell, predictions.targets[place])]
            )
    return Table(
        ["M(S)", "pair", "side", "sentence", "paraphrase"],
        rows,
        f"Examples on which all detectors agree: {predictions.name}",
    )


def _limits(each: Correlation) -> Cell:
    if each.interval is None:
        return Cell("")
    return Cell(f"{each.interval.low:.3f} to {each.interval.high:.3f}")
