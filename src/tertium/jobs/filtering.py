"""Filters a stream of rows: batch by batch, in several processes, saved after each batch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import islice, pairwise, takewhile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tertium._version import __version__
from tertium.data.bitext import Bitext
from tertium.errors import InputError, ResumeError, SettingError
from tertium.filters.base import BitextPair, Filter
from tertium.filters.margin import EncodedSide, Margin
from tertium.filters.sequence import ROWS_AT_A_TIME, Count, Outcome, judge_in_turn, number
from tertium.jobs.output import RowSink
from tertium.jobs.processes import work_ahead
from tertium.jobs.progress import NO_PROGRESS, JobProgress
from tertium.measures.signature import spell
from tertium.storage.atomic import write_at
from tertium.storage.resume import UnfinishedRun, chain_digest, input_changed

SIDES = ("source", "target")
VERDICTS = "verdicts"
FILES = rf"{VERDICTS}|\d+\.({'|'.join(SIDES)})\.(hashes|vectors)|(kept|removed)(\.\d)?(\.new)?"
VERDICT = np.dtype([("filter", "u1"), ("reason", "u1"), ("value", "<f4")])
"""For each row, the filter that removed it and its reason, counted from 1; 0 if it was kept."""
REASONS = ("removed_by", "reason", "value")
"""The columns that say why a row was removed."""
START: Mapping[str, Any] = {"stage": 0, "rows": 0, "digest": ""}

Verdicts = NDArray[Any]


def filter_run(out: Path, *, resume: bool = False, overwrite: bool = False) -> UnfinishedRun:
    """A filtering run, with its verdicts in ``OUT.part``."""
    return UnfinishedRun(out, files=FILES, results=VERDICTS, resume=resume, overwrite=overwrite)


@dataclass(frozen=True)
class FilterResult:
    """What a filtering job returns."""

    rows: int
    resumed: int
    """Rows that an interrupted run had judged before, in the stage in which it stopped."""
    counts: list[Count]


@dataclass(frozen=True)
class FilterJob:
    """Any number of filters over any number of rows.

    The input is read once per stage, and once to write the output. A filter that must see all pairs
    at once is a stage by itself. Memory does not grow with the rows, except for eight bytes per
    pair where duplicates are removed.
    """

    bitext: Bitext
    filters: Sequence[Filter]
    unfinished: UnfinishedRun
    """Its folder holds the verdicts until the rows are written; see :func:`filter_run`."""
    kept: RowSink
    removed: RowSink | None = None
    processes: int = 1
    rows_at_a_time: int = ROWS_AT_A_TIME

    @property
    def stages(self) -> list[range]:
        """The indices of the filters of each stage."""
        alone = [index for index, one in enumerate(self.filters) if one.needs_all_pairs]
        bounds = {0, len(self.filters), *alone, *(index + 1 for index in alone)}
        return [range(start, end) for start, end in pairwise(sorted(bounds))]

    def count(self) -> int:
        """The number of rows, over all stages."""
        return len(self.stages) * sum(1 for _ in self.bitext)

    def run(self, progress: JobProgress = NO_PROGRESS) -> FilterResult:
        """Judge every row, and write each where its verdict says."""
        if not self.filters:
            raise SettingError("there is no filter to apply")
        run = self.unfinished
        try:
            state = run.start(self._description()) or START
            verdicts = VerdictFile(run.part / VERDICTS)
            judging = _Judging(self, run, verdicts, progress)
            for stage, indices in enumerate(self.stages):
                if stage >= state["stage"]:
                    judging.judge(stage, indices, state if stage == state["stage"] else START)
            if not verdicts.rows:
                raise InputError(f"{self.bitext.name} is empty: there is nothing to filter")
            result = FilterResult(verdicts.rows, state["rows"], verdicts.counts(self.filters))
            self._write(run, verdicts)
            run.finish()
        finally:
            run.close()
        return result

    def _write(self, run: UnfinishedRun, verdicts: VerdictFile) -> None:
        """Read the rows once more, and write the kept and the removed ones."""
        with ExitStack() as stack:
            with run.explaining():
                keep = stack.enter_context(self.kept.open(run.part / "kept"))
                remove = None
                if self.removed is not None:
                    remove = stack.enter_context(self.removed.open(run.part / "removed"))
            stream, start = iter(self.bitext), 0
            while rows := list(islice(stream, ROWS_AT_A_TIME)):
                batch = verdicts.get(start, len(rows))
                with run.explaining():
                    for row, (by, reason, value) in zip(rows, batch, strict=True):
                        if not by:
                            keep(row, {})
                        elif remove is not None:
                            one = self.filters[by - 1]
                            why = (one.name, one.reasons[reason - 1], number(float(value)))
                            remove(row, dict(zip(REASONS, why, strict=True)))
                start += len(rows)
            with run.explaining():
                stack.close()

    def _description(self) -> dict[str, Any]:
        """Everything that must be the same for a run to be resumed, except for the texts."""
        return {
            "filters": [
                [one.name, {name: spell(value) for name, value in one.choices().items()}]
                for one in self.filters
            ],
            "rows_at_a_time": self.rows_at_a_time,
            "version": __version__,
        }


@dataclass(frozen=True)
class VerdictFile:
    """The verdicts on all rows, on disk."""

    path: Path

    @property
    def rows(self) -> int:
        return self.path.stat().st_size // VERDICT.itemsize if self.path.exists() else 0

    def put(self, start: int, verdicts: Verdicts, *, truncate: bool = False) -> None:
        """Write the verdicts on some rows."""
        write_at(self.path, start * VERDICT.itemsize, verdicts.tobytes(), truncate=truncate)

    def get(self, start: int, count: int) -> Verdicts:
        """Read the verdicts on some rows."""
        with self.path.open("rb") as stream:
            stream.seek(start * VERDICT.itemsize)
            verdicts = np.frombuffer(stream.read(count * VERDICT.itemsize), dtype=VERDICT)
        if len(verdicts) < count:
            raise ResumeError(
                f"{self.path}: there are fewer verdicts than rows, perhaps because the input has "
                "grown; start over with --overwrite"
            )
        return verdicts.copy()

    def open(self) -> Any:
        """All verdicts, to be changed in place."""
        return np.memmap(self.path, dtype=VERDICT, mode="r+")

    def counts(self, filters: Sequence[Filter]) -> list[Count]:
        """How many rows each filter has removed, and why."""
        verdicts = np.memmap(self.path, dtype=VERDICT, mode="r")
        counts: list[Count] = []
        left = len(verdicts)
        for index, one in enumerate(filters):
            reasons = verdicts["reason"][verdicts["filter"] == index + 1]
            numbers = np.bincount(reasons, minlength=len(one.reasons) + 1).tolist()
            by_reason = dict(zip(one.reasons, numbers[1:], strict=True))
            counts.append(Count(one.name, left, {why: n for why, n in by_reason.items() if n}))
            left = counts[-1].after
        return counts


@dataclass(frozen=True)
class Block:
    """A batch of rows in a stage, with the verdicts of earlier stages."""

    start: int
    pairs: list[BitextPair]
    verdicts: Verdicts
    digest: str
    """Of all rows up to the end of this block."""
    done: bool
    """Whether it was judged in this stage before the run was interrupted."""

    @property
    def end(self) -> int:
        return self.start + len(self.pairs)

    def reaching(self, index: int) -> list[int]:
        """The rows that no filter before ``index`` has removed."""
        by = self.verdicts["filter"]
        return np.flatnonzero((by == 0) | (by > index)).tolist()

    def pick(self, rows: Sequence[int]) -> list[BitextPair]:
        return [self.pairs[row] for row in rows]


@dataclass
class _Judging:
    """A job while it judges rows."""

    job: FilterJob
    run: UnfinishedRun
    verdicts: VerdictFile
    progress: JobProgress
    passed: int = field(default=0, init=False)

    def judge(self, stage: int, indices: range, state: Mapping[str, Any]) -> None:
        """Judge all rows by the filters of a stage, from where the state says."""
        if self.job.filters[indices.start].needs_all_pairs:
            self._judge_at_once(stage, indices, state)
        else:
            self._judge_in_batches(stage, indices, state)
        self.run.save({**START, "stage": stage + 1})

    def _judge_in_batches(self, stage: int, indices: range, state: Mapping[str, Any]) -> None:
        """Filters that see some rows at a time; the first of them run in other processes."""
        filters = [self.job.filters[index] for index in indices]
        first = list(takewhile(lambda one: one.portable, filters))
        last = filters[len(first) :]

        def query(block: Block) -> tuple[list[Filter], list[BitextPair]]:
            return first, [] if block.done else block.pick(block.reaching(indices.start))

        blocks = self._blocks(stage, state)
        processes = self.job.processes if first else 1
        for block, outcomes in work_ahead(blocks, query, judge_pairs, processes):
            if block.done:
                for index in indices:
                    self.job.filters[index].recall(block.pick(block.reaching(index)))
            else:
                rows = block.reaching(indices.start)
                block.verdicts[rows] = np.zeros(1, VERDICT)
                self._record(block, rows, outcomes, indices.start)
                rows = block.reaching(indices.stop)  # later filters have recorded nothing yet
                rest = judge_in_turn(last, block.pick(rows), self.progress.detail)
                self._record(block, rows, rest, indices.start + len(first))
                self._save(stage, block)
            self._advance(block)

    def _judge_at_once(self, stage: int, indices: range, state: Mapping[str, Any]) -> None:
        """A filter that must see all pairs: their vectors are collected on disk first."""
        one = self.job.filters[indices.start]
        assert isinstance(one, Margin)
        alive: list[int] = []
        for block in self._blocks(stage, state):
            rows = block.reaching(indices.start)
            if not block.done:
                if rows:
                    for side, name in enumerate(SIDES):
                        hashes, vectors = one.encode(block.pick(rows), side, self.progress.detail)
                        self._append(f"{stage}.{name}.hashes", hashes, len(alive))
                        self._append(f"{stage}.{name}.vectors", vectors, len(alive))
                self._save(stage, block)
            alive += [block.start + row for row in rows]
            self._advance(block)
        if not alive:
            return
        judged = one.verdicts(*(self._side(f"{stage}.{name}", len(alive)) for name in SIDES))
        verdicts = self.verdicts.open()
        for row, verdict in zip(alive, judged, strict=True):
            verdicts[row] = entry(one, Outcome(indices.start, verdict))
        verdicts.flush()

    def _append(self, name: str, values: NDArray[Any], count: int) -> None:
        """Add to a file of numbers that is complete up to entry ``count``."""
        content = np.ascontiguousarray(values).tobytes()
        with self.run.explaining():
            write_at(self.run.part / name, count * values[:1].nbytes, content)

    def _side(self, name: str, count: int) -> EncodedSide:
        """The vectors that were collected; they stay on disk."""
        hashes = np.fromfile(self.run.part / f"{name}.hashes", dtype=np.uint64)
        vectors = np.memmap(self.run.part / f"{name}.vectors", dtype=np.float32, mode="r")
        return EncodedSide(hashes, vectors.reshape(count, -1))

    def _record(
        self, block: Block, rows: Sequence[int], outcomes: Sequence[Outcome], first: int
    ) -> None:
        """Enter the outcomes of some rows; ``first`` is the index of the first filter applied."""
        for row, (place, verdict) in zip(rows, outcomes, strict=True):
            if place is not None:
                one = self.job.filters[first + place]
                block.verdicts[row] = entry(one, Outcome(first + place, verdict))

    def _blocks(self, stage: int, state: Mapping[str, Any]) -> Iterator[Block]:
        digest, start = "", 0
        stream = iter(self.job.bitext)
        while rows := list(islice(stream, self.job.rows_at_a_time)):
            digest = chain_digest(digest, ([row.source, row.target, row.record] for row in rows))
            end = start + len(rows)
            done = end <= state["rows"]
            if done and end == state["rows"] and digest != state["digest"]:
                raise self._changed(end)
            fresh = stage == 0 and not done
            yield Block(
                start,
                [BitextPair(row.source, row.target) for row in rows],
                np.zeros(len(rows), VERDICT) if fresh else self.verdicts.get(start, len(rows)),
                digest,
                done,
            )
            start = end
        if start < state["rows"]:
            raise self._changed(state["rows"])

    def _changed(self, rows: int) -> ResumeError:
        return input_changed(self.job.bitext.name, f"its first {rows} rows are not the same")

    def _save(self, stage: int, block: Block) -> None:
        with self.run.explaining():
            self.verdicts.put(block.start, block.verdicts, truncate=stage == 0)
        self.run.save({"stage": stage, "rows": block.end, "digest": block.digest})

    def _advance(self, block: Block) -> None:
        self.passed += len(block.pairs)
        self.progress.advance(self.passed)


def judge_pairs(query: tuple[Sequence[Filter], Sequence[BitextPair]]) -> list[Outcome]:
    """Judge pairs in another process."""
    filters, pairs = query
    return judge_in_turn(filters, pairs)


def entry(one: Filter, outcome: Outcome) -> tuple[int, int, float]:
    """A verdict as it is stored on disk."""
    place, verdict = outcome
    if verdict.kept or place is None:
        return 0, 0, float("nan")
    return place + 1, one.reasons.index(verdict.reason) + 1, verdict.value


def removed_columns(bitext: Bitext) -> list[str]:
    """The columns of a file of removed rows."""
    for name in REASONS:
        if name in bitext.columns:
            raise InputError(
                f"{bitext.name} already has a column {name!r}, which the reason would replace; "
                "rename it"
            )
    return [*bitext.columns, *REASONS]
