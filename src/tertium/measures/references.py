"""A row may have several references: every pair is compared, and one number comes of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from typing import Literal

from tertium.measures.base import Segments
from tertium.text import Row, Text

Texts = Sequence[Text]
Compare = Callable[[Texts, Texts], tuple[Sequence[float], Set[str]]]
"""From hypotheses and as many references to their similarities, and to the texts that were cut."""


def over_references(
    rows: Sequence[Row], compare: Compare, references: Literal["max", "mean"]
) -> Segments:
    """Compare each hypothesis with each of its references, in one call; keep the best, or the mean.

    >>> row = Row(1, Text("a"), (Text("a"), Text("bc")))
    >>> def equal(A, B):
    ...     return [float(a == b) for a, b in zip(A, B)], set()
    >>> over_references([row], equal, "mean").scores
    [0.5]
    """
    pairs = [(row.hypothesis, reference) for row in rows for reference in row.references]
    found, cut_texts = compare([a for a, _ in pairs], [b for _, b in pairs])
    similarities = iter(found)
    scores, cut = [], []
    for row in rows:
        values = [next(similarities) for _ in row.references]
        scores.append(max(values) if references == "max" else sum(values) / len(values))
        cut.append(any(text.text in cut_texts for text in (row.hypothesis, *row.references)))
    return Segments(scores, [(score, 1.0) for score in scores], cut)
