"""Reproduce tables 2 and 3 of Shankar (2020) from the published predictions.

    python benchmarks/isometry.py data/isometry

The folder has ``MODEL.DATASET.json.gz`` for the models ``fair-wmt19`` and ``scaling-wmt16`` and the
data sets ``legacy`` and ``ar``, and ``expected.tsv`` with the numbers of the paper. Every number
must be equal to the last digit of the paper; otherwise the exit code is 1. Table 3 is computed by
both protocols: the numbers of the paper are those of ``pooled``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tertium.data.datasets.isometry import Predictions, read_predictions
from tertium.data.records import open_table
from tertium.measures.loading import MeasureSpec
from tertium.report.tables import Cell, Table
from tertium.stats.correlation import pearson
from tertium.studies.isometry.classes import BEHAVIOURS, decisions
from tertium.studies.isometry.correlation import points, side_scores
from tertium.studies.isometry.frequencies import MEAN, difference_table, frequencies

MODELS = ("fair-wmt19", "scaling-wmt16")
DATASETS = ("legacy", "ar")
TEXT = {
    ("fair-wmt19", "legacy"): 0.257,
    ("fair-wmt19", "ar"): 0.252,
    ("scaling-wmt16", "legacy"): 0.288,
    ("scaling-wmt16", "ar"): 0.255,
}
"""Table 3 by the procedure in the text of the paper, which differs from its printed table."""
SYMBOLS = {
    f"frequency of M={'none' if each.name == 'none' else each.symbol}": each for each in BEHAVIOURS
}


def table_2(predictions: Sequence[Predictions]) -> dict[tuple[str, str, str], float]:
    """The frequencies, by statistic, model and data set."""
    shares = frequencies(predictions).shares
    return {
        (statistic, model, name): shares[model, name, behaviour].value
        for statistic, behaviour in SYMBOLS.items()
        for model in MODELS
        for name in (*DATASETS, MEAN)
    }


def table_3(predictions: Sequence[Predictions]) -> tuple[dict[tuple[str, str], float], ...]:
    """Pearson's r of symmetric chrF with S, pooled and by majority."""
    pooled, majority = {}, {}
    for each in predictions:
        scores = side_scores(each, MeasureSpec("chrf"))
        codes = decisions(each)
        x, y, _ = points(codes, scores, "pooled")
        pooled[each.model, each.dataset] = pearson(x, y)
        x, y, _ = points(codes, scores, "majority")
        majority[each.model, each.dataset] = pearson(x, y)
    for table in (pooled, majority):
        for model in MODELS:
            table[model, MEAN] = float(np.mean([table[model, name] for name in DATASETS]))
    return pooled, majority


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", type=Path, help="the folder of the published predictions")
    data: Path = parser.parse_args().data
    predictions = [
        read_predictions(data / f"{model}.{name}.json.gz", model=model, dataset=name)
        for model in MODELS
        for name in DATASETS
    ]
    frequency = table_2(predictions)
    pooled, majority = table_3(predictions)
    rows, wrong = [], 0
    for record in open_table(data / "expected.tsv"):
        place = (record["model"], record["dataset"])
        if record["table"] == "2":
            obtained = frequency[(record["statistic"], *place)]
        else:
            obtained = pooled[place]
        right = f"{obtained:.3f}" == record["value"]
        wrong += not right
        names = (record["table"], record["statistic"], *place, record["value"])
        rows.append([*map(Cell, names), Cell(obtained, ".3f"), Cell("" if right else "differs")])
    for place, expected in TEXT.items():
        right = f"{majority[place]:.3f}" == f"{expected:.3f}"
        wrong += not right
        names = ("3", "the same, majority", *place, f"{expected:.3f}")
        verdict = Cell("" if right else "differs")
        rows.append([*map(Cell, names), Cell(majority[place], ".3f"), verdict])
    header = ["table", "statistic", "model", "data", "expected", "obtained", ""]
    print(Table(header, rows).text())
    differences = difference_table(frequencies(predictions))
    print(f"\n{differences.text() if differences else ''}\n\n{wrong} of {len(rows)} differ")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
