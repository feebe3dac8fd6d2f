"""Folders of parallel text: which file belongs to which corpus, and what may not be trained on.

Files are tables (TSV, plain or compressed) whose columns are named by language. A file belongs to
the corpus of its name (``newstest.de-en.tsv.xz``), or of its folder if the name has only languages
(``tatoeba/de-en.tsv.xz``).
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from tertium.data.lines import read_lines

SHORT = 20
"""Letters and digits up to which a text of an evaluation set may also be trained on."""
FILE = re.compile(r"(?:(?P<corpus>[\w-]+?)(?:\.[a-z]{2}-[a-z]{2})?)\.(?:tsv|jsonl)(?:\.gz|\.xz)?")
BARE = re.compile(r"dev|[a-z]{2}-[a-z]{2}")
"""File names that say nothing about the corpus: it is named by the folder."""


def corpus_files(data: Path) -> dict[str, list[Path]]:
    """Return all tables and JSON Lines below a folder, by the name of their corpus."""
    files: defaultdict[str, list[Path]] = defaultdict(list)
    for path in sorted([*data.rglob("*.tsv*"), *data.rglob("*.jsonl*")]):
        match = FILE.fullmatch(path.name)
        named = match is not None and BARE.fullmatch(match["corpus"]) is None
        files[match["corpus"] if match and named else path.parent.name].append(path)
    return files


def normalized(text: str) -> str:
    """The letters and digits of a text, in lower case.

    >>> normalized("It's 5 o'clock.")
    'its5oclock'
    """
    return "".join(character for character in text.casefold() if character.isalnum())


def evaluation_texts(files: Mapping[str, list[Path]], trained: Collection[str]) -> set[str]:
    """Return the normalized texts of all corpora that are not trained on, unless they are short."""
    texts = (
        normalized(text)
        for corpus, paths in files.items()
        if corpus not in trained
        for path in paths
        for line in read_lines(path)
        for text in _texts(path, line)
    )
    return {text for text in texts if len(text) > SHORT}


def _texts(path: Path, line: str) -> Iterator[str]:
    if ".jsonl" in path.suffixes:
        yield from (value for value in json.loads(line).values() if isinstance(value, str))
    else:
        yield from line.split("\t")
