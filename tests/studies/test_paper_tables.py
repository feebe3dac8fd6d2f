"""The benchmark of the papers' numbers."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "paper_tables.py"


def test_a_folder_without_data_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["paper_tables.py", str(tmp_path)])
    with pytest.raises(SystemExit) as stopped:
        runpy.run_path(str(SCRIPT), run_name="__main__")
    assert "has none of the folders pawsx, turku, mrpc, webnlg2020, wmt19-sys" in str(stopped.value)
