"""The scores of one system by one measure, and tables of systems and measures."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, overload

from tertium.data.records import counted
from tertium.errors import InputError, SettingError
from tertium.measures.totals import Signature
from tertium.report.tables import Cell, Table
from tertium.stats.conventions import LEVEL, SAMPLES, Interval

if TYPE_CHECKING:
    from tertium.measures.base import Measure, Part
    from tertium.models.cached import Tally

ROWS_SHOWN = 10
"""How many segments a notebook shows."""
LARGE = 10
"""Scores of this size have two decimals."""
FEW = 0.1
"""The share of rows whose scores may say nothing while the score of the system still counts."""
SYSTEM = "hypotheses"
"""The name of the only system, if it was given as a list."""


@dataclass(frozen=True, repr=False, eq=False)
class Scores(Sequence[float]):
    """The scores of the segments, in order, and how they came about.

    It is itself the sequence of its segment scores.

    >>> import tertium
    >>> scores = tertium.load("chrf").score(["a dog", "a cat"], ["a dog", "the cat"])
    >>> scores
    Scores(chrf 55.17, 2 segments: 100.00, 31.25)
    """

    segments: list[float]
    system: float
    """The score of all segments together: for most measures, the mean."""
    signature: Signature
    cut: list[bool] = field(repr=False)
    """True where a text (or its translation) was too long, so that only its beginning counted."""
    best_reference: list[int | None] = field(default_factory=list, repr=False)
    """Which reference gave the score, counted from 0; None where the measure combines them."""
    marks: list[tuple[str, ...]] = field(default_factory=list, repr=False)
    """What is special about the texts of each segment: cut, split, empty, unknown, language,
    copy."""
    statistics: list[tuple[float, ...]] = field(default_factory=list, repr=False, compare=False)
    """Additive statistics of each segment; the system score is a function of their sum."""
    measure: Measure | None = field(default=None, repr=False, compare=False)
    parts: list[tuple[Part, ...]] = field(default_factory=list, repr=False, compare=False)
    """Of segments that were split, the aligned parts with their scores and weights."""

    @overload
    def __getitem__(self, index: int) -> float: ...
    @overload
    def __getitem__(self, index: slice) -> list[float]: ...
    def __getitem__(self, index: int | slice) -> float | list[float]:
        return self.segments[index]

    @classmethod
    def nothing(cls, measure: Measure) -> Scores:
        """The scores of no segments at all."""
        return cls([], 0.0, Signature(measure.description()), [], measure=measure)

    def __len__(self) -> int:
        return len(self.segments)

    def __eq__(self, other: object) -> bool:
        """Whether the scores are the same; a list is compared with those of the segments."""
        if isinstance(other, Scores):
            mine = self.segments, self.system, self.signature, self.cut
            return mine == (other.segments, other.system, other.signature, other.cut)
        return self.segments == list(other) if isinstance(other, list | tuple) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # like a list

    def __iter__(self) -> Iterator[float]:
        return iter(self.segments)

    def __repr__(self) -> str:
        name = self.measure.column if self.measure is not None else self.signature.short
        digits = digits_for([self])
        shown = [f"{score:.{digits}f}" for score in self.segments[:ROWS_SHOWN]]
        more = [f"{len(self) - len(shown)} more"] if len(self) > len(shown) else []
        count = counted(len(self), "segment")
        return f"Scores({name} {self.system:.{digits}f}, {count}: {', '.join(shown + more)})"

    def without_meaningless(self) -> float | None:
        """The system score without the segments whose marks say that their scores say nothing."""
        from tertium.measures.marks import is_meaningless

        if self.measure is None or not self.statistics or not self.marks:
            return None
        kept = [
            row
            for row, marks in zip(self.statistics, self.marks, strict=True)
            if not is_meaningless(marks)
        ]
        sums = [math.fsum(column) for column in zip(*kept, strict=True)]
        return self.measure.system(sums) if kept else None

    def confidence(
        self, *, samples: int = SAMPLES, seed: int = 0, level: float = LEVEL
    ) -> Interval:
        """The confidence interval of the system score, from the bootstrap over segments.

        The same samples are drawn for every system and measure, as in :func:`tertium.compare`.

        >>> import tertium
        >>> scores = tertium.load("chrf").score(["a dog", "a cat"], ["a dog", "the cat"])
        >>> scores.confidence(samples=100).high
        100.0
        """
        import numpy as np

        from tertium.stats.resampling import bootstrap_counts, percentile_interval, spawn

        if self.measure is None or not self.statistics:
            raise InputError("these scores have no statistics that could be resampled")
        if samples < 1:
            raise SettingError(f"samples={samples!r}: it must be at least 1")
        counts = bootstrap_counts(len(self), samples=samples, seed=spawn(seed, 2)[0])
        replicates = self.measure.systems(counts.astype(np.float64) @ np.array(self.statistics))
        return percentile_interval(replicates, level=level)

    def to_pandas(self) -> Any:
        """A data frame with one row per segment: score, cut, and which reference was best."""
        return _pandas().DataFrame(self._columns())

    def _columns(self) -> dict[str, list[Any]]:
        best: list[Any] = list(self.best_reference) or [None] * len(self)
        return {"score": list(self), "cut": list(self.cut), "best_reference": best}

    def _repr_html_(self) -> str:
        format_ = f".{digits_for([self])}f"
        rows = [
            [Cell(number), Cell(score, format_)]
            for number, score in enumerate(self.segments[:ROWS_SHOWN], start=1)
        ]
        more = len(self) - len(rows)
        rows += [[Cell(f"{more} more"), Cell(None)]] if more else []
        rows.append([Cell("system"), Cell(self.system, format_, bold=True)])
        name = self.measure.column if self.measure is not None else "score"
        return Table(["segment", name], rows, note=self.signature.short).html()


@dataclass(frozen=True)
class RowCounts:
    """What is known of the rows of a system as a whole."""

    rows: int
    scored: int
    """Rows that could be scored."""
    cut: int = 0
    """Rows with text that is longer than the model reads."""
    marks: Mapping[str, int] = field(default_factory=dict)
    """The number of rows with each mark (see :mod:`tertium.measures.marks`)."""
    languages: Mapping[str, int] = field(default_factory=dict)
    """How many texts were identified as each language (:class:`tertium.measures.marks.Marks`)."""
    reasons: Sequence[str] = ()
    """Why rows could not be scored; of many, the first."""
    without: Mapping[str, float] = field(default_factory=dict)
    """The system score by each measure without the rows whose scores say nothing, if there are
    any."""


@dataclass(frozen=True, repr=False)
class ScoreTable:
    """The scores of one or several systems by one or several measures: what scoring returns.

    ``table["chrf"]`` are the :class:`Scores` of the only system, ``table["a", "chrf"]`` those of
    system a.

    >>> import tertium
    >>> systems = {"a": ["a dog", "a cat"], "b": ["a dig", "the cat"]}
    >>> table = tertium.score(systems, ["a dog", "the cat"], measure=["chrf", "ter"])
    >>> print(table)
    system   chrf     ter
    a       55.17  -25.00
    b       84.44  -25.00
    >>> table["b", "chrf"].segments[1]
    100.0
    """

    systems: tuple[str, ...]
    measures: tuple[str, ...]
    scores: Mapping[tuple[str, str], Scores]
    counts: Mapping[str, RowCounts] = field(default_factory=dict)
    """What is known of the rows of each system."""
    tally: Tally | None = None
    """The queries to models; None if no measure uses one that counts them."""
    resumed: int = 0
    """Rows that an interrupted run had scored before."""
    messages: Sequence[str] = ()
    """What happened while they were scored: workers that were lost, rows that were skipped."""
    written: Sequence[Mapping[str, Any]] = ()
    """The rows as they were written, if they were kept."""

    @overload
    def __getitem__(self, key: str) -> Scores: ...
    @overload
    def __getitem__(self, key: tuple[str, str]) -> Scores: ...
    def __getitem__(self, key: str | tuple[str, str]) -> Scores:
        if isinstance(key, str):
            if len(self.systems) > 1:
                raise KeyError(f"{key}: there are several systems; use table[system, {key!r}]")
            key = (self.systems[0], key)
        return self.scores[key]

    def __repr__(self) -> str:
        return self.table().text()

    def _repr_html_(self) -> str:
        return self.table().html()

    def table(
        self,
        *,
        confidence: bool = False,
        samples: int = SAMPLES,
        seed: int = 0,
        digits: int | None = None,
        separate: bool = False,
    ) -> Table:
        """The system scores for people: one row per system and one column per measure.

        With ``separate``, the limits of an interval are two columns (for CSV) instead of one.
        """
        header = ["system"]
        doubtful = {system for system in self.systems if not separate and self.meaningless(system)}
        rows = [
            [Cell(f"{system} (?)" if system in doubtful and system else system)]
            for system in self.systems
        ]
        for measure in self.measures:
            column = [self.scores[system, measure] for system in self.systems]
            decimals = digits_for(column) if digits is None else digits
            format_ = f".{decimals}f"
            header.append(measure)
            if confidence:
                names = (f"{measure} low", f"{measure} high")
                header += names if separate else [f"{LEVEL:.0%} interval"]
            for row, scores in zip(rows, column, strict=True):
                row.append(Cell(scores.system, format_))
                if confidence:
                    limits = scores.confidence(samples=samples, seed=seed)
                    low, high = Cell(limits.low, format_), Cell(limits.high, format_)
                    row += [low, high] if separate else [Cell(f"{low} to {high}")]
        marks = [self.marks(system) for system in self.systems]
        if any(marks):
            header.append("marks")
            for row, counts in zip(rows, marks, strict=True):
                row.append(Cell(", ".join(f"{mark} {count}" for mark, count in counts.items())))
        return Table(header, rows)

    def assuming(self, languages: Iterable[str]) -> ScoreTable:
        """The same, signed with languages that were not given but assumed.

        ``languages`` are the fields of the signature: lang, reference_lang, source_lang.
        """
        names = set(languages)
        signed = {}
        for key, scores in self.scores.items():
            choices = {
                name: f"{value} (assumed)" if name in names else value
                for name, value in scores.signature.choices.items()
            }
            signed[key] = replace(scores, signature=Signature(choices))
        return replace(self, scores=signed)

    def only(self, measure: str) -> ScoreTable:
        """The same table with one measure."""
        return replace(self, measures=(measure,))

    @property
    def rows(self) -> int:
        """The rows of each system."""
        return max(each.rows for each in self.counts.values())

    @property
    def scored(self) -> int:
        """The rows of each system that could be scored."""
        return max(each.scored for each in self.counts.values())

    @property
    def cut(self) -> int:
        """The rows of all systems with text that is longer than the model reads."""
        return sum(each.cut for each in self.counts.values())

    @property
    def reasons(self) -> list[str]:
        """Why rows could not be scored; of many, the first."""
        return [reason for each in self.counts.values() for reason in each.reasons]

    @property
    def identified(self) -> Counter[str]:
        """The languages of hypotheses without a given one, where a model needs to know them."""
        from tertium.measures.marks import identified, uses_model

        if not uses_model(self._formulas):
            return Counter()
        found = (identified(each.languages) for each in self.counts.values())
        return sum(found, Counter[str]())

    @property
    def warnings(self) -> list[str]:
        """What is wrong with the texts of a system as a whole: their languages."""
        from tertium.measures.marks import by_system, language_warnings

        return by_system(
            {
                system: language_warnings(each.languages, self._formulas)
                for system, each in self.counts.items()
            }
        )

    def doubts(self, system: str) -> list[str]:
        """Why the scores of a system as a whole say nothing, if they do.

        More than a tenth of its rows have a mark by which their scores say nothing, or most of its
        texts are in another language than they should be.
        """
        from tertium.measures.marks import describe_marks, language_warnings

        languages = self.counts[system].languages if system in self.counts else {}
        many = describe_marks(self.meaningless(system), self._scored(system))
        return [*many, *language_warnings(languages)]

    def meaningless(self, system: str) -> dict[str, int]:
        """The marks by which scores say nothing, if more than a tenth of a system's rows have one.

        In tables, such a system has a question mark beside its name.
        """
        from tertium.measures.marks import MEANINGLESS

        marks, rows = self.marks(system), self._scored(system)
        return {mark: marks[mark] for mark in MEANINGLESS if marks[mark] > rows * FEW}

    def _scored(self, system: str) -> int:
        if system in self.counts:
            return self.counts[system].scored
        return len(next(iter(self.scores.values())))

    def without(self, system: str) -> str:
        """What the scores of a system would be without rows whose scores say nothing; or empty."""
        if not self.meaningless(system):
            return ""
        if system in self.counts:
            every = self.counts[system].without
            found = {name: score for name, score in every.items() if name in self.measures}
        else:
            computed = {
                name: self.scores[system, name].without_meaningless() for name in self.measures
            }
            found = {name: score for name, score in computed.items() if score is not None}
        listed = ", ".join(
            f"{name} {score:.{digits_for([self.scores[system, name]])}f}"
            for name, score in found.items()
        )
        name = f"{system}: " if system else ""
        return f"{name}without rows whose scores say nothing: {listed}" if listed else ""

    @property
    def cut_reason(self) -> str:
        """What is said about the rows of which only the beginning counts."""
        from tertium.measures.base import CUT_REASON

        found = {measure.cut_reason for measure in self._formulas}
        return found.pop() if len(found) == 1 else CUT_REASON

    @property
    def _formulas(self) -> list[Measure]:
        first = [self.scores[self.systems[0], name].measure for name in self.measures]
        return [measure for measure in first if measure is not None]

    def marks(self, system: str) -> Counter[str]:
        """The number of segments of a system with each mark; see :attr:`Scores.marks`."""
        if system in self.counts:
            return Counter(self.counts[system].marks)
        columns = [self.scores[system, measure].marks for measure in self.measures]
        rows = zip(*columns, strict=True)
        return Counter(mark for row in rows for mark in {mark for each in row for mark in each})

    def document(
        self, *, confidence: bool = False, samples: int = SAMPLES, seed: int = 0
    ) -> dict[str, Any]:
        """The system scores, signatures and intervals as plain data, for JSON."""
        document: dict[str, Any] = {}
        for system in self.systems:
            document[system] = {}
            for measure in self.measures:
                scores = self.scores[system, measure]
                entry: dict[str, Any] = {"system": scores.system}
                if confidence:
                    limits = scores.confidence(samples=samples, seed=seed)
                    entry |= {"low": limits.low, "high": limits.high}
                entry["signature"] = scores.signature.long
                entry["short_signature"] = scores.signature.short
                document[system][measure] = entry
        return document

    def facts(self) -> dict[str, Any]:
        """How many rows were read and scored, and what is wrong with them, for JSON."""
        facts: dict[str, Any] = {
            "rows": self.rows,
            "scored": self.scored,
            "not_scored": self.rows - self.scored,
            **({"reasons": self.reasons} if self.reasons else {}),
            "cut": self.cut,
        }
        marks = {system: dict(each.marks) for system, each in self.counts.items()}
        facts["marks"] = marks if len(self.systems) > 1 else marks[self.systems[0]]
        facts["warnings"] = self.warnings
        if identified := self.identified:
            facts["identified_languages"] = dict(identified)
        if self.tally is not None:
            facts["queries"] = {
                "total": self.tally.queries,
                "distinct": self.tally.distinct,
                "from_cache": self.tally.from_cache,
            }
        return facts

    def summary(
        self, *, confidence: bool = False, samples: int = SAMPLES, seed: int = 0
    ) -> dict[str, Any]:
        """The system scores and the facts about the rows, for JSON."""
        systems = self.document(confidence=confidence, samples=samples, seed=seed)
        if len(self.systems) > 1:
            return {"systems": systems, **self.facts()}
        return {"measures": systems[self.systems[0]], **self.facts()}

    def to_pandas(self, *, segments: bool = False) -> Any:
        """A data frame of system scores; or, of segments, one row per system and segment."""
        pandas = _pandas()
        if not segments:
            frame = pandas.DataFrame(
                {
                    measure: [self.scores[system, measure].system for system in self.systems]
                    for measure in self.measures
                },
                index=list(self.systems),
            )
            return frame.rename_axis("system")
        return pandas.concat(
            [
                pandas.DataFrame(
                    {
                        "system": system,
                        **{name: list(self.scores[system, name]) for name in self.measures},
                    }
                )
                for system in self.systems
            ],
            ignore_index=True,
        )


def digits_for(column: Sequence[Scores]) -> int:
    """How many decimals of system scores to show: two if they can be up to 100, otherwise four."""
    large = any(abs(scores.system) >= LARGE for scores in column)
    highest = [scores.measure.bounds[1] for scores in column if scores.measure is not None]
    return 2 if large or any(LARGE <= high < math.inf for high in highest) else 4


def _pandas() -> Any:
    try:
        import pandas
    except ImportError:
        raise SettingError("to_pandas needs pandas: pip install pandas") from None
    return pandas
