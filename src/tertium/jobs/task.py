"""A job: a task over the rows of some sources, which either transport can run.

The task says what is done with rows. :mod:`tertium.jobs.local` runs any task in this process,
:mod:`tertium.jobs.ray` on a cluster; both cut the sources into parts, save each part with a note of
what it adds to the result, and resume.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar, runtime_checkable

from tertium._version import __version__
from tertium.data.pairs import Source
from tertium.data.records import counted
from tertium.errors import InputError, LanguageError, no_parameters
from tertium.models.base import Progress
from tertium.models.cached import Tally
from tertium.storage.resume import chain_digest

Fields = Mapping[str, Any]
Note = dict[str, Any]
"""What some rows add to the result of a task, as JSON."""
Rows = list[dict[str, Any]]
Piece = TypeVar("Piece")
SYSTEM, SEGMENT, ERROR = "system", "segment", "error"
"""Columns: whose row it is, if there are several systems; why it could not be processed."""
REASONS_SHOWN = 10


Advance = Callable[..., None]
"""Called with the number of rows that are done, and with their total if it is known only now."""


def _ignore(*_: object) -> None:
    """Report nothing."""


class JobProgress(NamedTuple):
    """Called by a job while it runs; by default, nothing is shown."""

    advance: Advance = _ignore
    detail: Progress = _ignore
    """Called with what is done to the next rows, how much of it is done, and of how much."""
    hide: Callable[[], None] = _ignore
    """Called before something else is printed to the terminal."""


NO_PROGRESS = JobProgress()


class Loaded(Protocol):
    """A task with its models, in the process that runs it."""

    @property
    def description(self) -> Fields:
        """Everything that must be the same on all nodes and when a run is resumed."""
        ...

    @property
    def tally(self) -> Tally | None:
        """The queries to its models, if they are counted."""
        ...

    def __call__(
        self, rows: Sequence[Any], /, progress: Progress | None = None
    ) -> tuple[list[list[Fields]], Note]:
        """Process rows, or lists of candidates: what is written for each, and the note on all."""
        ...


@runtime_checkable
class Preparing(Protocol):
    """A loaded task that can prepare rows while others are processed."""

    def prepare(self, rows: Sequence[Any], /) -> None:
        """Do in another thread what needs no model; errors come again when rows are processed."""
        ...


class Task(Protocol):
    """What is done with rows: plain data, which is sent to the processes that load its models."""

    verb: ClassVar[str]
    done: ClassVar[str]
    """What is done, for messages: ``score``, and ``scored``."""

    @property
    def portable(self) -> bool:
        """Whether it can run in several processes at once: it uses no engine with threads."""
        ...

    @property
    def new_columns(self) -> Mapping[str, type]:
        """The columns that it writes, with the types of their values."""
        ...

    @property
    def keeps_records(self) -> bool:
        """Whether the columns of the input are written too."""
        ...

    @property
    def needs_all_rows(self) -> bool:
        """Whether a result depends on all rows of a source, so that they are processed at once."""
        ...

    @property
    def request(self) -> Fields:
        """What was asked for: everything that can change a result, before anything is loaded."""
        ...

    def load(self, threads: int | None = None) -> Loaded: ...

    def check_note(self, note: Note) -> None:
        """Raise a KeyError, TypeError or ValueError if a note lacks some of its fields."""
        ...


class OnError(StrEnum):
    """What to do with a row that cannot be processed."""

    stop = "stop"
    skip = "skip"
    mark = "mark"


@dataclass(frozen=True)
class Input:
    """The rows of a source; several may belong to one system."""

    source: Source
    system: str = ""


@dataclass(frozen=True)
class Part:
    """Some rows of an input that are processed at once."""

    input: int
    rows: list[Any]


@dataclass(frozen=True)
class Outcome:
    """What is known about a part that was processed; it is saved with the rows, as JSON."""

    input: int
    rows: int
    bad: list[int]
    """The rows that could not be processed, by their places in the part."""
    reasons: list[str]
    """Why; of many, the first."""
    note: Note
    written: Rows = field(default_factory=list)
    """What was written, if it is kept."""

    def check(self, task: Task) -> None:
        """Raise a KeyError, TypeError or ValueError if something is missing."""
        if not all(isinstance(each, int) for each in (self.input, self.rows, *self.bad)):
            raise TypeError
        list(self.reasons), list(self.written)
        task.check_note(self.note)


@dataclass
class Finished:
    """What both transports return."""

    outcomes: list[Outcome]
    """Those of all parts, in their order."""
    description: Fields
    """That of the loaded task, where it ran."""
    tally: Tally | None = None
    resumed: int = 0
    """Rows that an interrupted run had done before."""
    messages: list[str] = field(default_factory=list)
    """What happened to the run, for people."""


class Run(Protocol):
    """A run of one or several jobs, one after the other, with one output."""

    @property
    def progress(self) -> JobProgress: ...

    @property
    def folder(self) -> Path:
        """Where tasks may put arrays (:mod:`tertium.storage.arrays`) until the run is finished."""
        ...

    def __call__(self, job: Job, loaded: Loaded | None = None) -> Finished:
        """Run a job; ``loaded`` is its task with models, if they are loaded already."""
        ...

    def explaining(self) -> AbstractContextManager[None]:
        """Turn a failure to write into an error that says what to do."""
        ...


class Summarized(Protocol):
    """A result that can be written as one JSON object."""

    def summary(self) -> Fields: ...


Result = TypeVar("Result", bound=Summarized)
Plan = Callable[[Run], Result]
"""Runs the jobs of a run, and makes the result of what they return."""


def one_job(
    job: Job, conclude: Callable[[Finished], Result], loaded: Loaded | None = None
) -> Plan[Result]:
    """The plan of a single job."""
    return lambda run: conclude(run(job, loaded))


@dataclass(frozen=True)
class Job:
    """A task over one or several inputs.

    If the inputs are systems, they take turns: what a model says about their common references is
    then asked for once. Rows that cannot be processed stop the run, are skipped, or are marked.
    """

    task: Task
    inputs: Sequence[Input]
    rows_at_a_time: int
    on_error: OnError = OnError.stop
    keep: bool = False
    """Whether outcomes hold what was written, for a document about all rows."""
    about: Fields = field(default_factory=dict)
    """What else must be the same for a run to be resumed, such as the jobs that follow."""
    followed: bool = False
    """Whether other jobs of the same run may follow."""

    def __post_init__(self) -> None:
        self.columns  # noqa: B018  # checked before any work

    @cached_property
    def systems(self) -> list[str]:
        """The names of the systems, in their order."""
        return list(dict.fromkeys(each.system for each in self.inputs))

    @property
    def size(self) -> int | None:
        """The rows of a part; None for all rows of an input."""
        return None if self.task.needs_all_rows else self.rows_at_a_time

    @cached_property
    def columns(self) -> list[str]:
        """The columns of the output, in order."""
        labels = [SYSTEM, SEGMENT] if len(self.systems) > 1 else []
        new = [*self.task.new_columns, *([ERROR] if self.on_error is OnError.mark else [])]
        for each, kept in zip(self.inputs, self._kept, strict=True):
            for name in [*labels, *new]:
                if name in kept:
                    raise InputError(
                        f"{each.source.name} already has a column {name!r}, which the results "
                        "would replace",
                        cure=("rename it", self._without_records),
                    )
        return [*labels, *dict.fromkeys(name for kept in self._kept for name in kept), *new]

    @property
    def kinds(self) -> dict[str, set[type]]:
        """The Python types of the values of each column."""
        kinds: dict[str, set[type]] = {name: set() for name in self.columns}
        for each, kept in zip(self.inputs, self._kept, strict=True):
            for name, types in each.source.kinds().items():
                if name in kept:
                    kinds[name] |= types
        fixed: dict[str, type] = {SYSTEM: str, SEGMENT: int, ERROR: str, **self.task.new_columns}
        return kinds | {name: {kind} for name, kind in fixed.items() if name in kinds}

    def count(self) -> int | None:
        """The number of rows of all inputs, if it is known beforehand."""
        counts = [each.source.count() for each in self.inputs]
        known = [count for count in counts if count is not None]
        return sum(known) if len(known) == len(counts) else None

    def describe(self, task: Fields) -> dict[str, Any]:
        """Everything that must be the same for a run to be resumed, except for the texts.

        ``task`` is the description of the loaded task or, before it is loaded, the request.
        """
        return {
            **task,
            **self.about,
            "columns": self.columns,
            "on_error": str(self.on_error),
            "rows_kept": self.keep,
            "rows_at_a_time": self.size,
            "version": __version__,
        }

    def parts(self) -> Iterator[Part]:
        """Read all rows, some at a time; systems take turns, and have the same number of rows."""
        return self.in_turn(
            lambda place: (
                Part(place, rows) for rows in batches(self.inputs[place].source, self.size)
            ),
            lambda part: len(part.rows),
        )

    def in_turn(
        self, pieces: Callable[[int], Iterable[Piece]], size: Callable[[Piece], int]
    ) -> Iterator[Piece]:
        """The pieces of all inputs, by their places: one of each system in turn."""
        places: dict[str, list[int]] = {}
        for place, each in enumerate(self.inputs):
            places.setdefault(each.system, []).append(place)
        streams = [chain.from_iterable(map(pieces, several)) for several in places.values()]
        for turn in zip_longest(*streams):
            if len({0 if piece is None else size(piece) for piece in turn}) > 1:
                raise InputError(f"{', '.join(self.systems)} differ in their number of rows")
            yield from turn  # none is missing

    def process(
        self, loaded: Loaded, part: Part, progress: Progress | None = None
    ) -> tuple[Rows, Outcome]:
        """What is written for a part, and its outcome."""
        try:
            found, reasons, note = self._tolerantly(loaded, part.rows, progress)
        except (InputError, LanguageError) as error:
            if len(self.inputs) > 1 and str(error).startswith("row "):
                name = self.inputs[part.input].source.name
                raise error.at(f"{name}, ") from None
            raise
        written = []
        for row, several in zip(part.rows, found, strict=True):
            written += [self._fields(part.input, row, fields) for fields in several]
        first = list(reasons.values())[:REASONS_SHOWN]
        kept = written if self.keep else []
        return written, Outcome(part.input, len(part.rows), list(reasons), first, note, kept)

    def outcomes_of(self, finished: Finished, system: str) -> list[Outcome]:
        """The outcomes of a system's parts; some of its rows must have been processed."""
        found = [each for each in finished.outcomes if self.inputs[each.input].system == system]
        rows = sum(each.rows for each in found)
        if not rows:
            name = self.inputs[0].source.name
            raise InputError(f"{name} is empty: there is nothing to {self.task.verb}")
        if rows == sum(len(each.bad) for each in found):
            raise InputError(f"no row can be {self.task.done}: {first_reasons(found)[0]}")
        return found

    def _tolerantly(
        self, loaded: Loaded, rows: Sequence[Any], progress: Progress | None
    ) -> tuple[list[list[Fields]], dict[int, str], Note]:
        """Process the rows that can be processed; the others by place, with the reason."""
        if self.on_error is OnError.stop:
            found, note = loaded(rows, progress)
            return found, {}, note
        reasons = {place: row.error for place, row in enumerate(rows) if row.error}
        while True:
            good = [place for place in range(len(rows)) if place not in reasons]
            try:
                some, note = loaded([rows[place] for place in good], progress)
                break
            except (InputError, LanguageError):
                new = _faults(loaded, rows, good)
                if not new:  # it is not the fault of single rows
                    raise
                reasons |= new
        reasons = dict(sorted(reasons.items()))
        every: list[list[Fields]] = [[] for _ in rows]
        for place, fields in zip(good, some, strict=True):
            every[place] = fields
        if self.on_error is OnError.mark:
            for place, reason in reasons.items():
                every[place] = [{ERROR: reason}]
        return every, reasons, note

    @cached_property
    def _kept(self) -> list[Sequence[str]]:
        """The columns of each input that are written too."""
        kept = self.task.keeps_records
        return [each.source.columns if kept else () for each in self.inputs]

    @property
    def _without_records(self) -> str:
        return "write only the scores ({scores_only:True})" if self.task.verb == "score" else ""

    def _fields(self, place: int, row: Any, fields: Fields) -> dict[str, Any]:
        about = self.inputs[place]
        record = row.record if self.task.keeps_records else {}
        for name in record:
            if name not in self._kept[place]:
                raise InputError(
                    f"{about.source.name}, row {row.number}: it has a field {name!r}, which "
                    "earlier rows do not have, or which the results would replace",
                    cure=self._without_records,
                )
        labels = {SYSTEM: about.system, SEGMENT: row.number} if len(self.systems) > 1 else {}
        every = {**labels, **record, **fields}
        return {name: every.get(name) for name in self.columns}


