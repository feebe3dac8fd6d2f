"""Score the pairs of a request, with the same code that scores files."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from tertium.data.pairs import RowList
from tertium.errors import InputError
from tertium.jobs.local import run_here
from tertium.jobs.output import CUT, MARKS, Fields, KeptRows
from tertium.jobs.task import ERROR, Input, Job, JobProgress, OnError, one_job
from tertium.jobs.tasks.score import ScoreTask, score_table
from tertium.measures.base import Measure
from tertium.measures.loading import split_specs
from tertium.measures.scores import ScoreTable
from tertium.measures.totals import Role
from tertium.text import Row, Text, check_text
from tertium.web.batching import Call
from tertium.web.limits import Limits
from tertium.web.models import BatchedEngines
from tertium.web.reading import read
from tertium.web.schema import (
    FileScoreRequest,
    MeasureScores,
    ScoreRequest,
    ScoreResponse,
)
from tertium.web.service import Emit

ROWS_AT_A_TIME = 256
STREAMED_ROWS_AT_A_TIME = 16
NO_SCORES = (CUT, MARKS, ERROR)


class EmittedRows(KeptRows):
    """Scored rows that are sent as soon as they come."""

    def __init__(self, rows: Sequence[Row], emit: Emit) -> None:
        super().__init__()
        self._read = iter(rows)
        self._emit = emit

    def add(self, rows: Sequence[Fields], outcome: Fields) -> None:
        for scored, row in zip(rows, self._read, strict=False):
            error = scored[ERROR]
            scores = {name: value for name, value in scored.items() if name not in NO_SCORES}
            self._emit(
                {
                    "row": row.number,
                    "scores": scores,
                    "cut": bool(scored[CUT]),
                    "marks": list(filter(None, (scored[MARKS] or "").split(","))),
                    "error": error and error.removeprefix(f"row {row.number}: "),
                    "record": row.record,
                }
            )


def score(
    request: ScoreRequest, engines: BatchedEngines, limits: Limits, call: Call
) -> ScoreResponse:
    """Score every pair with every measure, with the same numbers as ``tertium score``."""
    limits.check_scoring(request)
    settings = request.settings.given()
    names = [part for name in request.measures for part in split_specs(name)]
    measures = engines.measures(names, settings, call, request.lang)
    source = _source(request, {role for measure in measures for role in measure.reads})
    scores = {}
    cut = [False] * source.count()
    marks: list[dict[str, None]] = [{} for _ in source]
    for name, measure in zip(names, measures, strict=True):
        output = KeptRows()
        # Surface measures run in this thread, which checks after every row whether to continue.
        uses_model = any(part.model_kind for part in getattr(measure, "parts", (measure,)))
        rows_at_a_time = ROWS_AT_A_TIME if uses_model else 1
        result = _scored(source, [measure], rows_at_a_time, output, call)[measure.column]
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
    source = RowList(
        found.items,
        has_references=bool(found.roles.refs),
        has_source=found.roles.src is not None,
        name=found.table.path.name,
    )
    ScoreTask(measures).check(source)
    emit(
        {
            "rows": len(found.items),
            "columns": found.table.columns(),
            "measures": [measure.column for measure in measures],
        }
    )
    output = EmittedRows(found.items, emit)
    result = _scored(source, measures, STREAMED_ROWS_AT_A_TIME, output, call, OnError.mark)
    summary = result.summary()
    for measure in measures:
        about = summary["measures"][measure.column]
        about["reading"] = "higher is better" if settings else measure.reading(about["system"])
    emit({"summary": summary})


def _scored(
    source: RowList,
    measures: Sequence[Measure],
    rows_at_a_time: int,
    output: KeptRows,
    call: Call,
    on_error: OnError = OnError.stop,
) -> ScoreTable:
    """Score the rows of a request as a job does; the call may be given up after every part."""
    task = ScoreTask(measures, scores_only=True)
    task.check(source)
    job = Job(task, [Input(source)], rows_at_a_time, on_error)
    progress = JobProgress(advance=lambda _: call.check())
    return run_here(one_job(job, partial(score_table, job)), output, progress)


def _source(request: ScoreRequest, wanted: set[Role]) -> RowList:
    """Read the pairs; each must have what the measures compare hypotheses with."""
    has_source = all(pair.source is not None for pair in request.pairs)
    has_references = any(pair.references for pair in request.pairs)
    rows = []
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
        rows.append(Row(number, hypothesis, references, source))
    return RowList(rows, "the request", has_references, has_source)
