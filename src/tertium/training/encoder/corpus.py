"""The training text of a sentence encoder: English sentences and their translations."""

from __future__ import annotations

import json
import zlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tertium.data.lines import read_lines
from tertium.errors import InputError
from tertium.storage.atomic import replacing_text
from tertium.training.corpora import normalized
from tertium.training.model.bitext import held_out

ENGLISH = "en"
DEVELOPMENT_EVERY = 100
"""One English sentence of so many is kept for the choice of settings."""


@dataclass(frozen=True, slots=True)
class Row:
    """An English sentence and its translations: (language, sentence)."""

    english: str
    translations: tuple[tuple[str, str], ...] = field(default=())

    def sentences(self) -> list[tuple[str, str]]:
        """All sentences of the row with their languages; the English one is first."""
        return [(ENGLISH, self.english), *self.translations]


def read_rows(
    paths: Iterable[Path], languages: Collection[str], excluded: Collection[str]
) -> list[Row]:
    """Read all pairs with English, joined by the English sentence.

    Left out are sentences that are held out for tests, or whose normalized text is in
    ``excluded``.
    """
    rows: defaultdict[str, dict[tuple[str, str], None]] = defaultdict(dict)

    def usable(text: str) -> bool:
        return bool(text) and not held_out(text) and normalized(text) not in excluded

    for path in paths:
        lines = read_lines(path)
        header = next(lines, "").split("\t")
        if ENGLISH not in header:
            continue
        places = [
            (place, lang)
            for place, lang in enumerate(header)
            if lang in languages and lang != ENGLISH
        ]
        english_place = header.index(ENGLISH)
        for number, line in enumerate(lines, start=2):
            fields = [text.strip() for text in line.split("\t")]
            if len(fields) != len(header):
                raise InputError(
                    f"{path}, line {number}: {len(fields)} fields, but the header has "
                    f"{len(header)}; replace tabs within fields"
                )
            if usable(english := fields[english_place]):
                for place, lang in places:
                    if usable(fields[place]):
                        rows[english][lang, fields[place]] = None
    return [Row(english, tuple(translations)) for english, translations in rows.items()]


def split(rows: Sequence[Row]) -> tuple[list[Row], list[Row]]:
    """Divide rows into those to train on and those to choose settings with.

    No sentence of the second part, in any language, is in the first.
    """
    development = [row for row in rows if _reserved(row.english)]
    reserved = {translation for row in development for translation in row.translations}
    training = []
    for row in rows:
        if not _reserved(row.english):
            kept = tuple(pair for pair in row.translations if pair not in reserved)
            if kept:
                training.append(Row(row.english, kept))
    return training, development


def save_rows(rows: Iterable[Row], path: Path) -> None:
    """Write rows as JSON Lines."""
    with replacing_text(path) as stream:
        for row in rows:
            stream.write(json.dumps([row.english, row.translations], ensure_ascii=False) + "\n")


def load_rows(path: Path) -> list[Row]:
    """Read what :func:`save_rows` has written."""
    return [
        Row(english, tuple((lang, text) for lang, text in translations))
        for english, translations in map(json.loads, read_lines(path))
    ]


def _reserved(text: str) -> bool:
    return zlib.crc32(normalized(text).encode()) % DEVELOPMENT_EVERY == 1
