"""Several measures and systems in Python; columns of other libraries; scores in notebooks."""

from __future__ import annotations

import json
import logging

import numpy as np
import pandas as pd
import pytest

import tertium
from tertium.errors import InputError, SettingError, TextWarning

HYPOTHESES = ["The cat sat on a mat.", "It rained all day.", "She is home."]
REFERENCES = ["The cat sat on the mat.", "It rained all day.", "She is at home."]
SOURCES = ["Die Katze saß auf der Matte.", "Es regnete den ganzen Tag.", "Sie ist zu Hause."]


class Series:
    """What a column of polars has in common with one of pandas, and what it has not."""

    def __init__(self, values: list[str]) -> None:
        self.values = values

    def to_list(self) -> list[str]:
        return list(self.values)


def test_several_measures_give_a_table() -> None:
    table = tertium.score(HYPOTHESES, REFERENCES, measure=["chrf", "cross"])
    assert isinstance(table, tertium.ScoreTable)
    assert table.measures == ("chrf", "cross")
    for name in table.measures:
        expected = tertium.load(name).score(HYPOTHESES, REFERENCES)
        assert table[name].segments == expected.segments
        assert table[name].system == expected.system
        assert table[name].signature == expected.signature


def test_several_systems_give_a_table() -> None:
    systems = {"a": HYPOTHESES, "b": REFERENCES}
    table = tertium.score(systems, REFERENCES, measure="chrf")
    assert table["b", "chrf"].system == 100
    frame = table.to_pandas()
    assert list(frame.index) == ["a", "b"]
    assert frame.loc["a", "chrf"] == table["a", "chrf"].system
    assert len(table.to_pandas(segments=True)) == 6
    with pytest.raises(KeyError, match="several systems"):
        table["chrf"]
    with pytest.raises(InputError, match="no system"):
        tertium.score({}, REFERENCES, measure="chrf")
    with pytest.raises(SettingError, match="no measure"):
        tertium.score(HYPOTHESES, REFERENCES, measure=[])


def test_marks_are_a_column_of_the_table() -> None:
    systems = {"copy": SOURCES, "real": HYPOTHESES, "gap": ["", *HYPOTHESES[1:]]}
    with pytest.warns(TextWarning, match="untranslated copy"):
        table = tertium.score(systems, REFERENCES, sources=SOURCES, measure=["chrf", "ter"])
    assert table.marks("copy") == {"copy": 3}
    assert table.table().text().splitlines()[0].split() == ["system", "chrf", "ter", "marks"]
    assert "copy 3" in table.table().csv()
    assert [bool(table.marks(system)) for system in table.systems] == [True, False, True]
    clean = tertium.score({"real": HYPOTHESES}, REFERENCES, measure=["chrf", "ter"])
    assert "marks" not in str(clean)


def test_settings_reach_the_measures_that_have_them() -> None:
    table = tertium.score(HYPOTHESES, REFERENCES, measure=["chrf", "bleu"], word_order=2)
    assert table["chrf"].system == tertium.load("chrf++").score(HYPOTHESES, REFERENCES).system
    with pytest.raises(SettingError, match="no setting beam_size"):
        tertium.score(HYPOTHESES, REFERENCES, measure=["chrf", "bleu"], beam_size=1)


@pytest.mark.parametrize("column", [iter, np.array, pd.Series, tuple, Series])
def test_columns_of_any_kind(column: type) -> None:
    expected = tertium.score(HYPOTHESES, REFERENCES, measure="chrf")
    assert tertium.score(column(HYPOTHESES), column(REFERENCES), measure="chrf") == expected
    table = tertium.score(column(HYPOTHESES), column(REFERENCES), measure=["chrf", "bleu"])
    assert table["chrf"].segments == expected
    systems = {"a": column(HYPOTHESES), "b": column(REFERENCES)}
    compared = tertium.compare(systems, column(REFERENCES), measures="chrf", samples=100)
    assert compared["chrf"].best == "b"
    source = tertium.load("chrf", against="source")
    by_source = source(HYPOTHESES, sources=SOURCES)
    assert source(column(HYPOTHESES), sources=column(SOURCES)) == by_source


