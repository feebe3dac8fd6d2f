"""Shared by the tests and by the examples in docstrings and docs."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# On a busy machine an example may take any time: that is no fault of the code.
settings.register_profile("tertium", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("tertium")


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give each test a cache of its own."""
    monkeypatch.setenv("TERTIUM_CACHE", str(tmp_path / "tertium-cache"))
