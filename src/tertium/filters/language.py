"""Texts that are not in the language that they are said to be in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from typing import ClassVar, Protocol

from tertium.errors import LanguageError, SettingError
from tertium.filters.base import KEPT, Filter, Pair, Verdict
from tertium.filters.words import word_spans
from tertium.models.base import Progress
from tertium.text import Text

SAME = {"nb": "no", "nn": "no", "iw": "he", "in": "id", "fil": "tl"}
"""Codes that count as one language."""


def ngrams(text: str, n: int) -> list[str]:
    """Every stretch of n words, as it stands, marks not counted; a shorter text is one stretch.

    >>> ngrams("So, we met at 8.", 4), ngrams("Hello!", 4)
    (['So, we met at', 'we met at 8'], ['Hello!'])
    """
    spans = [span for span in word_spans(text) if text[span[0]].isalnum()]
    if len(spans) <= n:
        return [text]
    return [text[first[0] : last[1]] for first, last in zip(spans, spans[n - 1 :], strict=False)]


class Identifier(Protocol):
    """Tells the language of a text."""

    @property
    def languages(self) -> frozenset[str]: ...

    def identify(self, text: str) -> str:
        """The code (ISO 639) of the likeliest language; nothing for a text without letters."""
        ...


class Py3Langid:
    """Naive Bayes over byte n-grams (py3langid), with the model that the package brings along."""

    def __init__(self, among: Iterable[str] = ()) -> None:
        if find_spec("py3langid") is None:
            raise SettingError(
                "language identification needs py3langid: install Tertium with its extra, "
                "`pip install 'tertium[filter]'`, or leave out the filter lid"
            )
        from py3langid.langid import MODEL_FILE, LanguageIdentifier

        self._identifier = LanguageIdentifier.from_model_file(MODEL_FILE)
        every = frozenset(map(str, self._identifier.labels))
        chosen = {plain_code(lang, every) for lang in among}
        self._identifier.set_languages(sorted(chosen) or None)
        self.languages = frozenset(map(str, self._identifier.labels))

    def identify(self, text: str) -> str:
        if not any(map(str.isalpha, text)):
            return ""
        return str(self._identifier.classify(text)[0])


@lru_cache(maxsize=2)
def _identifier(among: str) -> Identifier:
    return Py3Langid(filter(None, among.split(",")))


def plain_code(lang: str | None, known: frozenset[str]) -> str:
    """An identifier's own code of a language; without script and region, if need be.

    >>> plain_code("pt-BR", frozenset({"pt"})), plain_code("nb", frozenset({"no"}))
    ('pt', 'no')
    """
    if lang is None:
        raise LanguageError("which language should the text be in? say --src-lang and --tgt-lang")
    short = lang.lower().replace("_", "-").split("-")[0]
    for code in (lang, short, SAME.get(short, "")):
        if code in known:
            return code
    raise LanguageError(
        f"the identification of languages does not know {lang!r}; leave out the filter lid "
        f"(it knows {', '.join(sorted(known))})"
    )


@dataclass(frozen=True)
class LanguageFilter(Filter):
    """Keeps pairs in the languages expected: as a whole, and in their n-grams of words.

    Of the n-grams a share of at least ``share`` must be as expected: half of all 5-grams in Prism
    (appendix B). A stretch without a letter speaks for no language, and against none. ``among``
    names the only languages to choose from, with commas; it makes short texts safer.
    """

    n: int = 5
    share: float = 0.5
    among: str = ""

    name: ClassVar[str] = "lid"
    reasons: ClassVar[tuple[str, ...]] = (
        "source language",
        "target language",
        "source n-grams",
        "target n-grams",
    )

    def judge(self, pairs: Sequence[Pair], progress: Progress | None = None) -> list[Verdict]:
        return [self._verdict(pair) for pair in pairs]

    def _verdict(self, pair: Pair) -> Verdict:
        identifier = _identifier(self.among)
        sides = (("source", pair.source), ("target", pair.target))
        for side, text in sides:
            if self._as_expected(identifier, [text.text], text) == 0:
                return Verdict(f"{side} language")
        for side, text in sides:
            chunks = ngrams(text.text, self.n)
            if len(chunks) > 1:
                found = self._as_expected(identifier, chunks, text)
                if found < self.share:
                    return Verdict(f"{side} n-grams", found)
        return KEPT

    @staticmethod
    def _as_expected(identifier: Identifier, chunks: Sequence[str], text: Text) -> float:
        """The share of chunks in the language expected, among those that are in any."""
        expected = plain_code(text.lang, identifier.languages)
        found = [lang for lang in map(identifier.identify, chunks) if lang]
        if not found:
            return 1.0
        return sum(SAME.get(lang, lang) == SAME.get(expected, expected) for lang in found) / len(
            found
        )
