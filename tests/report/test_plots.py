"""Pictures are drawn, and drawn the same each time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tertium.errors import SettingError
from tertium.report import plots
from tertium.stats.bands import Band

BAND = Band(np.array([0.0, 1.0]), np.array([0.0, 0.9]), np.array([0.3, 1.0]))
CURVE = plots.RocCurve([0, 0.5, 1], [0, 1, 1], 0.75, (0.6, 0.91), BAND)
DRAW: dict[str, Callable[[Path], None]] = {
    "forest": lambda out: plots.forest(
        {"a": (0.3, (0.2, 0.4)), "b": (0.1, (0.0, 0.2))}, out, label="τ", top={"a"}
    ),
    "heat_map": lambda out: plots.heat_map(["a", "b"], [[1, 0.5], [0.5, 1]], out, label="τ"),
    "roc": lambda out: plots.roc({"a": CURVE}, out),
    "scatter": lambda out: plots.scatter([1, 2], [3, 4], out, labels=("x", "y"), band=BAND),
    "overlay": lambda out: plots.overlay(
        [1, 2, 3], {"one": [3, 4, 8], "other": [5, 5, 5]}, out, labels=("x", "y")
    ),
    "lines": lambda out: plots.lines(
        ["0-10", "10-20"], {"m": [-3.0, None]}, out, axes_labels=("x", "y")
    ),
}


@pytest.mark.parametrize("name", list(DRAW))
@pytest.mark.parametrize("suffix", [".svg", ".png", ".pdf"])
def test_the_same_bytes_each_time(tmp_path: Path, name: str, suffix: str) -> None:
    first, second = tmp_path / f"1{suffix}", tmp_path / f"2{suffix}"
    DRAW[name](first)
    DRAW[name](second)
    assert first.read_bytes() == second.read_bytes()
    begin = {".svg": b"<?xml", ".png": b"\x89PNG", ".pdf": b"%PDF"}[suffix]
    assert first.read_bytes().startswith(begin)


def test_series_are_told_apart_and_have_intervals(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    drawn: list[Any] = []
    monkeypatch.setattr(plots, "save_figure", lambda figure, out: drawn.append(figure))
    series = {f"m{n}": [float(n), None, 1.0] for n in range(10)}
    limits = {"m1": [(0.5, 1.5), None, None]}
    plots.lines(["a", "b", "c"], series, tmp_path / "x.svg", axes_labels=("", ""), intervals=limits)
    shown = drawn[0].axes[0].lines
    curves = [line for line in shown if len(line.get_xdata()) == 3]
    assert len({(line.get_color(), line.get_marker()) for line in curves}) == 10
    [interval] = [line for line in shown if len(line.get_xdata()) == 2]
    assert list(interval.get_ydata()) == [0.5, 1.5]
    plots.grouped_bars(["a"], {"m": [1.0]}, tmp_path / "x.svg", label="", intervals={"m": [(0, 2)]})
    assert [list(line.get_ydata()) for line in drawn[1].axes[0].lines] == [[0, 2], [0, 0]]


def test_a_roc_curve_has_a_band_and_an_interval(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    drawn: list[Any] = []
    monkeypatch.setattr(plots, "save_figure", lambda figure, out: drawn.append(figure))
    plots.roc({"chrf": CURVE}, tmp_path / "x.svg")
    [axes] = drawn[0].axes
    [area] = axes.collections
    corners = {(x, round(y, 3)) for x, y in area.get_paths()[0].vertices.tolist()}
    assert corners == {(0.0, 0.0), (1.0, 0.9), (1.0, 1.0), (0.0, 0.3)}
    [entry] = axes.get_legend().get_texts()
    assert entry.get_text() == "chrf (75.0, 60.0 to 91.0)"


def test_a_scatter_plot_has_the_band_of_its_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    drawn: list[Any] = []
    monkeypatch.setattr(plots, "save_figure", lambda figure, out: drawn.append(figure))
    plots.scatter([0, 1], [0, 1], tmp_path / "x.svg", labels=("x", "y"), band=BAND, title="r = +1")
    series = {"a": [0.0, 1.0], "b": [1.0, 1.0]}
    bands = {"a": BAND, "b": None}
    plots.overlay([0, 1], series, tmp_path / "x.svg", labels=("", ""), bands=bands)
    for figure in drawn:
        low, high = figure.axes[0].lines
        assert (low.get_ydata().tolist(), high.get_ydata().tolist()) == ([0.0, 0.9], [0.3, 1.0])
    assert drawn[0].axes[0].get_title() == "r = +1"


def test_other_kinds_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match=r"a\.jpg: a figure must be \.png, \.svg or \.pdf"):
        DRAW["lines"](tmp_path / "a.jpg")
