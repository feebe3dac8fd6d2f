"""Behaviours, frequencies and correlations by hand; the study asks each question once."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tertium.data.datasets.base import LabelledPair
from tertium.data.datasets.isometry import (
    Judged,
    Predictions,
    find_predictions,
    first_predictions,
    read_predictions,
    write_predictions,
)
from tertium.data.datasets.plain import read_pairs
from tertium.errors import CutWarning, DetectorWarning, InputError, LanguageError, SettingError
from tertium.measures.loading import MeasureSpec
from tertium.models.base import Detections, Languages, Progress
from tertium.models.detectors.model import ByLanguage, Commutative
from tertium.report.plots import save_figure
from tertium.stats.correlation import pearson
from tertium.stats.resampling import bootstrap_counts
from tertium.studies.isometry import figures
from tertium.studies.isometry.classes import BEHAVIOURS, agreement, decisions, mode, short_names
from tertium.studies.isometry.correlation import (
    correlate,
    mean_correlation,
    protocols,
    side_scores,
)
from tertium.studies.isometry.frequencies import (
    MEAN,
    difference_table,
    frequencies,
    frequency_table,
)
from tertium.studies.isometry.measure_detector import calibrate, learn_detector
from tertium.studies.isometry.pairs import chosen_table
from tertium.studies.isometry.report import agreement_table, analyse, examples_table
from tertium.studies.isometry.study import IsometryStudy, PairSet, read_pair_set
from tertium.studies.runner import CellFolder, Runner
from tertium.text import Text

from ..fakes import FakeModel

EXAMPLES = Path(__file__).parents[2] / "examples" / "isometry"


def example(model: str, dataset: str = "news") -> Predictions:
    return read_predictions(EXAMPLES / f"{model}.json", model=model, dataset=dataset)


def shares(found: Predictions) -> dict[str, float]:
    counted = frequencies([found]).shares
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
    found = frequencies([example("careful"), example("careless")])
    table = difference_table(found)
    assert table is not None
    assert [str(cell) for cell in table.rows[0][:3]] == [
        "careful - careless",
        "news",
        "[1,1] isometric",
    ]
    assert str(table.rows[0][3]) == "+0.250"  # 5 less 3 of 8 pairs
    again = frequencies([example("careful"), example("careful", "other")])
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


def test_each_side_has_a_correlation_of_its_own() -> None:
    """Worked out anew, in plain numpy, without the pairs that have no decision."""
    found = example("careless")
    scores = side_scores(found, MeasureSpec("chrf"))
    decided = mode(decisions(found))
    kept = decided >= 0
    one = correlate(found, scores, "majority", side="source", samples=20)
    expected = np.corrcoef(scores.source[kept], decided[kept] // 2)[0, 1]
    assert one.r == pytest.approx(float(expected))
    assert one.items == int(kept.sum())


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The figures that are saved, so that a test can read what they show."""
    found: list[Any] = []

    def keep(figure: Any, out: Path) -> None:
        found.append(figure)
        save_figure(figure, out)

    monkeypatch.setattr(figures, "save_figure", keep)
    return found


