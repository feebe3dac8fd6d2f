"""Filters a stream of rows: some at a time, in several processes, saved as it goes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise, takewhile
from typing import Any

import numpy as np

from tertium._version import __version__
from tertium.data.bitext import Bitext, BitextRow
from tertium.engines.local.processes import work_ahead
from tertium.engines.local.workfolder import VERDICT, Verdicts, WorkFolder
from tertium.errors import InputError, ResumeError, SettingError
from tertium.filters.base import Filter, Pair
from tertium.filters.margin import Margin, Side
from tertium.filters.sequence import ROWS_AT_A_TIME, Count, Outcome, judge_in_turn
from tertium.measures.signature import spell
from tertium.models.base import Progress

SIDES = ("source", "target")


@dataclass(frozen=True)
class Block:
    """Some rows of a stage, with what was decided about them before."""

    start: int
    pairs: list[Pair]
    verdicts: Verdicts
    digest: str
    """Of all rows up to the end of this block."""
    done: bool
    """Whether the stage had come past it when the run was broken off."""

    @property
    def end(self) -> int:
        return self.start + len(self.pairs)

    def reaching(self, place: int) -> list[int]:
        """Which of its rows no filter before ``place`` has removed."""
        by = self.verdicts["filter"]
        return np.flatnonzero((by == 0) | (by > place)).tolist()

    def pick(self, rows: Sequence[int]) -> list[Pair]:
        return [self.pairs[row] for row in rows]


@dataclass
class FilterJob:
    """Any number of filters over any number of rows; the verdicts are left in the work folder.

    The input is read once for each stage: a filter that must see all pairs is a stage of its own,
    and so is what stands before it and what comes after. Memory does not grow with the rows, but
    for eight bytes a pair where duplicates are removed.
    """

    bitext: Bitext
    filters: Sequence[Filter]
    work: WorkFolder
    processes: int = 1
    rows_at_a_time: int = ROWS_AT_A_TIME
    resume: bool = False
    overwrite: bool = False
    progress: Progress | None = None
    advance: Callable[[int], None] | None = None
    rows: int = field(default=0, init=False)
    resumed: int = field(default=0, init=False)
    _passed: int = field(default=0, init=False)

    @property
    def stages(self) -> list[range]:
        """The places of the filters of each stage."""
        alone = [place for place, one in enumerate(self.filters) if one.needs_all_pairs]
        cuts = {0, len(self.filters), *alone, *(place + 1 for place in alone)}
        bounds = sorted(cuts)
        return [range(start, end) for start, end in pairwise(bounds)]

    def run(self) -> list[Count]:
        """Judge every row; returns what each filter did."""
        if not self.filters:
            raise SettingError("there is no filter to apply")
        state = self.work.begin(self._job(), resume=self.resume, overwrite=self.overwrite)
        self.resumed = state["rows"]
        for number, stage in enumerate(self.stages):
            if number < state["stage"]:
                continue
            begun = state if number == state["stage"] else {"rows": 0, "digest": ""}
            judge = self._judge_all if self.filters[stage[0]].needs_all_pairs else self._judge
            judge(number, stage, begun)
            self.work.save({"stage": number + 1, "rows": 0, "digest": ""})
        self.rows = self.work.verdict_file.stat().st_size // VERDICT.itemsize
        if not self.rows:
            self.work.remove()
            raise InputError(f"{self.bitext.name} is empty: there is nothing to filter")
        return self.counts()

    def counts(self) -> list[Count]:
        """Count the verdicts."""
        verdicts = np.memmap(self.work.verdict_file, dtype=VERDICT, mode="r")
        counts: list[Count] = []
        left = len(verdicts)
        for place, one in enumerate(self.filters):
            own = verdicts["reason"][verdicts["filter"] == place + 1]
            tally = np.bincount(own, minlength=len(one.reasons) + 1).tolist()
            reasons = dict(zip(one.reasons, tally[1:], strict=True))
            counts.append(Count(one.name, left, {why: n for why, n in reasons.items() if n}))
            left = counts[-1].after
        return counts

    def _judge(self, number: int, stage: range, begun: dict[str, Any]) -> None:
        """Judge by filters that see some rows at a time; the first of them in other processes."""
        filters = [self.filters[place] for place in stage]
        first = list(takewhile(lambda one: one.portable, filters))
        last = filters[len(first) :]

        def question(block: Block) -> tuple[list[Filter], list[Pair]]:
            return first, [] if block.done else block.pick(block.reaching(stage.start))

        blocks = self._blocks(number, stage, begun)
        processes = self.processes if first else 1
        for block, outcomes in work_ahead(blocks, question, answer, processes):
            if block.done:
                for place in stage:
                    self.filters[place].recall(block.pick(block.reaching(place)))
            else:
                rows = block.reaching(stage.start)
                block.verdicts[rows] = np.zeros(1, VERDICT)
                self._note(block, rows, outcomes, stage.start)
                rows = block.reaching(stage.stop)  # nothing of this stage is noted behind its end
                rest = judge_in_turn(last, block.pick(rows), self.progress)
                self._note(block, rows, rest, stage.start + len(first))
                self.work.put(block.start, block.verdicts)
                self.work.save({"stage": number, "rows": block.end, "digest": block.digest})
            self._report(len(block.pairs))

    def _judge_all(self, number: int, stage: range, begun: dict[str, Any]) -> None:
        """Judge by a filter that must see all pairs: their vectors are gathered on disk first."""
        one = self.filters[stage.start]
        assert isinstance(one, Margin)
        alive: list[int] = []
        for block in self._blocks(number, stage, begun):
            rows = block.reaching(stage.start)
            if rows and not block.done:
                for side, name in enumerate(SIDES):
                    hashes, vectors = one.encode(block.pick(rows), side, self.progress)
                    self.work.append(f"{number}.{name}.hashes", hashes, len(alive))
                    self.work.append(f"{number}.{name}.vectors", vectors, len(alive))
            alive += [block.start + row for row in rows]
            self.work.save({"stage": number, "rows": block.end, "digest": block.digest})
            self._report(len(block.pairs))
        if not alive:
            return
        verdicts = one.verdicts(*(self._side(f"{number}.{name}", len(alive)) for name in SIDES))
        noted = np.memmap(self.work.verdict_file, dtype=VERDICT, mode="r+")
        for row, verdict in zip(alive, verdicts, strict=True):
            noted[row] = entry(one, Outcome(stage.start, verdict))
        noted.flush()

    def _side(self, name: str, count: int) -> Side:
        """The vectors that were gathered; they stay on disk."""
        hashes = np.fromfile(self.work.path / f"{name}.hashes", dtype=np.uint64)
        vectors = np.memmap(self.work.path / f"{name}.vectors", dtype=np.float32, mode="r")
        return Side(hashes, vectors.reshape(count, -1))

    def _note(
        self, block: Block, rows: Sequence[int], outcomes: Sequence[Outcome], first: int
    ) -> None:
        """Write down what became of some rows; ``first`` is the place of the first filter asked."""
        for row, (place, verdict) in zip(rows, outcomes, strict=True):
            if place is not None:
                one = self.filters[first + place]
                block.verdicts[row] = entry(one, Outcome(first + place, verdict))

    def _blocks(self, number: int, stage: range, begun: dict[str, Any]) -> Iterator[Block]:
        digest, start = "", 0
        stream = iter(self.bitext)
        while rows := list(islice(stream, self.rows_at_a_time)):
            digest = chain_digest(digest, rows)
            done = start + len(rows) <= begun["rows"]
            if done and start + len(rows) == begun["rows"] and digest != begun["digest"]:
                raise self._changed()
            fresh = number == 0 and not done
            yield Block(
                start,
                [Pair(row.source, row.target) for row in rows],
                np.zeros(len(rows), VERDICT) if fresh else self.work.get(start, len(rows)),
                digest,
                done,
            )
            start += len(rows)
        if start < begun["rows"]:
            raise self._changed()

    def _changed(self) -> ResumeError:
        return ResumeError(
            f"{self.bitext.name} is not what it was when the run began; begin anew with --overwrite"
        )

    def _job(self) -> dict[str, Any]:
        """All that must be the same for a run to be taken up again, but for the texts."""
        return {
            "filters": [
                [one.name, {name: spell(value) for name, value in one.choices().items()}]
                for one in self.filters
            ],
            "rows_at_a_time": self.rows_at_a_time,
            "version": __version__,
        }

    def _report(self, rows: int) -> None:
        self._passed += rows
        if self.advance is not None:
            self.advance(self._passed)


def answer(question: tuple[Sequence[Filter], Sequence[Pair]]) -> list[Outcome]:
    """What another process is asked."""
    filters, pairs = question
    return judge_in_turn(filters, pairs)


def entry(one: Filter, outcome: Outcome) -> tuple[int, int, float]:
    """A verdict as it is kept on disk."""
    place, verdict = outcome
    if verdict.kept or place is None:
        return 0, 0, float("nan")
    return place + 1, one.reasons.index(verdict.reason) + 1, verdict.value


def chain_digest(before: str, rows: Sequence[BitextRow]) -> str:
    """Hash some rows onto the hash of all rows before them."""
    digest = hashlib.sha256(before.encode())
    for row in rows:
        digest.update(json.dumps([row.source, row.target, row.record], default=str).encode())
    return digest.hexdigest()
