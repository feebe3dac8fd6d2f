"""Pictures of languages by family can be drawn, are the same every time, and hold every name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tertium.report.plots import PALETTE
from tertium.stats.association import association
from tertium.stats.conventions import Interval
from tertium.studies.rephrasing import figures
from tertium.studies.rephrasing.figures import (
    Mean,
    Place,
    against_axis,
    by_axis,
    by_language,
    family_looks,
    rephrasing_figures,
)
from tertium.studies.rephrasing.study import LanguagePairs, Results
from tertium.studies.rephrasing.typology import Axis, Families

PLACES = [
    *(Place(f"x{n:02}", f"Language {n}", "Large") for n in range(50)),
    *(Place(f"y{n:02}", f"Other {n}", f"Family {n}") for n in range(20)),
]


@pytest.mark.parametrize("draw", ["axis", "languages"])
def test_seventy_languages(draw: str, tmp_path: Path) -> None:
    values = {place.code: float(n % 7) for n, place in enumerate(PLACES) if place.code != "x03"}
    files = [tmp_path / "one.svg", tmp_path / "two.svg"]
    for file in files:
        if draw == "axis":
            by_axis(PLACES, values, file, label="syntax")
        else:
            bars = {code: Mean(value) for code, value in values.items()}
            series = {"chrf": bars, "nist": {"y01": Mean(2.0)}}
            by_language(PLACES, series, file, common_scale=True)
    assert files[0].read_bytes() == files[1].read_bytes()


def test_one_panel(tmp_path: Path) -> None:
    by_language(PLACES[:2], {"chrf": {"x00": Mean(0.5)}}, tmp_path / "one.png")
    assert (tmp_path / "one.png").stat().st_size > 1000


def test_a_common_scale_has_room_for_intervals(drawn: list[Any], tmp_path: Path) -> None:
    bars = {"x00": Mean(0.9, Interval(0.7, 1.2))}
    by_language(PLACES[:2], {"nist / 1.9": bars}, tmp_path / "one.png", common_scale=True)
    [axes] = drawn[0].axes
    assert axes.get_ylim() == (0.0, pytest.approx(1.05 * 1.2))


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The figures that are saved, so that a test can read what they show."""
    found: list[Any] = []
    monkeypatch.setattr(figures, "save_figure", lambda figure, out: found.append(figure))
    return found


def test_a_score_of_0_is_told_from_a_missing_one(drawn: list[Any], tmp_path: Path) -> None:
    values = {"x00": Mean(0.0), "x01": Mean(1.5, Interval(1.2, 1.75)), "x02": Mean(0.002)}
    by_language(PLACES[:4], {"nist": values}, tmp_path / "one.png")
    [axes] = drawn[0].axes
    assert [bar.get_height() for bar in axes.patches] == [0.0, 1.5, 0.002]
    assert [line.get_xydata().tolist() for line in axes.lines] == [[[1.0, 1.2], [1.0, 1.75]]]
    told = [(text.get_text(), text.get_position()) for text in axes.texts]
    assert told == [(" 0", (0.0, 0)), (" 0.002", (2.0, 0))]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["x00", "x01", "x02"]


def test_axes_say_how_much_they_explain(drawn: list[Any], tmp_path: Path) -> None:
    axis = Axis("geo", {"deu": 1.0, "cbk": 2.0, "jpn": 0.0}, (), (), 3, 0.0, 0.634)
    languages = [LanguagePairs(lang, 0, 0, []) for lang in axis.scores]
    families = Families({"deu": "Indo-European", "cbk": "Indo-European", "jpn": "Japonic"})
    found = rephrasing_figures(Results(languages, [], {}, {}, {}), [axis], families)
    found["features-geo"].draw(tmp_path / "one.png")
    [axes] = drawn[0].axes
    assert axes.get_xlabel().startswith("geo: first principal component, 63% of the variance")
    assert {text.get_text() for text in axes.texts} == {
        "Creole (1)",
        "Indo-European (1)",
        "Japonic (1)",
    }


def test_scores_against_a_component(drawn: list[Any], tmp_path: Path) -> None:
    scores = {"deu": 1.0, "eng": 2.0, "jpn": 4.0, "tur": 3.0}
    loadings = (("SOV", 0.8), ("SVO", -0.6))
    axis = Axis("syntax", scores, (), (), 2, 0.0, 0.5, loadings)
    families = {"jpn": "Japonic", "tur": "Turkic"}
    places = [Place(code, code, families.get(code, "IE")) for code in scores]
    heights = {"deu": 0.1, "eng": 0.3, "jpn": 0.2, "tur": 0.2}
    bars = {code: Mean(height) for code, height in heights.items()}
    series = {"chrf": bars, "nist": {"deu": Mean(1.0), "eng": Mean(2.0)}}
    against_axis(places, axis, series, tmp_path / "one.png", samples=200)
    one, other = drawn[0].axes
    assert [text.get_text() for text in one.texts] == ["deu", "eng", "jpn", "tur"]
    # (1, 2, 4, 3) and (1, 3, 2, 2): covariance 1, variances 5 and 2: 1 / sqrt(10)
    found = association(list(scores.values()), list(heights.values()), samples=200)
    low, high = found.interval.low, found.interval.high  # the interval of the tables
    assert one.get_title() == f"chrf\nr = +0.32 ({low:+.2f} to {high:+.2f}) (n = 4)"
    assert other.get_title() == "nist (n = 2)"
    assert len(one.collections) == 5  # four languages and the band
    assert len(other.collections) == 2  # two languages have no line
    assert "- SVO | + SOV" in drawn[0].get_supxlabel()
    legend = [text.get_text() for text in drawn[0].legends[0].get_texts()]
    assert legend == ["IE", "Japonic", "Turkic"]


def test_families_differ_in_colour_or_in_marker_and_hatch() -> None:
    found = family_looks(PLACES)
    assert len(set(found.values())) == len(found) == 21
    first, again = found["Large"], found["Family 6"]
    assert first.colour == again.colour == PALETTE[0]
    assert first.marker != again.marker
    assert first.hatch != again.hatch
    assert "#000000" not in {look.colour for look in found.values()}  # of intervals
