"""Fluent files: messages, terms, their attributes, and the variants of selections."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

from tertium.data.l10n.strings import OTHER, Message, form_key, refuse_broken
from tertium.errors import SettingError

MOST_VARIANTS = 32
"""A pattern with more variants, from several selections, is read with its default ones."""


def read_fluent(path: Path) -> list[Message]:
    """Read the patterns of a Fluent file; each variant of a selection is a message."""
    try:
        from fluent.syntax import FluentParser, ast
    except ImportError:
        raise SettingError(
            f"{path}: Fluent files need fluent.syntax: pip install 'tertium[l10n]'"
        ) from None
    text = path.read_text(encoding="utf-8-sig")
    lines = _Lines(text)
    messages: list[Message] = []
    for entry in FluentParser(with_spans=True).parse(text).body:
        if isinstance(entry, ast.Junk):
            reason = entry.annotations[0].message if entry.annotations else "is not Fluent"
            raise refuse_broken(path, lines.at(entry.span.start), f"is not well-formed: {reason}")
        if not isinstance(entry, ast.Message | ast.Term):
            continue
        prefix = "-" if isinstance(entry, ast.Term) else ""
        name = prefix + entry.id.name
        comment = entry.comment.content if entry.comment else ""
        patterns = [(name, entry.value)] if entry.value else []
        patterns += [(f"{name}.{each.id.name}", each.value) for each in entry.attributes]
        for key, pattern in patterns:
            line = lines.at(pattern.span.start if key != name else entry.id.span.start)
            variants = list(_variants(pattern))
            forms = tuple(text for _, text in variants)
            for form, text in variants:
                messages.append(
                    Message(form_key(key, form) if form else key, text, line, comment, forms)
                )
    return messages


def _variants(pattern: Any) -> Iterator[tuple[str, str]]:
    """The name of each variant of a pattern, empty if there is only one, and its text."""
    from fluent.syntax import ast, serializer

    choices: list[list[tuple[str, str]]] = []
    for element in pattern.elements:
        if isinstance(element, ast.TextElement):
            choices.append([("", element.value)])
        elif isinstance(element.expression, ast.SelectExpression):
            choices.append(
                [
                    (OTHER if variant.default else _name(variant.key), text)
                    for variant in element.expression.variants
                    for _, text in _variants(variant.value)
                ]
            )
        else:
            code = serializer.serialize_expression(element.expression)
            choices.append([("", f"{{ {code} }}")])
    if _count(choices) > MOST_VARIANTS:
        choices = [[next((each for each in some if each[0] == OTHER), some[0])] for some in choices]
    for chosen in product(*choices):
        names = [name for name, _ in chosen if name]
        name = OTHER if names and set(names) == {OTHER} else ",".join(names)
        yield name, "".join(text for _, text in chosen)


def _count(choices: list[list[tuple[str, str]]]) -> int:
    count = 1
    for some in choices:
        count *= len(some)
    return count


def _name(key: Any) -> str:
    return str(getattr(key, "name", None) or key.value)


class _Lines:
    """The number of the line of each character."""

    def __init__(self, text: str) -> None:
        self._starts = [0]
        for place, char in enumerate(text):
            if char == "\n":
                self._starts.append(place + 1)

    def at(self, place: int) -> int:
        from bisect import bisect_right

        return bisect_right(self._starts, place)