def test_several_references_in_columns() -> None:
    others = ["x", "y", "She is home."]
    expected = tertium.score(HYPOTHESES, list(zip(REFERENCES, others, strict=True)), measure="chrf")
    frame = pd.DataFrame({"one": REFERENCES, "two": others})
    assert tertium.score(HYPOTHESES, frame, measure="chrf") == expected
    assert tertium.score(HYPOTHESES, frame.to_numpy(), measure="chrf") == expected
    pairs = (iter(pair) for pair in zip(REFERENCES, others, strict=True))
    table = tertium.score(HYPOTHESES, pairs, measure=["bleu", "chrf"])  # iterated for both
    assert table["chrf"].segments == expected


def test_a_missing_value_is_named() -> None:
    with pytest.raises(InputError, match="row 2: the hypothesis is float"):
        tertium.score(pd.Series(["a", np.nan], dtype=object), ["a", "b"], measure="chrf")


@pytest.mark.parametrize("name", ["chrf", "cross", "bertscore"])
def test_which_reference_is_best(name: str) -> None:
    references = [["Something else.", HYPOTHESES[0]], [HYPOTHESES[1], "No."], ["x", HYPOTHESES[2]]]
    made = tertium.load(name)
    assert made.score(HYPOTHESES, references).best_reference == [1, 0, 1]
    assert made.score(HYPOTHESES, REFERENCES).best_reference == [0, 0, 0]
    source = tertium.load(name, against="source")
    assert source.score(HYPOTHESES, sources=SOURCES).best_reference == [None] * 3


def test_no_reference_is_best_where_all_count() -> None:
    references = [[text, text] for text in REFERENCES]
    assert tertium.load("bleu").score(HYPOTHESES, references).best_reference == [None] * 3
    mean = tertium.load("cross", references="mean")
    assert mean.score(HYPOTHESES, references).best_reference == [None] * 3


def test_scores_as_a_data_frame_and_in_a_notebook() -> None:
    scores = tertium.load("chrf").score(HYPOTHESES * 5, REFERENCES * 5)
    frame = scores.to_pandas()
    assert list(frame["score"]) == scores.segments
    assert list(frame["best_reference"]) == [0] * 15
    html = scores._repr_html_()
    assert f"<b>{scores.system:.2f}</b>" in html
    assert "5 more" in html
    table = tertium.score({"<a>": HYPOTHESES, "b": REFERENCES}, REFERENCES, measure=["chrf"])
    assert "&lt;a&gt;" in table._repr_html_()


def test_intervals_are_those_of_compare() -> None:
    systems = {"a": HYPOTHESES, "b": REFERENCES[::-1]}
    table = tertium.score(systems, REFERENCES, measure=["chrf", "cross"])
    compared = tertium.compare(systems, REFERENCES, measures=["chrf", "cross"], samples=200, seed=3)
    for name in table.measures:
        for system in systems:
            ours = table[system, name].confidence(samples=200, seed=3)
            theirs = compared[name].intervals[system]
            assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high))


def test_comparisons_and_explanations_in_a_notebook() -> None:
    systems = {"a": HYPOTHESES, "b": REFERENCES}
    compared = tertium.compare(systems, REFERENCES, measures=["chrf"], samples=100)
    assert "100.00" in compared._repr_html_()
    explained = tertium.explain("I see a dog.", "I see a cat.", lang="en")
    assert "dog" in explained._repr_html_()


def test_models_describe_themselves() -> None:
    model = tertium.load_model("tertium-mini")
    assert "'tertium-mini', languages=de+en+es+fr, fingerprint=" in repr(model)
    assert "precision=float32" in repr(model)
    assert "'tertium-mini'" in repr(tertium.load_encoder("tertium-mini"))


def test_variants_have_a_name_of_their_own() -> None:
    table = tertium.score(HYPOTHESES, REFERENCES, measure=["chrF++", "chrf", "chrf:beta=1"])
    assert table.measures == ("chrf++", "chrf", "chrf:beta=1")
    same = tertium.load("chrf:word_order=2").score(HYPOTHESES, REFERENCES)
    assert table["chrf++"].system == same.system
    assert table["chrf++"].signature == same.signature
    assert tertium.load("bert-score").name == "bertscore"
    with pytest.raises(SettingError, match="given twice"):
        tertium.score(HYPOTHESES, REFERENCES, measure=["chrf", "chrf"])


def test_loading_a_model_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="tertium"):
        tertium.load("cross")
    assert "loading translation model tertium-mini" in caplog.text


def test_the_table_as_json() -> None:
    table = tertium.score(HYPOTHESES, REFERENCES, measure=["chrf"])
    document = json.loads(json.dumps(table.document(confidence=True, samples=10)))
    entry = document["hypotheses"]["chrf"]
    assert entry["low"] <= entry["system"] <= entry["high"]
