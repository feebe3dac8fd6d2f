"""A measure as other tools configure it: by plain values, so that it can be pickled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from tertium.errors import SettingError
from tertium.measures.base import Measure
from tertium.measures.inputs import Column, References
from tertium.measures.loading import MeasureLoader, read_specs
from tertium.measures.registry import DEFAULT_MEASURE
from tertium.measures.scores import Scores
from tertium.measures.totals import exact_sum


@dataclass(frozen=True)
class Scorer:
    """A measure by its spec (such as ``cross@m2m100_418M:beam_size=1``), and the languages.

    The measure is loaded when it is first needed, once in a process for the same spec. What a
    measure does not read (references or sources) may be given all the same.

    >>> scorer = Scorer("chrf")
    >>> scores = scorer.score(["a dog"], ["a dog"], sources=["ein Hund"])
    >>> scores.system, scorer.system(scores.statistics)
    (100.0, 100.0)
    """

    measure_spec: str = DEFAULT_MEASURE
    lang: str | None = None
    """The language of the hypotheses and, unless ``reference_lang`` is given, of the references."""
    reference_lang: str | None = None
    source_lang: str | None = None

    @property
    def measure(self) -> Measure:
        """The measure, with its model loaded."""
        return _loaded(self.measure_spec, self.lang)

    @property
    def name(self) -> str:
        """The column name of the measure."""
        return self.measure.column

    def score(
        self,
        hypotheses: Column,
        references: References | None = None,
        sources: Column | None = None,
    ) -> Scores:
        """Score hypotheses; see :meth:`tertium.Measure.score`."""
        return self.measure.score(
            hypotheses,
            references,
            sources=sources,
            lang=self.lang,
            reference_lang=self.reference_lang,
            source_lang=self.source_lang,
        )

    def system(self, statistics: Sequence[Sequence[float]]) -> float:
        """The system score of segments, from their statistics: the same in any order."""
        sums = [(exact_sum(column) or [0.0])[0] for column in zip(*statistics, strict=True)]
        return self.measure.system(sums)

    def check_rows_are_independent(self, tool: str) -> None:
        """Refuse a measure whose scores depend on the other rows, where a tool scores batches."""
        if self.measure.needs_all_rows:
            raise SettingError(
                f"{self.measure_spec} needs all rows at once, and {tool} scores them in batches; "
                "choose settings with which each row is scored on its own"
            )


@cache
def _loaded(spec: str, lang: str | None) -> Measure:
    specs = read_specs([spec])
    if len(specs) != 1:
        raise SettingError(f"{spec!r} names {len(specs)} measures; give one")
    [measure], _ = MeasureLoader(specs, lang=lang).load()
    return measure
