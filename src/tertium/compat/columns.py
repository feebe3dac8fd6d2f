"""Scores of the columns of a data frame, of pandas or polars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tertium.errors import InputError
from tertium.measures.loading import read_specs, score


def score_columns(
    frame: Any,
    hyp: str,
    ref: str | Sequence[str] | None,
    src: str | None,
    measure: str | Sequence[str],
    options: Mapping[str, Any],
) -> dict[str, list[float]]:
    """Score the rows of a frame, and return one list of scores for each measure, by its name."""
    columns = list(frame.columns)

    def column(name: object, role: str) -> list[Any]:
        if name not in columns:
            names = ", ".join(map(str, columns))
            raise InputError(f"no column {name!r} for {role}; the columns are {names}")
        return list(frame[name].to_list())

    hypotheses = column(hyp, "hyp")
    references: list[Any] | None = None
    if isinstance(ref, str):
        references = column(ref, "ref")
    elif ref is not None:
        references = [
            list(texts) for texts in zip(*(column(name, "ref") for name in ref), strict=True)
        ]
    sources = None if src is None else column(src, "src")
    specs = [measure] if isinstance(measure, str) else list(measure)
    if not hypotheses:
        return {spec.label or spec.measure: [] for spec in read_specs(specs)}
    table = score(hypotheses, references, sources=sources, measure=specs, **options)
    return {name: list(table[name]) for name in table.measures}