def batches(rows: Iterable[Any], size: int | None) -> Iterator[list[Any]]:
    """Cut a stream into lists of ``size``; the last may be shorter. Without a size, one list."""
    batch: list[Any] = []
    for row in rows:
        batch.append(row)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch


def digest_of(rows: Sequence[Any]) -> str:
    """A hash of what must be the same for a run to be resumed."""
    return chain_digest("", (row.content for row in rows))


def first_reasons(outcomes: Iterable[Outcome]) -> list[str]:
    """Why rows could not be processed; of many, the first."""
    return [reason for each in outcomes for reason in each.reasons][:REASONS_SHOWN]


def describe_bad(
    outcomes: Sequence[Outcome], on_error: OnError, done: str, what: str = "row"
) -> list[str]:
    """Say how many rows could not be processed, which, and why."""
    count = sum(len(each.bad) for each in outcomes)
    if not count:
        return []
    fate = "skipped" if on_error is OnError.skip else f"marked (column {ERROR})"
    notes = [
        f"{counted(count, what)} could not be {done} and {'was' if count == 1 else 'were'} {fate}:"
    ]
    shown = first_reasons(outcomes)
    notes += [f"  {reason}" for reason in shown]
    return notes + ([f"  and {count - len(shown)} more"] if count > len(shown) else [])


def _faults(loaded: Loaded, rows: Sequence[Any], places: Sequence[int]) -> dict[int, str]:
    """Find the rows that cannot be processed, by halves, and why."""
    if not places:
        return {}
    try:
        loaded([rows[place] for place in places])
    except (InputError, LanguageError) as error:
        if len(places) == 1:
            return {places[0]: error.said(no_parameters)}
        middle = len(places) // 2
        return _faults(loaded, rows, places[:middle]) | _faults(loaded, rows, places[middle:])
    return {}
