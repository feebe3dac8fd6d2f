"""What filters count in: the pieces of a model, or words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path

from tertium.filters.words import words

WORDS = "words"
REMEMBERED = 20_000


class Cutter:
    """Cuts texts into units; several filters ask about the same texts, so it remembers some."""

    def __init__(self, cut: Callable[[Sequence[str]], list[list[str]]]) -> None:
        self._cut = cut
        self._known: dict[str, list[str]] = {}

    def __call__(self, texts: Sequence[str]) -> list[list[str]]:
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if len(self._known) + len(new) > REMEMBERED:
            self._known.clear()
            new = list(dict.fromkeys(texts))
        self._known.update(zip(new, self._cut(new), strict=True))
        return [self._known[text] for text in texts]


@lru_cache(maxsize=4)
def cutters(unit: str) -> tuple[Cutter, Cutter]:
    """How sources and targets are cut: into a model's (or SentencePiece file's) pieces, or words.

    >>> of_sources, of_targets = cutters("words")
    >>> of_sources(["Guten Tag!"])
    [['Guten', 'Tag', '!']]
    """
    from tertium.models.catalog import find
    from tertium.models.tokenizer import open_tokenizer

    if unit == WORDS:
        by_words = Cutter(lambda texts: [words(text) for text in texts])
        return by_words, by_words
    if Path(unit).is_file():
        files = [Path(unit), Path(unit)]
    else:
        folder = find(unit)
        files = [folder.path / folder.source_tokenizer, folder.path / folder.target_tokenizer]
    made = {file: Cutter(open_tokenizer(file).encode) for file in dict.fromkeys(files)}
    return made[files[0]], made[files[1]]


def unit_for(model: str, languages: Sequence[str | None]) -> str:
    """The model's pieces, if it has all the languages; otherwise words.

    Pieces that were not made for a language fall apart into bytes, and say nothing about length.

    >>> unit_for("tertium-mini", ["de", "en"]), unit_for("tertium-mini", ["ru", "en"])
    ('tertium-mini', 'words')
    """
    from tertium.models.catalog import find

    known = find(model).languages
    asked = [lang for lang in languages if lang is not None]
    return model if all(known.resolve(lang) in known.all for lang in asked) else WORDS
