"""The units that filters count: the subword tokens of a model, or words in any script."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path

from tertium.data.normalization import MARKS

WORDS = "words"
MEMO_SIZE = 20_000
WITHOUT_SPACES = (
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f\u1780-\u17ff"  # Burmese, Khmer
    "\u3040-\u30ff\u31f0-\u31ff"  # kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
)
WORD = re.compile(rf"[{WITHOUT_SPACES}]|(?:(?![{WITHOUT_SPACES}])[\w{MARKS}])+|[^\s\w]")


def words(text: str) -> list[str]:
    """Split into words (runs of letters and digits) and single punctuation marks.

    In scripts without spaces between words (Han, kana, Thai, Lao, Burmese, Khmer) every character
    is a word.

    >>> words("Don't go, 2 of you!"), words("我不去。")
    (['Don', "'", 't', 'go', ',', '2', 'of', 'you', '!'], ['我', '不', '去', '。'])
    """
    return WORD.findall(text)


def word_spans(text: str) -> list[tuple[int, int]]:
    """The start and the end of each word.

    >>> word_spans("Go on!")
    [(0, 2), (3, 5), (5, 6)]
    """
    return [match.span() for match in WORD.finditer(text)]


class Splitter:
    """Splits texts into units; memoized, because several filters split the same texts."""

    def __init__(self, split: Callable[[Sequence[str]], list[list[str]]]) -> None:
        self._split = split
        self._memo: dict[str, list[str]] = {}

    def __call__(self, texts: Sequence[str]) -> list[list[str]]:
        new = [text for text in dict.fromkeys(texts) if text not in self._memo]
        if len(self._memo) + len(new) > MEMO_SIZE:
            self._memo.clear()
            new = list(dict.fromkeys(texts))
        self._memo.update(zip(new, self._split(new), strict=True))
        return [self._memo[text] for text in texts]


@lru_cache(maxsize=4)
def splitters(unit: str) -> tuple[Splitter, Splitter]:
    """How to split sources and targets.

    ``unit`` is a model's name or a SentencePiece file (subword tokens), or "words".

    >>> split_source, split_target = splitters("words")
    >>> split_source(["Guten Tag!"])
    [['Guten', 'Tag', '!']]
    """
    from tertium.models.catalog import find
    from tertium.models.tokenizer import open_tokenizer

    if unit == WORDS:
        by_words = Splitter(lambda texts: [words(text) for text in texts])
        return by_words, by_words
    if Path(unit).is_file():
        files = [Path(unit), Path(unit)]
    else:
        card = find(unit)
        names = (card.settings.source_tokenizer, card.settings.target_tokenizer)
        files = [card.path / name for name in names]
    by_file = {file: Splitter(open_tokenizer(file).encode) for file in dict.fromkeys(files)}
    return by_file[files[0]], by_file[files[1]]


def unit_for(model: str, languages: Sequence[str | None]) -> str:
    """The tokens of a model, or of the first of a pair, if it has all the languages; or words.

    A tokenizer that was not trained on a language splits it into bytes, whose number says nothing
    about length.

    >>> unit_for("tertium-mini", ["de", "en"]), unit_for("tertium-mini", ["ru", "en"])
    ('tertium-mini', 'words')
    """
    from tertium.models.catalog import find, pair_names

    first = str(pair_names(model)[0])
    supported = find(first).settings.languages
    given = [lang for lang in languages if lang is not None]
    return first if all(supported.resolve(lang) in supported.all for lang in given) else WORDS
