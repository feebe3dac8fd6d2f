"""Scoring some rows, on any engine: the checks, the columns, the totals and the result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol, Self

from tertium._version import __version__
from tertium.data.pairs import Item, Pairs
from tertium.engines.output import CUT, MARKS
from tertium.engines.progress import JobProgress
from tertium.errors import InputError
from tertium.measures.base import Measure, Segments, check_readable
from tertium.measures.marks import mark_rows
from tertium.measures.signature import Signature
from tertium.measures.totals import Totals
from tertium.models.base import Progress
from tertium.models.cache.memo import Tally
from tertium.storage import resume

ROWS_AT_A_TIME = 1024


@dataclass(frozen=True)
class Result:
    """The system score of a measure, and its signature."""

    system: float
    signature: Signature


@dataclass(frozen=True)
class ScoringResult:
    """What a scoring job returns, on any engine."""

    measures: Mapping[str, Result]
    rows: int
    """Rows that were read."""
    scored: int
    """Rows that could be scored."""
    cut: int
    """Rows with text that is longer than the model reads."""
    resumed: int = 0
    """Rows that an interrupted run had scored before."""
    tally: Tally | None = None
    """The queries to the translation model; None if no measure uses one."""
    notes: Sequence[str] = ()
    marks: Mapping[str, int] = field(default_factory=dict)
    """The number of rows with each mark (see :mod:`tertium.measures.marks`)."""
    identified: Mapping[str, int] = field(default_factory=dict)
    """Identified languages of hypotheses without a given language, and how many are in each."""
    warnings: Sequence[str] = ()
    """What is wrong with the texts as a whole: their languages."""
    reasons: Sequence[str] = ()
    """Why rows could not be scored; of many, the first."""

    def document(self) -> dict[str, Any]:
        """The result as one JSON object."""
        document: dict[str, Any] = {
            "measures": {
                name: {
                    "system": result.system,
                    "signature": result.signature.long,
                    "short_signature": result.signature.short,
                }
                for name, result in self.measures.items()
            },
            **row_counts(self.rows, self.scored, self.reasons),
            "cut": self.cut,
            "marks": dict(self.marks),
            "warnings": list(self.warnings),
        }
        if self.identified:
            document["identified_languages"] = dict(self.identified)
        if self.tally is not None:
            document["queries"] = {
                "total": self.tally.queries,
                "distinct": self.tally.distinct,
                "from_cache": self.tally.from_cache,
            }
        return document


def row_counts(rows: int, scored: int, reasons: Sequence[str]) -> dict[str, Any]:
    """How many rows were read, scored and not scored, as part of a JSON document, and why."""
    counts: dict[str, Any] = {"rows": rows, "scored": scored, "not_scored": rows - scored}
    return {**counts, "reasons": list(reasons)} if reasons else counts


class RunnableJob(Protocol):
    """A job that scores rows, on any engine."""

    def count(self) -> int | None:
        """The number of rows, if it is known beforehand."""
        ...

    def run(self, progress: JobProgress = ...) -> ScoringResult: ...


@dataclass
class Sums:
    """What has been added up over the rows so far."""

    totals: dict[str, Totals]
    rows: int = 0
    cut: int = 0
    marks: dict[str, int] = field(default_factory=dict)
    languages: dict[str, int] = field(default_factory=dict)
    """How many texts were identified as each language (:class:`tertium.measures.marks.Marks`)."""

    @classmethod
    def of(cls, measures: Sequence[Measure]) -> Self:
        return cls({measure.column: Totals() for measure in measures})

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        """Read what :meth:`state` returned, from JSON."""
        totals = {name: Totals(**values) for name, values in state["totals"].items()}
        return cls(totals, state["rows"], state["cut"], state["marks"], state["languages"])

    def state(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def scored(self) -> int:
        """The number of rows that could be scored."""
        return max(totals.rows for totals in self.totals.values())

    def add(self, other: Sums) -> None:
        self.rows += other.rows
        self.cut += other.cut
        self.marks = _sum(self.marks, other.marks)
        self.languages = _sum(self.languages, other.languages)
        for name, totals in other.totals.items():
            self.totals[name].merge(totals)


@dataclass(frozen=True)
class ScoredRows:
    """Some rows with their scores, and what they add to the system scores."""

    rows: list[dict[str, Any]]
    sums: Sums
    segments: Mapping[str, Segments]
    """The segment scores of each measure, with their statistics."""
    marks: Sequence[tuple[str, ...]] = ()
    """The marks of the rows that were scored."""


@dataclass(frozen=True)
class Scorer:
    """Any number of measures for the rows of one input."""

    pairs: Pairs
    measures: Sequence[Measure]
    scores_only: bool = False

    def check(self) -> None:
        """Check that every measure has the texts it compares, and its own column."""
        names = [measure.column for measure in self.measures]
        for name in names:
            if names.count(name) > 1:
                raise InputError(f"measure {name} is given twice")
        for measure in self.measures:
            check_readable(
                measure,
                self.pairs.name,
                has_references=self.pairs.has_references,
                has_source=self.pairs.has_source,
            )

    def columns(self) -> list[str]:
        """The columns of the output, in order."""
        new = [*(measure.column for measure in self.measures), CUT, MARKS]
        if self.scores_only:
            return new
        for name in new:
            if name in self.pairs.columns:
                raise InputError(
                    f"{self.pairs.name} already has a column {name!r}, which the scores would "
                    "replace; rename it, or write only the scores (--scores-only)"
                )
        return [*self.pairs.columns, *new]

    def score(
        self, items: Sequence[Item], columns: Sequence[str], progress: Progress | None = None
    ) -> ScoredRows:
        """Score some rows by every measure."""
        found: dict[str, Segments] = {}
        totals: dict[str, Totals] = {}
        for measure in self.measures:
            found[measure.column] = measure.segments(items, progress)
            totals[measure.column] = measure.totals(items, found[measure.column])
        cut = [
            any(segments.cut[index] for segments in found.values()) for index in range(len(items))
        ]
        marks = mark_rows(self.measures, items, cut)
        scored = []
        for index, item in enumerate(items):
            scores = {name: segments.scores[index] for name, segments in found.items()}
            record = {} if self.scores_only else item.record
            for name in record:
                if name not in columns or name in scores or name in (CUT, MARKS):
                    raise InputError(
                        f"{self.pairs.name}, row {item.number}: it has a field {name!r}, which "
                        "earlier rows do not have, or which the scores would replace; "
                        "write only the scores (--scores-only)"
                    )
            fields = {**record, **scores, CUT: cut[index], MARKS: ",".join(marks.rows[index])}
            scored.append({name: fields.get(name) for name in columns})
        sums = Sums(totals, len(items), sum(cut), dict(marks.counts()), dict(marks.languages))
        return ScoredRows(scored, sums, found, marks.rows)


def _sum(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    """Add counts; the keys are sorted, so that the order of the rows makes no difference."""
    return {name: one.get(name, 0) + other.get(name, 0) for name in sorted({*one, *other})}


def results(measures: Sequence[Measure], totals: Mapping[str, Totals]) -> dict[str, Result]:
    """Turn totals over all rows into system scores."""
    return {
        measure.column: Result(
            measure.system(totals[measure.column].statistics),
            measure.signature(totals[measure.column]),
        )
        for measure in measures
    }


def describe(
    measures: Sequence[Measure], columns: Sequence[str], rows_at_a_time: int | None
) -> dict[str, Any]:
    """Everything that must be the same for a run to be resumed, except for the texts."""
    return {
        "measures": [[measure.column, measure.description()] for measure in measures],
        "columns": list(columns),
        "rows_at_a_time": rows_at_a_time,
        "version": __version__,
    }


def chain_digest(before: str, items: Sequence[Item]) -> str:
    """Hash some rows onto the hash of all rows before them."""
    contents = ([item.hypothesis, item.references, item.source, item.record] for item in items)
    return resume.chain_digest(before, contents)
