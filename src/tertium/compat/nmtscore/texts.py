"""One sentence or several: what the package takes wherever it takes text."""

from __future__ import annotations

from collections.abc import Sequence

from tertium.errors import InputError
from tertium.text import check_text

Sentences = str | Sequence[str]


def listed(sentences: Sentences, role: str) -> list[str]:
    """Make a list of one sentence, and check each of several."""
    if not isinstance(sentences, str | Sequence):
        raise InputError(
            f"{role} is {type(sentences).__name__}; give a string or a list of strings"
        )
    several = [sentences] if isinstance(sentences, str) else sentences
    return [check_text(text, role=role, row=row) for row, text in enumerate(several, start=1)]


def paired(
    first: Sentences, second: Sentences, roles: tuple[str, str]
) -> tuple[list[str], list[str]]:
    """Make lists of two that belong together, row by row.

    >>> paired("a", "b", ("a", "b"))
    (['a'], ['b'])
    """
    if isinstance(first, str) is not isinstance(second, str):
        one, many = roles if isinstance(first, str) else reversed(roles)
        raise InputError(
            f"{one} is a single string, but {many} is not; give two strings or two lists"
        )
    lists = listed(first, roles[0]), listed(second, roles[1])
    if len(lists[0]) != len(lists[1]):
        raise InputError(
            f"{len(lists[0])} sentences in {roles[0]}, but {len(lists[1])} in {roles[1]}; "
            "give one for each"
        )
    return lists
