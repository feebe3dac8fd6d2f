"""XLIFF 1.2 and 2, and string resources of Android."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tertium.data.l10n.strings import (
    FileContent,
    Message,
    Missing,
    Translated,
    plural_messages,
    refuse_broken,
)
from tertium.errors import SettingError

ANDROID_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|.)", re.DOTALL)
ANDROID_ESCAPES = {"n": "\n", "t": "\t"}
HIDDEN = frozenset({"bpt", "ept", "ph", "it", "ut"})
"""Inline elements of XLIFF 1.2 whose content is code."""


def parse(path: Path) -> Any:
    """Parse a file without network, external entities and expansion of entities."""
    try:
        from lxml import etree
    except ImportError:
        raise SettingError(f"{path}: XML files need lxml: pip install 'tertium[l10n]'") from None
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False
    )
    try:
        return etree.fromstring(path.read_bytes(), parser)
    except etree.XMLSyntaxError as error:
        line = error.lineno if error.lineno else None
        raise refuse_broken(path, line, f"is not well-formed XML: {error.msg}") from None
    except ValueError as error:
        raise refuse_broken(path, None, f"is not XML: {error}") from None


def read_xliff(path: Path) -> FileContent:
    """Read the units of an XLIFF file of version 1.x or 2.x that are to be translated."""
    root = parse(path)
    if _tag(root) != "xliff":
        raise refuse_broken(path, root.sourceline, f"is not XLIFF: it begins with <{_tag(root)}>")
    units = _units_2(root) if root.get("version", "").startswith("2") else _units_1(root)
    translated, missing = [], []
    for unit, key, source_lang, target_lang, limit, source, target, comment in units:
        original = inline(source)
        if not original.strip():
            continue
        text = "" if target is None else inline(target)
        if target is None or not text:
            line = (source if target is None else target).sourceline
            missing.append(Missing(path, line or unit.sourceline, key, original))
            continue
        translated.append(
            Translated(
                path,
                target.sourceline,
                key,
                (original,),
                text,
                comment,
                limit,
                source_lang=source_lang,
                target_lang=target_lang,
            )
        )
    return FileContent(path, tuple(translated), tuple(missing))


def _units_1(root: Any) -> Iterator[tuple[Any, ...]]:
    for file in _named(root, "file"):
        langs = file.get("source-language"), file.get("target-language")
        for unit in _named(file, "trans-unit"):
            if unit.get("translate") == "no" or unit.get("approved") == "no":
                continue
            source, target = _first(unit, "source"), _first(unit, "target")
            if source is None:
                continue
            limit = unit.get("maxwidth", "")
            is_limit = limit.isdigit() and unit.get("size-unit", "pixel") == "char"
            key = unit.get("resname") or unit.get("id") or ""
            comment = "\n".join(inline(note) for note in _named(unit, "note"))
            yield unit, key, *langs, int(limit) if is_limit else None, source, target, comment


def _units_2(root: Any) -> Iterator[tuple[Any, ...]]:
    langs = root.get("srcLang"), root.get("trgLang")
    for unit in _named(root, "unit"):
        if unit.get("translate") == "no":
            continue
        comment = "\n".join(inline(note) for note in _named(unit, "note"))
        segments = list(_named(unit, "segment"))
        for number, segment in enumerate(segments, start=1):
            source, target = _first(segment, "source"), _first(segment, "target")
            if source is None:
                continue
            key = unit.get("name") or unit.get("id") or ""
            if len(segments) > 1:
                key += f"/{segment.get('id') or number}"
            yield unit, key, *langs, None, source, target, comment


def inline(element: Any) -> str:
    """The text of an element, with its inline elements as tags without attributes but an id."""
    parts = [element.text or ""]
    for child in element:
        name = _tag(child)
        if name is None:  # a comment, or an entity that was not resolved
            parts.append(str(child.text or "") if str(child).startswith("&") else "")
        elif name == "mrk":
            parts.append(inline(child))
        elif name in HIDDEN or (not len(child) and not child.text):
            mark = child.get("id")
            parts.append(f'<{name} id="{mark}"/>' if mark else f"<{name}/>")
        else:
            parts.append(f"<{name}>{inline(child)}</{name}>")
        parts.append(child.tail or "")
    return "".join(parts)


def read_android(path: Path) -> list[Message]:
    """Read the strings, arrays and plurals of a resource file of Android."""
    root = parse(path)
    if _tag(root) != "resources":
        raise refuse_broken(
            path, root.sourceline, f"is not a resource file of Android: it has <{_tag(root)}>"
        )
    messages: list[Message] = []
    comment = ""
    for child in root:
        name = _tag(child)
        if name is None:
            comment = str(child.text or "").strip()
            continue
        if child.get("translatable") != "false":
            key = child.get("name", "")
            if name == "string":
                messages.append(Message(key, android_text(child), child.sourceline, comment))
            elif name == "string-array":
                messages += [
                    Message(f"{key}[{place}]", android_text(item), item.sourceline, comment)
                    for place, item in enumerate(_named(child, "item"))
                ]
            elif name == "plurals":
                forms = {
                    item.get("quantity", ""): (android_text(item), item.sourceline)
                    for item in _named(child, "item")
                }
                messages += plural_messages(key, forms, comment)
        comment = ""
    return messages


def android_text(element: Any) -> str:
    r"""The text of a resource: escapes resolved, quotation marks that keep spaces removed."""
    text = inline(element).strip()
    if len(text) > 1 and text[0] == text[-1] == '"':
        text = text[1:-1]
    return ANDROID_ESCAPE.sub(_unescape, text)


def _unescape(match: re.Match[str]) -> str:
    code = match[1]
    if len(code) > 1:
        return chr(int(code[1:], 16))
    return ANDROID_ESCAPES.get(code, code)


def _tag(element: Any) -> str | None:
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else None


def _named(element: Any, name: str) -> Iterator[Any]:
    """The descendants of a name, in any namespace."""
    return (child for child in element.iter() if _tag(child) == name)


def _first(element: Any, name: str) -> Any:
    """The first child of a name, in any namespace; None if there is none."""
    return next((child for child in element if _tag(child) == name), None)
