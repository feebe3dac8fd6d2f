"""JSON and YAML files of keys and texts, nested or not; also ARB and string catalogs of Xcode."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from json.decoder import scanstring  # type: ignore[attr-defined]
from pathlib import Path
from typing import Any

from tertium.data.codes import primary
from tertium.data.l10n.strings import (
    FileContent,
    Message,
    Missing,
    Translated,
    form_key,
    refuse_broken,
)
from tertium.errors import InputError, LanguageError, SettingError

WEB_EXTENSION = "message"
SPACE = re.compile(r"[ \t\r\n]*")
SCALAR = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null")
PLURAL = re.compile(r"(?P<key>.+)_(?P<form>zero|one|two|few|many|other|plural)")
"""How i18next names the forms of a plural."""
DEEPEST = 100


def read_json(path: Path, lang: str | None = None) -> list[Message]:
    """Read the texts of a JSON file by their keys, joined by dots.

    A single key at the top that is the language of the file is left out, and so are descriptions:
    keys that begin with ``@`` (ARB), and those beside ``message`` (web extensions).
    """
    found = list(_Scanner(path).messages())
    return _named(found, lang)


def read_yaml(path: Path, lang: str | None = None) -> list[Message]:
    """Read the texts of a YAML file by their keys, joined by dots."""
    try:
        import yaml
    except ImportError:
        raise SettingError(f"{path}: YAML files need PyYAML: pip install 'tertium[l10n]'") from None
    try:
        root = yaml.compose(path.read_text(encoding="utf-8-sig"), Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        line = None if mark is None else mark.line + 1
        raise refuse_broken(path, line, f"is not well-formed YAML: {error.problem}") from None
    except (yaml.YAMLError, UnicodeError) as error:
        raise refuse_broken(path, None, f"is not YAML: {error}") from None
    if root is not None and not isinstance(root, yaml.MappingNode):
        raise refuse_broken(path, 1, "has no keys at the top")
    found = [] if root is None else list(_yaml_messages(path, root, (), 0))
    return _named(found, lang)


def _yaml_messages(
    path: Path, node: Any, keys: tuple[str, ...], depth: int
) -> Iterator[tuple[tuple[str, ...], str, int]]:
    import yaml

    if depth > DEEPEST:
        raise refuse_broken(path, node.start_mark.line + 1, "is nested too deeply")
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield from _yaml_messages(path, value, (*keys, str(key.value)), depth + 1)
    elif isinstance(node, yaml.SequenceNode):
        for place, value in enumerate(node.value):
            yield from _yaml_messages(path, value, (*keys, str(place)), depth + 1)
    elif node.tag == "tag:yaml.org,2002:str":
        yield keys, node.value, node.start_mark.line + 1


class _Scanner:
    """Reads JSON with the line of each text, which the standard library does not tell."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._text = path.read_text(encoding="utf-8-sig")
        except UnicodeError:
            raise refuse_broken(path, None, "is not UTF-8") from None
        self._line, self._place = 1, 0

    def messages(self) -> Iterator[tuple[tuple[str, ...], str, int]]:
        """Yield the keys, the text and the line of each string."""
        start = self._skip(0)
        if self._text[start : start + 1] != "{":
            raise self._broken(start, "has no keys at the top")
        found: list[tuple[tuple[str, ...], str, int]] = []
        try:
            end = self._value(start, (), found, 0)
        except (ValueError, IndexError) as error:
            place = getattr(error, "pos", len(self._text))
            reason = getattr(error, "msg", "it ends too early")
            raise self._broken(place, f"is not well-formed JSON: {reason}") from None
        if self._skip(end) != len(self._text):
            raise self._broken(end, "is not well-formed JSON: there is more after the end")
        yield from found

    def _value(
        self,
        place: int,
        keys: tuple[str, ...],
        found: list[tuple[tuple[str, ...], str, int]],
        depth: int,
    ) -> int:
        if depth > DEEPEST:
            raise self._broken(place, "is nested too deeply")
        char = self._text[place]
        if char == '"':
            text, end = scanstring(self._text, place + 1, True)
            found.append((keys, text, self._line_of(place)))
            return int(end)
        if char in "{[":
            return self._items(place, char == "{", keys, found, depth)
        scalar = SCALAR.match(self._text, place)
        if scalar is None:
            raise json.JSONDecodeError("Expecting value", self._text, place)
        return scalar.end()

    def _items(
        self,
        place: int,
        is_object: bool,
        keys: tuple[str, ...],
        found: list[tuple[tuple[str, ...], str, int]],
        depth: int,
    ) -> int:
        closing = "}" if is_object else "]"
        place = self._skip(place + 1)
        if self._text[place] == closing:
            return place + 1
        number = 0
        while True:
            key = str(number)
            if is_object:
                if self._text[place] != '"':
                    raise json.JSONDecodeError("Expecting a key", self._text, place)
                key, place = scanstring(self._text, place + 1, True)
                place = self._skip(place)
                if self._text[place] != ":":
                    raise json.JSONDecodeError("Expecting ':'", self._text, place)
                place = self._skip(place + 1)
            place = self._skip(self._value(place, (*keys, key), found, depth + 1))
            number += 1
            if self._text[place] == closing:
                return place + 1
            if self._text[place] != ",":
                raise json.JSONDecodeError("Expecting ','", self._text, place)
            place = self._skip(place + 1)

    def _skip(self, place: int) -> int:
        match = SPACE.match(self._text, place)
        return match.end() if match else place

    def _line_of(self, place: int) -> int:
        self._line += self._text.count("\n", self._place, place)
        self._place = place
        return self._line

    def _broken(self, place: int, reason: str) -> InputError:
        return refuse_broken(self._path, self._text.count("\n", 0, place) + 1, reason)


