"""Do measures prefer the translations of the model that they measure with?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from tertium.data.datasets.base import JudgedSegment
from tertium.errors import InputError
from tertium.models.base import Progress, TranslationModel
from tertium.models.languages import source_language
from tertium.report.tables import Cell, Table
from tertium.stats.resampling import bootstrap_counts, percentile_interval
from tertium.studies.judgements.sets import JudgedSet
from tertium.text import Text

if TYPE_CHECKING:
    from tertium.studies.judgements.study import MeasureScores, ScoresByMeasure

OWN = "own translations"
NOTE = (
    "Of all pairs of an own translation and an output of a system for the same input, the share "
    "where the own one scores higher (ties count half), with a 95 % interval (bootstrap over "
    "inputs). A measure that is not based on the model says how good its translations are; a "
    "larger share means that a measure prefers its own."
)


def own_name(judged: JudgedSet) -> str:
    """The name of the set with the model's own translations."""
    return f"{judged.name}, {OWN}"


def own_set(
    judged: JudgedSet, model: TranslationModel, progress: Progress | None = None
) -> JudgedSet:
    """The model's own translation of each source, as the output of another system."""
    inputs: dict[str, JudgedSegment] = {}
    for segment in judged.segments:
        inputs.setdefault(segment.id, segment)
    for segment in inputs.values():
        if segment.source is None:
            raise InputError(
                f"{judged.name}, segment {segment.id}: there is no source to translate",
                cure="leave out {own_translations:True}",
            )
    sources = [segment.source for segment in inputs.values() if segment.source is not None]
    for lang in {source.lang for source in sources if source.lang is not None}:
        source_language(model, lang)  # also for a model that does not need to know it
    langs = [segment.hypothesis.lang for segment in inputs.values()]
    translations = model.translate(
        [source.text for source in sources],
        target_lang=langs,
        source_lang=[source.lang for source in sources],
        progress=progress,
    )
    segments = [
        JudgedSegment(
            segment.id, Text(made.text, lang), segment.references, segment.source, model.name
        )
        for segment, made, lang in zip(inputs.values(), translations, langs, strict=True)
    ]
    return JudgedSet(own_name(judged), judged.group, segments)


def preference_table(
    sets: Sequence[JudgedSet],
    scores: Mapping[str, ScoresByMeasure],
    *,
    samples: int,
    seed: int,
) -> Table:
    """How often the model's own translation scores above the outputs of the systems."""
    rows = []
    for judged in sets:
        own = scores[own_name(judged)]
        for name, others in scores[judged.name].items():
            if name in own:
                wins, pairs = _wins(judged, others, own[name])
                counts = bootstrap_counts(len(wins), samples=samples, seed=seed)
                interval = percentile_interval(100 * (counts @ wins) / (counts @ pairs))
                share = 100 * wins.sum() / pairs.sum()
                cells = [Cell(value, ".1f") for value in (share, interval.low, interval.high)]
                rows.append([Cell(f"{judged.name}, {name}"), *cells, Cell(len(wins), "d")])
    return Table(["", "own wins", "low", "high", "n"], rows, "Self-preference", NOTE)


def _wins(
    judged: JudgedSet, others: MeasureScores, own: MeasureScores
) -> tuple[np.ndarray, np.ndarray]:
    """For each input, how many outputs score below the own translation, and how many there are."""
    by_input: dict[str, list[float]] = defaultdict(list)
    for segment, score in zip(judged.segments, others.segments, strict=True):
        by_input[segment.id].append(score)
    wins = [
        sum((score < mine) + (score == mine) / 2 for score in by_input[id_])
        for id_, mine in zip(by_input, own.segments, strict=True)
    ]
    return np.array(wins, float), np.array([len(each) for each in by_input.values()], float)
