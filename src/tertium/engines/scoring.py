"""What scoring some rows means, wherever it happens: the checks, the fields, the totals."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tertium._version import __version__
from tertium.data.pairs import Item, Pairs
from tertium.engines.layouts import CUT
from tertium.errors import InputError
from tertium.measures.base import Measure, Segments, check_readable
from tertium.measures.signature import Signature
from tertium.measures.totals import Totals
from tertium.models.base import Progress

ROWS_AT_A_TIME = 1024


@dataclass(frozen=True)
class Result:
    """The system score of a measure, signed."""

    system: float
    signature: Signature


@dataclass(frozen=True)
class Scored:
    """Some rows with their scores, and what they add to the system scores."""

    rows: list[dict[str, Any]]
    totals: dict[str, Totals]
    cut: int


@dataclass(frozen=True)
class Scorer:
    """Any number of measures for the rows of one input."""

    pairs: Pairs
    measures: Sequence[Measure]
    scores_only: bool = False

    def check(self) -> None:
        """Make sure that every measure has what it compares, and a column of its own."""
        names = [measure.name for measure in self.measures]
        for name in names:
            if names.count(name) > 1:
                raise InputError(f"measure {name} is given twice")
        for measure in self.measures:
            check_readable(
                measure,
                self.pairs.name,
                has_references=self.pairs.has_references,
                has_source=self.pairs.has_source,
            )

    def columns(self) -> list[str]:
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

    def score(
        self, items: Sequence[Item], columns: Sequence[str], progress: Progress | None = None
    ) -> Scored:
        """Score some rows by every measure."""
        found: dict[str, Segments] = {}
        totals: dict[str, Totals] = {}
        for measure in self.measures:
            found[measure.name] = measure.segments(items, progress)
            totals[measure.name] = measure.totals(items, found[measure.name])
        scored = []
        cuts = 0
        for index, item in enumerate(items):
            scores = {name: segments.scores[index] for name, segments in found.items()}
            cut = any(segments.cut[index] for segments in found.values())
            cuts += cut
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
        return Scored(scored, totals, cuts)


def results(measures: Sequence[Measure], totals: Mapping[str, Totals]) -> dict[str, Result]:
    """Turn totals over all rows into system scores."""
    return {
        measure.name: Result(
            measure.system(totals[measure.name].statistics),
            measure.signature(totals[measure.name]),
        )
        for measure in measures
    }


def describe(
    measures: Sequence[Measure], columns: Sequence[str], rows_at_a_time: int | None
) -> dict[str, Any]:
    """All that must be the same for a run to be taken up again, but for the texts."""
    return {
        "measures": [[measure.name, measure.description()] for measure in measures],
        "columns": list(columns),
        "rows_at_a_time": rows_at_a_time,
        "version": __version__,
    }


def chain_digest(before: str, items: Sequence[Item]) -> str:
    """Hash some rows onto the hash of all rows before them."""
    digest = hashlib.sha256(before.encode())
    for item in items:
        texts = [item.hypothesis, item.references, item.source]
        spelling = json.dumps([texts, item.record], default=str)
        digest.update(spelling.encode() + b"\n")
    return digest.hexdigest()
