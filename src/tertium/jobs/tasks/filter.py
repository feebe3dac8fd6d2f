"""Filters rows: each filter judges what the earlier ones have kept, in as many stages as needed."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import compress, groupby
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tertium.data.pairs import DerivedSource, Source
from tertium.errors import InputError, ResumeError, SettingError
from tertium.filters.base import CorpusFilter, Filter
from tertium.filters.loading import FilterLoader
from tertium.filters.sequence import Count, Outcome, judge_in_turn, number
from tertium.jobs.output import RowSink
from tertium.jobs.task import ERROR, Fields, Finished, Input, Job, Note, OnError, Run, describe_bad
from tertium.measures.totals import spell
from tertium.models.base import Progress
from tertium.models.cached import Tally
from tertium.storage.arrays import join_arrays, load_array, save_array
from tertium.storage.resume import START_OVER
from tertium.text import Row

ROWS_AT_A_TIME = 4096
VERDICT = np.dtype([("filter", "u1"), ("reason", "u1"), ("value", "<f4")])
"""For each row, the filter that removed it and its reason, counted from 1; 0 if it was kept."""
UNREADABLE = 255
"""In place of a filter: the row could not be judged."""
REASONS = ("removed_by", "reason", "value")
"""The columns that say why a row was removed."""
VERDICTS, RECORDS = "verdicts", "records"
Verdicts = NDArray[Any]


@dataclass(frozen=True)
class FilterTask:
    """Some of the filters of a run: those of one stage.

    Rows are judged part by part. A filter that needs all rows is a stage by itself: it judges them
    in one part or, if it is a :class:`CorpusFilter`, collects its records part by part.
    """

    verb: ClassVar[str] = "filter"
    done: ClassVar[str] = "filtered"
    new_columns: ClassVar[Mapping[str, type]] = {}
    keeps_records: ClassVar[bool] = False

    filters: Sequence[Filter]
    """All filters of the run, without their models if there is a loader."""
    stage: range
    """Which of them."""
    folder: Path
    """Where records are put."""
    loader: FilterLoader | None = None

    @property
    def chosen(self) -> list[Filter]:
        return [self.filters[place] for place in self.stage]

    @property
    def portable(self) -> bool:
        return all(one.portable for one in self.chosen)

    @property
    def needs_all_rows(self) -> bool:
        return any(one.needs_all_rows and not isinstance(one, CorpusFilter) for one in self.chosen)

    @property
    def request(self) -> Fields:
        return {} if self.loader is None else self.loader.request

    def load(self, threads: int | None = None) -> Judge:
        if self.loader is None:
            return Judge(self, self.chosen)
        names = [one.name for one in self.chosen]
        filters, pool = self.loader.load(names, threads=threads)
        return Judge(self, filters, pool.tally)

    def check_note(self, note: Note) -> None:
        if VERDICTS in note:
            unpacked(note[VERDICTS])
        elif not isinstance(note[RECORDS], str | None):
            raise TypeError


@dataclass(frozen=True)
class Judge:
    """The filters of a stage with their models."""

    task: FilterTask
    filters: Sequence[Filter]
    tally: Tally | None = None

    @property
    def description(self) -> Fields:
        chosen = [
            [one.name, {name: spell(value) for name, value in one.choices().items()}]
            for one in self.filters
        ]
        return {"filters": chosen, "stage": list(self.task.stage), "request": self.task.request}

    def __call__(
        self, rows: Sequence[Row], progress: Progress | None = None
    ) -> tuple[list[list[Fields]], Note]:
        written: list[list[Fields]] = [[] for _ in rows]
        first = self.filters[0]
        if isinstance(first, CorpusFilter):
            records = first.collect(rows, progress) if rows else None
            name = None if records is None else save_array(self.task.folder, records)
            return written, {RECORDS: name}
        verdicts = np.zeros(len(rows), VERDICT)
        for place, outcome in enumerate(judge_in_turn(self.filters, rows, progress)):
            if outcome.place is not None:
                one = self.filters[outcome.place]
                verdicts[place] = entry(one, self.task.stage[outcome.place], outcome)
        return written, {VERDICTS: packed(verdicts)}


@dataclass(frozen=True)
class FilterResult:
    """How many rows there were, and what each filter removed."""

    rows: int
    bad: int
    """Rows that could not be judged."""
    resumed: int
    """Rows that an interrupted run had judged before, in its first stage."""
    counts: list[Count]
    messages: list[str] = field(default_factory=list)

    def summary(self) -> dict[str, Any]:
        return {
            "rows": self.rows,
            "kept": self.counts[-1].after,
            "filters": [
                {"filter": count.filter, "removed": count.removed, "reasons": count.reasons}
                for count in self.counts
            ],
        }


@dataclass(frozen=True)
class FilterPlan:
    """Any number of filters over any number of rows, on either transport.

    The input is read once per stage, and once to write the output. Memory does not grow with the
    rows, except for six bytes each, and for what filters need that must see all rows.
    """

    source: Source
    filters: Sequence[Filter]
    kept: RowSink
    removed: RowSink | None = None
    rows_at_a_time: int = ROWS_AT_A_TIME
    on_error: OnError = OnError.stop
    loader: FilterLoader | None = None

    def __post_init__(self) -> None:
        if not self.filters:
            raise SettingError("there is no filter to apply")

    @property
    def stages(self) -> list[range]:
        """The places of the filters of each stage."""
        kind = {
            place: place if one.needs_all_rows else -1 - one.portable
            for place, one in enumerate(self.filters)
        }
        groups = [list(places) for _, places in groupby(kind, key=kind.__getitem__)]
        return [range(group[0], group[-1] + 1) for group in groups]

    def count(self) -> int | None:
        """The number of rows, over all stages."""
        rows = self.source.count()
        return None if rows is None else len(self.stages) * rows

    def __call__(self, run: Run) -> FilterResult:
        """Judge every row, and write each where its verdict says."""
        verdicts = np.zeros(0, VERDICT)
        finished: list[Finished] = []
        for stage in self.stages:
            alive = verdicts["filter"] == 0
            if finished and not alive.any():
                break
            source = Survivors(self.source, alive) if finished else self.source
            task = FilterTask(self.filters, stage, run.folder, self.loader)
            inputs = [Input(source)]
            job = Job(task, inputs, self.rows_at_a_time, self.on_error, followed=True)
            finished.append(run(job))
            found = self._verdicts(task, finished[-1])
            if len(finished) == 1:
                job.outcomes_of(finished[0], "")  # raises an error if nothing could be judged
                verdicts = found
            else:
                verdicts[alive] = found
        with run.explaining():
            self._write(run.folder, verdicts)
        outcomes = [outcome for each in finished for outcome in each.outcomes]
        messages = [message for each in finished for message in each.messages]
        return FilterResult(
            len(verdicts),
            int((verdicts["filter"] == UNREADABLE).sum()),
            finished[0].resumed,
            counts(self.filters, verdicts),
            messages + describe_bad(outcomes, self.on_error, FilterTask.done),
        )

    def _verdicts(self, task: FilterTask, finished: Finished) -> Verdicts:
        """The verdicts of a stage on all its rows."""
        found = [np.zeros(outcome.rows, VERDICT) for outcome in finished.outcomes]
        good = [np.ones(len(part), bool) for part in found]
        for part, places, outcome in zip(found, good, finished.outcomes, strict=True):
            part["filter"][outcome.bad] = UNREADABLE
            places[outcome.bad] = False
            if VERDICTS in outcome.note:
                part[places] = unpacked(outcome.note[VERDICTS])
        every = np.concatenate(found or [np.zeros(0, VERDICT)])
        one = task.chosen[0]
        names = [outcome.note.get(RECORDS) for outcome in finished.outcomes]
        if isinstance(one, CorpusFilter) and any(names):
            parts = [load_array(task.folder, name) for name in names if name]
            judged = one.decide(
                join_arrays(parts, task.folder / f"array-joined{task.stage[0]}.npy")
            )
            for place, verdict in zip(np.flatnonzero(np.concatenate(good)), judged, strict=True):
                every[place] = entry(one, task.stage[0], Outcome(0, verdict))
        return every

    def _write(self, folder: Path, verdicts: Verdicts) -> None:
        """Read the rows once more, and write the kept and the removed ones."""
        with ExitStack() as stack:
            keep = stack.enter_context(self.kept.open(folder / "kept"))
            remove = None
            if self.removed is not None:
                remove = stack.enter_context(self.removed.open(folder / "removed"))
            rows = iter(self.source)
            for by, reason, value in verdicts:
                row = next(rows, None)
                if row is None:
                    raise self._changed("shrunk")
                if not by:
                    keep(row.record)
                elif remove is not None and by != UNREADABLE:
                    one = self.filters[by - 1]
                    why = (one.name, one.reasons[reason - 1], number(float(value)))
                    remove({**row.record, **dict(zip(REASONS, why, strict=True))})
                elif remove is not None and self.on_error is OnError.mark:
                    remove({**row.record, REASONS[0]: ERROR, REASONS[1]: row.error or "not judged"})
            if next(rows, None) is not None:
                raise self._changed("grown")

    def _changed(self, how: str) -> ResumeError:
        return ResumeError(
            f"{self.source.name} has {how} since the run was started", cure=START_OVER
        )


@dataclass(frozen=True)
class Survivors(DerivedSource):
    """The rows of a source that no filter has removed so far; they keep their numbers."""

    alive: NDArray[np.bool_]

    def count(self) -> int:
        return int(self.alive.sum())

    def __iter__(self) -> Iterator[Row]:
        return compress(self.source, self.alive)

    def between(self, start: int, stop: int) -> Iterator[Row]:
        places = np.flatnonzero(self.alive)[start:stop]
        if not len(places):
            return iter(())
        first, last = int(places[0]), int(places[-1]) + 1
        return compress(self.source.between(first, last), self.alive[first:last])


def entry(one: Filter, place: int, outcome: Outcome) -> tuple[int, int, float]:
    """A verdict of the filter at a place, as it is stored."""
    verdict = outcome.verdict
    if verdict.kept:
        return 0, 0, float("nan")
    return place + 1, one.reasons.index(verdict.reason) + 1, verdict.value


def counts(filters: Sequence[Filter], verdicts: Verdicts) -> list[Count]:
    """How many rows each filter has removed, and why."""
    found: list[Count] = []
    left = int((verdicts["filter"] != UNREADABLE).sum())
    for index, one in enumerate(filters):
        reasons = verdicts["reason"][verdicts["filter"] == index + 1]
        numbers = np.bincount(reasons, minlength=len(one.reasons) + 1).tolist()
        by_reason = dict(zip(one.reasons, numbers[1:], strict=True))
        found.append(Count(one.name, left, {why: n for why, n in by_reason.items() if n}))
        left = found[-1].after
    return found


def packed(verdicts: Verdicts) -> str:
    """Verdicts as a text; those on rows that are kept take hardly any space."""
    return base64.b64encode(zlib.compress(verdicts.tobytes())).decode()


def unpacked(text: str) -> Verdicts:
    """The verdicts of :func:`packed`.

    >>> unpacked(packed(np.zeros(2, VERDICT))).tolist()
    [(0, 0, 0.0), (0, 0, 0.0)]
    """
    try:
        return np.frombuffer(zlib.decompress(base64.b64decode(text)), VERDICT)
    except zlib.error:
        raise ValueError("damaged verdicts") from None


def removed_columns(source: Source) -> list[str]:
    """The columns of a file of removed rows."""
    for name in REASONS:
        if name in source.columns:
            raise InputError(
                f"{source.name} already has a column {name!r}, which the reason would replace; "
                "rename it"
            )
    return [*source.columns, *REASONS]