def test_figure_7_shows_the_counts_of_each_panel(drawn: list[Any], tmp_path: Path) -> None:
    """Counted by hand from the examples: M(S) is [1,1] in 5 pairs of "careful", [0,1] in 2; in 3, 0
    and 3 ([1,0]) pairs of "careless", and [0,0] in 2."""
    pair = [example("careful"), example("careless")]
    result = analyse(pair, [MeasureSpec("chrf")], protocols=["majority"], samples=20)
    result.figures()["equivalence-chrf-majority"].draw(tmp_path / "seven.svg")
    [figure] = drawn
    figure.canvas.draw()
    shown = [[label.get_text() for label in axes.get_xticklabels()] for axes in figure.axes]
    assert shown == [
        ["S = 0\n(2)", "S = 1\n(5)"],  # careful, source
        ["S = 0\n(2)", "S = 1\n(6)"],  # careless, source
        ["S = 0\n(0)", "S = 1\n(7)"],  # careful, target
        ["S = 0\n(5)", "S = 1\n(3)"],  # careless, target
    ]
    titles = [axes.get_title().split("\n") for axes in figure.axes]
    assert [title[:2] for title in titles[:2]] == [["careful", "news"], ["careless", "news"]]
    for title, (model, side) in zip(
        titles,
        [(m, s) for s in ("source", "target") for m in ("careful", "careless")],
        strict=True,
    ):
        own = result.correlations["chrf", "majority", model, "news", side]
        assert title[-1].startswith("r undefined" if np.isnan(own.r) else f"r = {own.r:.3f}")
        if own.interval is not None:
            assert title[-1].endswith(f"({own.interval.low:.2f} to {own.interval.high:.2f})")
    assert [axes.get_ylabel() for axes in figure.axes] == ["chrf, source", "", "chrf, target", ""]


def test_figure_4_has_a_line_at_the_threshold_of_each_side(
    drawn: list[Any], tmp_path: Path
) -> None:
    result = analyse([example("careful"), example("careless")], [], threshold=0.4)
    result.figures()["detections"].draw(tmp_path / "four.png")
    [figure] = drawn
    *panels, colours = figure.axes
    assert len(panels) == 6  # three detectors, two models
    for axes in panels:
        across, up = axes.lines
        assert list(across.get_ydata()) == [0.4, 0.4]
        assert list(up.get_xdata()) == [0.4, 0.4]
        assert [each.filled for each in axes.collections] == [True, False]
    assert colours.get_ylabel() == "density, relative"


def test_figure_5_has_the_intervals_of_the_table(drawn: list[Any], tmp_path: Path) -> None:
    found = analyse([example("careful")], [])
    found.figures()["behaviours"].draw(tmp_path / "five.svg")
    [axes] = drawn[0].axes
    shares = [found.frequencies.shares["careful", "news", each] for each in BEHAVIOURS]
    drawn_limits = [tuple(line.get_ydata()) for line in axes.lines]
    for share, (low, high) in zip(shares, drawn_limits, strict=True):
        assert (low / 8, high / 8) == pytest.approx((share.interval.low, share.interval.high))
    assert [text.get_text() for text in axes.texts] == ["5", "0", "2", "0", "1"]


def test_figure_6_has_the_means_with_intervals_and_r(drawn: list[Any], tmp_path: Path) -> None:
    found = analyse([example("careful")], [MeasureSpec("chrf")])
    found.figures()["sides-chrf"].draw(tmp_path / "six.svg")
    [axes] = drawn[0].axes
    scores = found.scores["chrf", "careful", "news"]
    [cross] = axes.containers
    across, up = (lines.get_segments()[0] for lines in cross.lines[2])
    assert across[0, 0] < scores.source.mean() < across[1, 0]
    assert up[0, 1] < scores.target.mean() < up[1, 1]
    r = np.corrcoef(scores.source, scores.target)[0, 1]
    assert axes.get_title().split("\n")[-1].startswith(f"r = {r:+.2f} (")


