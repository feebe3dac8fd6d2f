"""Finds the spans of a stream of pairs in this process: batch by batch, saved after each."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tertium._version import __version__
from tertium.data.pairs import Item, Pairs
from tertium.data.records import open_table
from tertium.engines.local.scoring import batches, skip_rows
from tertium.engines.output import Output
from tertium.engines.progress import NO_PROGRESS, JobProgress
from tertium.engines.scoring import chain_digest
from tertium.errors import InputError, LanguageError
from tertium.explanation.exchange import Exchange
from tertium.explanation.review import DIRECTION, Pair, PairReview, Reviewer
from tertium.explanation.spans import A, B, Span
from tertium.models.cache.memo import Tally

SPANS, FLAGS, SEVERITY = "spans", "flags", "severity"
ROWS_AT_A_TIME = 64
HYPOTHESIS, REFERENCE, SOURCE = "hyp", "ref", "src"


@dataclass
class ReviewResult:
    """What was found over all rows."""

    rows: int = 0
    resumed: int = 0
    """Rows that an interrupted run had done before."""
    marked: int = 0
    """Rows with a span or a flag."""
    kinds: dict[str, int] = field(default_factory=dict)
    """The number of rows with each kind of span or flag."""

    def add(self, review: PairReview) -> None:
        kinds = {*review.flags, *(span.kind for span in review.spans)}
        self.rows += 1
        self.marked += bool(kinds)
        for kind in sorted(kinds):
            self.kinds[kind] = self.kinds.get(kind, 0) + 1

    def merge(self, found: Mapping[str, Any]) -> None:
        """Add the document of other rows."""
        self.rows += found["rows"]
        self.marked += found["marked"]
        for kind, count in found["kinds"].items():
            self.kinds[kind] = self.kinds.get(kind, 0) + count

    def document(self) -> dict[str, Any]:
        """The result as one JSON object."""
        return {"rows": self.rows, "marked": self.marked, "kinds": self.kinds}


@dataclass(frozen=True)
class ReviewJob:
    """Any number of methods over any number of rows.

    The hypothesis is compared with the source or with the (first) reference of its row.
    """

    pairs: Pairs
    reviewer: Reviewer
    output: Output
    against_source: bool
    rows_at_a_time: int = ROWS_AT_A_TIME
    keep: bool = False
    """Keep the texts of all rows, for a report."""
    texts: list[Pair] = field(default_factory=list)
    """The texts of all rows, if they are kept."""
    reviews: dict[int, PairReview] = field(default_factory=dict)
    """The reviews of the rows of this run by place, if they are kept."""
    directions: dict[int, float] = field(default_factory=dict)
    """The scores of directions of the rows of this run by place."""
    tally: Tally | None = None
    exchange: Exchange | None = None
    """The layout of another tool, instead of the columns of the input with spans and flags."""

    def count(self) -> int | None:
        """The number of rows, if it is known beforehand."""
        return self.pairs.count()

    @property
    def sides(self) -> dict[str, str]:
        """The sides of spans as they are written."""
        return {A: HYPOTHESIS, B: SOURCE if self.against_source else REFERENCE}

    def run(self, progress: JobProgress = NO_PROGRESS) -> ReviewResult:
        """Review and write everything."""
        try:
            return self._run(progress)
        finally:
            self.output.close()

    def _run(self, progress: JobProgress) -> ReviewResult:
        job = self.description()
        columns = job["columns"]
        state = self.output.begin(job, columns)
        result, digest = ReviewResult(), ""
        stream = self._kept(batches(self.pairs, self.rows_at_a_time))
        if state is not None:
            digest = skip_rows(self.pairs.name, stream, state, progress)
            result = ReviewResult(**state["result"])
            result.resumed = result.rows
        for items in stream:
            digest = chain_digest(digest, items)
            reviews = self._review(items, progress)
            if self.keep:
                self.reviews.update(enumerate(reviews, result.rows))
            for place, review in enumerate(reviews, result.rows):
                if review.direction is not None:
                    self.directions[place] = review.direction.score
            for review in reviews:
                result.add(review)
            rows = [
                fields
                for item, review in zip(items, reviews, strict=True)
                for fields in self._rows(item, review, columns)
            ]
            if self.output.hides_progress:
                progress.hide()
            saved = {**vars(result), "resumed": 0}
            self.output.add(rows, {"rows": result.rows, "digest": digest, "result": saved})
            progress.advance(result.rows)
        if not result.rows:
            raise InputError(f"{self.pairs.name} is empty: there is nothing to explain")
        self.output.finish(result.document())
        return result

    def description(self) -> dict[str, Any]:
        """Everything that must be the same for a run to be resumed, except for the texts."""
        return {
            **self.reviewer.description(),
            "against": self.sides[B],
            "columns": self._columns(),
            "rows_at_a_time": self.rows_at_a_time,
            "version": __version__,
        }

    def rows_of(
        self, items: Sequence[Item], columns: Sequence[str]
    ) -> tuple[list[dict[str, Any]], ReviewResult]:
        """The rows of the output for some rows of the input, and what was found in them."""
        result, rows = ReviewResult(), []
        for item, review in zip(items, self._review(items, NO_PROGRESS), strict=True):
            result.add(review)
            rows.append(self._fields(item, review, columns))
        return rows, result

    def all_directions(self, output: Path | None) -> list[float]:
        """The scores of directions of all rows; those of a resumed run are read from its output."""
        if DIRECTION not in self.reviewer.methods:
            return []
        if output is not None and 0 not in self.directions:
            return [float(record[DIRECTION]) for record in open_table(output)]
        return [self.directions[place] for place in sorted(self.directions)]

    def all_reviews(self, output: Path | None) -> list[PairReview]:
        """The reviews of all rows that were kept; those of a resumed run are read from its output.

        Their evidence is complete; directions of rows that were done before are left out.
        """
        missing = [place for place in range(len(self.texts)) if place not in self.reviews]
        if missing and output is not None:
            names = {name: side for side, name in self.sides.items()}
            for place, record in zip(range(len(self.texts)), open_table(output), strict=False):
                if place not in self.reviews:
                    spans, flags = (_list(record[column]) for column in (SPANS, FLAGS))
                    self.reviews[place] = PairReview(
                        *self.texts[place],
                        tuple(
                            Span.from_dict({**each, "side": names[each["side"]]}) for each in spans
                        ),
                        tuple(flags),
                    )
        return [self.reviews[place] for place in range(len(self.texts))]

    def _kept(self, stream: Iterator[list[Item]]) -> Iterator[list[Item]]:
        for items in stream:
            if self.keep:
                self.texts.extend(map(self._pair, items))
            yield items

    def _pair(self, item: Item) -> Pair:
        if self.against_source:
            if item.source is None:
                raise InputError(f"{self.pairs.name} has no source")
            return item.hypothesis, item.source
        return item.hypothesis, item.references[0]

    def _review(self, items: Sequence[Item], progress: JobProgress) -> list[PairReview]:
        try:
            return self.reviewer(
                [self._pair(item) for item in items], progress.detail, items[0].number
            )
        except LanguageError as error:
            raise LanguageError(f"{self.pairs.name}, {error}") from None

    def _columns(self) -> list[str]:
        if self.exchange is not None:
            return list(self.exchange.columns)
        new = [SPANS, FLAGS, SEVERITY]
        if DIRECTION in self.reviewer.methods:
            new.append(DIRECTION)
        for name in new:
            if name in self.pairs.columns:
                raise InputError(
                    f"{self.pairs.name} already has a column {name!r}, which the output would "
                    "replace; rename it"
                )
        return [*self.pairs.columns, *new]

    def _rows(self, item: Item, review: PairReview, columns: Sequence[str]) -> list[dict[str, Any]]:
        if self.exchange is not None:
            return self.exchange.rows(review, item.number, item.record)
        return [self._fields(item, review, columns)]

    def _fields(self, item: Item, review: PairReview, columns: Sequence[str]) -> dict[str, Any]:
        found = review.to_dict()
        for span in found[SPANS]:
            span["side"] = self.sides[span["side"]]
        for name in item.record:
            if name not in columns or name in found:
                raise InputError(
                    f"{self.pairs.name}, row {item.number}: it has a field {name!r}, which earlier "
                    "rows do not have, or which the output would replace"
                )
        fields = {**item.record, **found}
        return {name: fields.get(name) for name in columns}


def _list(value: Any) -> list[Any]:
    """Read a list from JSON, where the format of a table has no lists."""
    return json.loads(value) if isinstance(value, str) else list(value)
