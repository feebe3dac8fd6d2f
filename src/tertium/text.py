"""A text and its language, and rows of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from tertium.errors import InputError


class Text(NamedTuple):
    """A text and, where it is known, the ISO 639 code of its language."""

    text: str
    lang: str | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """One thing to score: a hypothesis, and what it is compared with.

    ``number`` counts from 1, so that an error can name the row.
    """

    number: int
    hypothesis: Text
    references: tuple[Text, ...] = ()


def lone_surrogate(text: str) -> int | None:
    """Return the place of the first lone surrogate: half a character, which no file can hold.

    >>> lone_surrogate("fine"), lone_surrogate("ab\\ud800")
    (None, 2)
    """
    try:
        text.encode()
    except UnicodeEncodeError as error:
        return error.start
    return None


def check_text(text: object, *, role: str, row: int) -> str:
    """Return ``text`` if a model can read it; otherwise say which row is at fault, and why."""
    if not isinstance(text, str):
        raise InputError(
            f"row {row}: the {role} is {type(text).__name__}, not text; "
            "give a string (an empty one if there is no text)"
        )
    place = lone_surrogate(text)
    if place is not None:
        raise InputError(
            f"row {row}: the {role} holds a lone surrogate (U+{ord(text[place]):04X}) at character "
            f"{place + 1}, which is not valid Unicode; "
            "repair the text, or let invalid characters be replaced (--replace-invalid)"
        )
    return text
