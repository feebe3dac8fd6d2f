"""Models come from the hub whole, or not at all; the hub is played by a local server."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tertium.errors import SettingError
from tertium.models import hub as hub_module
from tertium.models.card import TranslationSettings, read_card
from tertium.registry import Extra
from tertium.storage.paths import models_folder

from ..cli.conftest import TERTIUM
from ..local_hub import COMMIT, LocalHub, local_hub

REPO = "facebook/m2m100_418M"
DOWNLOAD = (
    "import sys, json\nfrom tertium.errors import TertiumError\n"
    "from tertium.models.hub import download\n"
    "try:\n    print(download(sys.argv[1], **json.loads(sys.argv[2])))\n"
    "except TertiumError as error:\n    print(error, file=sys.stderr); sys.exit(2)\n"
)
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def hub(family: Callable[[str], Any]) -> Iterator[LocalHub]:
    with local_hub(REPO, family("m2m100").original.folder) as running:
        yield running


@pytest.fixture
def environment(hub: LocalHub, tmp_path: Path) -> dict[str, str]:
    settings = {"HF_ENDPOINT": hub.address, "HF_HOME": str(tmp_path / "hf")}
    return {**os.environ, **settings, "HF_HUB_DISABLE_PROGRESS_BARS": "1"}


@pytest.fixture
def download(environment: dict[str, str]) -> Run:
    def run(repo: str = REPO, options: str = "{}") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", DOWNLOAD, repo, options],
            env=environment,
            capture_output=True,
            text=True,
        )

    return run


def test_fetch_by_a_catalog_name(environment: dict[str, str], hub: LocalHub) -> None:
    command = [*TERTIUM, "models", "fetch", "m2m100_418M"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    folder = read_card(models_folder() / "m2m100_418M", TranslationSettings)
    assert folder.origin == f"{REPO}@{COMMIT}"
    assert folder.settings.dialect == "m2m100"
    folder.verified()
    info = [*TERTIUM, "models", "info", "m2m100_418M"]
    shown = subprocess.run(info, env=environment, capture_output=True, text=True)
    assert folder.fingerprint in shown.stdout
    assert COMMIT in shown.stdout
    assert "MIT" in shown.stdout
    again = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert again.returncode == 2
    assert "already exists" in again.stderr


def test_what_was_downloaded_can_be_used_offline(download: Run, hub: LocalHub) -> None:
    absent = download(options='{"offline": true}')
    assert absent.returncode == 2
    assert "cannot be downloaded" in absent.stderr
    assert download().returncode == 0
    hub.files.clear()
    assert download(options='{"offline": true}').returncode == 0


def test_a_pinned_revision(download: Run) -> None:
    done = download(options=f'{{"revision": "{COMMIT}"}}')
    assert done.returncode == 0
    assert done.stdout.strip().endswith(COMMIT)


def test_an_interrupted_download_resumes(download: Run, hub: LocalHub) -> None:
    hub.files["large.model"] = bytes(25 << 20)  # the library writes 10 MB at a time
    hub.cut_after = 12 << 20
    assert download().returncode == 0
    assert any(wanted.startswith("bytes=") for wanted in hub.ranges)  # not all over again


def test_a_failed_download_can_be_resumed(download: Run, hub: LocalHub) -> None:
    hub.cut_after = 10_000
    broken = download()
    assert broken.returncode == 2  # the line broke more often than the library tries
    assert "run the same command again" in broken.stderr
    hub.cut_after = None
    assert download().returncode == 0


def test_a_wrong_checksum_is_found_out(download: Run, hub: LocalHub) -> None:
    hub.damage = True
    damaged = download()
    assert damaged.returncode == 2
    assert "damaged during download (wrong checksum)" in damaged.stderr
    hub.damage = False
    assert download().returncode == 0


def test_what_the_hub_does_not_have(download: Run) -> None:
    done = download("nobody/nothing")
    assert done.returncode == 2
    assert "nobody/nothing cannot be downloaded" in done.stderr


def test_names_that_are_no_models(environment: dict[str, str]) -> None:
    command = [*TERTIUM, "models", "fetch", "nothing"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 2
    assert "'nothing' is neither in the catalog of public models" in done.stderr


def test_the_extra_is_checked_before_a_download(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    extra = Extra("convert", ("no_such_module",))
    monkeypatch.setattr("tertium.models.convert.checkpoint.CONVERT", extra)
    with pytest.raises(SettingError, match=r"pip install 'tertium\[convert\]'"):
        hub_module.fetch("small100")
