"""``tertium.compare``: clusters, pairs, contrasts, and queries that are computed once."""

from __future__ import annotations

import numpy as np
import pytest

import tertium
from tertium.comparison.compare import outputs_from
from tertium.errors import CutWarning, InputError, SamplesWarning, SettingError, TextWarning
from tertium.measures.translation import Cross, Direct, PrismSrc
from tertium.models.cached import CachedModel

from ..fakes import FakeModel

REFERENCES = [f"sentence number {number} of the test" for number in range(40)]
GOOD = REFERENCES
FAIR = [text.replace("number", "nummer") if i % 2 else text for i, text in enumerate(REFERENCES)]
ALSO_FAIR = [text if i % 2 else text.replace("number", "nummer") for i, text in enumerate(FAIR)]
BAD = [text[::-1] for text in REFERENCES]


def test_systems_are_ranked_in_clusters() -> None:
    systems = {"bad": BAD, "good": GOOD, "fair": FAIR}
    result = tertium.compare(systems, REFERENCES, measures=["chrf", "bleu"])
    for measure in result.measures:
        assert list(measure.scores) == ["good", "fair", "bad"]
        assert [list(cluster) for cluster in measure.clusters] == [["good"], ["fair"], ["bad"]]
        assert measure.best == "good"
        assert [(pair.a, pair.b) for pair in measure.pairs] == [
            ("good", "fair"),
            ("good", "bad"),
            ("fair", "bad"),
        ]
        for name, interval in measure.intervals.items():
            assert interval.low - 1e-9 <= measure.scores[name] <= interval.high + 1e-9
    pair = result["chrf"].pair("good", "fair")
    assert (pair.wins, pair.ties, pair.losses) == (20, 20, 0)
    assert result["chrf"].pair("fair", "good") == pair.swapped()
    with pytest.raises(KeyError):
        result["ter"]


def test_the_seed_decides() -> None:
    systems = {"a": FAIR, "b": ALSO_FAIR, "c": GOOD}
    runs = [tertium.compare(systems, REFERENCES, measures="chrf", seed=s) for s in (1, 1, 2)]
    documents = [run.document() for run in runs]
    assert documents[0] == documents[1] != documents[2]
    scores = [document["measures"]["chrf"]["pairs"][0]["difference"] for document in documents]
    assert scores[0] == scores[2]


def test_segments_that_differ_most() -> None:
    outputs = list(FAIR)
    outputs[7], outputs[4] = "?", "!"
    result = tertium.compare({"a": GOOD, "b": outputs}, REFERENCES, measures="chrf")
    assert result.closest_pair("chrf") == ("a", "b")
    numbers = [each.segment.number for each in result.contrasts("chrf", "a", "b", count=4)]
    assert sorted(numbers) == [5, 8]  # b is never better; half of four
    behind = result.contrasts("chrf", "b", "a", count=4)
    assert sorted(each.segment.number for each in behind) == [5, 8]
    assert all(each.difference < 0 for each in behind)
    assert result.contrasts("chrf", "a", "a") == []
    with pytest.raises(InputError, match="no system 'c'"):
        result.contrasts("chrf", "a", "c")


def test_a_wrong_name_is_answered_with_the_nearest_one() -> None:
    with pytest.raises(SettingError, match="no parameter 'measure'; did you mean measures"):
        tertium.compare({"a": GOOD, "b": BAD}, REFERENCES, measure="chrf")  # type: ignore[call-arg]
    with pytest.raises(SettingError, match="'sample'; did you mean samples"):
        tertium.compare({"a": GOOD, "b": BAD}, REFERENCES, sample=5)  # type: ignore[call-arg]


def test_the_baseline() -> None:
    systems = {"a": FAIR, "b": BAD, "c": GOOD}
    result = tertium.compare(systems, REFERENCES, measures="chrf", baseline="a")
    assert result.against("chrf") == "a"
    assert result.closest_pair("chrf") == ("a", "c")
    assert tertium.compare(systems, REFERENCES, measures="chrf").against("chrf") == "c"


def test_every_query_is_computed_once() -> None:
    model = FakeModel()
    memo = CachedModel(model)
    systems = {"a": GOOD, "b": FAIR, "c": BAD}
    tertium.compare(systems, REFERENCES, measures=[Direct(memo), Cross(memo)], lang="en")
    assert len(model.asked) == len(set(model.asked))
    assert len(model.translated) == len(set(model.translated))
    # The references are translated once, not once for each system.
    texts = [source for source, _ in model.translated]
    assert len(texts) == len({*REFERENCES, *FAIR, *BAD})


