"""Scores rows by any number of measures; the result is a :class:`ScoreTable`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any, ClassVar, Self

from tertium.data.identify import identify
from tertium.data.pairs import Source
from tertium.errors import InputError
from tertium.jobs.local import run_here
from tertium.jobs.output import CUT, MARKS, PARTS, KeptRows
from tertium.jobs.task import (
    NO_PROGRESS,
    Fields,
    Finished,
    Input,
    Job,
    JobProgress,
    Note,
    describe_bad,
    first_reasons,
    one_job,
)
from tertium.measures.base import Measure, Part, Segments, check_readable
from tertium.measures.loading import MeasureLoader, outline
from tertium.measures.marks import is_meaningless, mark_rows
from tertium.measures.scores import RowCounts, ScoreTable
from tertium.measures.totals import Totals
from tertium.models.base import Progress
from tertium.models.cached import Tally
from tertium.text import Row

ROWS_AT_A_TIME = 1024


@dataclass(frozen=True)
class ScoreTask:
    """Measures that were requested, or made, and what is written for each row."""

    portable: ClassVar[bool] = False
    verb: ClassVar[str] = "score"
    done: ClassVar[str] = "scored"

    measures: Sequence[Measure]
    """Without their models, unless there is no loader."""
    loader: MeasureLoader | None = None
    scores_only: bool = False
    parts: bool = False
    """Whether a column has the aligned parts of texts that were split."""
    segments: bool = False
    """Whether the result has the scores and statistics of all rows."""

    def __post_init__(self) -> None:
        for name in self.names:
            if self.names.count(name) > 1:
                raise InputError(f"measure {name} is given twice")

    @classmethod
    def requested(cls, loader: MeasureLoader, **settings: bool) -> Self:
        """A task whose measures are loaded where it runs."""
        return cls([outline(spec) for spec in loader.specs], loader, **settings)

    @property
    def names(self) -> list[str]:
        return [measure.column for measure in self.measures]

    @property
    def request(self) -> Fields:
        return {} if self.loader is None else {**self.loader.request, "segments": self.segments}

    @property
    def new_columns(self) -> Mapping[str, type]:
        parts = {PARTS: list} if self.parts else {}
        return {**dict.fromkeys(self.names, float), CUT: bool, MARKS: str, **parts}

    @property
    def keeps_records(self) -> bool:
        return not self.scores_only

    @property
    def needs_all_rows(self) -> bool:
        return any(measure.needs_all_rows for measure in self.measures)

    def check(self, source: Source) -> None:
        """Check that every measure has the texts that it compares."""
        for measure in self.measures:
            check_readable(
                measure,
                source.name,
                has_references=source.has_references,
                has_source=source.has_source,
            )

    def load(self, threads: int | None = None) -> Scorer:
        if self.loader is None:
            return Scorer(self, self.measures)
        measures, pool = self.loader.load(threads=threads)
        return Scorer(self, measures, pool.tally)

    def check_note(self, note: Note) -> None:
        sums = Sums.of(note)
        if not isinstance(sums.cut, int) or set(sums.totals) != set(self.names):
            raise ValueError
        for totals in sums.totals.values():
            Totals().merge(totals)


@dataclass(frozen=True)
class Scorer:
    """Measures with their models."""

    task: ScoreTask
    measures: Sequence[Measure]
    tally: Tally | None = None

    @property
    def description(self) -> Fields:
        described = [[each.column, each.description()] for each in self.measures]
        return {"measures": described, "segments": self.task.segments}

    def prepare(self, rows: Sequence[Row]) -> None:
        """Tokenize texts, and identify their languages."""
        for measure in self.measures:
            measure.prepare(rows)
        for row in rows:
            for text in (row.hypothesis, *row.references[:1], row.source):
                if text is not None:
                    identify(text.text)

    def __call__(
        self, rows: Sequence[Row], progress: Progress | None = None
    ) -> tuple[list[list[Fields]], Note]:
        if not rows:
            return [], Sums({name: Totals() for name in self.task.names}).note()
        found = {each.column: each.segments(rows, progress) for each in self.measures}
        cut = [any(flags) for flags in zip(*(each.cut for each in found.values()), strict=True)]
        split = [any(flags) for flags in zip(*(each.split for each in found.values()), strict=True)]
        marks = mark_rows(self.measures, rows, cut, split)
        written: list[list[Fields]] = []
        for place in range(len(rows)):
            scores: dict[str, Any] = {
                name: segments.scores[place] for name, segments in found.items()
            }
            scores |= {CUT: cut[place], MARKS: ",".join(marks.rows[place])}
            if self.task.parts:
                scores[PARTS] = self._parts(found, place)
            written.append([scores])
        totals = {each.column: each.totals(rows, found[each.column]) for each in self.measures}
        doubtful = [place for place, of_row in enumerate(marks.rows) if is_meaningless(of_row)]
        without = {
            name: Totals.of_statistics([segments.statistics[place] for place in doubtful])
            for name, segments in found.items()
        }
        sums = Sums(totals, sum(cut), dict(marks.counts()), dict(marks.languages), without)
        if self.task.segments:
            for measure in self.measures:
                its = found[measure.column]
                own = marks if len(found) == 1 else mark_rows([measure], rows, its.cut, its.split)
                sums.segments[measure.column] = {**vars(its), MARKS: own.rows}
        return written, sums.note()

    def _parts(self, found: Mapping[str, Segments], place: int) -> list[dict[str, Any]]:
        """The parts of a row that was split, by every measure that split it."""
        return [
            {
                "measure": measure.column,
                "hyp": part.hypothesis,
                "ref" if measure.against == "reference" else "src": part.other,
                "score": part.score,
                "weight": part.weight,
            }
            for measure in self.measures
            for part in (found[measure.column].parts or {place: ()})[place]
        ]


@dataclass
class Sums:
    """What has been added up over some rows; as JSON, it is the note of the task."""

    totals: dict[str, Totals]
    cut: int = 0
    marks: dict[str, int] = field(default_factory=dict)
    languages: dict[str, int] = field(default_factory=dict)
    doubtful: dict[str, Totals] = field(default_factory=dict)
    """Of rows with marks by which their scores say nothing."""
    segments: dict[str, dict[str, Any]] = field(default_factory=dict)
    """The segments of each measure with their marks, if they are kept."""

    @classmethod
    def of(cls, note: Note) -> Self:
        read = {
            key: {name: Totals(**values) for name, values in note[key].items()}
            for key in ("totals", "doubtful")
        }
        return cls(**{**note, **read})

    def note(self) -> Note:
        written = {
            key: {name: asdict(each) for name, each in getattr(self, key).items()}
            for key in ("totals", "doubtful")
        }
        return {**vars(self), **written}


def score_rows(
    systems: Mapping[str, Source],
    measures: Sequence[Measure],
    *,
    rows_at_a_time: int = ROWS_AT_A_TIME,
    progress: JobProgress = NO_PROGRESS,
) -> ScoreTable:
    """Score the rows of one or several systems in this process, and keep all scores."""
    task = ScoreTask(measures, segments=True, scores_only=True)
    for source in systems.values():
        task.check(source)
    inputs = [Input(source, name) for name, source in systems.items()]
    job = Job(task, inputs, rows_at_a_time)
    return run_here(one_job(job, partial(score_table, job)), KeptRows(), progress)


def score_table(job: Job, finished: Finished) -> ScoreTable:
    """Put the notes of all parts together."""
    task = job.task
    assert isinstance(task, ScoreTask)
    described = dict(finished.description["measures"])
    measures = [each.described_as(described[each.column]) for each in task.measures]
    scores, counts, messages = {}, {}, list(finished.messages)
    for system in job.systems:
        outcomes = job.outcomes_of(finished, system)
        found = [Sums.of(outcome.note) for outcome in outcomes]
        without = {}
        for measure in measures:
            totals, doubtful = Totals(), Totals()
            for sums in found:
                totals.merge(sums.totals[measure.column])
                doubtful.merge(sums.doubtful.get(measure.column, Totals()))
            if 0 < doubtful.rows < totals.rows:
                without[measure.column] = measure.system(totals.less(doubtful))
            kept = [sums.segments[measure.column] for sums in found if sums.segments]
            marks = [tuple(each) for part in kept for each in part[MARKS]]
            scores[system, measure.column] = measure.scores(totals, _joined(kept), marks)
        rows = sum(outcome.rows for outcome in outcomes)
        counts[system] = RowCounts(
            rows,
            rows - sum(len(outcome.bad) for outcome in outcomes),
            sum(sums.cut for sums in found),
            _added([sums.marks for sums in found]),
            _added([sums.languages for sums in found]),
            first_reasons(outcomes),
            without,
        )
        messages += describe_bad(outcomes, job.on_error, ScoreTask.done)
    names = tuple(measure.column for measure in measures)
    written = [row for outcome in finished.outcomes for row in outcome.written]
    return ScoreTable(
        tuple(job.systems),
        names,
        scores,
        counts,
        finished.tally,
        finished.resumed,
        messages,
        written,
    )


def _joined(parts: Sequence[Fields]) -> Segments:
    """Join the segments of one measure, where they were kept."""
    return Segments(
        [score for part in parts for score in part["scores"]],
        [tuple(numbers) for part in parts for numbers in part["statistics"]],
        [cut for part in parts for cut in part["cut"]],
        [best for part in parts for best in part["best_reference"] or [None] * len(part["scores"])],
        [
            tuple(Part(*each) for each in row)
            for part in parts
            for row in part["parts"] or [()] * len(part["scores"])
        ],
    )


def _added(counts: Sequence[Mapping[str, int]]) -> dict[str, int]:
    """Add counts; the keys are sorted, so that the order of the rows makes no difference."""
    names = sorted({name for each in counts for name in each})
    return {name: sum(each.get(name, 0) for each in counts) for name in names}
