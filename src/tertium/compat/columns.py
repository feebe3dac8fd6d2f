"""What the accessors of pandas and polars have in common: scores of the columns of a data frame."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from tertium.errors import InputError
from tertium.measures.loading import read_specs, score
from tertium.measures.registry import DEFAULT_MEASURE


class Accessor(ABC):
    """Tertium's measures for the rows of a data frame."""

    def __init__(self, frame: Any) -> None:
        self.frame = frame

    def score(
        self,
        hyp: str,
        ref: str | Sequence[str] | None = None,
        src: str | None = None,
        *,
        measure: str | Sequence[str] = DEFAULT_MEASURE,
        **options: Any,
    ) -> Any:
        """One score per row, as a column; with several measures, a frame with a column for each.

        ``hyp``, ``ref`` and ``src`` name columns; several reference columns may be given. The
        options are those of :func:`tertium.score`: ``lang``, ``model``, settings of the measure.
        """
        hypotheses = self._texts(hyp, "hyp")
        references: list[Any] | None = None
        if isinstance(ref, str):
            references = self._texts(ref, "ref")
        elif ref is not None:
            columns = [self._texts(name, "ref") for name in ref]
            references = [list(texts) for texts in zip(*columns, strict=True)]
        sources = None if src is None else self._texts(src, "src")
        specs = [measure] if isinstance(measure, str) else list(measure)
        if hypotheses:
            table = score(hypotheses, references, sources=sources, measure=specs, **options)
            scores = {name: list(table[name]) for name in table.measures}
        else:
            scores = {spec.label or spec.measure: [] for spec in read_specs(specs)}
        if isinstance(measure, str):
            [(name, values)] = scores.items()
            return self._column(name, values)
        return self._frame(scores)

    def _texts(self, name: str, role: str) -> list[Any]:
        if name not in list(self.frame.columns):
            names = ", ".join(map(str, self.frame.columns))
            raise InputError(f"no column {name!r} for {role}; the columns are {names}")
        return list(self.frame[name].to_list())

    @abstractmethod
    def _column(self, name: str, scores: list[float]) -> Any: ...

    @abstractmethod
    def _frame(self, scores: dict[str, list[float]]) -> Any: ...
