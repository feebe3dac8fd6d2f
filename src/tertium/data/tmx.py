"""Translation memories (TMX), read as a stream.

Entities that a document declares are refused: TMX does not need them, and a few lines of them can
expand to gigabytes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import IO
from xml.parsers import expat

from tertium.data.lines import READING_ERRORS, check_file, name_of, open_bytes, unreadable
from tertium.data.pairs import FileSource, Languages
from tertium.errors import InputError
from tertium.text import Row, Text

CHUNK = 1 << 16
CODES = frozenset({"bpt", "ept", "ph", "it", "ut", "sub"})
"""Elements within a segment that contain formatting codes, not text."""
BREAKS = str.maketrans({"\t": " ", "\n": " ", "\r": " "})

Unit = dict[str, list[str]]
"""The segments of a translation unit, by language (in lower case)."""


def read_tmx(path: Path) -> Iterator[Unit]:
    """Read the translation units of a TMX file, compressed or not."""
    check_file(path)
    reader = _Reader(name_of(path))
    with open_bytes(path) as stream:
        while chunk := _read(stream, path):
            yield from reader.feed(chunk, last=False)
        yield from reader.feed(b"", last=True)


def _read(stream: IO[bytes], path: Path) -> bytes:
    try:
        return stream.read(CHUNK)
    except READING_ERRORS as error:
        raise unreadable(path, error) from None


class _Reader:
    """Collects translation units while parsing; nothing else of the document is kept."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._units: deque[Unit] = deque()
        self._unit: Unit = {}
        self._lang = ""
        self._text: list[str] | None = None
        self._codes = 0
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters
        self._parser.EntityDeclHandler = self._refuse

    def feed(self, chunk: bytes, *, last: bool) -> Iterator[Unit]:
        try:
            self._parser.Parse(chunk, last)
        except expat.ExpatError as error:
            raise InputError(f"{self._name} is not well-formed XML: {error}") from None
        except (LookupError, ValueError) as error:  # an encoding that the parser does not support
            raise InputError(
                f"{self._name} cannot be decoded: {error}; save it as UTF-8 or UTF-16"
            ) from None
        while self._units:
            yield self._units.popleft()

    def _refuse(self, name: str, *_: object) -> None:
        raise InputError(
            f"{self._name} declares an entity ({name!r}), which TMX does not need and which may be "
            "an attack; remove the declaration if you trust the file"
        )

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "tu":
            self._unit = {}
        elif tag == "tuv":
            self._lang = attributes.get("xml:lang", attributes.get("lang", "")).lower()
        elif tag == "seg":
            self._text, self._codes = [], 0
        elif tag in CODES:
            self._codes += 1

    def _end(self, tag: str) -> None:
        if tag == "tu":
            self._units.append(self._unit)
        elif tag == "seg" and self._text is not None:
            text = "".join(self._text).translate(BREAKS).strip()
            self._unit.setdefault(self._lang, []).append(text)
            self._text = None
        elif tag in CODES:
            self._codes -= 1

    def _characters(self, text: str) -> None:
        if self._text is not None and not self._codes:
            self._text.append(text)


@dataclass(frozen=True)
class TmxPairs(FileSource):
    """Translation units that have both languages; several segments give several rows."""

    path: Path
    languages: Languages
    columns: Sequence[str] = ("src", "tgt")
    has_references: bool = False
    has_source: bool = True

    def __post_init__(self) -> None:
        if self.languages.src is None or self.languages.hyp is None:
            raise InputError(
                "a TMX file may have several languages",
                cure="give {source_lang} and {target_lang}",
            )
        check_file(self.path)

    @property
    def paths(self) -> Sequence[Path]:
        return [self.path]

    def count(self) -> int | None:
        return sum(1 for _ in self)

    def __iter__(self) -> Iterator[Row]:
        langs = self.languages
        pairs = (
            pair
            for unit in read_tmx(self.path)
            for pair in product(in_language(unit, langs.src), in_language(unit, langs.hyp))
        )
        for number, (source, target) in enumerate(pairs, start=1):
            record = {"src": source, "tgt": target}
            yield Row(number, Text(target, langs.hyp), (), Text(source, langs.src), record)


def in_language(unit: Unit, lang: str | None) -> list[str]:
    """The segments in a language; ``en`` includes ``en-GB``, but not the other way round.

    >>> in_language({"en-gb": ["Colour"], "de": ["Farbe"]}, "en")
    ['Colour']
    """
    wanted = str(lang).lower()
    return [
        text
        for code, texts in unit.items()
        if code == wanted or code.startswith((f"{wanted}-", f"{wanted}_"))
        for text in texts
    ]
