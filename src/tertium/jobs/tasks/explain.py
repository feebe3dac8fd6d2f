"""Finds where the two texts of each row differ, by any number of methods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

from tertium.errors import InputError
from tertium.explanation.exchange import Exchange
from tertium.explanation.review import (
    DIRECTION,
    NEED_ENCODER,
    NEED_MODEL,
    Pair,
    PairReview,
    Reviewer,
    learned_for,
)
from tertium.explanation.spans import A, B
from tertium.jobs.task import Fields, Finished, Job, Note
from tertium.measures.loading import ModelPool, ModelSettings
from tertium.models.base import Progress
from tertium.models.cached import Tally
from tertium.text import Row

SPANS, FLAGS, SEVERITY = "spans", "flags", "severity"
ERROR_PROBABILITY, SCORE, ERROR_FREE = "error_probability", "score", "error_free"
ID_COLUMNS = ("id", "seg_id", "segment_id", "key")
ROWS_AT_A_TIME = 64
HYPOTHESIS, REFERENCE, SOURCE = "hyp", "ref", "src"


@dataclass(frozen=True)
class ReviewerLoader:
    """A reviewer that was requested, to be loaded in this process or another."""

    methods: tuple[str, ...]
    models: ModelSettings = field(default_factory=ModelSettings)
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Further settings of :class:`~tertium.explanation.review.Reviewer`."""
    decisions: Path | None = None
    """A file with what was learned for the model, instead of that in its folder."""
    error_free: bool = False
    """Whether each pair gets the probability of an error, for which something must be learned."""

    def load(self, *, threads: int | None = None) -> tuple[Reviewer, ModelPool]:
        """Make the reviewer, and return it with its models."""
        models = self.models if threads is None else replace(self.models, threads=threads)
        pool = ModelPool(models)
        model = pool("translation") if NEED_MODEL.intersection(self.methods) else None
        learned, aligner = learned_for(model, self.decisions)
        reviewer = Reviewer(
            self.methods,
            model,
            pool("tokens") if NEED_ENCODER.intersection(self.methods) else None,
            learned=learned,
            aligner=aligner,
            **self.settings,
        )
        if self.error_free:
            reviewer.check_decides()
        return reviewer, pool


@dataclass(frozen=True)
class ExplainTask:
    """Compares the hypothesis with the source or with the (first) reference of its row."""

    portable: ClassVar[bool] = False
    verb: ClassVar[str] = "explain"
    done: ClassVar[str] = "explained"
    needs_all_rows: ClassVar[bool] = False

    loader: ReviewerLoader
    against_source: bool
    exchange: Exchange | None = None
    """The layout of another tool, instead of the columns of the input with spans and flags."""
    keep: bool = False
    """Whether the result has the reviews of all rows, for a report."""

    @property
    def new_columns(self) -> Mapping[str, type]:
        if self.exchange is not None:
            return dict.fromkeys(self.exchange.columns, str)
        direction = {DIRECTION: float} if DIRECTION in self.loader.methods else {}
        decision = {ERROR_PROBABILITY: float, SCORE: float, ERROR_FREE: int}
        decided = decision if self.loader.error_free else {}
        return {SPANS: list, FLAGS: list, SEVERITY: str, **direction, **decided}

    @property
    def keeps_records(self) -> bool:
        return self.exchange is None

    @property
    def request(self) -> Fields:
        models = replace(self.loader.models, threads=None, cache=True)  # change no number
        settings = {name: repr(value) for name, value in self.loader.settings.items()}
        return {
            "methods": list(self.loader.methods),
            "models": vars(models),
            "settings": settings,
            "decisions": str(self.loader.decisions or ""),
            "error_free": self.loader.error_free,
            "against": self.sides[B],
            "report": self.keep,
        }

    @property
    def sides(self) -> dict[str, str]:
        """The sides of spans as they are written."""
        return {A: HYPOTHESIS, B: SOURCE if self.against_source else REFERENCE}

    def load(self, threads: int | None = None) -> Explainer:
        reviewer, pool = self.loader.load(threads=threads)
        return Explainer(self, reviewer, pool.tally)

    def check_note(self, note: Note) -> None:
        Explained().add(note)


