"""What each detector decides by itself, and a warning for those that decide nothing."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence

import numpy as np

from tertium.data.datasets.isometry import Predictions
from tertium.errors import DetectorWarning
from tertium.report.tables import Cell, Table
from tertium.studies.isometry.classes import THRESHOLD, equivalent, short_names

FEWEST = 20
"""Fewer pairs may have one class by chance, above all if they are paraphrases."""
RARE = 0.05
"""A detector that calls fewer pairs paraphrases hardly tells them apart."""

Accuracies = Mapping[str, Mapping[str, float]]
"""On validation pairs, by detector and language."""


def detector_table(
    predictions: Sequence[Predictions],
    threshold: float = THRESHOLD,
    accuracies: Accuracies | None = None,
) -> Table:
    """The share of pairs that each detector calls paraphrases, before and after translation."""
    known = accuracies or {}
    rows, data = [], []
    names = short_names(list(predictions[0].judged))
    for name in names:
        cells = []
        for each in predictions:
            judged = each.judged[name]
            for side, values in (("source", judged.source), ("target", judged.target)):
                share = float(equivalent(values, threshold).mean())
                cells.append(Cell(share, ".3f"))
                place = map(Cell, (name, each.model, each.dataset, side))
                data.append([*place, Cell(share)])
        told = Cell(_told(known.get(name, {})))
        rows.append([Cell(names[name]), told, *cells])
    columns = [f"{each.name}, {side}" for each in predictions for side in ("before", "after")]
    return Table(
        ["detector", "accuracy", *columns],
        rows,
        "The share of pairs that each detector calls paraphrases",
        "Accuracy: on the validation pairs that its thresholds were learnt on, where there are any."
        if known
        else "",
        Table(["detector", "model", "data", "side", "share"], data),
    )


def warn_degenerate(
    predictions: Sequence[Predictions],
    threshold: float = THRESHOLD,
    accuracies: Accuracies | None = None,
) -> None:
    """Warn of detectors that call all pairs paraphrases, or hardly any, on one side of all sets."""
    for name in predictions[0].judged:
        judged = [each.judged[name] for each in predictions]
        sides = {
            "before": [each.source for each in judged],
            "after": [each.target for each in judged],
        }
        for side, values in sides.items():
            decided = np.concatenate([equivalent(each, threshold) for each in values])
            share = float(decided.mean())
            if len(decided) < FEWEST or RARE <= share < 1:
                continue
            told = _told((accuracies or {}).get(name, {}))
            accuracy = f" (its accuracy on validation pairs: {told})" if told else ""
            which = (
                "all" if decided.all() else f"only {decided.sum()} of" if share else "none of the"
            )
            warnings.warn(
                f"{name} calls {which} {len(decided)} pairs {side} translation paraphrases"
                f"{accuracy}: its decisions there say {'little' if 0 < share < 1 else 'nothing'}",
                DetectorWarning,
                stacklevel=2,
            )


def _told(accuracies: Mapping[str, float]) -> str:
    return ", ".join(f"{lang} {value:.3f}" for lang, value in accuracies.items())
