"""The Dockerfile, as far as it can be tested without a container engine."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from tertium.web.app import create_app

from .cli.conftest import Run, tertium  # noqa: F401  (a fixture)
from .web.conftest import Running, fake_models, running  # noqa: F401  (a fixture)

DOCKERFILE = (Path(__file__).parents[1] / "Dockerfile").read_text("utf-8")


def command(instruction: str) -> list[str]:
    """The words of an instruction that is a list in JSON."""
    found = re.search(rf"^{instruction}(?:.*\\\n)*[^\[\n]*(\[.*\])$", DOCKERFILE, re.MULTILINE)
    assert found is not None
    words: list[str] = json.loads(found[1])
    return words


def test_it_runs_without_privileges_and_writes_only_to_tmp() -> None:
    user = re.findall(r"^USER (\d+)$", DOCKERFILE, re.MULTILINE)
    assert user
    assert int(user[-1]) > 0
    assert "TERTIUM_CACHE=/tmp/" in DOCKERFILE
    assert "PYTHONDONTWRITEBYTECODE=1" in DOCKERFILE


def test_it_starts_a_server_that_needs_a_token(tertium: Run) -> None:  # noqa: F811
    program, *options = command("ENTRYPOINT")
    assert program == "tertium"
    done = tertium(*options)
    assert done.returncode == 2
    assert "TERTIUM_TOKEN" in done.stderr


def test_its_health_check_works(running: Callable[..., Running]) -> None:  # noqa: F811
    server = running(create_app(fake_models()))
    program, flag, code = command("HEALTHCHECK")
    assert program == "python"
    mine = code.replace("127.0.0.1:8310", f"127.0.0.1:{server.port}")
    assert subprocess.run([sys.executable, flag, mine], timeout=60).returncode == 0
    server.close()
    gone = subprocess.run([sys.executable, flag, mine], timeout=60, capture_output=True)
    assert gone.returncode != 0
