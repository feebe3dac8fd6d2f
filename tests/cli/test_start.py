"""Start-up: commands are listed without being imported, and import only what they need."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest
import typer

from tertium.cli import app
from tertium.cli.commands import COMMANDS, imported

HEAVY = {
    "ctranslate2",
    "fastapi",
    "faiss",
    "jinja2",
    "matplotlib",
    "nltk",
    "numpy",
    "ot",
    "pandas",
    "pyarrow",
    "ray",
    "sacrebleu",
    "scipy",
    "sentencepiece",
    "torch",
    "transformers",
}
"""Packages that take long to import."""


def modules_after(statement: str) -> set[str]:
    """The names of the modules that a new process has imported after a statement."""
    program = f"{statement}\nimport sys; print(*sys.modules, file=sys.stderr)"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return set(run.stderr.splitlines()[-1].split())


def command(*arguments: str) -> str:
    """A statement that runs a command."""
    return (
        f"import sys; sys.argv = ['tertium', *{arguments!r}]\n"
        "from tertium.cli import main\n"
        "try: main()\nexcept SystemExit: pass"
    )


def test_import_of_the_package_is_light() -> None:
    modules = modules_after("import tertium")
    own = {name for name in modules if name.startswith("tertium")}
    assert own == {"tertium", "tertium._version"}
    assert not modules & HEAVY


def test_the_list_of_commands_imports_none_of_them() -> None:
    modules = modules_after(command("--help"))
    own = {name for name in modules if name.startswith("tertium.cli.")}
    assert own == {"tertium.cli.commands"}
    assert not modules & HEAVY


def test_scoring_of_a_pair_imports_only_its_engine() -> None:
    texts = ("I go home.", "I went home.", "--lang", "en")
    modules = modules_after(command("score", *texts, "--no-cache"))
    assert modules & HEAVY == {"ctranslate2", "sentencepiece"}
    assert not any(name.startswith("tertium.jobs.ray") for name in modules)
    assert modules_after(command("score", *texts, "-m", "chrf")) & HEAVY == {"sacrebleu"}


@pytest.mark.parametrize("name", COMMANDS)
def test_summaries_are_those_of_the_commands(name: str) -> None:
    """The first paragraph of its docstring, or the help of a group."""
    made = imported(name)
    assert made.name == name
    first, *_ = inspect.cleandoc(made.help or "").split("\n\n")
    assert " ".join(first.split()) == COMMANDS[name].summary


def test_the_app_has_the_commands() -> None:
    group = typer.main.get_command(app)
    assert list(group.commands) == list(COMMANDS)  # type: ignore[attr-defined]
