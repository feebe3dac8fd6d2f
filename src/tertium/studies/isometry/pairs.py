"""The pairs one by one: examples by number (table 4), and a file with all about each pair."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from tertium.data.datasets.isometry import Predictions
from tertium.errors import InputError
from tertium.report.tables import Cell, Table
from tertium.studies.isometry.classes import BEHAVIOURS, NONE, THRESHOLD, decisions, mode
from tertium.studies.isometry.correlation import SideScores

TEXTS = ("source1", "source2", "target1", "target2")


def chosen_table(
    predictions: Predictions, places: Sequence[int], threshold: float = THRESHOLD
) -> Table:
    """Table 4: the pairs of these numbers, the first being 0, and what the detectors decide."""
    size = len(predictions.sources)
    for place in places:
        if not 0 <= place < size:
            raise InputError(
                f"{predictions.name}: there is no pair {place}; the pairs are 0 to {size - 1}"
            )
    modes = mode(decisions(predictions, threshold))
    named = {each.code: f"{each.symbol} {each.name}" for each in BEHAVIOURS}
    rows = []
    for place in places:
        first = [Cell(named[int(modes[place])]), Cell(place), Cell("source")]
        rows.append([*first, *map(Cell, predictions.sources[place])])
        rows.append([Cell(""), Cell(""), Cell("target"), *map(Cell, predictions.targets[place])])
    header = ["M(S)", "pair", "side", "sentence", "paraphrase"]
    return Table(header, rows, f"Pairs by number: {predictions.name}")


def pair_lines(
    predictions: Predictions,
    scores: Mapping[str, SideScores],
    threshold: float = THRESHOLD,
) -> Iterator[str]:
    """Lines of a TSV file: class, votes, probabilities and scores of each pair, and its texts.

    Votes are the numbers of detectors that decide for each value of S; ``scores`` are by measure.
    """
    codes = decisions(predictions, threshold)
    values = [each for each in BEHAVIOURS if each.code != NONE]
    named = {each.code: each.name for each in BEHAVIOURS}
    numbers: dict[str, Sequence[float]] = {}
    for name, judged in predictions.judged.items():
        numbers |= {f"{name} source": judged.source, f"{name} target": judged.target}
    for measure, sides in scores.items():
        numbers |= {
            f"{measure} source": sides.source.tolist(),
            f"{measure} target": sides.target.tolist(),
        }
    votes = [f"votes {each.symbol}" for each in values]
    yield "\t".join(["pair", "class", *votes, *numbers, *TEXTS])
    counts = np.stack([(codes == each.code).sum(axis=0) for each in values])
    texts = zip(predictions.sources, predictions.targets, strict=True)
    for place, (code, (sources, targets)) in enumerate(
        zip(mode(codes).tolist(), texts, strict=True)
    ):
        yield "\t".join(
            [
                str(place),
                named[code],
                *map(str, counts[:, place].tolist()),
                *(repr(float(each[place])) for each in numbers.values()),
                *(" ".join(text.split()) for text in (*sources, *targets)),
            ]
        )
