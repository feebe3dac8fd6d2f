"""Scores of the rows of a pandas data frame: ``import tertium.compat.pandas`` adds ``df.tertium``.

>>> import pandas
>>> import tertium.compat.pandas
>>> frame = pandas.DataFrame({"output": ["a dog", "a cat"], "right": ["a dog", "the cat"]})
>>> frame.tertium.score(hyp="output", ref="right", measure="chrf").round(2).to_list()
[100.0, 31.25]
"""

from __future__ import annotations

from pandas import DataFrame, Series
from pandas.api.extensions import register_dataframe_accessor

from tertium.compat.columns import Accessor


@register_dataframe_accessor("tertium")
class TertiumAccessor(Accessor):
    """Tertium's measures for the rows of a data frame; scores have the index of the frame."""

    def _column(self, name: str, scores: list[float]) -> Series:
        return Series(scores, index=self.frame.index, name=name, dtype=float)

    def _frame(self, scores: dict[str, list[float]]) -> DataFrame:
        return DataFrame(scores, index=self.frame.index, dtype=float)
