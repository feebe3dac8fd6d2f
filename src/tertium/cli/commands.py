"""The commands by name. A command is imported when it is used, since that takes time."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from tertium.cli.words import noted


@dataclass(frozen=True)
class Entry:
    """A command in the table of commands."""

    summary: str
    """The beginning of the command's help."""
    attribute: str = ""
    """The name of the function, or of the group of commands, in its module; by default the
    command's."""


COMMANDS = {
    "score": Entry("Score pairs of texts: each system, and each row. Higher is better."),
    "compare": Entry(
        "Compare two or more systems on one test set: which is better, and is it significant?",
    ),
    "explain": Entry(
        "Show where two texts differ: unlikely tokens, omissions, additions and other spans."
    ),
    "check": Entry("Find what is wrong in translation files, in continuous integration."),
    "filter": Entry(
        "Remove bad pairs from a bitext, and report how many each filter removed, and why.",
        "filter_command",
    ),
    "mine": Entry(
        "Find pairs of texts with the same meaning: translations, paraphrases, or results of a "
        "search."
    ),
    "align": Entry(
        "Align the sentences of a document with those of its translation; or their words."
    ),
    "translate": Entry("Translate texts: the best translation, n-best lists, or samples."),
    "rerank": Entry("Choose the best of several candidate translations."),
    "paraphrase": Entry(
        "Paraphrase a text; shows the similarity in meaning and the diversity of each candidate."
    ),
    "serve": Entry(r"Serve a web page and an HTTP API for the measures (needs tertium\[web])."),
    "measures": Entry(
        "List the measures: what they measure, their range, what they need, and their settings."
    ),
    "models": Entry("List the models; fetch, convert and inspect them."),
    "doctor": Entry("Check that Tertium works on this machine; exit code 1 if anything is wrong."),
    "train": Entry("Train translation models and paraphrase detectors (extra: train)."),
    "study": Entry(
        "Which measure to trust: the studies of the papers, for any measures and models."
    ),
    "data": Entry("List, export and make datasets."),
}
"""Each command is in the module of its name."""


class LazyGroup(TyperGroup):
    """A group that knows the summaries of its commands, and imports the one that is called."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        for name, entry in COMMANDS.items():
            self.add_command(TyperCommand(name, help=entry.summary))

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        name, command, rest = super().resolve_command(ctx, args)
        return name, command if name is None else imported(name), rest


def imported(name: str) -> Any:
    """Import a command."""
    entry = COMMANDS[name]
    found = getattr(import_module(f"tertium.cli.{name}"), entry.attribute or name)
    if isinstance(found, typer.Typer):
        group = typer.main.get_group(found)
        group.name = name
        return noted(group)
    from tertium.cli.habits import HabitCommand

    single = typer.Typer(add_completion=False)
    single.command(name, cls=HabitCommand)(found)
    return noted(typer.main.get_command(single))
