"""Scores a stream of rows in this process: some rows at a time, saved as it goes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from tertium.data.pairs import Item, Pairs
from tertium.engines.outputs import Output
from tertium.engines.scoring import ROWS_AT_A_TIME, Result, Scorer, chain_digest, describe, results
from tertium.errors import InputError, ResumeError
from tertium.measures.base import Measure
from tertium.measures.totals import Totals
from tertium.models.base import Progress

Advance = Callable[[int], None]
"""Called with the number of rows that are done."""


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

    def count(self) -> int | None:
        """How many rows there are, where that can be known beforehand."""
        return self.pairs.count()

    def run(self) -> dict[str, Result]:
        """Score everything; returns the system scores."""
        scorer = Scorer(self.pairs, self.measures, self.scores_only)
        scorer.check()
        try:
            return self._run(scorer)
        finally:
            self.output.close()

    def _run(self, scorer: Scorer) -> dict[str, Result]:
        self.totals = {measure.name: Totals() for measure in self.measures}
        columns = scorer.columns()
        size = self._group_size()
        state = self.output.begin(describe(self.measures, columns, size), columns)
        digest = ""
        for items in groups(self.pairs, size):
            digest = chain_digest(digest, items)
            self.rows += len(items)
            if state is not None and not self.resumed:
                if self.rows >= state["rows"]:
                    self._take_up(state, digest)
                self._report()
                continue
            scored = scorer.score(items, columns, self.progress)
            for name, totals in scored.totals.items():
                self.totals[name].merge(totals)
            self.cut += scored.cut
            self.output.add(
                scored.rows,
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
        return results(self.measures, self.totals)

    def _group_size(self) -> int | None:
        """All rows at once, if a measure must see them all."""
        whole = any(measure.needs_all_rows for measure in self.measures)
        return None if whole else self.rows_at_a_time

    def _take_up(self, state: Mapping[str, Any], digest: str) -> None:
        if digest != state["digest"]:
            raise ResumeError(
                f"{self.pairs.name} is not what it was when the run began, or is read otherwise: "
                f"its first {state['rows']} rows differ in text or language, or it has become "
                "longer or shorter; put it back, with the same languages and columns, or begin "
                "anew with --overwrite"
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
