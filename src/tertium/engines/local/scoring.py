"""Scores a stream of rows in this process: batch by batch, saved after each."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tertium.data.pairs import Item, Pairs
from tertium.engines.bad_rows import BadRows, TolerantScorer
from tertium.engines.output import Output
from tertium.engines.progress import NO_PROGRESS, JobProgress
from tertium.engines.scoring import (
    ROWS_AT_A_TIME,
    Scorer,
    ScoringResult,
    Sums,
    chain_digest,
    describe,
    results,
)
from tertium.errors import InputError
from tertium.measures.base import Measure
from tertium.measures.marks import identified, language_warnings, uses_model
from tertium.models.cache.memo import Tally
from tertium.storage.resume import input_changed

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ScoringJob:
    """Any number of measures over any number of rows.

    Memory does not grow with the rows, unless a measure must see them all at once.
    """

    pairs: Pairs
    measures: Sequence[Measure]
    output: Output
    scores_only: bool = False
    rows_at_a_time: int = ROWS_AT_A_TIME
    tally: Tally | None = None
    """Counts the queries to the translation model, if a measure uses one."""
    bad: BadRows = field(default_factory=BadRows)
    """What is done with rows that cannot be scored."""

    def count(self) -> int | None:
        """The number of rows, if it is known beforehand."""
        return self.pairs.count()

    def run(self, progress: JobProgress = NO_PROGRESS) -> ScoringResult:
        """Score and write everything."""
        scorer = TolerantScorer(self.pairs, self.measures, self.scores_only, self.bad)
        scorer.check()
        try:
            return self._run(scorer, progress)
        finally:
            self.output.close()

    def _run(self, scorer: Scorer, progress: JobProgress) -> ScoringResult:
        columns = scorer.columns()
        size = self._batch_size()
        state = self.output.begin(describe(self.measures, columns, size), columns)
        stream = batches(self.pairs, size)
        sums, digest = Sums.of(self.measures), ""
        if state is not None:
            digest = skip_rows(self.pairs.name, stream, state, progress)
            sums = Sums.from_state(state)
            self.bad.add(state["reasons"])
        resumed = sums.rows
        for items in stream:
            digest = chain_digest(digest, items)
            scored = scorer.score(items, columns, progress.detail)
            sums.add(scored.sums)
            if self.output.hides_progress:
                progress.hide()
            self.output.add(
                scored.rows, {**sums.state(), "reasons": self.bad.reasons, "digest": digest}
            )
            progress.advance(sums.rows)
            log.info("scored %d rows", sums.rows)
        if not sums.rows:
            raise InputError(f"{self.pairs.name} is empty: there is nothing to score")
        self.bad.check(sums)
        result = ScoringResult(
            results(self.measures, sums.totals),
            sums.rows,
            sums.scored,
            sums.cut,
            resumed,
            self.tally,
            self.bad.notes(sums),
            sums.marks,
            identified(sums.languages) if uses_model(self.measures) else {},
            language_warnings(sums.languages, self.measures),
            self.bad.reasons,
        )
        self.output.finish(result.document())
        return result

    def _batch_size(self) -> int | None:
        """All rows at once, if a measure must see them all."""
        whole = any(measure.needs_all_rows for measure in self.measures)
        return None if whole else self.rows_at_a_time


def skip_rows(
    name: str, stream: Iterator[list[Item]], state: Mapping[str, Any], progress: JobProgress
) -> str:
    """Read the rows that were done before; returns their digest, which must be the same."""
    rows, digest = 0, ""
    while rows < state["rows"] and (items := next(stream, None)) is not None:
        digest = chain_digest(digest, items)
        rows += len(items)
        progress.advance(rows)
    if digest != state["digest"]:
        raise input_changed(
            name,
            f"its first {state['rows']} rows differ in text or language, or there are more or "
            "fewer rows, or it is read with other columns",
        )
    return digest


def batches(items: Iterable[Any], size: int | None) -> Iterator[list[Any]]:
    """Cut a stream into lists of ``size``; the last may be shorter. Without a size, one list."""
    batch: list[Any] = []
    for item in items:
        batch.append(item)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch
