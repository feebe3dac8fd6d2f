"""Turn docstrings into Markdown for the documentation site: examples are fenced, roles are code."""

from __future__ import annotations

import re
from typing import Any

import griffe

ROLE = re.compile(r":\w+:`~?([^`]+)`")
EXAMPLE = re.compile(r"^>>>.*(?:\n.+)*", re.MULTILINE)


def to_markdown(text: str) -> str:
    """Fence the examples of a docstring, and write references as code.

    >>> print(to_markdown("See :func:`load`.\\n\\n>>> 1 + 1\\n2\\n\\nMore."))
    See `load`.
    <BLANKLINE>
    ```pycon
    >>> 1 + 1
    2
    ```
    <BLANKLINE>
    More.
    """
    text = ROLE.sub(r"`\1`", text).replace("``", "`")
    return EXAMPLE.sub(lambda example: f"```pycon\n{example[0]}\n```", text)


class Docstrings(griffe.Extension):
    """Applied by mkdocstrings to every docstring."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = to_markdown(obj.docstring.value)
