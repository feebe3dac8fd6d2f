"""Parameters as the command line names them: the options of the command that runs."""

from __future__ import annotations

from collections.abc import Iterable
from contextvars import ContextVar
from typing import Any

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
