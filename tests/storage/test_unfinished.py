"""A folder is either complete or absent, even if the process that makes it is killed."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tertium.errors import ModelError
from tertium.models.card import TranslationSettings, read_card
from tertium.models.convert.translation import convert
from tertium.storage.atomic import MARK, _host, appearing, leftovers
from tertium.storage.paths import models_folder

from ..cli.conftest import TERTIUM
from ..local_hub import local_hub
from ..tiny import make_untaught

PAUSE = """
import sys, time
from pathlib import Path
from tertium.models.{package} import {module} as module

def pause(*_, **__):
    print("halfway", flush=True)
    time.sleep(600)

module.{step} = pause
"""
CONVERT = PAUSE + "module.convert(Path(sys.argv[1]), Path(sys.argv[2]))\n"


@pytest.fixture(scope="module")
def untaught(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_untaught("m2m100", tmp_path_factory.mktemp("untaught") / "m2m100_418M")


def kill_halfway(script: str, *arguments: str | Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", script, *map(str, arguments)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "halfway\n"
    process.kill()
    process.communicate()


@pytest.mark.parametrize("step", ["_convert_weights", "write_card"])
def test_a_conversion_that_is_killed(untaught: Path, tmp_path: Path, step: str) -> None:
    source, out = untaught, tmp_path / "models" / "out"
    (out.parent / f".other-x{MARK}{_host()}-4000000").mkdir(parents=True)
    kill_halfway(CONVERT.format(package="convert", module="translation", step=step), source, out)
    assert not out.exists()
    assert len(leftovers(out.parent)) == 2
    convert(source, out).verified()
    [left] = leftovers(out.parent)  # what was to become the other is not ours to remove
    assert left.name.startswith(".other-")
    assert sorted(path.name for path in out.parent.iterdir()) == [left.name, "out"]


def make_and_fail(out: Path) -> None:
    with appearing(out) as made:
        made.mkdir()
        raise KeyboardInterrupt


def test_a_maker_that_fails_leaves_nothing(tmp_path: Path) -> None:
    out = tmp_path / "deep" / "out"
    with pytest.raises(KeyboardInterrupt):
        make_and_fail(out)
    assert list(out.parent.iterdir()) == []
    out.mkdir()
    with pytest.raises(ModelError, match="already exists"):
        make_and_fail(out)


def test_makers_that_are_at_work_are_left_alone() -> None:
    out = models_folder() / "out"
    with appearing(out) as made:
        assert f"-{os.getpid()}" in made.parent.name
        with pytest.raises(KeyboardInterrupt):
            make_and_fail(out)
        elsewhere = out.parent / f".out-x{MARK}elsewhere-999999999"
        elsewhere.mkdir()
        assert leftovers(out.parent) == []
        made.mkdir()
    assert out.is_dir()


def size_of(file: Path) -> int:
    """The size of a file, or 0 if it has just been renamed."""
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0


def test_a_download_that_is_killed(untaught: Path, tmp_path: Path) -> None:
    """Nothing half-made is there, doctor says what is left, and the same command does it."""
    repo, fetch = "facebook/m2m100_418M", [*TERTIUM, "models", "fetch", "m2m100_418M"]
    with local_hub(repo, untaught) as hub:
        environment = {**os.environ, "HF_ENDPOINT": hub.address, "HF_HOME": str(tmp_path / "hf")}
        environment |= {"HF_HUB_ETAG_TIMEOUT": "120", "HF_HUB_DOWNLOAD_TIMEOUT": "120"}
        hub.files["large.model"] = bytes(25 << 20)  # the library writes 10 MB at a time
        hub.stall_after = 12 << 20
        process = subprocess.Popen(fetch, env=environment)
        blobs = tmp_path / "hf" / "hub" / f"models--{repo.replace('/', '--')}" / "blobs"
        while not any(size_of(file) > 1 << 20 for file in blobs.glob("*.incomplete")):
            assert process.poll() is None
            time.sleep(0.01)
        process.kill()
        process.wait()
        assert not models_folder().exists()
        doctor = [*TERTIUM, "doctor"]
        found = subprocess.run(doctor, env=environment, capture_output=True, text=True).stdout
        assert f"note  downloads: unfinished or in progress: models/{repo}; fetch again" in found
        hub.stall_after = None
        again = subprocess.run(fetch, env=environment, capture_output=True, text=True)
        assert again.returncode == 0, again.stderr
    read_card(models_folder() / "m2m100_418M", TranslationSettings).verified()
