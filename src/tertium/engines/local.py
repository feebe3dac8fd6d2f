"""Scores a stream of rows in this process: some rows at a time, saved as it goes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import tertium
from tertium.data.pairs import Item, Pairs
from tertium.engines.layouts import CUT
from tertium.engines.outputs import Output
from tertium.errors import InputError, ResumeError
from tertium.measures.base import Measure, Segments, Totals
from tertium.measures.signature import Signature, spell
from tertium.models.base import Progress
from tertium.text import Row

ROWS_AT_A_TIME = 1024

Advance = Callable[[int], None]
"""Called with the number of rows that are done."""


@dataclass(frozen=True)
class Result:
    """The system score of a measure, signed."""

    system: float
    signature: Signature


@dataclass
class ScoringJob:
    """Any number of measures over any number of rows.

    Memory does not grow with the rows, unless a measure must see them all at once.
    """

    pairs: Pairs
    measures: Sequence[Measure]
    output: Output
    scores_only: bool = False
    rows_at_a_time: int = ROWS_AT_A_TIME
    progress: Progress | None = None
    advance: Advance | None = None
    totals: dict[str, Totals] = field(default_factory=dict)
    rows: int = 0
    resumed: int = 0
    cut: int = 0

    def run(self) -> dict[str, Result]:
        """Score everything; returns the system scores."""
        self._check()
        try:
            return self._run()
        finally:
            self.output.close()

    def _run(self) -> dict[str, Result]:
        self.totals = {measure.name: Totals() for measure in self.measures}
        columns = self._columns()
        state = self.output.begin(self._description(columns), columns)
        digest = ""
        for items in groups(self.pairs, self._group_size()):
            digest = chain_digest(digest, items)
            self.rows += len(items)
            if state is not None and not self.resumed:
                if self.rows >= state["rows"]:
                    self._take_up(state, digest)
                self._report()
                continue
            scored = self._score(items, columns)
            self.output.add(
                scored,
                {
                    "rows": self.rows,
                    "cut": self.cut,
                    "digest": digest,
                    "totals": {name: asdict(totals) for name, totals in self.totals.items()},
                },
            )
            self._report()
        if not self.rows:
            raise InputError(f"{self.pairs.name} is empty: there is nothing to score")
        if state is not None and not self.resumed:
            self._take_up(state, digest)  # fewer rows than were scored before: refused
        self.output.finish()
        return {
            measure.name: Result(
                measure.system(self.totals[measure.name].statistics),
                measure.signature(self.totals[measure.name]),
            )
            for measure in self.measures
        }

    def _score(self, items: Sequence[Item], columns: Sequence[str]) -> list[dict[str, Any]]:
        """Score some rows by every measure; returns the fields of the output."""
        found: dict[str, Segments] = {}
        for measure in self.measures:
            rows = [self._row(measure, item) for item in items]
            found[measure.name] = measure.segments(rows, self.progress)
            self.totals[measure.name].add(rows, found[measure.name])
            if self._against_source(measure):
                self.totals[measure.name].facts["against"] = "source"
        scored = []
        for index, item in enumerate(items):
            scores = {name: segments.scores[index] for name, segments in found.items()}
            cut = any(segments.cut[index] for segments in found.values())
            self.cut += cut
            record = {} if self.scores_only else item.record
            for name in record:
                if name not in columns or name in scores or name == CUT:
                    raise InputError(
                        f"{self.pairs.name}, row {item.number}: it has a field {name!r}, which the "
                        "rows before have not, or which the scores would replace; "
                        "write the scores alone (--scores-only)"
                    )
            fields = {**record, **scores, CUT: cut}
            scored.append({name: fields.get(name) for name in columns})
        return scored

    def _group_size(self) -> int | None:
        """All rows at once, if a measure must see them all."""
        whole = any(measure.needs_all_rows for measure in self.measures)
        return None if whole else self.rows_at_a_time

    def _against_source(self, measure: Measure) -> bool:
        return measure.compares_with == "source" or not self.pairs.has_references

    def _row(self, measure: Measure, item: Item) -> Row:
        if self._against_source(measure):
            assert item.source is not None
            return Row(item.number, item.hypothesis, (item.source,))
        return Row(item.number, item.hypothesis, item.references)

    def _check(self) -> None:
        names = [measure.name for measure in self.measures]
        for name in names:
            if names.count(name) > 1:
                raise InputError(f"{name} is asked for twice")
        for measure in self.measures:
            if self._against_source(measure) and not self.pairs.has_source:
                raise InputError(
                    f"{measure.name} needs sources, and {self.pairs.name} has none; "
                    "say --src-column or --src"
                )

    def _columns(self) -> list[str]:
        """The columns of the output, in order."""
        new = [*(measure.name for measure in self.measures), CUT]
        if self.scores_only:
            return new
        for name in new:
            if name in self.pairs.columns:
                raise InputError(
                    f"{self.pairs.name} has a column {name!r} already, which the scores would "
                    "replace; rename it, or write the scores alone (--scores-only)"
                )
        return [*self.pairs.columns, *new]

    def _description(self, columns: Sequence[str]) -> dict[str, Any]:
        """All that must be the same for a run to be taken up again, but for the texts."""
        return {
            "measures": [
                [measure.name, {name: spell(value) for name, value in measure.choices().items()}]
                for measure in self.measures
            ],
            "columns": columns,
            "rows_at_a_time": self._group_size(),
            "version": tertium.__version__,
        }

    def _take_up(self, state: Mapping[str, Any], digest: str) -> None:
        if digest != state["digest"]:
            raise ResumeError(
                f"{self.pairs.name} is not what it was when the run began: of the first "
                f"{state['rows']} rows some have changed, or there were no more and now there are; "
                "begin anew with --overwrite"
            )
        self.totals = {name: Totals(**totals) for name, totals in state["totals"].items()}
        self.cut = state["cut"]
        self.resumed = self.rows

    def _report(self) -> None:
        if self.advance is not None:
            self.advance(self.rows)


def groups(items: Iterable[Item], size: int | None) -> Iterator[list[Item]]:
    """Cut a stream into lists of ``size``; the last may be shorter. Without a size, it is whole."""
    group: list[Item] = []
    for item in items:
        group.append(item)
        if len(group) == size:
            yield group
            group = []
    if group:
        yield group


def chain_digest(before: str, items: Sequence[Item]) -> str:
    """Hash some rows onto the hash of all rows before them."""
    digest = hashlib.sha256(before.encode())
    for item in items:
        texts = [item.hypothesis, item.references, item.source]
        spelling = json.dumps([texts, item.record], default=str)
        digest.update(spelling.encode() + b"\n")
    return digest.hexdigest()
