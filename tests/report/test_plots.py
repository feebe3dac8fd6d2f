"""Pictures are drawn, and drawn the same each time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tertium.errors import SettingError
from tertium.report import plots

DRAW: dict[str, Callable[[Path], None]] = {
    "forest": lambda out: plots.forest(
        {"a": (0.3, (0.2, 0.4)), "b": (0.1, (0.0, 0.2))}, out, label="τ", top={"a"}
    ),
    "heat_map": lambda out: plots.heat_map(["a", "b"], [[1, 0.5], [0.5, 1]], out, label="τ"),
    "roc": lambda out: plots.roc({"a": ([0, 0.5, 1], [0, 1, 1], 0.75)}, out),
    "scatter": lambda out: plots.scatter([1, 2], [3, 4], out, labels=("x", "y"), names=["p", "q"]),
    "lines": lambda out: plots.lines(
        ["0-10", "10-20"], {"m": [-3.0, None]}, out, axes_labels=("x", "y")
    ),
    "bars": lambda out: plots.bars({"a": 1.5, "b": 20}, out, label="ms"),
}


@pytest.mark.parametrize("name", list(DRAW))
@pytest.mark.parametrize("suffix", [".svg", ".png"])
def test_the_same_bytes_each_time(tmp_path: Path, name: str, suffix: str) -> None:
    first, second = tmp_path / f"1{suffix}", tmp_path / f"2{suffix}"
    DRAW[name](first)
    DRAW[name](second)
    assert first.read_bytes() == second.read_bytes()
    assert first.read_bytes().startswith(b"<?xml" if suffix == ".svg" else b"\x89PNG")


def test_other_kinds_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match=r"a\.pdf: a figure must be \.png or \.svg"):
        DRAW["bars"](tmp_path / "a.pdf")
