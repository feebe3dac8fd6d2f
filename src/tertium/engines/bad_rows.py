"""Rows that cannot be scored: the run stops, or they are skipped, or marked in the output."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import islice
from pathlib import Path

from tertium.data.pairs import Item, Pairs, TablePairs
from tertium.data.records import counted
from tertium.engines.scoring import ScoredRows, Scorer, Sums
from tertium.errors import InputError, LanguageError
from tertium.models.base import Progress
from tertium.text import Text

ERROR = "error"
"""The column that says why a row could not be scored."""
ERRORS_SHOWN = 10


class OnError(StrEnum):
    """What to do with a row that cannot be scored."""

    stop = "stop"
    skip = "skip"
    mark = "mark"


@dataclass(frozen=True)
class BadRows:
    """What is done with rows that cannot be scored, and which rows those were."""

    on_error: OnError = OnError.stop
    reasons: list[str] = field(default_factory=list)
    """Why rows could not be scored; of many, the first."""

    def add(self, reasons: Iterable[str]) -> None:
        """Note why rows could not be scored, unless there are many already."""
        self.reasons.extend(islice(reasons, ERRORS_SHOWN - len(self.reasons)))

    def check(self, sums: Sums) -> None:
        """Raise an error if no row at all could be scored."""
        if self.reasons and not sums.scored:
            raise InputError(f"no row can be scored: {self.reasons[0]}")

    def notes(self, sums: Sums) -> list[str]:
        """A report for people: how many, which, and why."""
        if not self.reasons:
            return []
        count = sums.rows - sums.scored
        done = "skipped" if self.on_error is OnError.skip else f"marked (column {ERROR})"
        verb = "was" if count == 1 else "were"
        notes = [f"{counted(count, 'row')} could not be scored and {verb} {done}:"]
        notes += [f"  {reason}" for reason in self.reasons]
        more = count - len(self.reasons)
        return notes + ([f"  and {more} more"] if more > 0 else [])


@dataclass(frozen=True, slots=True)
class BadItem(Item):
    """A row that cannot be read."""

    reason: str = ""


@dataclass(frozen=True)
class TolerantPairs:
    """A table whose bad rows do not stop the run."""

    pairs: TablePairs

    @property
    def name(self) -> str:
        return self.pairs.name

    @property
    def columns(self) -> Sequence[str]:
        return self.pairs.columns

    @property
    def has_references(self) -> bool:
        return self.pairs.has_references

    @property
    def has_source(self) -> bool:
        return self.pairs.has_source

    @property
    def paths(self) -> Sequence[Path]:
        return self.pairs.paths

    def count(self) -> int | None:
        return self.pairs.count()

    def __iter__(self) -> Iterator[Item]:
        for number, record in enumerate(self.pairs.table, start=1):
            try:
                yield self.pairs.item(number, record)
            except InputError as error:
                yield BadItem(number, Text(""), (), None, record, str(error))


def tolerant(pairs: Pairs, bad: BadRows) -> Pairs:
    """Let bad rows of a table not stop the run, unless they should."""
    if bad.on_error is OnError.stop or not isinstance(pairs, TablePairs):
        return pairs
    return TolerantPairs(pairs)


@dataclass(frozen=True)
class TolerantScorer(Scorer):
    """Scores the rows that can be scored; skips or marks the others."""

    bad: BadRows = field(default_factory=BadRows)

    def columns(self) -> list[str]:
        columns = super().columns()
        return [*columns, ERROR] if self.bad.on_error is OnError.mark else columns

    def score(
        self, items: Sequence[Item], columns: Sequence[str], progress: Progress | None = None
    ) -> ScoredRows:
        if self.bad.on_error is OnError.stop:
            return super().score(items, columns, progress)
        reasons = {item.number: item.reason for item in items if isinstance(item, BadItem)}
        good = [item for item in items if item.number not in reasons]
        scored = ScoredRows([], Sums.of(self.measures), {})
        while good:
            try:
                scored = super().score(good, columns, progress)
                break
            except (InputError, LanguageError):
                new = self._reasons(good, columns)
                if not new:  # it is not the fault of single rows
                    raise
                reasons |= new
                good = [item for item in good if item.number not in reasons]
        self.bad.add(reasons[number] for number in sorted(reasons))
        rows = {item.number: row for item, row in zip(good, scored.rows, strict=True)}
        if self.bad.on_error is OnError.mark:
            for item in items:
                if item.number in reasons:
                    fields = {} if self.scores_only else item.record
                    rows[item.number] = {
                        **{name: fields.get(name) for name in columns},
                        ERROR: reasons[item.number],
                    }
        ordered = [rows[number] for number in sorted(rows)]
        sums = replace(scored.sums, rows=len(items))
        return ScoredRows(ordered, sums, scored.segments, scored.marks)

    def _reasons(self, items: Sequence[Item], columns: Sequence[str]) -> dict[int, str]:
        """Find the rows that cannot be scored, by halves, and why."""
        if not items:
            return {}
        try:
            super().score(items, columns)
        except (InputError, LanguageError) as error:
            if len(items) == 1:
                return {items[0].number: str(error)}
            middle = len(items) // 2
            return self._reasons(items[:middle], columns) | self._reasons(items[middle:], columns)
        return {}
