"""Agreement with people is what scipy and sacrebleu say, and what can be worked out by hand."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from sacrebleu.metrics.bleu import BLEU
from scipy.stats import kendalltau, pearsonr, spearmanr

from tertium.data.datasets.base import JudgedSegment, RankedPair
from tertium.errors import DataWarning, InputError
from tertium.measures.loading import MeasureSpec
from tertium.studies.columns import agreement_table, interval_table
from tertium.studies.judgements.agreement import (
    ranking_column,
    segment_column,
    system_column,
    system_judgements,
)
from tertium.studies.judgements.sets import JudgedSet, read_sets
from tertium.studies.judgements.study import JudgementStudy, MeasureScores
from tertium.studies.runner import CellFolder, Runner
from tertium.text import Text

from ..fakes import FakeModel

HYPOTHESES = {
    "A": ["the cat sat on the mat", "it rains a lot today", "we like tea very much"],
    "B": ["a cat is on the mat", "today it is raining", "we like the tea"],
    "C": ["cats mats", "rain rain rain", "tea"],
    "D": ["the cat sat on a mat", "it rains today", "we love tea very much"],
}
REFERENCES = ["the cat sat on the mat", "it is raining a lot today", "we like tea very much"]
HUMAN: dict[str, list[float | None]] = {
    "A": [95, 90, 99],
    "B": [80, 85, 70],
    "C": [10, 5, 20],
    "D": [90, None, 85],
}


def judged_set(**options: object) -> JudgedSet:
    segments = [
        JudgedSegment(
            str(n),
            Text(text, "en"),
            (Text(REFERENCES[n], "en"),),
            Text(f"q{n}", "de"),
            system,
            HUMAN[system][n],
        )
        for system, texts in HYPOTHESES.items()
        for n, text in enumerate(texts)
    ]
    return JudgedSet("toy en", "toy", segments, **options)  # type: ignore[arg-type]


def study(judged: JudgedSet, *names: str, **options: object) -> JudgementStudy:
    specs = [MeasureSpec.parse(name) for name in names]
    return JudgementStudy([judged], specs, **options)  # type: ignore[arg-type]


def test_segments() -> None:
    judged = judged_set()
    scores = study(judged, "chrf", "bleu").run()["toy en"]
    gold = {n: each.score for n, each in enumerate(judged.segments) if each.score is not None}
    bleu = BLEU(effective_order=True)
    own = [
        bleu.sentence_score(each.hypothesis.text, [each.references[0].text]).score
        for each in judged.segments
    ]
    assert scores["bleu"].segments == pytest.approx(own)
    x, y = [own[n] for n in gold], list(gold.values())
    for name, expected in (
        ("kendall", kendalltau(x, y).statistic),
        ("pearson", pearsonr(x, y).statistic),
        ("spearman", spearmanr(x, y).statistic),
    ):
        column = segment_column(judged, scores, statistic=name, samples=50, seed=1)  # type: ignore[arg-type]
        assert column.values["bleu"] == pytest.approx(expected)
        assert len(column.replicates["bleu"]) == 50


def test_systems_by_corpus_score() -> None:
    judged = judged_set()
    scores = study(judged, "bleu").run()["toy en"]
    human = system_judgements(judged)
    assert human["D"] == 87.5
    corpus = {
        system: BLEU().corpus_score(texts, [REFERENCES]).score
        for system, texts in HYPOTHESES.items()
    }
    column = system_column(judged, scores, samples=20, seed=0)
    x, y = [corpus[system] for system in human], list(human.values())
    assert column.values["bleu"] == pytest.approx(pearsonr(x, y).statistic)
    best = system_column(judged, scores, top=3, samples=20, seed=0)
    x, y = [corpus[system] for system in "ABD"], [human[system] for system in "ABD"]
    assert best.values["bleu"] == pytest.approx(pearsonr(x, y).statistic)
    pairs = system_column(judged, scores, statistic="accuracy", samples=20, seed=0)
    assert 0 <= pairs.values["bleu"] <= 1


def test_given_scores_of_systems() -> None:
    given = {"A": 3.0, "B": 2.0, "C": 1.0, "Z": 9.0}
    judged = judged_set(system_scores=given)
    assert system_judgements(judged) == {"A": 3.0, "B": 2.0, "C": 1.0}
    scores = study(judged, "chrf").run()["toy en"]
    column = system_column(judged, scores, statistic="spearman", samples=5, seed=0)
    assert column.values["chrf"] == pytest.approx(1)
    with pytest.raises(InputError, match="2 systems are too few"):
        system_column(judged, scores, top=2, samples=5, seed=0)


def test_relative_rankings_by_hand() -> None:
    """A is above C on 0 and 1; D is not above A on 2: (2 - 1) / 3."""
    rankings = [
        RankedPair("de-en", "0", "A", "C"),
        RankedPair("de-en", "1", "A", "C"),
        RankedPair("de-en", "2", "D", "A"),
        RankedPair("de-en", "2", "X", "A"),
    ]
    judged = judged_set(rankings=rankings)
    scores = study(judged, "chrf").run()["toy en"]
    column = ranking_column(judged, scores, samples=10, seed=0)
    assert column.values["chrf"] == pytest.approx(1 / 3)
    with pytest.raises(InputError, match="no ranking compares two outputs"):
        ranking_column(judged_set(rankings=rankings[3:]), scores, samples=10, seed=0)


def test_directions_and_the_best_reference() -> None:
    segments = [
        JudgedSegment("1", Text("h", "en"), (Text("r", "en"), Text("s", "en")), system="S", score=1)
    ]
    judged = JudgedSet("toy", "toy", segments)
    model = FakeModel(
        scores={("h", "r"): (-2.0,), ("h", "s"): (-1.0,), ("r", "h"): (-0.5,), ("s", "h"): (-3.0,)}
    )
    found = study(judged, "direct:normalized=no", "prism-ref", models=lambda *_: model).run()
    scores = {name: each.segments for name, each in found["toy"].items()}
    p = {key: float(np.exp(value[0])) for key, value in model.scores.items()}
    both = [(p["h", "r"] + p["r", "h"]) / 2, (p["h", "s"] + p["s", "h"]) / 2]
    assert scores == {
        "direct:normalized=no hyp|ref": pytest.approx([p["h", "s"]]),
        "direct:normalized=no ref|hyp": pytest.approx([p["r", "h"]]),
        "direct:normalized=no both": pytest.approx([max(both)]),
        "prism-ref": pytest.approx([-1.25]),
    }


def test_quality_estimation() -> None:
    judged = judged_set()
    model = FakeModel()
    study(judged, "prism-src", models=lambda *_: model).run()
    assert {(source, lang) for _, source, _, lang in model.asked} == {
        (f"q{n}", "de") for n in range(3)
    }
    scores = study(judged, "chrf", against_source=True).run()["toy en"]
    assert max(scores["chrf"].segments) < 50
    bare = [JudgedSegment("7", Text("h", "en"), (Text("r", "en"),))]
    with pytest.raises(InputError, match="chrf needs sources, and toy, segment 7, has none"):
        study(JudgedSet("toy", "toy", bare), "chrf", against_source=True).run()


def test_a_language_that_the_model_lacks() -> None:
    segments = [JudgedSegment("1", Text("h", "sv"), (Text("r", "sv"),))]
    toy = study(JudgedSet("toy", "toy", segments), "direct", "chrf", models=lambda *_: FakeModel())
    with pytest.warns(DataWarning, match="direct is left out of toy"):
        assert list(toy.run()["toy"]) == ["chrf"]


def test_scores_are_kept(tmp_path: Path) -> None:
    judged = judged_set()
    first = study(judged, "bleu", runner=Runner(CellFolder(tmp_path)))
    before = first.run()["toy en"]["bleu"]
    again = study(judged, "bleu", runner=Runner(CellFolder(tmp_path)))
    after = again.run()["toy en"]["bleu"]
    assert (first.runner.reused, again.runner.reused) == (0, 1)
    assert (before.segments, before.statistics) == (after.segments, after.statistics)
    other = study(judged, "bleu", runner=Runner(CellFolder(tmp_path)), against_source=True)
    other.run()
    assert other.runner.reused == 0


def test_tables() -> None:
    judged = judged_set()
    noise = list(np.random.default_rng(0).normal(size=len(judged.segments)))
    gold = [segment.score or 0.0 for segment in judged.segments]
    scores = {"good": MeasureScores(gold), "bad": MeasureScores(noise)}
    column = segment_column(judged, scores, samples=200, seed=0)
    table = agreement_table([column], "Title")
    assert table.rows[0][1].bold
    assert str(table.rows[0][1]) == "1.000"
    wide = interval_table([column], "Title")
    low, high = (float(str(cell)) for cell in wide.rows[1][2:])
    assert low <= column.values["bad"] <= high


def test_sets_are_found(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    (plain / "de-en.tsv").write_text(
        "id\tsource\treference\thypothesis\tsystem\tscore\n1\tq\tr\th\tS\t0.5\n", "utf-8"
    )
    (plain / "notes.tsv").write_text("x\n1\n", "utf-8")
    [judged] = read_sets("mine", plain)
    assert judged.name == "mine de-en"
    assert judged.segments[0].lang_pair == "de-en"
    assert read_sets("mine", plain, ["fi-en"]) == []
    wide = tmp_path / "wide"
    wide.mkdir()
    (wide / "de-en.tsv").write_text(
        "id\tsource\treference\tA.1\tB\n1\tq\tr\ta\tb\n2\tq\tr\ta\tb\n", "utf-8"
    )
    (wide / "human.tsv").write_text("pair\tsystem\tscore\nde-en\tA.1\t0.1\nde-en\tB\t-1\n", "utf-8")
    [judged] = read_sets("wmt19", wide)
    assert judged.systems == ["A.1", "B"]
    assert judged.system_scores == {"A.1": 0.1, "B": -1.0}
    assert len(judged.limited(1).segments) == 2
    with pytest.raises(InputError, match=r"has no LANG\.tsv or SRC-TGT\.tsv"):
        read_sets("other", tmp_path)
    with pytest.raises(InputError, match="which languages of wmt17"):
        read_sets("wmt17", tmp_path)


def test_published_sets_are_found(tmp_path: Path) -> None:
    key = {"instance_id": "3", "summarizer_id": "S"}
    texts = {"summary": {"text": "out"}, "references": [{"text": "one"}]}
    (tmp_path / "amr.da.generated.jsonl").write_text(json.dumps({**key, **texts}) + "\n")
    human = {"metrics": {"human": {"semantic_accuracy": [3, 2]}}}
    (tmp_path / "amr.da.metrics.jsonl").write_text(json.dumps({**key, **human}) + "\n")
    with pytest.warns(DataWarning):
        [judged] = read_sets("amr", tmp_path)
    assert (judged.name, judged.group, judged.segments[0].score) == ("amr da", "amr", 2.5)


def test_a_package_of_wmt(tmp_path: Path) -> None:
    def write(place: str, content: str) -> None:
        path = tmp_path / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, "utf-8")

    write("txt/sources/newstest2019-deen-src.de", "q1\nq2\n")
    write("txt/references/newstest2019-deen-ref.en", "r1\nr2\n")
    for system in ("A.1", "B.2"):
        write(f"txt/system-outputs/newstest2019/de-en/newstest2019.{system}.de-en", "o1\no2\n")
    write("manual-evaluation/RR-seglevel.csv", "LP DATA SID BETTER WORSE\nde-en n 2 A.1 B.2\n")
    write("manual-evaluation/DA-syslevel.csv", "LP SYSTEM HUMAN\nde-en A.1 0.2\nde-en B.2 -0.1\n")
    [judged] = read_sets("wmt19", tmp_path, ["de-en"])
    assert len(judged.segments) == 4
    assert judged.rankings == [RankedPair("de-en", "2", "A.1", "B.2")]
    assert judged.system_scores == {"A.1": 0.2, "B.2": -0.1}
