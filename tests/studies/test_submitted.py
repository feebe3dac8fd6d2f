"""Scores of submitted metrics, and judgements of mt-metrics-eval by their name."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from scipy.stats import pearsonr

from tertium.data.datasets.base import JudgedSegment, RankedPair
from tertium.errors import DataWarning, InputError
from tertium.studies.judgements.agreement import ranking_column, system_column
from tertium.studies.judgements.report import judgement_report
from tertium.studies.judgements.sets import JudgedSet, ranked_by_difference, read_sets
from tertium.studies.judgements.study import MeasureScores
from tertium.studies.judgements.submitted import add_submitted, submitted_scores
from tertium.text import Text

SYSTEMS = ("A.1", "B.2", "C.3")
HUMAN = {"A.1": 0.3, "B.2": 0.1, "C.3": -0.4}


def write(path: Path, content: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, "utf-8")


def judged_set(scores: dict[str, list[float | None]] | None = None) -> JudgedSet:
    segments = [
        JudgedSegment(
            str(n),
            Text(f"{system} {n}", "en"),
            (Text("r", "en"),),
            Text("q", "zh"),
            system,
            None if scores is None else scores[system][n - 1],
        )
        for system in SYSTEMS
        for n in (1, 2)
    ]
    rankings = [RankedPair("zh-en", "1", "A.1", "B.2"), RankedPair("zh-en", "2", "B.2", "C.3")]
    return JudgedSet(
        "wmt19 zh-en",
        "wmt19",
        segments,
        rankings if scores is None else (),
        HUMAN if scores is None else {},
    )


def test_files_of_the_metrics_tasks(tmp_path: Path) -> None:
    """METRIC LP TESTSET SYSTEM SEGMENT SCORE; other test sets, systems and languages are left."""
    rows = [
        f"YiSi-1\tzh-en\tnewstest2019\t{system}.zh-en\t{n}\t{score}"
        for system, scores in zip(SYSTEMS, ((0.9, 0.5), (0.4, 0.6), (0.1, 0.2)), strict=True)
        for n, score in enumerate(scores, start=1)
    ]
    rows += ["YiSi-1\tde-en\tnewstest2019\tA.1\t1\t7", "YiSi-1\tzh-en\tother\tZ\t1\t7"]
    with gzip.open(tmp_path / "YiSi-1.seg.score.gz", "wt", encoding="utf-8") as stream:
        stream.write("\n".join(rows) + "\n")
    systems = [f"BLEU\tzh-en\tnewstest2019\t{system}\t{n}" for n, system in enumerate(SYSTEMS)]
    write(tmp_path / "deep" / "BLEU.sys.score", "\n".join(systems) + "\n")
    judged = judged_set()
    scores = submitted_scores(judged, [tmp_path])
    assert scores["YiSi-1"].segments == [0.9, 0.5, 0.4, 0.6, 0.1, 0.2]
    column = ranking_column(judged, scores, samples=5, seed=0)
    assert column.values == {"YiSi-1": 1.0}  # BLEU has no scores of segments
    column = system_column(judged, scores, samples=20, seed=0)
    human = list(HUMAN.values())
    assert column.values["BLEU"] == pytest.approx(pearsonr([0, 1, 2], human).statistic)
    assert set(column.replicates["BLEU"]) == {column.values["BLEU"]}
    assert column.values["YiSi-1"] == pytest.approx(pearsonr([0.7, 0.5, 0.15], human).statistic)


def test_files_of_mt_metrics_eval(tmp_path: Path) -> None:
    scores = "".join(f"{system}\t{n}.5\n" for system in SYSTEMS for n in (1, 2))
    write(tmp_path / "metric-scores" / "zh-en" / "COMET-refA.seg.score", scores)
    write(tmp_path / "metric-scores" / "de-en" / "COMET-refA.seg.score", scores)
    found = submitted_scores(judged_set(), [tmp_path])
    assert list(found) == ["COMET-refA"]
    assert found["COMET-refA"].segments == [1.5, 2.5] * 3


def test_scores_that_are_incomplete_contradictory_or_of_other_systems(tmp_path: Path) -> None:
    file = tmp_path / "zh-en" / "M.seg.score"
    write(file, "A.1 0.9\nA.1 0.8\nB.2 0.7\nB.2 0.6\nC.3 0.5\n")
    scores = submitted_scores(judged_set(), [file])
    with pytest.warns(DataWarning, match=r"M is left out, without scores of 1 of 4 outputs.*C\.3"):
        assert not ranking_column(judged_set(), scores, samples=5, seed=0).values
    write(file, "A.1 0.9 x\n")
    with pytest.raises(InputError, match=r"3 fields.*the formats are"):
        submitted_scores(judged_set(), [file])
    twice = tmp_path / "M.sys.score"
    write(twice, "M zh-en one A.1 0.5\nM zh-en two A.1 0.6\n")
    with pytest.raises(InputError, match=r"row 2: M has two scores for A\.1"):
        submitted_scores(judged_set(), [twice])
    write(twice, "M zh-en one Z 0.5\n")
    with pytest.raises(InputError, match="no scores of the systems of wmt19 zh-en"):
        add_submitted([judged_set()], {"wmt19 zh-en": {}}, [twice])
    with pytest.raises(InputError, match="absent does not exist"):
        submitted_scores(judged_set(), [tmp_path / "absent"])


def test_submitted_metrics_are_in_every_table(tmp_path: Path) -> None:
    file = tmp_path / "zh-en" / "M.seg.score"
    write(file, "".join(f"{system} 0.{n}\n" for n, system in enumerate(SYSTEMS) for _ in (1, 2)))
    judged = judged_set()
    scores = {judged.name: {"M": MeasureScores([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])}}
    add_submitted([judged], scores, [file])
    report = judgement_report([judged], scores, samples=10, top=3)
    for name in ("rankings", "systems", "top-systems"):
        names = [row[0].value for row in report.tables[name].rows]
        assert names == ["M", "M (submitted)", "n"]


def test_rankings_from_raw_direct_assessments() -> None:
    """Differences of 25 points count: A over B and C on 1; on 2, A was not judged, and B ties C."""
    judged = judged_set({"A.1": [90.0, None], "B.2": [65.0, 50.0], "C.3": [10.0, 74.0]})
    ranked = ranked_by_difference(judged, 25)
    assert ranked.rankings == [
        RankedPair("zh-en", "1", "A.1", "B.2"),
        RankedPair("zh-en", "1", "A.1", "C.3"),
        RankedPair("zh-en", "1", "B.2", "C.3"),
    ]
    assert len(ranked_by_difference(judged, 24).rankings) == 4
    published = judged_set()
    assert ranked_by_difference(published, 25) is published
    with pytest.raises(InputError, match=r"differ by 99 points; .*score='wmt-raw'"):
        ranked_by_difference(judged, 99)


@pytest.mark.parametrize("name", ["wmt-raw", "wmt", "wmt-z", "mqm", "esa", "esa-gemba"])
def test_every_human_score_of_mt_metrics_eval(tmp_path: Path, name: str) -> None:
    write(tmp_path / "sources" / "zh-en.txt", "一\n二\n")
    write(tmp_path / "references" / "zh-en.refA.txt", "a1\na2\n")
    for system in SYSTEMS:
        write(tmp_path / "system-outputs" / "zh-en" / f"{system}.txt", "o1\no2\n")
    place = tmp_path / "human-scores" / f"zh-en.{name}.seg.score"
    write(place, "".join(f"{system}\t{n}0\n" for system in SYSTEMS for n in (1, 2)))
    [judged] = read_sets("wmt19", tmp_path, ["zh-en"], name)
    assert [segment.score for segment in judged.segments] == [10.0, 20.0] * 3
    assert not judged.system_scores
    systems = "".join(f"{system}\t{score}\n" for system, score in HUMAN.items())
    write(place.with_name(f"zh-en.{name}.sys.score"), systems + "D.4\tNone\n")
    assert read_sets("wmt19", tmp_path, ["zh-en"], name)[0].system_scores == HUMAN
    place.unlink()
    [judged] = read_sets("wmt19", tmp_path, ["zh-en"], name)
    assert [segment.score for segment in judged.segments] == [None] * 6
    assert judged.systems == list(SYSTEMS)
    with pytest.raises(InputError, match=f"no human scores 'other'.*there are {name}$"):
        read_sets("wmt19", tmp_path, ["zh-en"], "other")
