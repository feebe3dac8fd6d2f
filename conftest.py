"""What every test and every example in the docs gets: a cache of its own."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERTIUM_CACHE", str(tmp_path / "tertium-cache"))
