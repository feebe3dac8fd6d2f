"""Behaviours, frequencies and correlations by hand; the study asks each question once."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from tertium.data.datasets.base import LabelledPair
from tertium.data.datasets.isometry import (
    Judged,
    Predictions,
    first_predictions,
    read_predictions,
    write_predictions,
)
from tertium.data.datasets.plain import read_pairs
from tertium.errors import CutWarning, InputError, LanguageError, SettingError
from tertium.measures.loading import MeasureSpec
from tertium.models.base import Detections, Languages, Progress
from tertium.models.detectors.model import ByLanguage, Commutative
from tertium.stats.correlation import pearson
from tertium.studies.isometry.classes import BEHAVIOURS, agreement, decisions, mode, short_names
from tertium.studies.isometry.correlation import correlate, protocols, side_scores
from tertium.studies.isometry.frequencies import (
    MEAN,
    difference_table,
    frequencies,
    frequency_table,
)
from tertium.studies.isometry.measure_detector import calibrate, learn_detector
from tertium.studies.isometry.report import agreement_table, analyse, examples_table
from tertium.studies.isometry.study import IsometryStudy, PairSet, read_pair_set
from tertium.studies.runner import CellFolder, Runner
from tertium.text import Text

from ..fakes import FakeModel

EXAMPLES = Path(__file__).parents[2] / "examples" / "isometry"


def example(model: str, dataset: str = "news") -> Predictions:
    return read_predictions(EXAMPLES / f"{model}.json", model=model, dataset=dataset)


def shares(found: Predictions) -> dict[str, float]:
    counted = frequencies([found], samples=10).shares
    return {each.name: counted[found.model, found.dataset, each].value for each in BEHAVIOURS}


def test_behaviours_by_hand() -> None:
    """Pair 6 of "careful" has [0,1] twice and [1,1] once; pair 8 has [1,1], [0,1] and [1,0]."""
    found = example("careful")
    codes = decisions(found)
    assert codes[:, 2].tolist() == [1, 1, 3]
    assert mode(codes).tolist() == [3, 3, 1, 3, 3, 1, 3, -1]
    assert shares(found) == {
        "isometric": 5 / 8,
        "ambiguous": 0,
        "type-1": 2 / 8,
        "type-2": 0,
        "none": 1 / 8,
    }
    names = short_names(list(found.judged))
    assert agreement(codes, list(names))[2:4] == ["large + base", "all"]


def test_the_mode_is_of_the_pair_and_not_of_each_side() -> None:
    """Each side has a majority for 1, and yet no two detectors agree."""
    codes = [[3], [2], [1]]
    assert mode(codes).tolist() == [-1]
    assert mode([[3], [2]]).tolist() == [-1]
    assert mode([[2]]).tolist() == [2]
    assert mode([[3], [3], [1], [0]]).tolist() == [3]
    assert mode([[3], [3], [0], [0]]).tolist() == [-1]


def test_the_threshold_itself_counts() -> None:
    found = Predictions("m", "d", [("a", "b")], [("c", "d")], {"x": Judged([0.5], [0.499])})
    assert decisions(found).tolist() == [[2]]
    assert decisions(found, 0.4).tolist() == [[3]]
    with pytest.raises(SettingError, match="between 0 and 1"):
        decisions(found, 2.0)


def test_models_are_compared_on_the_same_samples() -> None:
    found = frequencies([example("careful"), example("careless")], samples=200)
    table = difference_table(found)
    assert table is not None
    assert [str(cell) for cell in table.rows[0][:3]] == [
        "careful - careless",
        "news",
        "[1,1] isometric",
    ]
    assert str(table.rows[0][3]) == "+0.250"  # 5 less 3 of 8 pairs
    again = frequencies([example("careful"), example("careful", "other")], samples=50)
    assert again.columns() == [("careful", "news"), ("careful", "other"), ("careful", MEAN)]
    assert difference_table(again) is None
    rows = frequency_table(again).rows
    assert [str(cell) for cell in rows[0]] == ["[1,1] isometric", "0.625", "0.625", "0.625"]
    assert rows[0][3].value == pytest.approx(0.625)
    with pytest.raises(InputError, match="careless has no results on other"):
        frequencies([example("careful"), example("careful", "other"), example("careless")])
    with pytest.raises(InputError, match="different numbers of pairs"):
        frequencies([example("careful"), first_predictions(example("careless"), 3)])


def test_two_protocols_of_correlation() -> None:
    """Worked out anew, in plain numpy."""
    found = example("careless")
    scores = side_scores(found, MeasureSpec("chrf"))
    codes = decisions(found)
    decided = mode(codes)
    kept = decided >= 0
    x = np.concatenate([scores.source[kept], scores.target[kept]])
    y = np.concatenate([decided[kept] // 2, decided[kept] % 2])
    one = correlate(found, scores, "majority", samples=20)
    assert one.r == pytest.approx(float(np.corrcoef(x, y)[0, 1]))
    assert one.items == 2 * int(kept.sum())
    both = np.array([scores.source, scores.target])
    labels = np.array([[row // 2, row % 2] for row in codes])
    pooled = correlate(found, scores, "pooled", samples=20)
    assert pooled.r == pytest.approx(pearson(np.tile(both.ravel(), 3), labels.ravel()))
    assert pooled.items == 48
    assert pooled.interval is not None
    assert pooled.interval.low < pooled.r < pooled.interval.high
    with pytest.raises(SettingError, match="unknown protocol 'mean'"):
        protocols(["mean"])


def test_symmetric_scores() -> None:
    found = example("careful")
    swapped = Predictions(
        "m",
        "d",
        [(b, a) for a, b in found.sources],
        [(b, a) for a, b in found.targets],
        found.judged,
    )
    one, two = (side_scores(each, MeasureSpec("chrf")) for each in (found, swapped))
    assert one.source == pytest.approx(two.source)
    assert one.target[1] == pytest.approx(100)


def test_what_never_varies_has_no_correlation() -> None:
    found = Predictions(
        "m", "d", [("a", "b")] * 3, [("a", "b")] * 3, {"x": Judged([0.9] * 3, [0.9] * 3)}
    )
    empty = correlate(found, side_scores(found, MeasureSpec("chrf")), "pooled", samples=5)
    assert np.isnan(empty.r)
    assert (empty.interval, empty.strength) == (None, "")


def test_examples_and_agreement() -> None:
    found = example("careful")
    rows = examples_table(found).rows
    assert str(rows[0][0]) == "[1,1] isometric"
    assert str(rows[0][1]) == "4"  # 0.97 at least: the pair that all are surest of
    assert str(rows[1][3]) == "We waited a long time yesterday."
    table = agreement_table([found])
    assert list(table.header) == ["model, data", "M(S)", "all", "large + base", "nobody", "pairs"]
    assert [str(cell) for cell in table.rows[0][2:]] == ["4", "1", "0", "5"]


def test_predictions_are_read_as_they_were_written(tmp_path: Path) -> None:
    found = example("careless")
    write_predictions(tmp_path / "new" / "x.json", found)
    again = read_predictions(tmp_path / "new" / "x.json", model="careless", dataset="news")
    assert again == found
    scored = json.loads((EXAMPLES / "careful.json").read_text("utf-8"))
    for record in scored.values():
        record |= {"chrf_bar_source": 0.3, "chrf_bar_target": 0.4}
    (tmp_path / "scored.json").write_text(json.dumps(scored), "utf-8")
    read = read_predictions(tmp_path / "scored.json", model="m", dataset="d")
    assert list(read.judged) == ["large", "base", "other"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("no", "is not JSON"),
        ("[]", "not a JSON object"),
        ('{"0": {"a": 1}}', "does not have the layout"),
        (
            '{"0": {"sentence_original": {"source": "a", "target": "b"}, "x_source": 2,'
            '"sentence_paraphrase": {"source": "a", "target": "b"}, "x_target": 0.5}}',
            "2 is not a probability",
        ),
    ],
)
def test_files_that_are_no_predictions(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "x.json").write_text(content, "utf-8")
    with pytest.raises(InputError, match=message):
        read_predictions(tmp_path / "x.json", model="m", dataset="d")


@dataclass
class FakeDetector:
    """Texts of the same first word are paraphrases, a little less so the other way round."""

    name: str = "fake"
    fingerprint: str = "d" * 64
    settings: dict[str, str] = field(default_factory=dict)
    asked: list[tuple[str, str, str | None]] = field(default_factory=list)

    def detect(
        self,
        first: Sequence[str],
        second: Sequence[str],
        *,
        lang: Languages = None,
        progress: Progress | None = None,
    ) -> Detections:
        assert not isinstance(lang, list)
        self.asked += [(a, b, str(lang)) for a, b in zip(first, second, strict=True)]
        found = tuple(
            (0.9 if a[:3] == b[:3] else 0.2) - (0.1 if a > b else 0.0)
            for a, b in zip(first, second, strict=True)
        )
        return Detections(found, tuple("long" in a for a in first))


PAIRS = [("eins a", "eins b"), ("zwei a", "drei b")]
TRANSLATIONS = {"eins a": "one a", "eins b": "two b", "zwei a": "six a", "drei b": "six b"}


def test_the_chain_and_its_resumption(tmp_path: Path) -> None:
    model = FakeModel(translations=TRANSLATIONS)
    detector = FakeDetector()

    def study() -> IsometryStudy:
        return IsometryStudy(
            [PairSet("set", "de", PAIRS)],
            {"fake-mt": model},
            [detector],
            "en",
            runner=Runner(CellFolder(tmp_path)),
        )

    done: list[int] = []
    first = study()
    first.runner.advance = done.append
    [found] = first.run()
    assert found.targets == [("one a", "two b"), ("six a", "six b")]
    assert found.judged["fake"].source == [0.9, pytest.approx(0.1)]
    assert mode(decisions(found)).tolist() == [2, 1]
    assert (done, first.size) == ([2, 4, 6], 6)
    questions = (len(model.translated), len(detector.asked))
    assert questions == (4, 4)
    assert detector.asked[0] == ("eins a", "eins b", "de")
    again = study()
    assert again.run() == [found]
    assert (len(model.translated), len(detector.asked)) == questions
    assert (again.runner.reused, again.runner.count) == (3, 3)


def test_ready_translations_and_what_is_wrong(tmp_path: Path) -> None:
    own = PairSet("set", "de", PAIRS)
    ready = {("theirs", "set"): [("x", "x"), ("x", "y")]}
    [found] = IsometryStudy([own], {}, [FakeDetector()], "en", ready=ready).run()
    assert (found.model, found.targets[1]) == ("theirs", ("x", "y"))
    short = {("theirs", "set"): [("x", "x")]}
    with pytest.raises(InputError, match="1 translations for 2 pairs of set"):
        IsometryStudy([own], {}, [FakeDetector()], "en", ready=short).run()
    with pytest.raises(InputError, match="there is no detector"):
        IsometryStudy([own], {}, [], "en", ready=ready).run()
    with pytest.raises(InputError, match="the same name: fake"):
        IsometryStudy([own], {}, [FakeDetector(), FakeDetector()], "en", ready=ready).run()
    detector = FakeDetector()
    with pytest.raises(LanguageError, match="'sv'"):
        IsometryStudy([own], {"fake": FakeModel()}, [detector], "sv").run()
    assert detector.asked == []
    long = {("theirs", "set"): [("long", "x"), ("x", "y")]}
    with pytest.warns(CutWarning, match="1 of 2 rows hold text that is longer"):
        IsometryStudy([own], {}, [FakeDetector()], "en", ready=long).run()
    (tmp_path / "p.tsv").write_text("a\tb\nx\ty\n", "utf-8")
    with pytest.raises(InputError, match=r"which columns hold the pairs\? .* has the columns a, b"):
        read_pair_set(tmp_path / "p.tsv", lang="de")
    assert read_pair_set(tmp_path / "p.tsv", lang="de", columns=("b", "a")).pairs == [("y", "x")]


def test_both_orders_and_a_detector_for_each_language() -> None:
    both = Commutative(FakeDetector())
    one = both.detect(["abc 1", "b"], ["abc 0", "c"]).probabilities
    assert one == pytest.approx((0.85, 0.15))
    assert both.detect(["abc 0", "c"], ["abc 1", "b"]).probabilities == one
    assert both.settings["orders"] == "both"
    german, english = FakeDetector("german"), FakeDetector("english")
    joined = ByLanguage({"de": german, "en": english})
    assert joined.name == "de=german,en=english"
    found = joined.detect(["a", "b"], ["a", "x"], lang=["en", "de"])
    assert found.probabilities == pytest.approx((0.9, 0.2))
    assert [len(each.asked) for each in (german, english)] == [1, 1]
    with pytest.raises(LanguageError, match="no detector for fr; available: de, en"):
        joined.detect(["a"], ["b"], lang="fr")


def test_a_measure_learns_a_threshold() -> None:
    learnt = calibrate([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])  # as best_threshold has it
    assert (learnt.threshold, learnt.accuracy) == (0.4, 0.75)
    assert [p >= 0.5 for p in learnt([0.39, 0.4, np.nextafter(0.4, 1)])] == [False, False, True]
    assert calibrate([1, 0, 0, 0], [1.0, 5.0, 6.0, 7.0])([6.9, 7.0]).max() < 0.5
    pairs = read_pairs_of_examples()
    detector = learn_detector(MeasureSpec("chrf"), {"en": pairs})
    found = detector.detect([p.a.text for p in pairs], [p.b.text for p in pairs], lang="en")
    told = [p >= 0.5 for p in found.probabilities]
    right = [a == pair.label for a, pair in zip(told, pairs, strict=True)]
    assert sum(right) / len(right) == pytest.approx(detector.calibrations["en"].accuracy)
    swapped = detector.detect([p.b.text for p in pairs], [p.a.text for p in pairs])
    assert swapped.probabilities == pytest.approx(found.probabilities)
    with pytest.raises(LanguageError, match="no threshold for de: only for en"):
        detector.detect(["a"], ["b"], lang="de")
    with pytest.raises(SettingError, match="needs validation pairs"):
        learn_detector(MeasureSpec("chrf"), {})


def read_pairs_of_examples() -> list[LabelledPair]:
    return read_pairs(EXAMPLES.parent / "paraphrases" / "en.dev.tsv", lang="en")


def test_the_page_has_all_in_it(tmp_path: Path) -> None:
    result = analyse(
        [example("careful"), example("careless")], [MeasureSpec("chrf")], samples=20, examples=1
    )
    report = result.report(["beam 5"])
    assert result.findings()[0].startswith("careful is isometric on 62.5% of the pairs")
    html = report.page(report.draw(tmp_path))
    assert html.count("data:image/svg+xml;base64,") == 5
    assert "img-src data:" in html
    assert "<script" not in html
    assert "We waited a long time yesterday." in html
    assert "beam 5" in html


def test_texts_that_are_cut_are_marked() -> None:
    pairs = [("long", "b"), ("a", "b")]
    found = Predictions("m", "d", pairs, pairs, {"x": Judged([0.9, 0.1], [0.9, 0.1])}, ("de", "en"))
    runner = Runner()
    with pytest.warns(CutWarning, match="2 of 4 rows"):
        analyse([found], [MeasureSpec("direct")], models=lambda *_: FakeModel(), runner=runner)
    assert [str(row[0]) for row in runner.tables()["partly-scored"].rows] == [
        "direct, d m source",
        "direct, d m target",
    ]
    validation = [
        LabelledPair("1", Text("long", "en"), Text("b", "en"), True),
        LabelledPair("2", Text("a", "en"), Text("c", "en"), False),
    ]
    with pytest.warns(CutWarning, match="direct: 1 of 2 validation pairs"):
        learn_detector(MeasureSpec("direct"), {"en": validation}, models=lambda *_: FakeModel())
