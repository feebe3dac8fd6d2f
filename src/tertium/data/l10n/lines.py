"""Formats of one entry per line: properties of Java, and strings of iOS and macOS."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from tertium.data.l10n.strings import Message, refuse_broken

PROPERTY = re.compile(r"(?P<key>(?:\\.|[^\\:=\s])+)\s*[:=]?\s*(?P<text>.*)", re.DOTALL)
PROPERTY_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|.)", re.DOTALL)
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "f": "\f"}
STRING = re.compile(
    r"""
    (?P<space>\s+)
    |/\*(?P<comment>.*?)\*/
    |//(?P<line_comment>[^\n]*)
    |(?P<key>"(?:\\.|[^"\\])*"|[\w.-]+)\s*=\s*"(?P<text>(?:\\.|[^"\\])*)"\s*;
    """,
    re.VERBOSE | re.DOTALL,
)
STRING_ESCAPE = re.compile(r"\\([Uu][0-9A-Fa-f]{4}|.)", re.DOTALL)


def read_properties(path: Path) -> list[Message]:
    """Read a properties file of Java, in UTF-8, or in Latin-1 if it is not UTF-8."""
    messages = []
    comment: list[str] = []
    for line, text in _logical_lines(decode(path)):
        if text[:1] in ("#", "!"):
            comment.append(text[1:].strip())
            continue
        match = PROPERTY.fullmatch(text)
        if match is not None:
            messages.append(
                Message(_property(match["key"]), _property(match["text"]), line, "\n".join(comment))
            )
        comment = []
    return messages


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines with their numbers; those that end in a backslash are joined with the next ones."""
    joined, first = "", 0
    for number, line in enumerate(text.split("\n"), start=1):
        stripped = line.rstrip("\r").lstrip()
        if not joined:
            first = number
            if stripped[:1] in ("#", "!"):
                yield first, stripped
                continue
        backslashes = len(stripped) - len(stripped.rstrip("\\"))
        if backslashes % 2:
            joined += stripped[:-1]
            continue
        yield first, joined + stripped
        joined = ""
    if joined:
        yield first, joined


def _property(text: str) -> str:
    return PROPERTY_ESCAPE.sub(
        lambda match: (
            chr(int(match[1][1:], 16)) if len(match[1]) > 1 else ESCAPES.get(match[1], match[1])
        ),
        text,
    )


def read_strings(path: Path) -> list[Message]:
    """Read a strings file of iOS or macOS, in UTF-8 or UTF-16."""
    text = decode(path)
    messages = []
    comment = ""
    place, line = 0, 1
    while place < len(text):
        match = STRING.match(text, place)
        if match is None:
            raise refuse_broken(path, line, 'is not well-formed: expected "key" = "text";')
        if match["text"] is not None:
            key = match["key"].removeprefix('"').removesuffix('"')
            messages.append(Message(_string(key), _string(match["text"]), line, comment.strip()))
            comment = ""
        else:
            comment = match["comment"] or match["line_comment"] or comment
        line += text.count("\n", place, match.end())
        place = match.end()
    return messages


def _string(text: str) -> str:
    return STRING_ESCAPE.sub(
        lambda match: (
            chr(int(match[1][1:], 16)) if len(match[1]) > 1 else ESCAPES.get(match[1], match[1])
        ),
        text,
    )


def decode(path: Path) -> str:
    """Read a text file in UTF-8, UTF-16 with a byte order mark, or Latin-1."""
    content = path.read_bytes()
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        try:
            return content.decode("utf-16")
        except UnicodeDecodeError:
            raise refuse_broken(path, None, "is not UTF-16, but begins like it") from None
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")
