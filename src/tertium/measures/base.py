"""What a measure is: its settings, and a call that turns texts into numbers."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence, Sized
from copy import copy
from dataclasses import KW_ONLY, dataclass
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Literal,
    NamedTuple,
    Protocol,
    Self,
    overload,
    runtime_checkable,
)

from tertium.errors import CutWarning, InputError, SettingError, TextWarning, warn_caller
from tertium.measures.inputs import Column, References, repeatable, rows_from
from tertium.measures.scores import Scores
from tertium.measures.settings import check_settings, setting
from tertium.measures.totals import Role, Signature, Totals, spell
from tertium.models.base import Languages, Progress, SentenceEncoder
from tertium.registry import Extra
from tertium.report.progress import as_progress
from tertium.text import Row, Text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

ModelKind = Literal["translation", "tokens", "sentences", "language"]
"""A translation model, an encoder (of tokens or of sentences), or a causal language model."""
Texts = Sequence[Text]
CUT_REASON = (
    "hold text that is longer than the model reads, or whose translation did not terminate: only "
    "the beginning counts"
)

WARNED = ("cut", "unknown", "language", "copy")
"""Marks that :meth:`Measure.score` warns of; an empty text has a score that cannot be mistaken."""
EmptyRule = Literal["worst", "formula"]
"""The score of an empty text: the lowest of the measure, or what the formula gives."""
CopyRule = Literal["formula", "worst"]
"""The score of a hypothesis that is no translation: what the formula gives, or the lowest."""


class Part(NamedTuple):
    """Aligned sentences of two texts, their score, and the weight of the score."""

    hypothesis: str
    other: str
    score: float
    weight: float


@dataclass(frozen=True)
class Segments:
    """The scores of some rows, in their order."""

    scores: list[float]
    statistics: list[tuple[float, ...]]
    """Additive statistics: the system score is a function of their sum over all rows."""
    cut: list[bool]
    """Whether a text of the row was too long and only its beginning counted."""
    best_reference: list[int | None] | None = None
    """Which reference gave the score, counted from 0; None if the measure does not choose one."""
    parts: list[tuple[Part, ...]] | None = None
    """The parts of each row whose texts were split (see :mod:`tertium.measures.references`)."""

    @property
    def split(self) -> list[bool]:
        """Whether a text of the row was split, and scored in parts."""
        return [bool(parts) for parts in self.parts or [()] * len(self.scores)]


@dataclass(frozen=True)
class Measure(ABC):
    """A formula with its settings. Higher is better, always.

    A measure is called with texts and returns numbers; :meth:`score` returns more about them.
    """

    summary: ClassVar[str] = ""
    """What it measures, in one plain sentence."""
    requires: ClassVar[tuple[Extra, ...]] = ()
    """What must be installed to use it."""
    model_kind: ClassVar[ModelKind | None] = None
    """What kind of model it uses, if any."""
    bounds: ClassVar[tuple[float, float]] = (-math.inf, math.inf)
    """Between which numbers its scores lie, or are taken to lie when measures are summed."""
    about_bounds: ClassVar[bool] = False
    """Whether scores may be slightly beyond the bounds."""
    negated: ClassVar[bool] = False
    """Whether it is a distance or an error rate, whose sign is changed: higher is better."""
    needs_all_rows: ClassVar[bool] = False
    """Whether a score depends on the other rows, so that they must be scored in one call."""
    alone: ClassVar[bool] = False
    """Whether it reads the hypothesis alone, and compares it with nothing."""
    label: ClassVar[str] = ""
    """The name of its column, if it differs from its name; see :meth:`labelled`."""
    described: ClassVar[Mapping[str, str] | None] = None
    """Its description, if its models are loaded elsewhere; see :meth:`described_as`."""
    _: KW_ONLY
    against: Role = setting("reference", "What the hypothesis is compared with.")
    """What the hypothesis is compared with: its references or, if that is asked for, its source."""

    def __post_init__(self) -> None:
        check_settings(self)

    @property
    @abstractmethod
    def name(self) -> str:
        """What it is called in tables and signatures."""

    @property
    def column(self) -> str:
        """The name of its column in tables: its label, or its name."""
        return self.label or self.name

    def labelled(self, label: str) -> Self:
        """The same measure with another column name; its signature stays the same."""
        made = copy(self)
        object.__setattr__(made, "label", label)  # not a setting: it changes no number
        return made

    def described_as(self, description: Mapping[str, str]) -> Self:
        """The same measure with the description that it has where its models are loaded."""
        made = copy(self)
        object.__setattr__(made, "described", dict(description))
        return made

    @property
    def reads(self) -> tuple[Role, ...]:
        """What a row must have besides the hypothesis."""
        return () if self.alone else (self.against,)

    @property
    def is_symmetric(self) -> bool:
        """Whether exchanging the two texts leaves the score as it is."""
        return False

    @abstractmethod
    def segments(self, rows: Sequence[Row], progress: Progress | None = None) -> Segments:
        """Score rows; each score depends on its own row alone, unless ``needs_all_rows``."""

    def prepare(self, rows: Sequence[Row]) -> None:  # noqa: B027
        """Do in advance, in another thread, what needs no engine, such as tokenization."""

    @abstractmethod
    def choices(self) -> Mapping[str, object]:
        """Every setting that can change a number, in the order of the signature."""

    def reading(self, score: float) -> str:
        """What a score says, for somebody who does not know the formula."""
        return "higher is better"

    @property
    def cut_reason(self) -> str:
        """What is said about the rows of which only the beginning counts."""
        return CUT_REASON

    def aligning_encoder(self) -> SentenceEncoder:
        """What aligns the sentences of long texts, in measures with a model."""
        raise SettingError(f"{self.name} does not split texts")

    def lengths(self, texts: Texts) -> list[int]:
        """The lengths by which the parts of long texts are weighted: numbers of characters."""
        return [len(text.text) for text in texts]

    def whole(self, scores: Sequence[float], weights: Sequence[float]) -> float:
        """The score of a long text from those of its parts: their weighted mean."""
        return math.fsum(w * score for w, score in zip(weights, scores, strict=True)) / math.fsum(
            weights
        )

    def compared(self, row: Row) -> tuple[Text, ...]:
        """What the hypothesis of a row is compared with: its references, or its source."""
        if self.against == "reference":
            return row.references
        return () if row.source is None else (row.source,)

    def system(self, statistics: Sequence[float]) -> float:
        """Turn summed statistics into the system score: here, the mean over the rows."""
        total, count = statistics
        return total / count

    def systems(self, sums: Floats) -> Floats:
        """Turn many sums, one per row, into system scores, for resampling."""
        import numpy as np

        return np.array([self.system(row.tolist()) for row in sums])

    def signature(self, totals: Totals) -> Signature:
        """Sign what was scored."""
        described = self.description()
        long = {"long": "split"} if totals.split and "long" not in described else {}
        return Signature({**described, **totals.facts, **long})

    def description(self) -> dict[str, str]:
        """The measure and all of its choices, as the signature writes them."""
        if self.described is not None:
            return dict(self.described)
        described = {"measure": self.name}
        described |= {name: spell(value) for name, value in self.choices().items()}
        if self.against == "source" and not self.alone:
            described["against"] = self.against
        return described

    def totals(self, rows: Sequence[Row], segments: Segments) -> Totals:
        """What some rows contribute to the system score and to the signature."""
        totals = Totals()
        totals.add(rows, segments, self.reads)
        return totals

    def score(
        self,
        hypotheses: str | Column,
        references: References | None = None,
        *,
        sources: str | Column | None = None,
        lang: Languages = None,
        reference_lang: Languages = None,
        source_lang: Languages = None,
        progress: bool | Progress | None = None,
    ) -> Scores:
        """Score hypotheses against references, against sources, or against both.

        A measure that reads sources alone also takes them as its second argument. ``lang`` is the
        language of the hypotheses and, unless ``reference_lang`` is given, of the references (the
        second argument): one code for all, or a list of them.
        """
        if self.reads == ("source",) and sources is None:
            references, sources = None, references
            lang_of_second = lang if reference_lang is None else reference_lang
            source_lang = lang_of_second if source_lang is None else source_lang
        from tertium.measures.marks import describe_marks, language_warnings, mark_rows

        rows = rows_from(
            hypotheses,
            references,
            sources=sources,
            lang=lang,
            reference_lang=reference_lang,
            source_lang=source_lang,
            alone=not self.reads,
        )
        if not rows:
            raise InputError("there is nothing to score: the list of hypotheses is empty")
        check_readable(
            self,
            "the call",
            has_references=references is not None,
            has_source=sources is not None,
        )
        segments = self.segments(rows, as_progress(progress))
        totals = self.totals(rows, segments)
        marks = mark_rows([self], rows, segments.cut, segments.split)
        counts = marks.counts()
        for mark in WARNED:
            for message in describe_marks({mark: counts[mark]}, len(rows), cut=self.cut_reason):
                kind = CutWarning if mark == "cut" else TextWarning
                warn_caller(f"{message}; see Scores.marks", kind)
        for message in language_warnings(marks.languages, [self]):
            warn_caller(message, TextWarning)
        return self.scores(totals, segments, marks.rows)

    def scores(
        self, totals: Totals, segments: Segments, marks: Sequence[tuple[str, ...]] = ()
    ) -> Scores:
        """Put segment scores, system score and signature together."""
        return Scores(
            segments.scores,
            self.system(totals.statistics),
            self.signature(totals),
            segments.cut,
            segments.best_reference or [None] * len(segments.scores),
            list(marks),
            segments.statistics,
            self,
            segments.parts or [()] * len(segments.scores),
        )

    @overload
    def __call__(
        self, hypotheses: str, references: References | None = None, **options: Any
    ) -> float: ...
    @overload
    def __call__(
        self, hypotheses: Column, references: References | None = None, **options: Any
    ) -> list[float]: ...
    def __call__(
        self,
        hypotheses: str | Column,
        references: References | None = None,
        **options: Any,
    ) -> float | list[float]:
        """Score; one string in, one number out. The options are those of :meth:`score`."""
        hypotheses, references = repeatable(hypotheses), repeatable(references)
        if not isinstance(hypotheses, str) and is_nothing(hypotheses) and is_nothing(references):
            return []
        scores = self.score(hypotheses, references, **options)
        return scores.segments[0] if isinstance(hypotheses, str) else scores.segments


@runtime_checkable
class AggregatingMeasure(Protocol):
    """A measure that compares with the aggregate of many references in the time of one."""

    def against_aggregate(self, hypotheses: Texts, references: Texts) -> tuple[list[float], bool]:
        """The score of each hypothesis against the aggregate of all references.

        Also returns whether a text was truncated.
        """
        ...


@runtime_checkable
class PairwiseMeasure(Protocol):
    """A measure that compares all texts with all others faster than pair by pair."""

    def pairwise(self, hypotheses: Texts, references: Texts) -> Floats:
        """The scores of all pairs: shape (hypotheses, references)."""
        ...


def check_readable(
    measure: Measure, where: str, *, has_references: bool, has_source: bool, cure: str = ""
) -> None:
    """Refuse to score where a measure lacks what it reads; nothing else takes its place."""
    if "reference" in measure.reads and not has_references:
        others = (
            "use prism-src, a measure without references ({measure:prism-src} with {lang} and "
            "{source_lang})",
            f"compare with the source ({{against:source}}, or {measure.name}:against=source)",
        )
        raise InputError(
            f"{measure.name} compares with references, and {where} has none",
            cure=(cure or "give {references}", *(others if has_source else ())),
        )
    if "source" in measure.reads and not has_source:
        raise InputError(
            f"{measure.name} needs sources, and {where} has none", cure=cure or "give {sources}"
        )


def check_copies(measure: Measure) -> None:
    """Refuse the lowest score for copies in measures that do not compare with the source."""
    if getattr(measure, "copies", "formula") == "worst" and measure.reads != ("source",):
        raise SettingError(
            f"copies=worst: {measure.name} compares with references, by which copies of the source "
            "and the like are bad already; it is for measures that compare with the source"
        )


def unusual(measure: object, **usual: object) -> dict[str, object]:
    """Those settings that differ from the usual value: only then are they in the signature."""
    return {
        name: getattr(measure, name)
        for name, value in usual.items()
        if getattr(measure, name) != value
    }


def percent(share: float) -> str:
    """A share in percent, with two significant digits where it is small.

    >>> percent(0.5), percent(0.0123)
    ('50 %', '1.2 %')
    """
    return f"{100 * share:.0f} %" if share >= 0.095 or share == 0 else f"{100 * share:.2g} %"


def is_nothing(texts: object) -> bool:
    """Whether a list has no items."""
    return isinstance(texts, Sized) and len(texts) == 0