@dataclass(frozen=True)
class Explainer:
    """A reviewer with its models."""

    task: ExplainTask
    reviewer: Reviewer
    tally: Tally | None = None

    @property
    def description(self) -> Fields:
        kept = {"against": self.task.sides[B], "report": self.task.keep}
        return {**self.reviewer.description(), **kept}

    def __call__(
        self, rows: Sequence[Row], progress: Progress | None = None
    ) -> tuple[list[list[Fields]], Note]:
        found = Explained()
        if not rows:
            return [], found.summary()
        pairs = [self._pair(row) for row in rows]
        reviews = self.reviewer(pairs, progress, [row.number for row in rows])
        written: list[list[Fields]] = []
        for row, review in zip(rows, reviews, strict=True):
            found.count(review)
            if self.task.exchange is not None:
                written.append(list(self.task.exchange.rows(review, row.number, row.record)))
            else:
                written.append([self._fields(review)])
        note = found.summary()
        if self.task.keep:
            note["reviews"] = [{"a": each.a, "b": each.b, **each.to_dict()} for each in reviews]
            note["names"] = [name_of_row(row) for row in rows]
        if DIRECTION in self.reviewer.methods:
            note["directions"] = [each.direction.score for each in reviews if each.direction]
        return written, note

    def _pair(self, row: Row) -> Pair:
        if not self.task.against_source:
            return row.hypothesis, row.references[0]
        if row.source is None:
            raise InputError(f"row {row.number}: there is no source")
        return row.hypothesis, row.source

    def _fields(self, review: PairReview) -> Fields:
        fields = review.to_dict()
        for span in fields[SPANS]:
            span["side"] = self.task.sides[span["side"]]
        probability = fields.pop(ERROR_PROBABILITY, None)
        if self.task.loader.error_free:
            score = None if review.score is None else round(review.score, 2)
            decision = {SCORE: score, ERROR_FREE: int(review.error_free)}
            fields |= {ERROR_PROBABILITY: probability, **decision}
        return fields


@dataclass
class Explained:
    """What was found over all rows."""

    rows: int = 0
    marked: int = 0
    """Rows with a span or a flag."""
    kinds: dict[str, int] = field(default_factory=dict)
    """The number of rows with each kind of span or flag."""
    directions: list[float] = field(default_factory=list)
    """The scores of directions, if they were asked for."""
    reviews: list[PairReview] = field(default_factory=list)
    """All reviews, if they were kept."""
    names: list[str] = field(default_factory=list)
    """What the file calls their rows; empty where it has no column for that."""
    finished: Finished = field(default_factory=lambda: Finished([], {}))

    def count(self, review: PairReview) -> None:
        kinds = {*review.flags, *(span.kind for span in review.spans)}
        self.add({"rows": 1, "marked": bool(kinds), "kinds": dict.fromkeys(sorted(kinds), 1)})

    def add(self, note: Note) -> None:
        """Add the note on some rows."""
        self.rows += note["rows"]
        self.marked += note["marked"]
        for kind, count in note["kinds"].items():
            self.kinds[kind] = self.kinds.get(kind, 0) + count
        self.directions += note.get("directions", [])

    def summary(self) -> dict[str, Any]:
        return {"rows": self.rows, "marked": self.marked, "kinds": self.kinds}


def summed_up(job: Job, finished: Finished) -> Explained:
    """Put the notes of all parts together."""
    result = Explained(finished=finished)
    for outcome in job.outcomes_of(finished, job.systems[0]):
        result.add(outcome.note)
        result.reviews += map(PairReview.from_dict, outcome.note.get("reviews", []))
        result.names += outcome.note.get("names", [])
    return result


def name_of_row(row: Row) -> str:
    """The first of the columns by which files name their rows."""
    record = row.record or {}
    return next((str(record[name]) for name in ID_COLUMNS if record.get(name)), "")
