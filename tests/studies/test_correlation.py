"""Which layer agrees best with people: the right numbers, in the right places."""

from __future__ import annotations

import pytest
from scipy.stats import pearsonr, spearmanr

from tertium.data.datasets.base import JudgedSegment
from tertium.errors import SettingError
from tertium.studies.correlation import layer_curves, layer_specs, layer_table
from tertium.studies.judgements.sets import JudgedSet
from tertium.studies.judgements.study import MeasureScores
from tertium.text import Text

HUMAN = [3.0, 1.0, None, 2.0, 5.0]
LAYER_1 = [0.1, 0.2, 0.9, 0.3, 0.4]
LAYER_2 = [0.5, 0.1, 0.0, 0.3, 0.9]


def judged(name: str) -> JudgedSet:
    segments = [
        JudgedSegment(str(n), Text("a", "en"), (Text("b", "en"),), score=score)
        for n, score in enumerate(HUMAN)
    ]
    return JudgedSet(name, "set", segments)


def test_curves_are_correlations_of_what_was_judged() -> None:
    specs = layer_specs("wmd", "some", [1, 2])
    scores = {
        "one": {str(specs[0]): MeasureScores(LAYER_1), str(specs[1]): MeasureScores(LAYER_2)},
        "two": {str(specs[0]): MeasureScores(LAYER_2), str(specs[1]): MeasureScores(LAYER_1)},
    }
    human = [score for score in HUMAN if score is not None]
    first, second = (
        [x for x, score in zip(layer, HUMAN, strict=True) if score is not None]
        for layer in (LAYER_1, LAYER_2)
    )
    curves = layer_curves([judged("one"), judged("two")], scores, specs)
    one = [pearsonr(first, human).statistic, pearsonr(second, human).statistic]
    assert curves["one"] == pytest.approx(one)
    assert curves["two"] == pytest.approx(one[::-1])
    assert curves["Avg"] == pytest.approx([sum(one) / 2] * 2)
    ranks = layer_curves([judged("one")], scores, specs, "spearman")
    assert list(ranks) == ["one"]
    assert ranks["one"][1] == pytest.approx(spearmanr(second, human).statistic)


def test_the_best_layer_stands_out() -> None:
    table = layer_table({"de-en": [0.1, 0.3, 0.2]}, [4, 5, 6], "title")
    assert [[str(row[0]), row[1].bold] for row in table.rows] == [
        ["4", False],
        ["5", True],
        ["6", False],
    ]


def test_a_measure_without_layers() -> None:
    with pytest.raises(SettingError, match="no layer matters"):
        layer_specs("chrf", "some", [1])
