"""Sweeps, thresholds and self-preference of the study of human judgements, worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tertium.data.datasets.base import JudgedSegment
from tertium.errors import InputError, LanguageError, SettingError
from tertium.measures.loading import MeasureSpec
from tertium.stats.classification import Point, best_f1, precision_recall_points
from tertium.studies.judgements.report import judgement_report
from tertium.studies.judgements.self_preference import own_name, own_set, preference_table
from tertium.studies.judgements.sets import JudgedSet
from tertium.studies.judgements.study import JudgementStudy, MeasureScores
from tertium.studies.judgements.sweep import Sweep
from tertium.studies.judgements.thresholds import Good, filtering_table, reranking_table
from tertium.text import Text

from ..fakes import FakeModel

# Human scores and scores of a measure, for four inputs with two outputs each.
HUMAN = [(90, 40), (80, 85), (30, 20), (95, 10)]
MEASURE = [(0.9, 0.3), (0.8, 0.6), (0.7, 0.2), (0.4, 0.5)]


def judged_set() -> JudgedSet:
    segments = [
        JudgedSegment(
            f"i{n}",
            Text(f"h{n}{system}", "en"),
            (Text("r", "en"),),
            Text(f"s{n}", "de"),
            system,
            HUMAN[n][place],
        )
        for n in range(4)
        for place, system in enumerate("AB")
    ]
    return JudgedSet("toy", "toy", segments)


def scores() -> dict[str, dict[str, MeasureScores]]:
    return {"toy": {"m": MeasureScores([score for pair in MEASURE for score in pair])}}


def values(table_row: object) -> list[object]:
    return [cell.value for cell in table_row]  # type: ignore[attr-defined]


def test_points_by_hand() -> None:
    points = precision_recall_points([True, False, True, True], [0.9, 0.5, 0.5, 0.1])
    assert points == [
        Point(0.9, 1.0, 1 / 3, 2 / 4),
        Point(0.5, 2 / 3, 2 / 3, 4 / 6),
        Point(0.1, 3 / 4, 1.0, 6 / 7),
    ]
    assert best_f1(points).threshold == 0.1
    assert precision_recall_points([False], [1.0], positives=2) == [Point(1.0, 0.0, 0.0, 0.0)]
    with pytest.raises(InputError, match="nothing to find"):
        precision_recall_points([False], [1.0])


def test_filtering_by_hand() -> None:
    """Good from 80: i0 A, i1 A and B, i3 A.

    Inputs i0 and i2 have the scores .9 (good), .7, .3, .2: the best threshold is .9. Inputs i1 and
    i3 have .8 (good), .6 (good), .5, .4 (good): F1 is 4/5 at .6, and 6/7 at .4. With .9 nothing of
    i1 and i3 is kept; with .4, i0 A (good) and i2 A. So 1 of 2 kept are good, of 4 good ones. On
    all, 4/6 at .8 (2 kept), 6/8 at .6 (4 kept) and 8/10 at .4 (6 kept): the best is .4.
    """
    table = filtering_table([judged_set()], scores(), Good(score=80))
    first, second = map(values, table.rows)
    assert first == ["toy (good: 80), all", 50.0, 100.0, pytest.approx(200 / 3), None, 8]
    assert second == ["toy, m", 50.0, 25.0, pytest.approx(200 / 6), 0.4, 8]


def test_reranking_by_hand() -> None:
    """Chosen: i0 A (good, the best), i1 A (good, not the best), i2 A (the best), i3 B.

    Three inputs have a good output. On i0 and i2 the threshold is .9, so nothing of i1 and i3 is
    chosen; on i1 and i3 it is .8 (F1 2/3, of one chosen and two to find), so i0 A is chosen.
    """
    table = reranking_table([judged_set()], scores(), Good(score=80))
    assert table is not None
    [row] = map(values, table.rows)
    expected = [100.0, pytest.approx(100 / 3), pytest.approx(50.0), 0.8, 50.0, 4]
    assert row == ["toy, m", *expected]


def test_good_outputs() -> None:
    judged = judged_set()
    assert Good.parse("25%").labels(judged)[1] == [True, *[False] * 5, True, False]
    with pytest.raises(InputError, match="on the same side"):
        Good.parse("0").labels(judged)
    with pytest.raises(InputError, match="too few good outputs"):
        Good.parse("95").labels(judged)
    for text in ("high", "0%", "100%"):
        with pytest.raises(SettingError, match=f"good=.*{text}"):
            Good.parse(text)


def test_self_preference_by_hand() -> None:
    """The own translation wins 2 of 2, 1.5 of 2 (a tie), 0 and 0: 3.5 of 8."""
    judged = judged_set()
    own = MeasureScores([1.0, 0.8, 0.1, 0.3])
    all_scores = {**scores(), own_name(judged): {"m": own}}
    [row] = map(values, preference_table([judged], all_scores, samples=200, seed=1).rows)
    assert row[:2] == ["toy, m", 43.75]
    assert 0 <= row[2] < 43.75 < row[3] <= 100  # type: ignore[operator]


def test_own_translations_are_scored() -> None:
    model = FakeModel(translations={"s0": "t0", "s1": "t1"})
    judged = judged_set()
    made = own_set(judged, model)
    assert [each.hypothesis for each in made.segments[:2]] == [Text("t0", "en"), Text("t1", "en")]
    assert [each.system for each in made.segments] == ["fake"] * 4
    assert model.translated == [(f"s{n}", "en") for n in range(4)]
    study = JudgementStudy(
        [judged],
        [MeasureSpec("chrf"), MeasureSpec("prism-src")],
        models=lambda *_: model,
        own_translations=True,
    )
    assert study.size == 2 * (8 + 4)
    found = study.run()
    assert list(found) == ["toy", own_name(judged)]
    report = judgement_report([judged], found, samples=20)
    assert [row[0].value for row in report.tables["self-preference"].rows] == [
        "toy, chrf",
        "toy, prism-src",
    ]
    [russian] = own_set(judged, model).segments[:1]
    source = replace(russian, source=Text("s", "ru"))
    with pytest.raises(LanguageError, match="'ru'"):
        own_set(JudgedSet("no", "no", [source]), model)
    without = JudgedSet("no", "no", [JudgedSegment("1", Text("a", "en"))])
    with pytest.raises(InputError, match="no, segment 1: there is no source"):
        own_set(without, model)


def test_a_sweep_by_hand(tmp_path: Path) -> None:
    """H(sys|ref) rises with the human score and H(ref|sys) falls: alpha decides the sign."""
    table = {}
    for n in range(4):
        for place, system in enumerate("AB"):
            human = float(HUMAN[n][place])
            table[f"h{n}{system}", "r"] = (human - 100,)
            table["r", f"h{n}{system}"] = (-human,)
    specs = [MeasureSpec("prism-ref"), MeasureSpec("prism-ref", settings={"aggregate": "G"})]
    specs.append(MeasureSpec("chrf"))
    sweep = Sweep.parse("alpha=0, 0.25,1", specs)
    assert [str(spec) for spec in sweep.specs(specs)][:3] == [
        "chrf",
        "prism-ref:alpha=0.0",
        "prism-ref:alpha=0.25",
    ]
    judged = judged_set()
    study = JudgementStudy([judged], sweep.specs(specs), models=lambda *_: FakeModel(table))
    report = judgement_report([judged], study.run(), samples=20, sweep=sweep)
    made = report.tables["segments-alpha"]
    assert list(made.header) == ["alpha", "prism-ref", "prism-ref:aggregate=G"]
    assert values(made.rows[-1]) == ["n", 8, 8]
    for row, (alpha, tau) in zip(made.rows[:-1], [("0", -1), ("0.25", -1), ("1", 1)], strict=True):
        assert values(row) == [alpha, pytest.approx(tau), pytest.approx(tau)]
    assert [row[0].value for row in report.tables["segments"].rows] == ["chrf", "n"]
    report.figures["segments-alpha-toy"].draw(tmp_path / "curve.svg")
    assert b"prism-ref" in (tmp_path / "curve.svg").read_bytes()


def test_bad_sweeps() -> None:
    specs = [MeasureSpec("chrf"), MeasureSpec("prism-ref", settings={"alpha": 0.3})]
    assert len(Sweep.parse("alpha", [MeasureSpec("prism-ref")]).values) == 11
    assert [v.spec.settings for v in Sweep.parse("beta=1,3", specs).variants] == [
        {"beta": 1},
        {"beta": 3},
    ]
    for text, reason in [
        ("alpha", "has alpha already"),
        ("beta", "there are no values"),
        ("beta=1", "two different values"),
        ("beta=1,1", "two different values"),
        ("beta=1,x", "must be a whole number"),
        ("nothing=1,2", "chrf, prism-ref:alpha=0.3 have no setting nothing"),
    ]:
        with pytest.raises(SettingError, match=reason):
            Sweep.parse(text, specs)
