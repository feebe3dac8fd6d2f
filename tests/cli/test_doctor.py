"""``tertium doctor`` finds what can go wrong on a disk, and says what to do."""

from __future__ import annotations

import random
import shutil
from importlib import import_module
from pathlib import Path

import pytest

from tertium.data.identify import load_identifier, unpacked_folder
from tertium.models.catalog import find
from tertium.models.results import ResultFile
from tertium.storage.atomic import MARK, _host
from tertium.storage.paths import models_folder, results_file

from ..damage import NOTICED, held_by_another_process
from ..disks import read_only
from .conftest import Run

doctor = import_module("tertium.cli.doctor")  # `tertium.cli.doctor` itself is the command


@pytest.fixture(autouse=True)
def _only_the_disk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Leave out the checks of the engine, which take longer."""
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    for name in list(doctor.CHECKS):
        if name not in doctor.DISK_CHECKS:
            monkeypatch.delitem(doctor.CHECKS, name)


def lines(tertium: Run, code: int) -> dict[str, str]:
    """Run it; returns each line by the name of its check."""
    done = tertium("doctor")
    assert done.returncode == code, done.stdout
    found = [line.partition(": ")[::2] for line in done.stdout.splitlines()]
    return {head[6:]: f"{head[:6].strip()} {rest}" for head, rest in found}


def filled() -> Path:
    store = ResultFile(results_file())
    store.put({b"%d" % number: bytes(100) for number in range(500)})
    store.close()
    return results_file()


def test_all_is_well(tertium: Run) -> None:
    assert all(line.startswith("ok ") for line in lines(tertium, 0).values())
    filled()
    assert lines(tertium, 0)["cache"].startswith("ok 500 results")


@pytest.mark.parametrize("name", NOTICED)
def test_a_damaged_cache_is_found_and_left(tertium: Run, name: str) -> None:
    file = filled()
    NOTICED[name](file, random.Random(name))
    before = file.read_bytes()
    found = lines(tertium, 1)["cache"]
    assert found.startswith(f"FAIL {file} is damaged")
    assert "delete it" in found
    assert file.read_bytes() == before


def test_a_locked_cache(tertium: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tertium.models.results.EXAMINE_TIMEOUT_SECONDS", 0.1)
    file = filled()
    with held_by_another_process(file):
        found = lines(tertium, 1)["cache"]
    assert "database is locked" in found
    assert "wait until it ends" in found
    lines(tertium, 0)


def test_a_read_only_cache(tertium: Run) -> None:
    file = filled()
    with read_only(file.parent):
        found = lines(tertium, 1)["cache"]
        assert "make the file and its folder writable" in found
        assert "TERTIUM_CACHE" in found


def test_a_cache_that_cannot_be_made(tertium: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    file = filled()
    monkeypatch.setenv("TERTIUM_CACHE", str(file / "below a file"))
    assert "cannot be written" in lines(tertium, 1)["cache"]


def test_a_folder_in_the_place_of_the_cache(tertium: Run) -> None:
    results_file().mkdir(parents=True)
    assert "is not a file; delete it" in lines(tertium, 1)["cache"]


def test_a_disk_that_is_nearly_full(tertium: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "LEAST_FREE", 10**18)
    assert "too little for a cache or a model; make room" in lines(tertium, 1)["disk"]


def test_what_was_left_behind(tertium: Run) -> None:
    gone = models_folder() / f".m-abc{MARK}elsewhere-4000000"
    dead = Path(str(gone).replace("elsewhere", _host()))
    aside = results_file().with_name(results_file().name + ".damaged-1")
    for folder in (gone, dead):
        (folder / "model").mkdir(parents=True)
        (folder / "model" / "model.bin").write_bytes(bytes(3_000_000))
    aside.write_bytes(bytes(2_000_000))
    found = lines(tertium, 0)["left over"]
    assert found.startswith("note interrupted conversions: rm -r ")
    assert f"{dead} (3.0 MB)" in found
    assert f"rm -r {aside} (2.0 MB)" in found
    assert str(gone) not in found  # of another machine: it may still be at work


def test_unfinished_downloads(tertium: Run, tmp_path: Path) -> None:
    blobs = tmp_path / "hub" / "models--facebook--m2m100_418M" / "blobs"
    blobs.mkdir(parents=True)
    (blobs / "abc.incomplete").write_bytes(bytes(1_000_000))
    found = lines(tertium, 0)["downloads"]
    assert found.startswith(
        "note unfinished or in progress: models/facebook/m2m100_418M; fetch again"
    )
    assert f"rm -r {blobs / 'abc.incomplete'} (1.0 MB)" in found


def test_models_that_are_not_what_their_cards_say(tertium: Run) -> None:
    original = find("tertium-mini").path
    for name in ("good", "changed", "short", "bare"):
        shutil.copytree(original, models_folder() / name)
    assert lines(tertium, 0)["cached models"].startswith("ok 4 in ")
    weights = bytearray((original / "model.bin").read_bytes())
    weights[-100] ^= 1
    (models_folder() / "changed" / "model.bin").write_bytes(weights)
    (models_folder() / "short" / "model.bin").write_bytes(weights[:-1])
    (models_folder() / "bare" / "tertium.json").unlink()
    found = lines(tertium, 1)["cached models"]
    for name, what in (
        ("changed", "model.bin was changed or is damaged"),
        ("short", "it is incomplete or was changed"),
        ("bare", "is not a Tertium model"),
    ):
        assert f"{models_folder() / name}" in found
        assert what in found
    assert str(models_folder() / "good") not in found
    assert "fetch or convert the model again" in found


def test_a_language_identifier_that_was_changed(tertium: Run) -> None:
    check = "language identification"
    assert lines(tertium, 0)[check] == "ok not unpacked yet"
    load_identifier()
    assert lines(tertium, 0)[check].startswith("ok as in py3langid, ")
    moves = unpacked_folder() / "moves.npy"
    changed = bytearray(moves.read_bytes())
    changed[-100] ^= 1
    moves.write_bytes(changed)
    assert f"{unpacked_folder()} is damaged (moves): rm -r" in lines(tertium, 1)[check]
