"""Scores of the rows of a polars data frame: ``import tertium.compat.polars`` adds ``df.tertium``.

>>> import polars
>>> import tertium.compat.polars
>>> frame = polars.DataFrame({"output": ["a dog", "a cat"], "right": ["a dog", "the cat"]})
>>> frame.tertium.score(hyp="output", ref="right", measure="chrf").round(2).to_list()
[100.0, 31.25]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from polars import DataFrame, Float64, Series
from polars.api import register_dataframe_namespace

from tertium.compat.columns import score_columns
from tertium.measures.registry import DEFAULT_MEASURE


@register_dataframe_namespace("tertium")
class TertiumNamespace:
    """Tertium's measures for the rows of a data frame."""

    def __init__(self, frame: DataFrame) -> None:
        self.frame = frame

    def score(
        self,
        hyp: str,
        ref: str | Sequence[str] | None = None,
        src: str | None = None,
        *,
        measure: str | Sequence[str] = DEFAULT_MEASURE,
        **options: Any,
    ) -> Series | DataFrame:
        """One score per row; with several measures, a frame with one column for each.

        ``hyp``, ``ref`` and ``src`` name columns; several reference columns may be given. The
        options are those of :func:`tertium.score`: ``lang``, ``model``, settings of the measure.
        """
        scores = score_columns(self.frame, hyp, ref, src, measure, options)
        if isinstance(measure, str):
            [(name, values)] = scores.items()
            return Series(name, values, dtype=Float64)
        return DataFrame(scores, schema=dict.fromkeys(scores, Float64))
