"""Markers: what they promise is what is collected."""

from __future__ import annotations

import re

import pytest

from .conftest import HERE, SLOW


@pytest.mark.parametrize("file", SLOW)
def test_slow_tests_are_there(file: str) -> None:
    text = (HERE / file).read_text(encoding="utf-8")
    for start in SLOW[file]:
        assert re.search(rf"^(async )?def {start}", text, re.MULTILINE), f"{file} has no {start}"


def test_marked_by_file(request: pytest.FixtureRequest) -> None:
    """Of all that is collected along with this test."""
    for item in request.session.items:
        if item.path == HERE / "models" / "test_hub.py":
            assert item.get_closest_marker("slow")
            local = "test_the_extra_is_checked_before_a_download"  # downloads and converts nothing
            assert item.get_closest_marker("torch") or item.name == local
        if item.path in (HERE / "stats" / "test_ranking.py", HERE / "measures" / "test_movers.py"):
            assert not list(item.iter_markers("slow"))
            assert not list(item.iter_markers("torch"))
