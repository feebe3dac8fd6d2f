"""Localisation files as a source of rows: the translation is the hypothesis."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tertium.data.l10n.files import read_files
from tertium.data.l10n.strings import Translated
from tertium.data.lines import check_file
from tertium.data.pairs import FileSource, Languages
from tertium.errors import InputError
from tertium.text import Row, Text


@dataclass(frozen=True)
class LocalizedPairs(FileSource):
    """The strings of a localisation file that are translated, with their lines and keys."""

    path: Path
    languages: Languages
    columns: Sequence[str] = ("line", "key", "src", "tgt")
    has_references: bool = False
    has_source: bool = True

    def __post_init__(self) -> None:
        check_file(self.path)

    @property
    def paths(self) -> Sequence[Path]:
        return [self.path]

    def count(self) -> int | None:
        return len(self._items)

    @cached_property
    def _items(self) -> list[Translated]:
        contents = read_files(
            [self.path],
            source_lang=self.languages.src,
            target_lang=self.languages.hyp,
            named=frozenset({self.path}),
        )
        items = [item for content in contents for item in content.translated]
        if not items:
            raise InputError(f"{self.name} has no translations into the language that is wanted")
        return items

    def __iter__(self) -> Iterator[Row]:
        for number, item in enumerate(self._items, start=1):
            record = {
                "line": str(item.line),
                "key": item.key,
                "src": item.source,
                "tgt": item.target,
            }
            target = Text(item.target, self.languages.hyp or item.target_lang)
            source = Text(item.source, self.languages.src or item.source_lang)
            yield Row(number, target, (), source, record)
