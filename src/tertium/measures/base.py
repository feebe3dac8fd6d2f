"""What a measure is: its settings, and a call that turns pairs of texts into numbers."""

from __future__ import annotations

import math
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal, overload

from tertium.errors import CutWarning, InputError
from tertium.measures.inputs import References, rows_from
from tertium.measures.signature import Signature, spell
from tertium.measures.totals import Totals
from tertium.models.base import Languages, Progress
from tertium.text import Row

if TYPE_CHECKING:
    from tertium.stats.arrays import Floats

ModelKind = Literal["translation", "tokens", "sentences"]
"""A translation model, an encoder that gives vectors of pieces, or one of sentences."""
CUT_REASON = (
    "hold text that is longer than the model reads, or for which it finds no translation that "
    "ends: only the beginning counts"
)


@dataclass(frozen=True)
class Segments:
    """What a measure finds for some rows, in their order."""

    scores: list[float]
    statistics: list[tuple[float, ...]]
    """Numbers that add up: the system score is a function of their sum over all rows."""
    cut: list[bool]
    """Whether a text of the row was too long and only its beginning counted."""


@dataclass(frozen=True)
class Scores(Sequence[float]):
    """The scores of the segments, in order, and how they came about.

    It is itself the sequence of its segment scores.
    """

    segments: list[float]
    system: float
    """The score of all segments together: for most measures, the mean."""
    signature: Signature
    cut: list[bool] = field(repr=False)
    """True where a text (or its translation) was too long, so that only its beginning counted."""

    @overload
    def __getitem__(self, index: int) -> float: ...
    @overload
    def __getitem__(self, index: slice) -> list[float]: ...
    def __getitem__(self, index: int | slice) -> float | list[float]:
        return self.segments[index]

    def __len__(self) -> int:
        return len(self.segments)

    def __iter__(self) -> Iterator[float]:
        return iter(self.segments)


class Measure(ABC):
    """A formula with its settings. Higher is better, always.

    A measure is called with texts and returns numbers; :meth:`score` returns more about them.
    """

    compares_with: ClassVar[Literal["reference", "source"]] = "reference"
    model_kind: ClassVar[ModelKind | None] = None
    """What kind of model it asks, if it asks any."""
    bounds: tuple[float, float] = (-math.inf, math.inf)
    """Between which numbers its scores lie, or are taken to lie when measures are summed."""
    needs_all_rows: bool = False
    """Whether a score depends on the other rows, so that they must be scored in one go."""

    @property
    @abstractmethod
    def name(self) -> str:
        """What it is called in tables and signatures."""

    @abstractmethod
    def segments(self, rows: Sequence[Row], progress: Progress | None = None) -> Segments:
        """Score rows; each score depends on its own row alone, unless ``needs_all_rows``."""

    @abstractmethod
    def choices(self) -> Mapping[str, object]:
        """Every setting that can change a number, in the order of the signature."""

    def system(self, statistics: Sequence[float]) -> float:
        """Turn summed statistics into the system score: here, the mean over the rows."""
        total, count = statistics
        return total / count

    def systems(self, sums: Floats) -> Floats:
        """Turn many sums, one a row, into system scores: what resampling asks for."""
        import numpy as np

        return np.array([self.system(row.tolist()) for row in sums])

    def signature(self, totals: Totals) -> Signature:
        """Sign what was scored."""
        choices = {name: spell(value) for name, value in self.choices().items()}
        return Signature({"measure": self.name, **choices, **totals.facts})

    def score(
        self,
        hypotheses: str | Sequence[str],
        references: References,
        *,
        lang: Languages = None,
        reference_lang: Languages = None,
        progress: Progress | None = None,
    ) -> Scores:
        """Score hypotheses against references (or, for quality estimation, against sources).

        ``lang`` is the language of the hypotheses and, unless ``reference_lang`` says otherwise, of
        the references: one code for all, or a list of them.
        """
        rows = rows_from(hypotheses, references, lang=lang, reference_lang=reference_lang)
        if not rows:
            raise InputError("there is nothing to score: the list of hypotheses is empty")
        segments = self.segments(rows, progress)
        totals = Totals()
        totals.add(rows, segments)
        if totals.cut:
            warnings.warn(
                f"{totals.cut} of {totals.rows} rows {CUT_REASON} (see Scores.cut)",
                CutWarning,
                stacklevel=2,
            )
        return Scores(
            segments.scores,
            self.system(totals.statistics),
            self.signature(totals),
            segments.cut,
        )

    @overload
    def __call__(  # type: ignore[overload-overlap]  # a string is no list here
        self,
        hypotheses: str,
        references: References,
        *,
        lang: Languages = None,
        reference_lang: Languages = None,
    ) -> float: ...
    @overload
    def __call__(
        self,
        hypotheses: Sequence[str],
        references: References,
        *,
        lang: Languages = None,
        reference_lang: Languages = None,
    ) -> list[float]: ...
    def __call__(
        self,
        hypotheses: str | Sequence[str],
        references: References,
        *,
        lang: Languages = None,
        reference_lang: Languages = None,
    ) -> float | list[float]:
        """Score; one string in, one number out."""
        if not isinstance(hypotheses, str) and _is_empty(hypotheses) and _is_empty(references):
            return []
        scores = self.score(hypotheses, references, lang=lang, reference_lang=reference_lang)
        return scores.segments[0] if isinstance(hypotheses, str) else scores.segments


def _is_empty(texts: object) -> bool:
    return isinstance(texts, Sized) and len(texts) == 0
