"""The command line, run as a user runs it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tertium.cli import main

Run = Callable[..., subprocess.CompletedProcess[str]]
TERTIUM = [sys.executable, "-c", "from tertium.cli import main; main()"]


@pytest.fixture
def tertium(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """Run a command in this process; quick, and with the exit code that a shell would see."""

    def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        monkeypatch.setattr(sys, "argv", ["tertium", *map(str, arguments)])
        capfd.readouterr()
        code: object = 0
        try:
            main()
        except SystemExit as stopped:
            code = stopped.code
        captured = capfd.readouterr()
        assert isinstance(code, int)
        return subprocess.CompletedProcess([], code, captured.out, captured.err)

    return run