def test_the_density_is_highest_where_the_points_are() -> None:
    corner = figures._density(np.full(30, 0.99), np.full(30, 0.01))
    assert corner[-1, 0] == corner.max()
    assert corner.max() == 1
    assert corner[figures.CELLS // 2, figures.CELLS // 2] < 1e-6


def test_intervals_agree_with_p() -> None:
    found = frequencies([example("careful"), example("careless")])
    for behaviour in BEHAVIOURS:
        a, b = (found.shares[name, "news", behaviour] for name in ("careful", "careless"))
        difference = a.less(b)
        assert (difference.p < 0.05) == (0 not in difference.interval)
    nothing = found.shares["careful", "news", BEHAVIOURS[1]]
    assert nothing.value == nothing.interval.low == 0
    assert nothing.interval.high == pytest.approx(0.3244, abs=1e-4)  # z^2 / (8 + z^2)


def test_csv_has_numbers_in_columns() -> None:
    result = analyse([example("careful"), example("careless")], [MeasureSpec("chrf")], samples=20)
    tables = result.tables()
    rows = list(csv.DictReader(tables["correlations"].csv().splitlines()))
    assert len(rows) == 2 * 3 * 2  # protocols, sides, models
    for row in rows:
        for name in ("r", "low", "high", "p", "p of the t-test"):
            assert row[name] == "" or -1 <= float(row[name]) <= 1
    shares = list(csv.DictReader(tables["frequencies"].csv().splitlines()))
    assert shares[0] == {
        **{"model": "careful", "data": "news", "M(S)": "[1,1] isometric", "pairs": "5"},
        **{"frequency": "0.625", "low": shares[0]["low"], "high": shares[0]["high"]},
    }
    assert float(shares[0]["low"]) < 0.625 < float(shares[0]["high"])


def test_sets_of_one_size_are_resampled_together() -> None:
    """Twice the same set is no new evidence: the interval of the mean is that of one."""
    twice = [example("careless"), example("careless", "again")]
    result = analyse(twice, [MeasureSpec("chrf")], protocols=["pooled"], samples=50)
    parts = [
        result.correlations["chrf", "pooled", "careless", n, "both"] for n in ("news", "again")
    ]
    assert mean_correlation(parts).interval == parts[0].interval
    shares = result.frequencies.shares
    one, mean = (shares["careless", name, BEHAVIOURS[0]].interval for name in ("news", MEAN))
    assert (mean.low, mean.high) == pytest.approx((one.low, one.high))


def test_bootstrap_samples_are_those_of_resampled_pairs() -> None:
    """The sums of a pair, weighted, give the r of a sample that has the pair more than once."""
    found = example("careless")
    scores = side_scores(found, MeasureSpec("chrf"))
    one = correlate(found, scores, "pooled", samples=3, seed=5)
    for drawn_counts, r in zip(bootstrap_counts(8, samples=3, seed=5), one.replicates, strict=True):
        places = np.repeat(np.arange(8), drawn_counts)
        codes = decisions(found)[:, places]
        x = np.tile(np.concatenate([scores.source[places], scores.target[places]]), 3)
        y = np.concatenate([np.concatenate([row // 2, row % 2]) for row in codes])
        assert r == pytest.approx(float(np.corrcoef(x, y)[0, 1]))


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


def test_a_folder_in_the_published_layout_has_the_names_of_the_paper(tmp_path: Path) -> None:
    scaling = "local.transformer_vaswani_wmt_en_de_big.wmt16.de-en.1594228573.checkpoint_best"
    for model in (scaling, "mine", "torch_hub.transformer.wmt19.de-en.single_model"):
        for name in ("wmt19.ar.arp", "wmt19.wmt.wmtp"):
            write_predictions(tmp_path / model / f"{name}.json", example("careful"))
        (tmp_path / model / "notes.txt").write_text("no predictions", "utf-8")
    found = find_predictions(tmp_path)
    assert [each[:2] for each in found] == [
        ("FAIR WMT19", "WMT19 Legacy"),
        ("FAIR WMT19", "WMT19 AR"),
        ("Scaling NMT WMT16", "WMT19 Legacy"),
        ("Scaling NMT WMT16", "WMT19 AR"),
        ("mine", "WMT19 Legacy"),
        ("mine", "WMT19 AR"),
    ]
    assert found[1][2].parts[-2:] == (
        "torch_hub.transformer.wmt19.de-en.single_model",
        "wmt19.ar.arp.json",
    )


def test_a_folder_that_the_study_wrote(tmp_path: Path) -> None:
    write_predictions(tmp_path / "opus-1.2.news.json", example("careful"))
    write_predictions(tmp_path / "scores" / "cell.json", example("careful"))
    assert find_predictions(tmp_path) == [("opus-1.2", "news", tmp_path / "opus-1.2.news.json")]
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="has no predictions"):
        find_predictions(tmp_path / "empty")
    with pytest.raises(InputError, match="is not a folder"):
        find_predictions(tmp_path / "nowhere")


def test_pairs_by_number() -> None:
    rows = chosen_table(example("careful"), [5, 0]).rows
    assert [[str(cell) for cell in row[:3]] for row in rows] == [
        ["[0,1] type-1", "5", "source"],
        ["", "", "target"],
        ["[1,1] isometric", "0", "source"],
        ["", "", "target"],
    ]
    assert [str(cell) for cell in rows[2][3:]] == list(example("careful").sources[0])
    with pytest.raises(InputError, match="there is no pair 8; the pairs are 0 to 7"):
        chosen_table(example("careful"), [8])


def test_a_line_for_each_pair(tmp_path: Path) -> None:
    """Pair 2 of "careful" has [0,1] twice and [1,1] once."""
    result = analyse([example("careful")], [MeasureSpec("chrf")], samples=5)
    result.write_pairs(tmp_path)
    with (tmp_path / "careful.news.pairs.tsv").open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))
    assert len(rows) == 8
    votes = [rows[2][f"votes {symbol}"] for symbol in ("[1,1]", "[0,0]", "[0,1]", "[1,0]")]
    assert (rows[2]["class"], votes) == ("type-1", ["1", "0", "2", "0"])
    assert rows[7]["class"] == "none"
    scores = result.scores["chrf", "careful", "news"]
    assert float(rows[3]["chrf target"]) == scores.target[3]
    assert float(rows[3]["large source"]) == example("careful").judged["large"].source[3]
    assert rows[3]["source1"] == example("careful").sources[3][0]


def test_a_sweep_of_thresholds() -> None:
    """At 0 all pairs are isometric, at 1 none is: no detector is certain."""
    result = analyse([example("careful")], [], thresholds=[0.0, 0.5, 1.0], examples=0)
    table = result.tables()["thresholds"]
    assert [[str(cell) for cell in row] for row in table.rows] == [
        ["0", "1.000"],
        ["0.5", "0.625"],
        ["1", "0.000"],
    ]
    assert len(list(csv.DictReader(table.csv().splitlines()))) == 3 * 5
    assert "thresholds" in result.figures()
    assert "thresholds" not in analyse([example("careful")], []).tables()


def test_a_detector_that_gives_one_class_is_named() -> None:
    pairs = [("a", "b")] * 24
    judged = {
        "chrf": Judged([0.2] * 24, [0.9] * 23 + [0.2]),
        "sss": Judged([0.9, 0.1] * 12, [0.7] * 24),
    }
    found = [Predictions("m", "d", pairs, pairs, judged)]
    accuracies = {"chrf": {"de": 0.5625, "en": 0.6}}
    with pytest.warns(DetectorWarning) as caught:
        result = analyse(found, [], accuracies=accuracies)
    assert [str(each.message) for each in caught] == [
        "chrf calls none of the 24 pairs before translation paraphrases (its accuracy on "
        "validation pairs: de 0.562, en 0.600): its decisions there say nothing",
        "sss calls all 24 pairs after translation paraphrases: its decisions there say nothing",
    ]
    rows = result.tables()["detectors"].rows
    assert [[str(cell) for cell in row] for row in rows] == [
        ["chrf", "de 0.562, en 0.600", "0.000", "0.958"],
        ["sss", "", "0.500", "1.000"],
    ]


def test_a_detector_that_finds_hardly_any_paraphrases_is_named() -> None:
    pairs = [("a", "b")] * 40
    judged = {"direct": Judged([0.9] + [0.1] * 39, [0.9] * 2 + [0.1] * 38)}
    with pytest.warns(DetectorWarning) as caught:
        analyse([Predictions("m", "d", pairs, pairs, judged)], [])
    assert [str(each.message) for each in caught] == [  # 1 of 40 is below 5 %, 2 are not
        "direct calls only 1 of 40 pairs before translation paraphrases: its decisions there say "
        "little",
    ]


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
