"""The commands by name, imported when they are used; and parameters as their options name them."""

from __future__ import annotations

from collections.abc import Iterable
from contextvars import ContextVar
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

RUNNING: ContextVar[Any] = ContextVar("RUNNING", default=None)
"""The command whose arguments are read, or that runs."""
RENAMED = {
    "reference_lang": ("ref_lang",),
    "source_lang": ("src_lang",),
    "target_lang": ("target_lang", "tgt_lang"),
    "references": ("ref", "ref_column"),
    "sources": ("src", "src_column"),
}
"""Parameters of Python that are called otherwise on the command line, or are several options."""


def noted(command: Any) -> Any:
    """Note when a command, or one of its commands, is called, for what is said about options."""
    for each in getattr(command, "commands", {}).values():
        noted(each)
    make_context = command.make_context

    def make(*arguments: Any, **settings: Any) -> Any:
        RUNNING.set(command)
        return make_context(*arguments, **settings)

    command.make_context = make
    return command


def as_option(name: str, value: str) -> str | None:
    """A parameter with its value as an option of the command; None if it has no such option."""
    options = [each for own in RENAMED.get(name, (name,)) for each in _options(own, value)]
    if not options:
        return None
    names = " or ".join(options)
    return names if value in ("", "True", "False") else f"{names} {value}"


def flag(name: str) -> str:
    """The option that gives a parameter.

    >>> flag("joined_tokens")
    '--joined-tokens'
    """
    return as_option(name, "") or _usual(name)


def flags(names: Iterable[str]) -> str:
    """The options that give several parameters."""
    return ", ".join(map(flag, names))


def _options(name: str, value: str) -> list[str]:
    command = RUNNING.get()
    if command is None:
        return [_usual(name)]
    return [
        next((word for word in said if word.startswith("--")), said[0])
        for each in command.params
        if each.name == name and each.param_type_name == "option"
        for said in (each.secondary_opts if value == "False" else each.opts,)
        if said
    ]


def _usual(name: str) -> str:
    return f"--{name.replace('_', '-')}"


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
