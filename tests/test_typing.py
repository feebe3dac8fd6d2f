"""The types that a project sees which uses Tertium: ``py.typed``, checked by mypy."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

CLIENT = """
import tertium

one: float = tertium.score("a dog", "a cat", measure="chrf")
many: tertium.Scores = tertium.score(["a dog"], ["a cat"], measure="chrf")
first: float = many[0]
table: tertium.ScoreTable = tertium.score(["a dog"], ["a cat"], measure=["chrf", "bleu"])
measure: tertium.Measure = tertium.load("cross", beam_size=1)
scores: tertium.Scores = measure.score(["a dog"], ["a cat"], lang="en")
system: float = scores.system
signature: str = str(scores.signature)
"""
WRONG = """
import tertium

text: str = tertium.score("a dog", "a cat", measure="chrf")
tertium.load(5)
"""


def mypy(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    (folder / "client.py").write_text(code, "utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "client.py"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def test_a_client_project(tmp_path: Path) -> None:
    done = mypy(CLIENT, tmp_path)
    assert done.returncode == 0, done.stdout


def test_a_client_with_mistakes(tmp_path: Path) -> None:
    done = mypy(WRONG, tmp_path)
    assert 'client.py:4: error: Incompatible types in assignment (expression has type "float"' in (
        done.stdout
    )
    assert 'client.py:5: error: Argument 1 to "load" has incompatible type "int"' in done.stdout
    assert "Found 2 errors in 1 file" in done.stdout
