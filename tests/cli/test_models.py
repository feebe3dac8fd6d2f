"""``tertium models`` and its commands."""

from __future__ import annotations

import json
import shutil
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
    assert "already exists" in again.stderr
    wrong = tertium("models", "convert", source, tmp_path / "b", "--quantization", "int4")
    assert wrong.returncode == 2
    known = tertium("models", "info", "small100")
    assert "alirezamsh/small100" in known.stdout
    for name in ("small100", "SMALL100", "alirezamsh/small100"):
        missing = tertium("score", "a", "b", "--model", name)
        assert "tertium models fetch small100" in missing.stderr


def test_the_help_names_the_extras(tertium: Run) -> None:
    assert "tertium[web]" in tertium("serve", "--help").stdout
    assert "tertium[convert]" in tertium("models", "convert", "--help").stdout
    assert tertium("models", "--help").stdout.count("tertium[convert]") == 2
    assert "tertium[web]" in tertium("--help").stdout


def test_a_model_without_all_its_weights_is_refused(
    tertium: Run, tiny_m2m100: Converted, tmp_path: Path
) -> None:
    source, out = tmp_path / "source", tmp_path / "out"
    shutil.copytree(tiny_m2m100.original.folder, source)
    config = json.loads((source / "config.json").read_text("utf-8"))
    config["decoder_layers"] += 1
    (source / "config.json").write_text(json.dumps(config))
    done = tertium("models", "convert", source, out)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith(f"tertium: {source}: weights are missing: model.decoder.layers.")
    assert done.stderr.count("\n") == 1
    assert not out.exists()
