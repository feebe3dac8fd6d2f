"""Finding localisation files, and the files in the source language that belong to them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from pathlib import Path

from tertium.data.codes import SCRIPTS, SHORT, primary
from tertium.data.l10n import BILINGUAL, DOCUMENTS, SUBTITLES, SUFFIXES, TMX
from tertium.data.l10n.fluent import read_fluent
from tertium.data.l10n.gettext import read_po
from tertium.data.l10n.keyed import read_catalog, read_json, read_yaml
from tertium.data.l10n.lines import read_properties, read_strings
from tertium.data.l10n.markdown import pair_blocks, read_blocks
from tertium.data.l10n.strings import FileContent, Message, Translated, pair_messages
from tertium.data.l10n.subtitles import pair_subtitles, read_cues
from tertium.data.l10n.xml import read_android, read_xliff
from tertium.data.pairs import Languages, TablePairs, bitext_columns, find_column
from tertium.data.records import SUFFIXES as TABLES
from tertium.data.records import open_table
from tertium.data.tmx import read_tmx
from tertium.errors import InputError, LanguageError
from tertium.text import NO_TEXT

DEFAULT_SOURCE = "en"
MESSAGES: dict[str, Callable[[Path, str | None], list[Message]]] = {
    ".ftl": lambda path, _: read_fluent(path),
    ".json": read_json,
    ".arb": read_json,
    ".yml": read_yaml,
    ".yaml": read_yaml,
    ".properties": lambda path, _: read_properties(path),
    ".strings": lambda path, _: read_strings(path),
    ".xml": lambda path, _: read_android(path),
}
"""Formats with one language per file, whose texts have keys."""
SKIPPED = frozenset({"node_modules", "__pycache__", "venv", "build", "dist", "target"})
"""Folders that are not searched, besides hidden ones."""
TOKEN = re.compile(r"(?<![A-Za-z])([a-z]{2,3})(?:[-_]r?([A-Z]{2}|[A-Z][a-z]{3}))?(?![A-Za-z])")
"""A language in the name of a file or folder: de, pt-BR, pt_BR, pt-rBR, zh-Hans."""
KEYS = ("key", "id", "segment", "name")
"""Columns of a table that name its rows."""
KEYS_ARE_TEXTS = 0.5
"""The share of keys with spaces from which the keys of a file are its source texts."""


@dataclass(frozen=True, slots=True)
class Place:
    """A language in a path, and the part of the path that it stands in."""

    lang: str
    part: int
    start: int
    end: int


def find_files(paths: Iterable[Path], exclude: Sequence[str] = ()) -> list[Path]:
    """Expand folders to the localisation files in them, without those that match a pattern."""
    found: dict[Path, None] = {}
    for path in paths:
        if path.is_dir():
            for file in sorted(path.rglob("*")):
                inside = file.relative_to(path).parts
                hidden = any(part.startswith(".") or part in SKIPPED for part in inside[:-1])
                if file.suffix.lower() in SUFFIXES and not hidden and file.is_file():
                    found[file] = None
        elif path.exists():
            found[path] = None
        else:
            raise InputError(f"{path} does not exist")
    return [
        path
        for path in found
        if not any(
            fnmatch(str(path), pattern) or fnmatch(path.name, pattern) for pattern in exclude
        )
    ]


def languages_in(path: Path) -> list[Place]:
    """The languages that a path may name, the most probable first.

    >>> [(place.lang, place.part) for place in languages_in(Path("app/values-pt-rBR/strings.xml"))]
    [('pt-BR', 1)]
    >>> [place.lang for place in languages_in(Path("de/LC_MESSAGES/django.po"))]
    ['de']
    """
    places = []
    parts = path.parts
    for part in range(len(parts) - 1, -1, -1):
        name = path.stem if part == len(parts) - 1 else parts[part]
        for match in reversed(list(TOKEN.finditer(name))):
            code, region = match[1], match[2]
            if code in SCRIPTS or code in SHORT:
                lang = f"{code}-{region}" if region else code
                places.append(Place(lang, part, *match.span()))
    return places


def source_of(path: Path, place: Place, source_lang: str) -> Path | None:
    """The file in the source language with the same name but for the language."""
    parts = list(path.parts)
    is_name = place.part == len(parts) - 1
    name = parts[place.part]
    before, after = name[: place.start], name[place.end :]
    spellings = [source_lang, source_lang.replace("-", "_"), primary(source_lang)]
    if primary(source_lang) == "en":
        spellings += ["en-US", "en_US", "en-GB", "en_GB"]
    names = [f"{before}{spelling}{after}" for spelling in dict.fromkeys(spellings)]
    if before[-1:] in ("-", "_", "."):
        names.append(before[:-1] + after)  # values-de, messages_de.properties, README.de.md
    if not is_name and after == ".lproj":
        names.append("Base.lproj")
    for candidate in names:
        file = Path(*parts[: place.part], candidate, *parts[place.part + 1 :])
        if candidate and file != path and file.is_file():
            return file
    return None


def read_files(
    paths: Sequence[Path],
    *,
    source_lang: str | None = None,
    target_lang: str | None = None,
    source: Path | None = None,
    named: frozenset[Path] = frozenset(),
) -> Iterator[FileContent]:
    """Read localisation files; those of one language together with their file in the source's.

    Files without a file in the source language are left out, unless they are ``named`` by the user:
    that is an error. So is what is not well-formed.
    """
    original = source_lang or DEFAULT_SOURCE
    for path in paths:
        suffix = path.suffix.lower()
        if suffix in BILINGUAL:
            for content in _bilingual(path, suffix, original, target_lang):
                if _wanted(content, target_lang):
                    yield content
            continue
        if suffix in TABLES:
            yield _table(path, source_lang, target_lang)
            continue
        if suffix not in SUFFIXES:
            raise InputError(
                f"{path} has no format that Tertium checks; the name must end in one of "
                f"{', '.join(sorted(SUFFIXES | TABLES.keys()))}"
            )
        pair = _paired(path, source, original, target_lang)
        if pair is None:
            if path in named and not _is_source(path, original):
                raise InputError(
                    f"{path}: there is no file in the source language ({original}) beside it; name "
                    "both alike but for the language (en.json, de.json), or give the source file"
                )
            continue
        file, lang = pair
        if target_lang is not None and primary(lang) != primary(target_lang):
            continue
        yield _pair(path, file, suffix, original, lang)


def _paired(
    path: Path, source: Path | None, source_lang: str, target_lang: str | None
) -> tuple[Path | None, str] | None:
    """The file in the source language and the language of a file; None if there is none."""
    places = languages_in(path)
    if source is not None:
        lang = target_lang or (places[0].lang if places else None)
        if path == source:
            return None
        if lang is None:
            raise LanguageError(f"{path}: its language is unknown; give it, such as -l en-de")
        return source, lang
    for place in places:
        if primary(place.lang) == primary(source_lang):
            continue
        file = source_of(path, place, source_lang)
        if file is not None:
            return file, place.lang
    if path.suffix.lower() in (".json", ".strings") and places:
        messages = MESSAGES[path.suffix.lower()](path, places[0].lang)
        spaced = sum(" " in message.key for message in messages)
        if messages and spaced >= KEYS_ARE_TEXTS * len(messages):
            return None if _is_source(path, source_lang) else (None, places[0].lang)
    return None


def _is_source(path: Path, source_lang: str) -> bool:
    return any(primary(place.lang) == primary(source_lang) for place in languages_in(path)[:1])


def _pair(path: Path, source: Path | None, suffix: str, source_lang: str, lang: str) -> FileContent:
    if source is None:
        messages = MESSAGES[suffix](path, lang)
        originals = [replace(message, text=message.key) for message in messages]
        return pair_messages(path, originals, messages, source_lang=source_lang, target_lang=lang)
    if suffix in SUBTITLES:
        return pair_subtitles(path, read_cues(source), read_cues(path), source_lang, lang)
    if suffix in DOCUMENTS:
        return pair_blocks(path, read_blocks(source), read_blocks(path), source_lang, lang)
    read = MESSAGES[suffix]
    return pair_messages(
        path,
        read(source, source_lang),
        read(path, lang),
        source_lang=source_lang,
        target_lang=lang,
    )


def _bilingual(
    path: Path, suffix: str, source_lang: str, target_lang: str | None
) -> Iterator[FileContent]:
    """Read a file of two languages; what it does not say of them is told by its name or given."""
    if suffix == ".po":
        contents = [read_po(path)]
    elif suffix == ".xcstrings":
        contents = read_catalog(path)
    elif suffix == TMX:
        contents = [_memory(path, source_lang, target_lang)]
    else:
        contents = [read_xliff(path)]
    named = next(
        (place.lang for place in languages_in(path) if primary(place.lang) != primary(source_lang)),
        None,
    )
    for content in contents:
        translated = []
        for item in content.translated:
            lang = item.target_lang or target_lang or named
            if lang is None:
                raise LanguageError(
                    f"{path} does not say what its language is; give it, such as -l en-de"
                )
            translated.append(
                replace(item, source_lang=item.source_lang or source_lang, target_lang=lang)
            )
        yield replace(content, translated=tuple(translated))


def _memory(path: Path, source_lang: str, target_lang: str | None) -> FileContent:
    """A translation memory: its units have numbers in place of lines."""
    translated = []
    for number, unit in enumerate(read_tmx(path), start=1):
        sources = [text for lang, texts in unit.items() for text in texts if _is(lang, source_lang)]
        if not sources:
            continue
        for lang, texts in unit.items():
            if _is(lang, source_lang) or not (target_lang is None or _is(lang, target_lang)):
                continue
            translated += [
                Translated(
                    path,
                    number,
                    f"unit {number}",
                    tuple(sources),
                    text,
                    source_lang=source_lang,
                    target_lang=lang,
                )
                for text in texts
            ]
    return FileContent(path, tuple(translated))


def _table(path: Path, source_lang: str | None, target_lang: str | None) -> FileContent:
    """A table with a column of sources and one of translations; ids are keys."""
    langs = Languages(hyp=target_lang, src=source_lang)
    table = open_table(path)
    rows = TablePairs(table, bitext_columns(table, langs=langs), langs)
    named = find_column(table.columns(), KEYS)
    translated = []
    for row in rows:
        source = row.source or NO_TEXT
        if source.lang is None or row.hypothesis.lang is None:
            raise LanguageError(f"{path} does not say what its languages are; give them: -l en-de")
        if source.text.strip():
            translated.append(
                Translated(
                    path,
                    row.number + 1,  # the header is the first line
                    f"row {row.number}" if named is None else str(row.record[named]),
                    (source.text,),
                    row.hypothesis.text,
                    source_lang=source.lang,
                    target_lang=row.hypothesis.lang,
                )
            )
    return FileContent(path, tuple(translated))


def _is(lang: str, other: str) -> bool:
    """Whether two codes are of one language; regions may be in lower case, as in de-de."""
    first, second = (primary(re.split("[-_]", code)[0]) for code in (lang, other))
    return first == second


def _wanted(content: FileContent, target_lang: str | None) -> bool:
    langs = {item.target_lang for item in content.translated if item.target_lang}
    return target_lang is None or any(_is(lang, target_lang) for lang in langs)
