"""``tertium.compare``: which system is better, and is it chance?"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from tertium.comparison.resampled import Draws, bootstrap_systems, draw, permutation_p_values
from tertium.comparison.result import Comparison, MeasureComparison, Pair
from tertium.comparison.scoring import Advance, ScoredSystems, score_systems
from tertium.data.systems import ParallelOutputs, outputs_from
from tertium.errors import CutWarning, InputError, SettingError
from tertium.measures.base import CUT_REASON, Measure
from tertium.measures.inputs import References
from tertium.measures.registry import DEFAULT_MEASURE, AnyModel, kinds_of, load
from tertium.models.base import Languages, Progress
from tertium.stats.arrays import Floats
from tertium.stats.clusters import ALPHA, ranked_clusters
from tertium.stats.resampling import (
    LEVEL,
    SAMPLES,
    Tail,
    bootstrap_p_value,
    percentile_interval,
)

TIE = 1e-9
"""Segment scores that differ by less than this share of their size are equal but for rounding."""


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


def compare_outputs(
    outputs: ParallelOutputs,
    measures: Sequence[Measure],
    *,
    baseline: str | None = None,
    samples: int = SAMPLES,
    seed: int = 0,
    alpha: float = ALPHA,
    tail: Tail = "two-sided",
    progress: Progress | None = None,
    advance: Advance | None = None,
) -> Comparison:
    """Compare outputs that have been read."""
    if baseline is not None and baseline not in outputs.systems:
        raise InputError(f"no system {baseline!r}: there are {', '.join(outputs.systems)}")
    if not measures:
        raise SettingError("there is no measure to compare by")
    if samples < 1:
        raise SettingError(f"samples={samples!r}: it must be a whole number from 1")
    if not 0 < alpha < 1:
        raise SettingError(f"alpha={alpha!r}: it must be between 0 and 1")
    scored = score_systems(outputs, measures, progress=progress, advance=advance)
    draws = draw(len(outputs.segments), samples=samples, seed=seed)
    return Comparison(
        outputs,
        [_compared(outputs.systems, each, draws, alpha, tail) for each in scored],
        baseline,
        samples,
        seed,
        alpha,
        LEVEL,
        tail,
    )


def _compared(
    systems: Sequence[str], scored: ScoredSystems, draws: Draws, alpha: float, tail: Tail
) -> MeasureComparison:
    scores = scored.systems
    replicates = bootstrap_systems(scored.measure, scored.statistics, draws)
    permuted = permutation_p_values(scored.measure, scored.statistics, draws)
    order = sorted(range(len(systems)), key=lambda system: -scores[system])
    pairs = []
    for place, i in enumerate(order):
        for j in order[place + 1 :]:
            difference = float(scores[i] - scores[j])
            wins, ties, losses = _outcomes(scored.scores[i], scored.scores[j])
            pairs.append(
                Pair(
                    a=systems[i],
                    b=systems[j],
                    difference=difference,
                    interval=percentile_interval(replicates[i] - replicates[j]),
                    bootstrap_p=bootstrap_p_value(
                        replicates[i], replicates[j], difference, tail=tail
                    ),
                    permutation_p=float(permuted[i, j]),
                    wins=wins,
                    ties=ties,
                    losses=losses,
                )
            )
    better = np.where(scores[:, None] > scores, permuted, 1.0)
    clusters = ranked_clusters(scores.tolist(), better, alpha=alpha)
    return MeasureComparison(
        scored.measure.name,
        scored.signature,
        {systems[system]: float(scores[system]) for system in order},
        {systems[system]: percentile_interval(replicates[system]) for system in order},
        [[systems[system] for system in cluster] for cluster in clusters],
        pairs,
        scored.scores,
        int(scored.cut.sum()),
    )


def _outcomes(a: Floats, b: Floats) -> tuple[int, int, int]:
    slack = TIE * np.maximum(1.0, np.maximum(np.abs(a), np.abs(b)))
    wins, losses = int((a > b + slack).sum()), int((b > a + slack).sum())
    return wins, len(a) - wins - losses, losses


def _loaded(measures: Sequence[str | Measure], model: AnyModel | None) -> list[Measure]:
    """Make the measures that are only named; those that translate share one model."""
    translating = [
        each for each in measures if isinstance(each, str) and kinds_of(each) == {"translation"}
    ]
    translator = model
    if translating and (model is None or isinstance(model, str | Path)):
        from tertium.models.catalog import DEFAULT_MODEL, load_model

        translator = load_model(DEFAULT_MODEL if model is None else model)
    made = []
    for each in measures:
        if isinstance(each, Measure):
            made.append(each)
        elif not kinds_of(each):
            made.append(load(each))
        else:
            made.append(load(each, model=translator if each in translating else model))
    return made
