"""Score the pairs of a request, with the same code that scores files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tertium.data.pairs import Item
from tertium.engines.bad_rows import ERROR, BadRows, OnError, TolerantScorer
from tertium.engines.local.scoring import ScoringJob
from tertium.engines.output import CUT, MARKS, Fields
from tertium.engines.progress import JobProgress
from tertium.errors import InputError
from tertium.measures.loading import split_specs
from tertium.measures.totals import Role
from tertium.text import Text, check_text
from tertium.web.batching import Call
from tertium.web.engines import BatchedEngines
from tertium.web.limits import Limits
from tertium.web.reading import read
from tertium.web.schema import (
    FileScoreRequest,
    MeasureScores,
    ScoreRequest,
    ScoreResponse,
)
from tertium.web.service import Emit
from tertium.web.words import plain

ROWS_AT_A_TIME = 256
STREAMED_ROWS_AT_A_TIME = 16
NO_SCORES = (CUT, MARKS, ERROR)


@dataclass(frozen=True)
class RequestPairs:
    """The pairs of a request, as input of a scoring job."""

    items: Sequence[Item]
    has_references: bool
    has_source: bool
    name: str = "the request"
    columns: Sequence[str] = ()

    def __iter__(self) -> Iterator[Item]:
        return iter(self.items)

    def count(self) -> int:
        return len(self.items)


@dataclass
class CollectedRows:
    """Scored rows that are kept for the response."""

    rows: list[Fields] = field(default_factory=list)
    hides_progress: bool = False

    def begin(self, job: Mapping[str, Any], columns: Sequence[str]) -> None:
        """Nothing to resume."""

    def add(self, rows: Sequence[Fields], state: Mapping[str, Any]) -> None:
        self.rows += rows

    def finish(self, summary: Fields) -> None:
        """Nothing to write."""

    def close(self) -> None:
        """Nothing to close."""


@dataclass
class EmittedRows:
    """Scored rows that are sent as soon as they come."""

    items: Sequence[Item]
    emit: Emit
    count: int = 0
    hides_progress: bool = False

    def begin(self, job: Mapping[str, Any], columns: Sequence[str]) -> None:
        """Nothing to resume."""

    def add(self, rows: Sequence[Fields], state: Mapping[str, Any]) -> None:
        for row in rows:
            item = self.items[self.count]
            self.count += 1
            error = row[ERROR]
            self.emit(
                {
                    "row": item.number,
                    "scores": {name: value for name, value in row.items() if name not in NO_SCORES},
                    "cut": bool(row[CUT]),
                    "marks": list(filter(None, (row[MARKS] or "").split(","))),
                    "error": error and plain(error.removeprefix(f"row {item.number}: ")),
                    "record": item.record,
                }
            )

    def finish(self, summary: Fields) -> None:
        """The summary is sent by the caller."""

    def close(self) -> None:
        """Nothing to close."""


def score(
    request: ScoreRequest, engines: BatchedEngines, limits: Limits, call: Call
) -> ScoreResponse:
    """Score every pair with every measure, with the same numbers as ``tertium score``."""
    limits.check_scoring(request)
    settings = request.settings.given()
    names = [part for name in request.measures for part in split_specs(name)]
    measures = engines.measures(names, settings, call, request.lang)
    pairs = _pairs(request, {role for measure in measures for role in measure.reads})
    scores = {}
    cut = [False] * len(pairs.items)
    marks: list[dict[str, None]] = [{} for _ in pairs.items]
    for name, measure in zip(names, measures, strict=True):
        output = CollectedRows()
        # Surface measures run in this thread, which checks after every row whether to continue.
        uses_model = any(part.model_kind for part in getattr(measure, "parts", (measure,)))
        rows_at_a_time = ROWS_AT_A_TIME if uses_model else 1
        job = ScoringJob(pairs, [measure], output, True, rows_at_a_time)
        scored = job.run(JobProgress(advance=lambda _: call.check()))
        [result] = scored.measures.values()
        scores[name] = MeasureScores(
            system=result.system,
            segments=[row[measure.column] for row in output.rows],
            reading="higher is better" if settings else measure.reading(result.system),
            signature=result.signature.long,
            short_signature=result.signature.short,
        )
        cut = [before or row[CUT] for before, row in zip(cut, output.rows, strict=True)]
        for found, row in zip(marks, output.rows, strict=True):
            found.update(dict.fromkeys(filter(None, row[MARKS].split(","))))
    return ScoreResponse(measures=scores, cut=cut, marks=[list(found) for found in marks])


def score_file(
    request: FileScoreRequest, engines: BatchedEngines, limits: Limits, call: Call, emit: Emit
) -> None:
    """Score a file: what was read, then every row as soon as it is scored, then the summary."""
    limits.check_measures(request.measures)
    settings = request.settings.given()
    measures = engines.measures(request.measures, settings, call, request.lang)
    found = read(request, limits, request.measures)
    pairs = RequestPairs(
        found.items,
        has_references=bool(found.roles.refs),
        has_source=found.roles.src is not None,
        name=found.table.path.name,
    )
    bad = BadRows(OnError.mark)
    job = ScoringJob(
        pairs, measures, EmittedRows(found.items, emit), True, STREAMED_ROWS_AT_A_TIME, bad=bad
    )
    TolerantScorer(pairs, measures, True, bad=bad).check()
    emit(
        {
            "rows": len(found.items),
            "columns": found.table.columns(),
            "measures": [measure.column for measure in measures],
        }
    )
    result = job.run(JobProgress(advance=lambda _: call.check()))
    summary = result.document()
    for measure in measures:
        about = summary["measures"][measure.column]
        about["reading"] = "higher is better" if settings else measure.reading(about["system"])
    for each in ("warnings", "reasons"):
        if each in summary:
            summary[each] = [plain(message) for message in summary[each]]
    emit({"summary": summary})


def _pairs(request: ScoreRequest, wanted: set[Role]) -> RequestPairs:
    """Read the pairs; each must have what the measures compare hypotheses with."""
    has_source = all(pair.source is not None for pair in request.pairs)
    has_references = any(pair.references for pair in request.pairs)
    items = []
    for number, pair in enumerate(request.pairs, start=1):
        if "source" in wanted and pair.source is None:
            raise InputError(f"row {number}: there is no source")
        if "reference" in wanted and not pair.references:
            cure = "; to compare with the source, use the setting against: source"
            raise InputError(
                f"row {number}: there is no reference{cure if pair.source is not None else ''}"
            )
        lang = pair.lang or request.lang
        reference_lang = pair.reference_lang or request.reference_lang or lang
        source = None
        if pair.source is not None:
            text = check_text(pair.source, role="source", row=number)
            source = Text(text, pair.source_lang or request.source_lang)
        references = tuple(
            Text(check_text(text, role="reference", row=number), reference_lang)
            for text in pair.references
        )
        hypothesis = Text(check_text(pair.hypothesis, role="hypothesis", row=number), lang)
        items.append(Item(number, hypothesis, references, source))
    return RequestPairs(items, has_references, has_source)
