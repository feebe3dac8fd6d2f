"""A folder appears whole or not at all, even if its maker is killed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tertium.errors import ModelError
from tertium.models.convert import convert
from tertium.models.unfinished import MARK, appearing, leftovers
from tertium.paths import models_folder

PAUSE = """
import sys, time
from pathlib import Path
from tertium.models import {module} as module

def pause(*_, **__):
    print("halfway", flush=True)
    time.sleep(600)

module.{step} = pause
"""
CONVERT = PAUSE + "module.convert(Path(sys.argv[1]), Path(sys.argv[2]))\n"
CUT = PAUSE + "import tertium; tertium.load_encoder('tertium-mini', layer=1)\n"


def kill_halfway(script: str, *arguments: str | Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", script, *map(str, arguments)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "halfway\n"
    process.kill()
    process.communicate()


@pytest.mark.parametrize("step", ["_convert_weights", "write_card"])
def test_a_conversion_that_is_killed(
    family: Callable[[str], Any], tmp_path: Path, step: str
) -> None:
    source, out = family("prism").original.folder, tmp_path / "models" / "out"
    other = out.parent / "other"
    kill_halfway(CONVERT.format(module="convert", step=step), source, other)
    kill_halfway(CONVERT.format(module="convert", step=step), source, out)
    assert not out.exists()
    assert len(leftovers(out.parent)) == 2
    convert(source, out).check()
    [left] = leftovers(out.parent)  # what was to become the other is not ours to remove
    assert left.name.startswith(".other-")
    assert sorted(path.name for path in out.parent.iterdir()) == [left.name, "out"]


def test_an_encoder_whose_cutting_is_killed(tmp_path: Path) -> None:
    from tertium.models.encoder_catalog import load_encoder
    from tertium.paths import encoders_folder

    kill_halfway(CUT.format(module="encoder_cut", step="_fill"))
    [left] = leftovers(encoders_folder())
    assert [path.name for path in encoders_folder().iterdir()] == [left.name]
    assert load_encoder("tertium-mini", layer=1).token_vectors(["a"])
    assert leftovers(encoders_folder()) == []


def test_a_maker_that_fails_leaves_nothing(tmp_path: Path) -> None:
    out = tmp_path / "deep" / "out"
    with pytest.raises(KeyboardInterrupt), appearing(out) as made:
        made.mkdir()
        raise KeyboardInterrupt
    assert list(out.parent.iterdir()) == []
    out.mkdir()
    with pytest.raises(ModelError, match="is there already"), appearing(out):
        pass


def test_makers_that_are_at_work_are_left_alone(tmp_path: Path) -> None:
    out = models_folder() / "out"
    with appearing(out) as first:
        assert f"-{os.getpid()}" in first.parent.name
        with pytest.raises(RuntimeError), appearing(out) as second:
            assert first.parent.is_dir()
            assert second != first
            raise RuntimeError
        elsewhere = out.parent / f".out-x{MARK}elsewhere-999999999"
        elsewhere.mkdir()
        assert leftovers(out.parent) == []
        first.mkdir()
    assert out.is_dir()