def test_the_system_score_is_that_of_the_measure() -> None:
    memo = CachedModel(FakeModel({(GOOD[0], GOOD[0]): [-0.5], (BAD[0], GOOD[0]): [-2.5]}))
    measure = Direct(memo)
    result = tertium.compare({"a": GOOD, "b": BAD}, REFERENCES, measures=[measure], lang="en")
    for name, outputs in (("a", GOOD), ("b", BAD)):
        scores = measure.score(outputs, REFERENCES, lang="en")
        assert result["direct"].scores[name] == pytest.approx(scores.system)
        row = result.systems.index(name)
        assert result["direct"].segment_scores[row].tolist() == scores.segments
        assert result["direct"].signature == scores.signature


def test_cut_outputs_are_counted() -> None:
    outputs = ["long", *GOOD[1:]]  # what the fake model cuts
    with pytest.warns(CutWarning, match="direct: 1 outputs hold text"):
        result = tertium.compare(
            {"a": GOOD, "b": outputs}, REFERENCES, measures=[Direct(FakeModel())], lang="en"
        )
    assert result["direct"].cut == 1


@pytest.mark.filterwarnings("ignore:.*untranslated copy")
def test_sources_instead_of_references() -> None:
    memo = CachedModel(FakeModel())
    with pytest.warns(TextWarning, match="most sources are in another language .en. than given"):
        result = tertium.compare(
            {"a": GOOD, "b": FAIR},
            sources=REFERENCES,
            measures=[PrismSrc(memo), Direct(memo, against="source")],
            lang="en",
            source_lang="de",
        )
    for measure in result.measures:
        assert measure.signature.choices["against"] == "source"
        assert measure.signature.choices["source_lang"] == "de"


def test_several_references() -> None:
    references = [[text, "?"] for text in REFERENCES]
    result = tertium.compare({"a": GOOD, "b": FAIR}, references, measures="bleu")
    expected = tertium.load("bleu").score(FAIR, references)
    assert result["bleu"].scores["b"] == pytest.approx(expected.system)
    assert result["bleu"].signature == expected.signature


def test_what_cannot_be_compared() -> None:
    chrf = {"measures": "chrf"}
    for systems, references, settings, words in [
        ({"a": GOOD}, REFERENCES, chrf, "nothing to compare: 1 system"),
        ({"a": GOOD, "b": GOOD[1:]}, REFERENCES, chrf, "system 'b': 39 hypotheses, but 40"),
        ({"a": ["x"], "b": ["y"]}, ["x"], chrf, "1 segment; statistical tests need at least two"),
        ({"a": GOOD, "b": "one text"}, REFERENCES, chrf, "system 'b': its outputs are a single"),
        ({"a": GOOD, "b": FAIR}, None, chrf, "references or sources must be given"),
        ({"a": GOOD, "b": FAIR}, REFERENCES, {**chrf, "baseline": "z"}, "no system 'z'"),
        ({"a": GOOD, "b": FAIR}, REFERENCES, {"measures": ["chrf", "chrf"]}, "given twice"),
        ({"a": GOOD, "b": FAIR}, REFERENCES, {"measures": "prism-src"}, "needs sources"),
        ({"a": GOOD, "b": [None, *FAIR[1:]]}, REFERENCES, chrf, "system 'b': row 1"),
    ]:
        with pytest.raises(InputError, match=words):
            tertium.compare(systems, references, **settings)  # type: ignore[arg-type]
    for settings, words in [
        ({"alpha": 5}, "alpha=5"),
        ({"samples": 0}, "samples=0"),
        ({"tail": "left"}, "tail='left'"),
    ]:
        with pytest.raises(SettingError, match=words):
            tertium.compare(
                {"a": GOOD, "b": FAIR},
                REFERENCES,
                measures="chrf",
                **settings,  # type: ignore[arg-type]
            )


def test_empty_outputs_have_a_score() -> None:
    result = tertium.compare({"a": GOOD, "b": [""] * 40}, REFERENCES, measures=["chrf", "bleu"])
    assert result["bleu"].scores["b"] == 0
    assert np.isfinite(result["chrf"].pair("a", "b").bootstrap_p)


def test_outputs_as_lists() -> None:
    outputs = outputs_from({"a": ["x", "y"], "b": ["z", "w"]}, ["r", "s"], lang=["en", "de"])
    assert {system: [row.hypothesis for row in rows] for system, rows in outputs.rows.items()} == {
        "a": [("x", "en"), ("y", "de")],
        "b": [("z", "en"), ("w", "de")],
    }
    assert outputs.sources["b"].has_references
    assert not outputs.sources["b"].has_source


def test_too_few_samples() -> None:
    with pytest.warns(SamplesWarning, match="with 10 samples, p is at least 0.091"):
        result = tertium.compare({"a": GOOD, "b": FAIR}, REFERENCES, measures="chrf", samples=10)
    assert result.smallest_p == 1 / 11
    few = tertium.compare({"a": ["x", "y"], "b": ["y", "y"]}, ["x", "y"], measures="chrf")
    assert few.smallest_p == 0.5  # two of the four ways to swap two segments
    assert "with 2 segments" in few.caution
