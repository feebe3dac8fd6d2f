"""Shared by the tests and by the examples in docstrings and docs."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# On a busy machine an example may take any time: that is no fault of the code.
settings.register_profile("tertium", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("tertium")

ADAPTERS = {
    "evaluate": "evaluate/tertium",
    "lighteval": "lighteval.py",
    "lm_eval": "lm_eval.py",
    "mbrs": "mbrs",
    "opusfilter": "opusfilter.py",
    "pandas": "pandas.py",
    "polars": "polars.py",
    "torchmetrics": "torchmetrics.py",
}
"""Tools, and the modules that cannot be imported (for their doctests) without them."""
absent = [tool for tool in ADAPTERS if find_spec(tool) is None]
collect_ignore = [f"src/tertium/compat/{ADAPTERS[tool]}" for tool in absent]
if {"evaluate", "pandas", "polars", "torchmetrics"} & {*absent}:
    collect_ignore.append("docs/adapters.md")


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give each test a cache of its own."""
    monkeypatch.setenv("TERTIUM_CACHE", str(tmp_path / "tertium-cache"))