def _named(found: list[tuple[tuple[str, ...], str, int]], lang: str | None) -> list[Message]:
    """Messages with the names of their keys; forms of plurals as i18next writes them."""
    firsts = {keys[0] for keys, *_ in found if keys}
    if lang is not None and len(firsts) == 1 and _same(next(iter(firsts)), lang):
        found = [(keys[1:], text, line) for keys, text, line in found]
    if found and all(_is_web_extension(keys) for keys, *_ in found):
        found = [(keys[:1], text, line) for keys, text, line in found if keys[-1] == WEB_EXTENSION]
    messages = []
    for keys, text, line in found:
        if any(key.startswith("@") for key in keys):
            continue
        key = ".".join(keys)
        plural = PLURAL.fullmatch(key)
        if plural is not None:
            form = "other" if plural["form"] == "plural" else plural["form"]
            key = form_key(plural["key"], form)
        messages.append(Message(key, text, line))
    return messages


def _is_web_extension(keys: tuple[str, ...]) -> bool:
    return len(keys) >= 2 and keys[1] in (WEB_EXTENSION, "description", "placeholders")


def read_catalog(path: Path) -> list[FileContent]:
    """Read a string catalog of Xcode (``.xcstrings``): one content per language."""
    lines = {keys: line for keys, _, line in _Scanner(path).messages()}
    content = json.loads(path.read_text(encoding="utf-8-sig"))
    source_lang = str(content.get("sourceLanguage", "en"))
    entries: Mapping[str, Any] = content.get("strings", {})
    translated: dict[str, list[Translated]] = {}
    missing: dict[str, list[Missing]] = {}
    langs = sorted(
        {lang for entry in entries.values() for lang in entry.get("localizations", {})}
        - {source_lang}
    )
    for key, entry in entries.items():
        if entry.get("shouldTranslate") is False:
            continue
        localizations = entry.get("localizations", {})
        sources = [text for _, text in _units(localizations.get(source_lang, {}))] or [key]
        for lang in langs:
            units = list(_units(localizations.get(lang, {})))
            if not units:
                missing.setdefault(lang, []).append(Missing(path, 1, key, sources[0]))
            for place, text in units:
                line = lines.get(("strings", key, "localizations", lang, *place, "value"), 1)
                name = form_key(key, place[-2]) if "plural" in place else key
                translated.setdefault(lang, []).append(
                    Translated(
                        path,
                        line,
                        name,
                        tuple(dict.fromkeys(sources)),
                        text,
                        str(entry.get("comment", "")),
                        source_lang=source_lang,
                        target_lang=lang,
                    )
                )
    return [
        FileContent(path, tuple(translated.get(lang, ())), tuple(missing.get(lang, ())))
        for lang in langs
    ]


def _units(localization: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], str]]:
    """The places and texts of a localization: one, or one for each form."""
    for key, value in localization.items():
        if key == "stringUnit":
            yield (key,), str(value.get("value", ""))
        elif isinstance(value, dict):
            for place, text in _units(value):
                yield (key, *place), text


def _same(key: str, lang: str) -> bool:
    try:
        return primary(key) == primary(lang)
    except LanguageError:  # a pair of languages
        return False
