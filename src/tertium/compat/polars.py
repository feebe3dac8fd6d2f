"""Scores of the rows of a polars data frame: ``import tertium.compat.polars`` adds ``df.tertium``.

>>> import polars
>>> import tertium.compat.polars
>>> frame = polars.DataFrame({"output": ["a dog", "a cat"], "right": ["a dog", "the cat"]})
>>> frame.tertium.score(hyp="output", ref="right", measure="chrf").round(2).to_list()
[100.0, 31.25]
"""

from __future__ import annotations

from polars import DataFrame, Float64, Series
from polars.api import register_dataframe_namespace

from tertium.compat.columns import Accessor


@register_dataframe_namespace("tertium")
class TertiumNamespace(Accessor):
    """Tertium's measures for the rows of a data frame."""

    def _column(self, name: str, scores: list[float]) -> Series:
        return Series(name, scores, dtype=Float64)

    def _frame(self, scores: dict[str, list[float]]) -> DataFrame:
        return DataFrame(scores, schema=dict.fromkeys(scores, Float64))
