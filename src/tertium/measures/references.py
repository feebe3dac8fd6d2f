"""Comparison with one or more references, of texts of any length."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence, Set
from typing import Literal

from tertium.measures.base import Measure, Segments, Texts
from tertium.measures.degenerate import is_degenerate
from tertium.measures.long import Part, split_pairs, weigh_parts
from tertium.models.base import Progress
from tertium.text import Row, Text

UNINFORMED = -math.log(1 << 15)
"""The worst score of a log-probability per token: that of a model that knows nothing, if each of
32 768 tokens is as likely."""
Compare = Callable[[Texts, Texts], tuple[Sequence[float], Set[str]]]
"""From hypotheses and as many other texts to their similarities, and to the truncated texts."""


def over_references(
    measure: Measure,
    rows: Sequence[Row],
    compare: Compare,
    references: Literal["max", "mean"],
    progress: Progress | None = None,
) -> Segments:
    """Compare each hypothesis with each of its references (or its source), in one call.

    Of several references the best score counts, or the mean. An empty text has the worst score of
    the measure, whatever it is compared with: what is missing is neither similar nor correct.
    Measures without a lower bound (log-probabilities, distances) have no worst score: theirs is
    the formula's. With ``empty="formula"``, so is every other. Texts that are too long for the
    model are split first (see :mod:`tertium.measures.long`).
    """
    others = [measure.compared(row) for row in rows]
    pairs = [
        (row.hypothesis, other) for row, texts in zip(rows, others, strict=True) for other in texts
    ]
    split = split_pairs(measure, pairs, progress)
    units = [unit for parts in split for unit in parts]
    result, cut_texts = compare([a for a, _ in units], [b for _, b in units])
    similarities = iter(
        worst_if_empty(measure, score, unit) for score, unit in zip(result, units, strict=True)
    )
    wholes = iter(
        _whole(measure, pair, parts, similarities) for pair, parts in zip(pairs, split, strict=True)
    )
    scores, cut, parts_of_rows = [], [], []
    best: list[int | None] = []
    unit_texts = iter(split)
    for texts in others:
        found = [next(wholes) for _ in texts]
        values = [score for score, _ in found]
        scores.append(max(values) if references == "max" else sum(values) / len(values))
        chosen = values.index(max(values)) if references == "max" else None
        best.append(chosen)
        cut.append(
            any(text.text in cut_texts for _ in texts for unit in next(unit_texts) for text in unit)
        )
        shown = found if chosen is None else found[chosen : chosen + 1]
        parts_of_rows.append(tuple(part for _, parts in shown for part in parts))
    if measure.against != "reference":
        best = [None] * len(best)
    if getattr(measure, "copies", "formula") == "worst":
        lowest = measure.bounds[0] if math.isfinite(measure.bounds[0]) else UNINFORMED
        scores = [
            min(score, lowest) if is_degenerate(row) else score
            for row, score in zip(rows, scores, strict=True)
        ]
    return Segments(scores, [(score, 1.0) for score in scores], cut, best, parts_of_rows)


def _whole(
    measure: Measure,
    pair: tuple[Text, Text],
    units: Sequence[tuple[Text, Text]],
    similarities: Iterator[float],
) -> tuple[float, list[Part]]:
    """The score of a pair, and its parts if it was split."""
    scores = [next(similarities) for _ in units]
    if list(units) == [pair]:
        return scores[0], []
    parts = weigh_parts(measure, units, scores)
    return measure.whole([part.score for part in parts], [part.weight for part in parts]), parts


def worst_if_empty(measure: Measure, score: float, texts: Sequence[Text]) -> float:
    """The score of some texts, or the lowest one of the measure if one of them is empty."""
    lowest = measure.bounds[0]
    if getattr(measure, "empty", "formula") == "formula" or math.isinf(lowest):
        return score
    return score if all(text.text.strip() for text in texts) else min(score, lowest)
