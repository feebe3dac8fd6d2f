"""What a localisation file holds, whatever its format."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tertium.errors import InputError


@dataclass(frozen=True, slots=True)
class Message:
    """A text of one language, under its key."""

    key: str
    text: str
    line: int
    comment: str = ""
    forms: tuple[str, ...] = ()
    """Other texts under the same key, such as the forms of a plural."""


@dataclass(frozen=True, slots=True)
class Translated:
    """A translation beside its source, and where it stands."""

    path: Path
    line: int
    key: str
    sources: tuple[str, ...]
    """The source; of plurals also its other forms, any of which the translation may be of."""
    target: str
    comment: str = ""
    max_length: int | None = None
    """How many characters the translation may have."""
    source_lang: str | None = None
    target_lang: str | None = None

    @property
    def source(self) -> str:
        return self.sources[0]


@dataclass(frozen=True, slots=True)
class Missing:
    """A text of the source that has no translation, and where one is expected."""

    path: Path
    line: int
    key: str
    source: str


@dataclass(frozen=True, slots=True)
class FileContent:
    """What one file, or a file with the file of its source language, holds."""

    path: Path
    translated: tuple[Translated, ...]
    missing: tuple[Missing, ...] = field(default=())


def pair_messages(
    path: Path,
    sources: Iterable[Message],
    targets: Iterable[Message],
    *,
    source_lang: str | None = None,
    target_lang: str | None = None,
) -> FileContent:
    """Pair the messages of two files by their keys; those of plurals also by their forms."""
    by_key: dict[str, Message] = {message.key: message for message in sources}
    translated, seen = [], set()
    for message in targets:
        source = by_key.get(message.key) or by_key.get(_other_form(message.key))
        seen.add(message.key)
        if source is None or not source.text.strip():
            continue
        translated.append(
            Translated(
                path,
                message.line,
                message.key,
                (source.text, *(form for form in source.forms if form != source.text)),
                message.text,
                message.comment or source.comment,
                source_lang=source_lang,
                target_lang=target_lang,
            )
        )
    missing = tuple(
        Missing(path, 1, message.key, message.text)
        for message in by_key.values()
        if message.key not in seen and message.text.strip() and not is_form(message.key)
    )
    return FileContent(path, tuple(translated), missing)


OTHER = "other"
"""The form of a plural that every language has (CLDR)."""


def form_key(key: str, form: str) -> str:
    """The key of one form of a plural."""
    return f"{key}[{form}]"


def is_form(key: str) -> bool:
    """Whether a key is that of a form other than the one that every language has."""
    return key.endswith("]") and not key.endswith(f"[{OTHER}]")


def _other_form(key: str) -> str:
    return form_key(key.rpartition("[")[0], OTHER) if is_form(key) else key


def plural_messages(
    key: str, forms: Mapping[str, tuple[str, int]], comment: str = ""
) -> Iterator[Message]:
    """The messages of a plural: its forms, with their lines, by their names."""
    texts = tuple(text for text, _ in forms.values())
    for form, (text, line) in forms.items():
        yield Message(form_key(key, form), text, line, comment, texts)


def refuse_broken(path: Path, line: int | None, reason: str) -> InputError:
    """The error for a file that is not what its name says, in one line."""
    place = str(path) if line is None else f"{path}, line {line}"
    return InputError(f"{place}: {reason}")
