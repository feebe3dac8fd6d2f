"""Compare the outputs of systems that a client sends."""

from __future__ import annotations

from tertium.comparison.result import Comparison
from tertium.data.pairs import Languages
from tertium.data.records import open_table
from tertium.data.systems import SystemOutputs, outputs_from_files, outputs_from_table
from tertium.jobs.task import JobProgress
from tertium.jobs.tasks.score import ScoreTask, score_rows
from tertium.web.batching import Call
from tertium.web.limits import Limits
from tertium.web.models import BatchedEngines
from tertium.web.reading import columns_given, table_format, uploaded
from tertium.web.schema import CompareRequest
from tertium.web.service import Emit

SEGMENTS_AT_A_TIME = 16
"""After so many, the client hears how many are scored."""


def compare(
    request: CompareRequest,
    engines: BatchedEngines,
    limits: Limits,
    call: Call,
    emit: Emit = lambda _: None,
) -> Comparison:
    """Compare systems, with the same numbers as ``tertium compare``."""
    from tertium.comparison.significance import check_comparison, compare_scores
    from tertium.stats.conventions import ALPHA

    limits.check_measures(request.measures)
    measures = engines.measures(request.measures, request.settings.given(), call, request.lang)
    outputs = _outputs(request)
    _check_size(outputs, request, limits)
    check_comparison(outputs, baseline=request.baseline, samples=request.samples, alpha=ALPHA)
    for source in outputs.sources.values():
        ScoreTask(measures).check(source)
    emit({"scored": 0, "segments": outputs.count, "systems": list(outputs.systems)})

    def advance(rows: int) -> None:
        call.check()
        emit({"scored": rows // len(outputs.systems), "segments": outputs.count})

    table = score_rows(
        outputs.sources,
        measures,
        rows_at_a_time=SEGMENTS_AT_A_TIME,
        progress=JobProgress(advance, lambda *_: call.check()),
    )
    return compare_scores(
        table, outputs, baseline=request.baseline, samples=request.samples, seed=request.seed
    )


def _outputs(request: CompareRequest) -> SystemOutputs:
    languages = Languages(request.lang, request.reference_lang or request.lang, request.source_lang)
    if request.table is not None:
        with uploaded([request.table]) as [path]:
            table = open_table(
                path,
                format=table_format(path),
                replace_invalid=request.replace_invalid,
                quoting=None,
            )
            named = columns_given(table.columns())
            return outputs_from_table(
                table,
                Languages(
                    None if named["hyp_lang"] else languages.hyp,
                    None if named["ref_lang"] else languages.ref,
                    None if named["src_lang"] else languages.src,
                ),
            )
    source = [] if request.source is None else [request.source]
    with uploaded([*request.systems, *request.references, *source]) as paths:
        systems = len(request.systems)
        for path in paths:
            table_format(path)  # refuses what is not plain text
        return outputs_from_files(
            paths[:systems],
            paths[systems : systems + len(request.references)],
            paths[-1] if source else None,
            languages,
            replace_invalid=request.replace_invalid,
        )


def _check_size(outputs: SystemOutputs, request: CompareRequest, limits: Limits) -> None:
    uses_ter = limits.uses_ter(request.measures)
    characters = 0
    for segment in zip(*outputs.rows.values(), strict=True):
        first = segment[0]
        texts = [row.hypothesis.text for row in segment]
        texts += [text.text for text in first.references]
        texts += [first.source.text] if first.source else []
        limits.check_texts(texts, first.number, uses_ter)
        characters += sum(map(len, texts))
    limits.check_file(len(outputs.systems) * outputs.count, characters)
