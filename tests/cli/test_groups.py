"""Options that are described on the fields of groups, and on parameters of commands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import typer

from tertium.cli.groups import grouped
from tertium.cli.options import option


@dataclass(frozen=True)
class Base:
    """A group."""

    panel: ClassVar[str] = "Search"

    beam_size: int = option(5, "Hypotheses.", "--beam-size", "-b", min=1)
    sample: bool = option(False, "Draw instead.")
    header: bool = option(True, "", "--header/--no-header", panel="Input")


@dataclass(frozen=True)
class Wider(Base):
    """One with more options."""

    panel: ClassVar[str] = "More"

    seed: int | None = option(None, "Of the draw.")


called: list[tuple[Any, ...]] = []


@grouped()
def command(search: Wider, quiet: bool = option(False, "Say nothing.")) -> None:
    """A command."""
    called.append((search, quiet))


def options() -> dict[str, Any]:
    app = typer.Typer()
    app.command()(command)
    return {each.name: each for each in typer.main.get_command(app).params}


def test_flags_are_those_given_or_made_of_the_name() -> None:
    found = options()
    flags = {name: (each.opts, each.secondary_opts) for name, each in found.items()}
    assert flags["beam_size"] == (["--beam-size", "-b"], [])
    assert flags["sample"] == (["--sample"], [])
    assert flags["header"] == (["--header"], ["--no-header"])
    assert flags["seed"] == (["--seed"], [])
    assert flags["quiet"] == (["--quiet"], [])
    assert found["beam_size"].default == 5
    assert found["beam_size"].help == "Hypotheses."
    assert found["header"].help is None


def test_panels_are_those_of_the_group_that_has_the_field() -> None:
    panels = {name: each.rich_help_panel for name, each in options().items()}
    assert panels["beam_size"] == panels["sample"] == "Search"
    assert panels["header"] == "Input"
    assert panels["seed"] == "More"
    assert panels["quiet"] is None


def test_a_command_receives_its_groups_filled_in() -> None:
    app = typer.Typer()
    app.command()(command)
    arguments = ["--beam-size", "2", "--no-header", "--quiet"]
    typer.main.get_command(app)(arguments, standalone_mode=False)
    assert called == [(Wider(2, False, False, None), True)]
    assert Wider().beam_size == 5
