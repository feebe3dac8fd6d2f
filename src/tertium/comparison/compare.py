"""``tertium.compare``: which system is better, and is the difference significant?"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict, Unpack

from tertium.comparison.result import Comparison
from tertium.data.systems import SystemOutputs
from tertium.errors import (
    CutWarning,
    InputError,
    SamplesWarning,
    SettingError,
    TextWarning,
    did_you_mean,
    warn_caller,
)
from tertium.jobs.task import NO_PROGRESS, JobProgress
from tertium.measures.base import CUT_REASON, WARNED, Measure
from tertium.measures.inputs import Column, References, repeatable, rows_from
from tertium.measures.loading import AnyModel, MeasureSpec, make_measure, model_source
from tertium.measures.marks import REASONS
from tertium.measures.registry import DEFAULT_MEASURE
from tertium.models.base import Languages, Progress
from tertium.stats.conventions import ALPHA, SAMPLES, Tail
from tertium.text import Row


class Statistics(TypedDict, total=False):
    """How differences between systems are tested."""

    samples: int
    seed: int
    alpha: float
    tail: Tail


def compare(
    systems: Mapping[str, Column],
    references: References | None = None,
    *,
    sources: Column | None = None,
    measures: str | Measure | Sequence[str | Measure] = DEFAULT_MEASURE,
    model: AnyModel | None = None,
    lang: Languages = None,
    reference_lang: Languages = None,
    source_lang: Languages = None,
    baseline: str | None = None,
    progress: Progress | None = None,
    **statistics: Unpack[Statistics],
) -> Comparison:
    """Compare two or more systems on one test set, with any number of measures.

    ``systems`` maps names to outputs, one for each reference (or list of references) or source.
    Higher is better. ``statistics`` are ``samples`` (1000), ``seed`` (0), ``alpha`` (0.05) and
    ``tail`` ("two-sided"), the p-value of the bootstrap (see
    :func:`tertium.stats.resampling.bootstrap_p_value`). Samples are drawn once, for all systems and
    measures; the same ``seed`` gives the same numbers.

    >>> import tertium
    >>> result = tertium.compare(
    ...     {"a": ["the cat sat", "it rained"], "b": ["a cat sits", "rain"]},
    ...     ["the cat sat", "it rained"],
    ...     measures="chrf",
    ... )
    >>> result["chrf"].best, result["chrf"].pair("a", "b").wins
    ('a', 2)
    """
    from tertium.comparison.significance import check_comparison, compare_scores
    from tertium.jobs.tasks.score import score_rows

    outputs = outputs_from(
        systems,
        references,
        sources=sources,
        lang=lang,
        reference_lang=reference_lang,
        source_lang=source_lang,
    )
    for name in statistics.keys() - Statistics.__annotations__.keys():
        known = list(inspect.signature(compare).parameters)[:-1] + list(Statistics.__annotations__)
        raise SettingError(f"compare has no parameter {name!r}{did_you_mean(name, known)}")
    samples = statistics.get("samples", SAMPLES)
    alpha = statistics.get("alpha", ALPHA)
    check_comparison(outputs, baseline=baseline, samples=samples, alpha=alpha)
    several = [measures] if isinstance(measures, str | Measure) else measures
    if not several:
        raise SettingError("no measure given")
    made = _loaded(several, model, lang if isinstance(lang, str) else None)
    shown = NO_PROGRESS if progress is None else JobProgress(detail=progress)
    result = compare_scores(
        score_rows(outputs.sources, made, progress=shown),
        outputs,
        baseline=baseline,
        **statistics,
    )
    for each in result.measures:
        if each.cut:
            warn_caller(f"{each.name}: {each.cut} outputs {CUT_REASON}", CutWarning)
        for mark in WARNED[1:]:
            if counts := each.marks.get(mark):
                text = f"{each.name}: {sum(counts.values())} outputs {REASONS[mark]}"
                warn_caller(text, TextWarning)
        for message in each.warnings:
            warn_caller(f"{each.name}: {message}", TextWarning)
    if 1 / (samples + 1) >= alpha:
        warn_caller(result.caution, SamplesWarning)
    return result


def outputs_from(
    systems: Mapping[str, Column],
    references: References | None = None,
    *,
    sources: Column | None = None,
    lang: Languages = None,
    reference_lang: Languages = None,
    source_lang: Languages = None,
) -> SystemOutputs:
    """Combine lists of outputs, one list per system, with references and sources."""
    if references is None and sources is None:
        raise InputError("references or sources must be given")
    if isinstance(references, str) or isinstance(sources, str):
        raise InputError("references and sources are lists, with one for each output")
    references = repeatable(references)
    originals: Sequence[str] | None = repeatable(sources)
    lists: dict[str, Any] = {name: repeatable(outputs) for name, outputs in systems.items()}
    rows: dict[str, list[Row]] = {}
    for name, outputs in lists.items():
        if isinstance(outputs, str):
            raise InputError(f"system {name!r}: its outputs are a single string, not a list")
        try:
            rows[name] = rows_from(
                outputs,
                references,
                sources=originals,
                lang=lang,
                reference_lang=reference_lang,
                source_lang=source_lang,
            )
        except InputError as error:
            raise error.at(f"system {name!r}: ") from None
    if len({len(each) for each in rows.values()}) > 1:
        sizes = ", ".join(f"{name} has {len(outputs)}" for name, outputs in lists.items())
        raise InputError(f"the systems differ in their number of outputs: {sizes}")
    return SystemOutputs(rows)


def _loaded(
    measures: Sequence[str | Measure], model: AnyModel | None, lang: str | None
) -> list[Measure]:
    """Make the measures that are given by name; they share their models."""
    source = model_source(model)
    return [
        each
        if isinstance(each, Measure)
        else make_measure(MeasureSpec.parse(each), source, lang=lang)
        for each in measures
    ]
