"""Other tools, and what docs/adapters.md says about using Tertium in them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "adapters.md"


def missing(module: str, package: str | None = None) -> str:
    """Why the tests of a tool do not run."""
    return f"NOT TESTED: {module} is not installed (pip install {package or module})"


def require(module: str, package: str | None = None) -> None:
    """Skip the tests of a file, and say so, if a tool is not installed."""
    if find_spec(module) is None:
        pytest.skip(missing(module, package), allow_module_level=True)


def tool(module: str, package: str | None = None) -> pytest.MarkDecorator:
    """Skip a test, and say so, if a tool is not installed."""
    return pytest.mark.skipif(find_spec(module) is None, reason=missing(module, package))


def block(heading: str, language: str, number: int = 0) -> str:
    """A block of code from the section of the page with this heading."""
    section = PAGE.read_text("utf-8").partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    found = re.findall(rf"^```{language}\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    return str(found[number])


def folder(path: Path) -> Path:
    """A folder that looks like the repository to commands of the page."""
    (path / "examples").symlink_to(ROOT / "examples")
    return path


def run(command: str, path: Path) -> str:
    """Run a command of the page in a shell without network; return what it printed."""
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "HF_HOME": str(path / "hf"),
        "HF_HUB_OFFLINE": "1",
        "NO_COLOR": "1",
        "COLUMNS": "200",
    }
    done = subprocess.run(
        ["bash", "-euc", command], cwd=path, env=environment, capture_output=True, text=True
    )
    if done.returncode and "NameResolutionError" in done.stderr + done.stdout:
        pytest.skip(f"NOT TESTED: without network, this does not start: {command.split()[0]}")
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout
