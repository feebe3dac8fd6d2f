"""The action of GitHub and the hook of pre-commit, run as these run them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from .cli.conftest import TERTIUM

yaml: Any = pytest.importorskip("yaml")
ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.skipif(
    not (ROOT / "action.yml").is_file(), reason="the source distribution lacks it"
)


def on_path(folder: Path) -> dict[str, str]:
    """An environment in which ``tertium`` is this version."""
    folder.mkdir()
    script = folder / "tertium"
    script.write_text(f"#!{sys.executable}\n{TERTIUM[2]}\n", encoding="utf-8")
    script.chmod(0o755)
    return {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}


def run_action(folder: Path, **given: str) -> subprocess.CompletedProcess[str]:
    """Run the last step of the action with its inputs, as the runner does."""
    action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    inputs = {name: each["default"] for name, each in action["inputs"].items()} | given
    step = action["runs"]["steps"][-1]
    environment = on_path(folder / "bin")
    for name, value in step["env"].items():
        expression = value.removeprefix("${{ inputs.").removesuffix(" }}")
        environment[name] = inputs[expression]
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        env=environment,
        cwd=folder,
        text=True,
        capture_output=True,
    )


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "en.json").write_text('{"a": "Wait {n} seconds"}', encoding="utf-8")
    (tmp_path / "de.json").write_text('{"a": "Warte Sekunden"}', encoding="utf-8")
    return tmp_path


def test_a_finding_fails_the_job_and_is_an_annotation(project: Path) -> None:
    result = run_action(project, languages="en-de", arguments="--model none")
    assert result.returncode == 1, result.stderr
    assert result.stdout.startswith("::error file=de.json,line=1,title=placeholder (critical)::")


def test_inputs_of_the_action(project: Path) -> None:
    never = {"fail-on": "never", "arguments": "--model none", "paths": "de.json en.json"}
    assert run_action(project, **never).returncode == 0
    environment = on_path(project / "again")
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "Begin"]):
        subprocess.run(
            ["git", "-c", "user.name=a", "-c", "user.email=a@b", *command],
            cwd=project,
            env=environment,
            check=True,
        )
    (project / "bin").rename(project / "bin-before")
    since = run_action(project, since="HEAD", arguments="--model none")
    assert since.returncode == 0, since.stdout + since.stderr


def test_the_hook_checks_the_files_of_a_commit(project: Path) -> None:
    [hook] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    command = [*hook["entry"].split(), "de.json", "en.json"]
    result = subprocess.run(
        command, cwd=project, env=on_path(project / "bin"), text=True, capture_output=True
    )
    assert result.returncode == 1
    assert "de.json:1: critical: placeholder" in result.stdout


def test_settings_in_the_docs_are_read(project: Path) -> None:
    page = (ROOT / "docs" / "check.md").read_text("utf-8")
    settings = page.split("```toml\n")[1].split("```")[0]
    (project / "tertium.toml").write_text(settings, encoding="utf-8")
    (project / "terms.tsv").write_text("seconds\tSekunden\n", encoding="utf-8")
    (project / "known.json").write_text('{"tertium-baseline": []}', encoding="utf-8")
    result = subprocess.run(
        ["tertium", "check", "de.json"],
        cwd=project,
        env=on_path(project / "bin"),
        text=True,
        capture_output=True,
    )
    assert result.returncode == 1, result.stderr
    assert "by rules alone" in result.stdout
