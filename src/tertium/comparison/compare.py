"""``tertium.compare``: which system is better, and is it chance?"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence

from tertium.comparison.lists import outputs_from
from tertium.comparison.result import Comparison
from tertium.errors import CutWarning
from tertium.measures.base import CUT_REASON, Measure
from tertium.measures.inputs import References
from tertium.measures.loading import AnyModel, MeasureSpec, make_measure, model_source
from tertium.measures.registry import DEFAULT_MEASURE
from tertium.models.base import Languages, Progress
from tertium.stats.conventions import ALPHA, SAMPLES, Tail


def compare(
    systems: Mapping[str, Sequence[str]],
    references: References | None = None,
    *,
    sources: Sequence[str] | None = None,
    measures: str | Measure | Sequence[str | Measure] = DEFAULT_MEASURE,
    model: AnyModel | None = None,
    lang: Languages = None,
    reference_lang: Languages = None,
    source_lang: Languages = None,
    baseline: str | None = None,
    samples: int = SAMPLES,
    seed: int = 0,
    alpha: float = ALPHA,
    tail: Tail = "two-sided",
    progress: Progress | None = None,
) -> Comparison:
    """Compare two or more systems on one test set, by any number of measures.

    ``systems`` maps names to outputs, one for each reference (or list of references) or source.
    Higher is better. Samples are drawn once, for all systems and measures; the same ``seed`` gives
    the same numbers. ``tail`` is how the bootstrap's p is taken (see
    :func:`tertium.stats.resampling.bootstrap_p_value`).

    >>> import tertium
    >>> found = tertium.compare(
    ...     {"a": ["the cat sat", "it rained"], "b": ["a cat sits", "rain"]},
    ...     ["the cat sat", "it rained"],
    ...     measures="chrf",
    ... )
    >>> found["chrf"].best, found["chrf"].pair("a", "b").wins
    ('a', 2)
    """
    from tertium.comparison.paired import compare_outputs

    outputs = outputs_from(
        systems,
        references,
        sources=sources,
        lang=lang,
        reference_lang=reference_lang,
        source_lang=source_lang,
    )
    several = [measures] if isinstance(measures, str | Measure) else measures
    found = compare_outputs(
        outputs,
        _loaded(several, model),
        baseline=baseline,
        samples=samples,
        seed=seed,
        alpha=alpha,
        tail=tail,
        progress=progress,
    )
    for each in found.measures:
        if each.cut:
            warnings.warn(f"{each.name}: {each.cut} outputs {CUT_REASON}", CutWarning, stacklevel=2)
    return found


def _loaded(measures: Sequence[str | Measure], model: AnyModel | None) -> list[Measure]:
    """Make the measures that are given by name; they share their models."""
    source = model_source(model)
    return [
        each if isinstance(each, Measure) else make_measure(MeasureSpec.parse(each), source)
        for each in measures
    ]
