"""Which layer of an encoder agrees best with people? (SentSim, section 5.3.)"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tertium.errors import SettingError
from tertium.measures.registry import kinds_of
from tertium.report.tables import Cell, Table
from tertium.stats.correlation import CORRELATIONS
from tertium.studies.judgements.agreement import SegmentStatistic, judged_places
from tertium.studies.judgements.sets import JudgedSet
from tertium.studies.judgements.study import ScoresByMeasure
from tertium.studies.specs import LAYER, MeasureSpec

AVERAGE = "Avg"
Curves = Mapping[str, Sequence[float]]
"""By set, a correlation for each layer."""


def layer_specs(measure: str, encoder: str, layers: Sequence[int]) -> list[MeasureSpec]:
    """The measure once for each layer.

    >>> [str(spec) for spec in layer_specs("wmd:mass=idf", "xlm-roberta-base", [8, 9])]
    ['wmd@xlm-roberta-base:mass=idf,layer=8', 'wmd@xlm-roberta-base:mass=idf,layer=9']
    """
    given = MeasureSpec.parse(measure)
    if "tokens" not in kinds_of(given.measure):
        raise SettingError(f"{measure} compares no vectors of pieces, so that no layer matters")
    return [
        MeasureSpec(given.measure, given.model or encoder, {**given.settings, LAYER: layer})
        for layer in layers
    ]


def layer_curves(
    sets: Sequence[JudgedSet],
    scores: Mapping[str, ScoresByMeasure],
    specs: Sequence[MeasureSpec],
    statistic: SegmentStatistic = "pearson",
) -> dict[str, list[float]]:
    """The correlation of every layer with people, by set, and on average if there are several."""
    correlate = CORRELATIONS[statistic]
    curves: dict[str, list[float]] = {}
    for judged in sets:
        places, human = judged_places(judged)
        found = scores[judged.name]
        curves[judged.name] = [
            float(correlate([found[str(spec)].segments[n] for n in places], human))
            for spec in specs
        ]
    if len(sets) > 1:
        columns = zip(*curves.values(), strict=True)
        curves[AVERAGE] = [sum(column) / len(column) for column in columns]
    return curves


def layer_table(curves: Curves, layers: Sequence[int], title: str) -> Table:
    """A row a layer, a column a set; the best layer of each set in bold."""
    rows = [
        [Cell(str(layer))]
        + [Cell(curve[n], ".3f", curve[n] == max(curve)) for curve in curves.values()]
        for n, layer in enumerate(layers)
    ]
    return Table(["layer", *curves], rows, title, "Bold, *: the best layer.")
