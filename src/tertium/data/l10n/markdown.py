"""Markdown documents, paired by their structure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

from tertium.data.l10n.lines import decode
from tertium.data.l10n.strings import FileContent, Missing, Translated

FENCE = re.compile(r"\s*(```+|~~~+)")
HEADING = re.compile(r"(#{1,6})\s+(?P<text>.*?)\s*#*\s*")
ITEM = re.compile(r"(?P<indent>\s*)(?:[-*+]|\d+[.)])\s+(?P<text>.*)")
RULE = re.compile(r"\s*(?:[-*_]\s*){3,}|\s*\|?[\s:|-]+\|[\s:|-]*|=+\s*|-+\s*")
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Block:
    """A heading, a paragraph, an item of a list or a cell of a table."""

    kind: str
    text: str
    line: int


def read_blocks(path: Path) -> list[Block]:
    """Read the blocks of text of a document; code, front matter and comments are left out."""
    return list(_blocks(decode(path)))


def _blocks(text: str) -> Iterator[Block]:
    text = COMMENT.sub(lambda match: "\n" * match[0].count("\n"), text)
    lines = text.replace("\r\n", "\n").split("\n")
    start = 0
    if lines[:1] == ["---"] and "---" in lines[1:]:
        start = lines.index("---", 1) + 1
    fence: str | None = None
    kind, first, parts = "", 0, list[str]()
    for number, line in enumerate([*lines[start:], ""], start=start + 1):
        match = FENCE.match(line)
        ends = not line.strip() or match or HEADING.fullmatch(line) or RULE.fullmatch(line)
        item = ITEM.fullmatch(line)
        if parts and (fence is None) and (ends or item or line.lstrip().startswith("|")):
            yield Block(kind, " ".join(parts), first)
            parts = []
        if match and (fence is None or match[1].startswith(fence)):
            fence = match[1] if fence is None else None
            if fence is not None:
                yield Block("code", "", number)
            continue
        if fence is not None or not line.strip() or RULE.fullmatch(line):
            continue
        if heading := HEADING.fullmatch(line):
            yield Block(f"heading {len(heading[1])}", heading["text"], number)
        elif line.lstrip().startswith("|"):
            for cell in line.strip().strip("|").split("|"):
                yield Block("cell", cell.strip(), number)
        elif item:
            kind, first, parts = "item", number, [item["text"]]
        else:
            if not parts:
                kind, first = "paragraph", number
            parts.append(line.strip().lstrip("> "))


def pair_blocks(
    path: Path, sources: list[Block], targets: list[Block], source_lang: str, target_lang: str
) -> FileContent:
    """Pair blocks in their order; where the kinds of blocks differ, nothing is paired."""
    first, second = ([block.kind for block in blocks] for blocks in (sources, targets))
    translated, missing = [], []
    headings = _headings(targets)
    for tag, i, i_end, j, j_end in SequenceMatcher(
        None, first, second, autojunk=False
    ).get_opcodes():
        if tag == "equal":
            for source, place in zip(sources[i:i_end], range(j, j_end), strict=True):
                target = targets[place]
                if source.text and target.text:
                    translated.append(
                        Translated(
                            path,
                            target.line,
                            headings[place],
                            (source.text,),
                            target.text,
                            source_lang=source_lang,
                            target_lang=target_lang,
                        )
                    )
            continue
        line = targets[min(j, len(targets) - 1)].line if targets else 1
        missing += [
            Missing(path, line, source.kind, source.text)
            for source in sources[i:i_end]
            if source.text
        ]
    return FileContent(path, tuple(translated), tuple(missing))


def _headings(blocks: list[Block]) -> list[str]:
    """The heading that each block stands under."""
    heading, found = "", []
    for block in blocks:
        if block.kind.startswith("heading"):
            heading = block.text
        found.append(heading)
    return found
