"""Scores of the rows of a pandas data frame: ``import tertium.compat.pandas`` adds ``df.tertium``.

>>> import pandas
>>> import tertium.compat.pandas
>>> frame = pandas.DataFrame({"output": ["a dog", "a cat"], "right": ["a dog", "the cat"]})
>>> frame.tertium.score(hyp="output", ref="right", measure="chrf").round(2).to_list()
[100.0, 31.25]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pandas import DataFrame, Series
from pandas.api.extensions import register_dataframe_accessor

from tertium.compat.columns import score_columns
from tertium.measures.registry import DEFAULT_MEASURE


@register_dataframe_accessor("tertium")
class TertiumAccessor:
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
        """One score per row, with the frame's index; with several measures, one column for each.

        ``hyp``, ``ref`` and ``src`` name columns; several reference columns may be given. The
        options are those of :func:`tertium.score`: ``lang``, ``model``, settings of the measure.
        """
        scores = score_columns(self.frame, hyp, ref, src, measure, options)
        index = self.frame.index
        if isinstance(measure, str):
            [(name, values)] = scores.items()
            return Series(values, index=index, name=name, dtype=float)
        return DataFrame(scores, index=index, dtype=float)
