"""The notebook of the examples is run, and its results are compared with those that it shows."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from .test_docs import ROOT, assert_shown


def results(notebook: Path) -> list[str]:
    """The values of the cells, as text; what is printed may name versions."""
    return [
        "".join(output["data"]["text/plain"])
        for cell in json.loads(notebook.read_text("utf-8"))["cells"]
        for output in cell.get("outputs", ())
        if output["output_type"] == "execute_result"
    ]


@pytest.mark.slow
def test_the_tour_shows_what_it_prints(tmp_path: Path) -> None:
    script, out = ROOT / "scripts" / "refresh_notebook.py", tmp_path / "tour.ipynb"
    subprocess.run([sys.executable, script, out], check=True)
    found, shown = results(out), results(ROOT / "examples" / "tour.ipynb")
    assert len(found) == len(shown) >= 5
    for value, expected in zip(found, shown, strict=True):
        assert_shown(value, expected)
