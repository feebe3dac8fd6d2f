"""Agreement with people is what scipy and sacrebleu say, and what can be worked out by hand."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from sacrebleu.metrics.bleu import BLEU
from scipy.stats import kendalltau, pearsonr, spearmanr

from tertium.data.datasets.base import JudgedSegment, RankedPair
from tertium.errors import CutWarning, DataWarning, InputError, SettingError
from tertium.measures.loading import MeasureSpec
from tertium.studies.columns import Column, agreement_table, interval_table
from tertium.studies.judgements.agreement import (
    ranking_column,
    segment_column,
    system_column,
    system_judgements,
    systems_of,
)
from tertium.studies.judgements.report import judgement_report
from tertium.studies.judgements.sets import JudgedSet, read_sets
from tertium.studies.judgements.study import JudgementStudy, MeasureScores
from tertium.studies.judgements.thresholds import Good
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
    assert scores == {
        "direct:normalized=no hyp|ref": pytest.approx([p["h", "s"]]),
        "direct:normalized=no ref|hyp": pytest.approx([p["r", "h"]]),
        "direct:normalized=no both": pytest.approx([(p["h", "s"] + p["r", "h"]) / 2]),
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
    low, high = (float(str(cell)) for cell in wide.rows[1][2:4])
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


def wmt_package(folder: Path, systems: dict[str, str]) -> None:
    """A package of zh-en in the layout of WMT 2019: rankings have the languages in the names."""

    def write(place: str, content: str) -> None:
        path = folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, "utf-8")

    write("txt/sources/newstest2019-zhen-src.zh", "一\n二\n三\n")
    write("txt/references/newstest2019-zhen-ref.en", "r1\nr2\nr3\n")
    for system, lines in systems.items():
        write(f"txt/system-outputs/newstest2019/zh-en/newstest2019.{system}.zh-en", lines)
    rankings = [
        "zh-en newstest2019 1 Baidu.6940.zh-en MSRA.6942.zh-en",
        "zh-en newstest2019 2 Baidu.6940.zh-en NEU.6832.zh-en",
        "zh-en newstest2019 3 MSRA.6942.zh-en NEU.6832.zh-en",
    ]
    write("manual/RR-seglevel.csv", "\n".join(["LP DATA SID BETTER WORSE", *rankings]) + "\n")
    scores = [f"zh-en {system}.zh-en 0.{n}" for n, system in enumerate(NAMES)]
    write("manual/DA-syslevel.csv", "\n".join(["LP SYSTEM HUMAN", *scores]) + "\n")


NAMES = ("Baidu.6940", "MSRA.6942", "NEU.6832")
OUTPUT = "one\ntwo\nthree\n"


def test_systems_of_wmt_that_have_the_languages_in_their_names(tmp_path: Path) -> None:
    wmt_package(tmp_path, dict.fromkeys(NAMES, OUTPUT))
    [judged] = read_sets("wmt19", tmp_path, ["zh-en"])
    assert judged.systems == list(NAMES)
    assert judged.system_scores == {"Baidu.6940": 0.0, "MSRA.6942": 0.1, "NEU.6832": 0.2}
    assert judged.rankings[0] == RankedPair("zh-en", "1", "Baidu.6940", "MSRA.6942")
    scores = {"m": MeasureScores([9.0, 9.0, 9.0, 5.0, 5.0, 5.0, 1.0, 1.0, 1.0])}
    column = ranking_column(judged, scores, samples=5, seed=0)
    assert (column.values["m"], column.n) == (1.0, 3)


def test_systems_and_segments_without_outputs_are_named_and_counted(tmp_path: Path) -> None:
    wmt_package(tmp_path, dict.fromkeys(NAMES[:2], OUTPUT))
    message = (
        r"wmt19 zh-en: no outputs of 1 of 3 systems: NEU\.6832 \(2 of the rankings\); "
        "2 of 3 rankings are left out"
    )
    with pytest.warns(DataWarning, match=message):
        [judged] = read_sets("wmt19", tmp_path, ["zh-en"])
    scores = {"m": MeasureScores([1.0] * 6)}
    assert ranking_column(judged, scores, samples=5, seed=0).n == 1
    short = tmp_path / "short"
    wmt_package(short, {**dict.fromkeys(NAMES[:2], OUTPUT), NAMES[2]: "one\n"})
    with pytest.warns(DataWarning) as caught:
        read_sets("wmt19", short, ["zh-en"])
    lines, missing = [str(warning.message) for warning in caught]
    assert lines.endswith("NEU.6832 has no outputs of the last 2 of 3 segments, from 2 on")
    assert missing == (
        "wmt19 zh-en: no outputs of single segments: NEU.6832 2, NEU.6832 3; "
        "2 of 3 rankings are left out"
    )


def test_every_table_says_of_how_many() -> None:
    """11 outputs of 4 systems are judged, 2 rankings; tests of thresholds have them as well."""
    rankings = [RankedPair("de-en", n, "A", "C") for n in ("0", "1")]
    judged = judged_set(rankings=rankings)
    report = judgement_report(
        [judged], study(judged, "chrf").run(), samples=10, top=3, good=Good.parse("80")
    )
    counts = {name: [str(cell) for cell in table.rows[-1]] for name, table in report.tables.items()}
    assert counts["segments"] == ["n", "11"]
    assert counts["rankings"] == ["n", "2"]
    assert counts["systems"] == ["n", "4"]
    assert counts["top-systems"] == ["n", "3"]
    for name, table in [*report.tables.items(), *report.details.items()]:
        assert table.header[-1] == "n" or table.rows[-1][0].value == "n", name
    assert str(report.details["rankings-intervals"].rows[0][-1]) == "2"


def test_significance_by_intervals_that_do_not_overlap() -> None:
    """Section 4.5: [0.4, 0.5] and [0.45, 0.6] overlap, [0.2, 0.3] does not."""
    ends = {"best": (0.45, 0.6), "tied": (0.4, 0.5), "worse": (0.2, 0.3), "unknown": (np.nan,) * 2}
    replicates = {name: np.repeat(each, 50) for name, each in ends.items()}
    values = {"best": 0.5, "tied": 0.46, "worse": 0.25, "unknown": np.nan}
    column = Column("x", values, replicates, n=7)
    assert column.not_outperformed() == {"best", "tied"}
    table = agreement_table([column], "Title", overlap=True)
    assert [row[1].bold for row in table.rows] == [True, True, False, False, False]
    assert "no other 95 % interval is above" in table.note
    judged = judged_set(rankings=[RankedPair("de-en", "0", "A", "C")])
    report = judgement_report([judged], study(judged, "chrf").run(), samples=10, intervals=True)
    for name in ("segments", "rankings", "systems"):
        assert "Prism, section 4.5" in report.tables[f"{name}-by-intervals"].note


def with_rare_systems() -> JudgedSet:
    """Systems with one output each, as in the segment-level data of WMT17."""
    judged = judged_set()
    extra = [
        JudgedSegment("0", Text(text, "en"), (Text(REFERENCES[0], "en"),), system=name, score=score)
        for name, text, score in (("E", "the cat", 40.0), ("A+B", "the cat sat", 60.0))
    ]
    return JudgedSet("toy en", "toy", [*judged.segments, *extra])


def test_a_system_with_one_output() -> None:
    """Some bootstrap samples hold no output of system E: they are of the other systems."""
    judged = with_rare_systems()
    for name in ("chrf", "bleu"):  # a mean, and a score from summed statistics
        scores = study(judged, name).run()["toy en"]
        column = system_column(judged, scores, samples=50, seed=0)
        assert np.isfinite(column.values[name])
        assert np.isfinite(column.replicates[name]).all()
    report = judgement_report([judged], {"toy en": scores}, samples=20)
    assert list(report.tables) == ["segments", "systems"]


def test_an_output_that_systems_share_counts_for_each() -> None:
    judged = with_rare_systems()
    assert list(systems_of(judged)) == ["A", "B", "C", "D", "E"]
    assert system_judgements(judged)["A"] == (95 + 90 + 99 + 60) / 4
    alone = JudgedSet("x", "x", [JudgedSegment("1", Text("h"), system="base+more")])
    assert list(systems_of(alone)) == ["base+more"]


def test_a_table_that_is_undefined_does_not_cost_the_others() -> None:
    segments = [
        JudgedSegment(str(n), Text(f"{system} {n}", "en"), (Text("a 1", "en"),), None, system, n)
        for n in range(3)
        for system in "abc"
    ]
    judged = JudgedSet("toy", "toy", segments)
    scores = study(judged, "chrf").run()
    with pytest.warns(DataWarning, match="toy is left out of the table systems: all systems"):
        report = judgement_report([judged], scores, system="accuracy", samples=5)
    assert list(report.tables) == ["segments"]


def test_texts_that_are_cut_are_marked() -> None:
    segments = [
        JudgedSegment(str(n), Text(text, "en"), (Text("r", "en"),), score=1.0)
        for n, text in enumerate(["h", "long"])
    ]
    toy = study(JudgedSet("toy", "toy", segments), "direct", models=lambda *_: FakeModel())
    with pytest.warns(CutWarning, match="1 of 2 rows"):
        toy.run()
    [row] = toy.runner.tables()["partly-scored"].rows
    assert [str(cell) for cell in row] == ["direct, toy", "1", "2"]


def test_references_are_not_replaced_by_the_source() -> None:
    segments = [JudgedSegment("7", Text("h", "en"), source=Text("q", "de"))]
    with pytest.raises(InputError, match=r"chrf compares with references.*against_source=True"):
        study(JudgedSet("toy", "toy", segments), "chrf").run()


def test_correlation_within_groups_by_hand() -> None:
    judged = judged_set()
    scores = study(judged, "chrf").run()["toy en"]
    own = scores["chrf"].segments
    for average_by in ("input", "system"):
        groups: dict[str, list[tuple[float, float]]] = {}
        for n, each in enumerate(judged.segments):
            if each.score is not None:
                name = each.id if average_by == "input" else each.system
                groups.setdefault(name, []).append((own[n], each.score))
        expected = [kendalltau(*zip(*pairs, strict=True)).statistic for pairs in groups.values()]
        column = segment_column(
            judged,
            scores,
            average_by=average_by,
            samples=30,
            seed=0,
        )
        assert column.values["chrf"] == pytest.approx(np.mean(expected))
        assert len(column.replicates["chrf"]) == 30
        assert np.nanmin(column.replicates["chrf"]) <= column.values["chrf"]


@pytest.mark.parametrize("test", ["permutation", "williams"])
def test_other_tests_between_measures(test: str) -> None:
    random = np.random.default_rng(0)
    segments = [
        JudgedSegment(str(n), Text("h"), (Text("r"),), None, system, float(random.normal()))
        for n in range(30)
        for system in "ab"
    ]
    judged = JudgedSet("toy", "toy", segments)
    human = np.array([each.score for each in segments], dtype=float)
    noise = random.normal(size=(2, len(human)))
    scores = {
        "good": MeasureScores(list(human + noise[0])),
        "bad": MeasureScores(list(noise[1])),
    }
    settings: dict[str, object] = {"statistic": "pearson", "test": test, "samples": 99, "seed": 0}
    column = segment_column(judged, scores, **settings)  # type: ignore[arg-type]
    assert column.p_values["good", "bad"] < 0.05 < column.p_values["bad", "good"]
    assert column.top() == {"good"}
    report = judgement_report([judged], {"toy": scores}, segment="pearson", test=test, samples=99)  # type: ignore[arg-type]
    assert test in report.tables["segments"].note.lower()
    with pytest.raises(SettingError, match="Williams test is for Pearson"):
        segment_column(judged, scores, test="williams", samples=5, seed=0)


@pytest.mark.filterwarnings("ignore::tertium.errors.DataWarning")
def test_tables_of_all_years(tmp_path: Path) -> None:
    for name, folder in (("wmt-da", "da"), ("mqm", "ratings"), ("stsb", "sts")):
        (tmp_path / folder).mkdir()
        with pytest.raises(InputError):
            read_sets(name, tmp_path / folder, ["en-de"])
    (tmp_path / "da" / "all.csv").write_text(
        "lp,src,mt,ref,score,system\nen-de,q,h,r,0.5,A\nen-fr,q,h,r,0.1,A\n", "utf-8"
    )
    [judged] = read_sets("wmt-da", tmp_path / "da", ["en-de"])
    assert (judged.name, judged.lang, judged.segments[0].score) == ("wmt-da en-de", "de", 0.5)
    columns = ("system", "seg_id", "rater", "source", "target", "category", "severity")
    ratings = [columns, ("A", "1", "r1", "q", "h", "Accuracy/Omission", "Major")]
    (tmp_path / "ratings" / "mqm_newstest2020_ende.tsv").write_text(
        "".join("\t".join(row) + "\n" for row in ratings), "utf-8"
    )
    [judged] = read_sets("mqm", tmp_path / "ratings", ["en-de"])
    assert judged.segments[0].score == -5.0
    (tmp_path / "sts" / "stsb-de-test.csv").write_text("a,b,2.5\n", "utf-8")
    [judged] = read_sets("stsb", tmp_path / "sts", ["de"])
    assert (judged.segments[0].references, judged.segments[0].score) == ((("b", "de"),), 2.5)
    with pytest.raises(InputError, match="mine cannot be downloaded; only stsb, wmt-da"):
        read_sets("mine", None)
