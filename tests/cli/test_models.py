"""``tertium models`` and its commands."""

from __future__ import annotations

from pathlib import Path

from tertium.models.catalog import load_model

from ..conftest import Converted
from .conftest import Run


def test_convert_on_the_command_line(tertium: Run, tiny_m2m100: Converted, tmp_path: Path) -> None:
    out = tmp_path / "mine"
    source = tiny_m2m100.original.folder
    done = tertium("models", "convert", source, out, "--licence", "MIT", "--quantization", "int8")
    assert done.returncode == 0, done.stderr
    assert load_model(out, cache=False).name == "mine"
    info = tertium("models", "info", out)
    assert "dialect      m2m100" in info.stdout
    assert "licence      MIT" in info.stdout
    again = tertium("models", "convert", source, out)
    assert again.returncode == 2
    assert "is there already" in again.stderr
    wrong = tertium("models", "convert", source, tmp_path / "b", "--quantization", "int4")
    assert wrong.returncode == 2
    known = tertium("models", "info", "small100")
    assert "alirezamsh/small100" in known.stdout
    missing = tertium("score", "a", "b", "--model", "small100")
    assert "tertium models fetch small100" in missing.stderr
