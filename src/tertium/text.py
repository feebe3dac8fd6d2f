"""Texts with their languages, and the rows that are scored."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tertium.errors import InputError


class Text(NamedTuple):
    """A text and, if known, the ISO 639 code of its language."""

    text: str
    lang: str | None = None


NO_TEXT = Text("")


@dataclass(frozen=True, slots=True)
class Row:
    """One thing to work on: a hypothesis with its references, its source, or both.

    Of a pair of sentences that are translations of each other, the hypothesis is the target.
    ``number`` counts from 1, so that an error can name the row.
    """

    number: int
    hypothesis: Text = NO_TEXT
    references: tuple[Text, ...] = ()
    source: Text | None = None
    record: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """The record that it was read from."""
    error: str | None = None
    """Why it cannot be read, where that does not stop a run."""

    @classmethod
    def pair(cls, source: Text, target: Text, number: int = 1) -> Row:
        """A text and its supposed translation.

        >>> [text.text for text in Row.pair(Text("Ja"), Text("Yes")).sides]
        ['Ja', 'Yes']
        """
        return cls(number, target, (), source)

    @property
    def sides(self) -> tuple[Text, Text]:
        """The source and the hypothesis, which must both be there."""
        if self.source is None:
            raise InputError(f"row {self.number}: there is no source")
        return self.source, self.hypothesis

    @property
    def content(self) -> list[Any]:
        """What must be the same for a run to be resumed."""
        return [self.hypothesis, self.references, self.source, self.record]


def lone_surrogate(text: str) -> int | None:
    """Return the position of the first lone surrogate, which cannot be encoded, or None.

    >>> lone_surrogate("fine"), lone_surrogate("ab\\ud800")
    (None, 2)
    """
    try:
        text.encode()
    except UnicodeEncodeError as error:
        return error.start
    return None


def check_text(text: object, *, role: str, row: int) -> str:
    """Return ``text`` if it is valid text; otherwise raise an error that names the row."""
    if not isinstance(text, str):
        raise InputError(
            f"row {row}: the {role} is {type(text).__name__}, not text; "
            "give a string (an empty one if there is no text)"
        )
    check_characters(text, f"row {row}: the {role}")
    return text


def field_value(record: Mapping[str, Any], name: str, *, role: str, row: int) -> Any:
    """Return a field of a record; a missing one, or a null, is an error that names the row."""
    if name not in record:
        raise InputError(f"row {row}: the field {name!r} is missing")
    value = record[name]
    if value is None or (isinstance(value, list) and None in value):
        raise InputError(
            f"row {row}: the field {name!r} is null; the {role} must be text (it may be empty)"
        )
    return value


def check_fields(record: Mapping[str, object], *, row: int) -> None:
    """Refuse a record with a field that cannot be encoded."""
    for name, value in record.items():
        check_characters(name, f"row {row}: the name of the field {name!a}")
        as_text = (
            value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
        )
        check_characters(as_text, f"row {row}: the field {name!r}")


def check_characters(text: str, what: str) -> None:
    """Refuse a text that cannot be encoded; the error message starts with ``what``."""
    place = lone_surrogate(text)
    if place is not None:
        raise InputError(
            f"{what} holds a lone surrogate (U+{ord(text[place]):04X}) at character "
            f"{place + 1}, which is not valid Unicode",
            cure=("repair the text", "replace invalid characters ({replace_invalid:True})"),
        )


def whole(value: Any) -> Any:
    """Replace lone surrogates by U+FFFD, in strings, lists and dictionaries.

    >>> whole("ab\\ud800"), whole({"a": ["\\udfff"]}), whole(3)
    ('ab�', {'a': ['�']}, 3)
    """
    if isinstance(value, dict):
        return {whole(name): whole(item) for name, item in value.items()}
    if isinstance(value, list):
        return [whole(item) for item in value]
    if not isinstance(value, str) or lone_surrogate(value) is None:
        return value
    return "".join("\ufffd" if "\ud800" <= char <= "\udfff" else char for char in value)
