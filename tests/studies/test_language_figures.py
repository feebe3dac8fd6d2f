"""Pictures of languages by family can be drawn, are the same every time, and hold every name."""

from __future__ import annotations

from pathlib import Path

import pytest

from tertium.studies.rephrasing.figures import COLOURS, Place, by_axis, by_language, family_colours

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
            by_language(PLACES, {"chrf": values, "nist": {"y01": 2.0}}, file, common_scale=True)
    assert files[0].read_bytes() == files[1].read_bytes()


def test_one_panel(tmp_path: Path) -> None:
    by_language(PLACES[:2], {"chrf": {"x00": 0.5}}, tmp_path / "one.png")
    assert (tmp_path / "one.png").stat().st_size > 1000


def test_colours_are_used_again() -> None:
    found = family_colours(PLACES)
    assert len(found) == 21
    assert found["Family 15"] == COLOURS[0]
