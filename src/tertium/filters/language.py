"""Filter by language identification."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, ClassVar, Protocol

from tertium.data.identify import load_identifier
from tertium.errors import LanguageError
from tertium.filters.base import KEPT, Filter, Verdict
from tertium.filters.units import WORDS, splitters, word_spans
from tertium.models.base import Progress
from tertium.text import Row, Text

EQUIVALENT = {"nb": "no", "nn": "no", "iw": "he", "in": "id", "fil": "tl"}
"""Codes that count as the same language."""


def ngrams(text: str, n: int) -> list[str]:
    """All sequences of n words, unchanged; punctuation does not count. A short text is returned.

    >>> ngrams("So, we met at 8.", 4), ngrams("Hello!", 4)
    (['So, we met at', 'we met at 8'], ['Hello!'])
    """
    spans = [span for span in word_spans(text) if text[span[0]].isalnum()]
    if len(spans) <= n:
        return [text]
    return [text[first[0] : last[1]] for first, last in zip(spans, spans[n - 1 :], strict=False)]


class Identifier(Protocol):
    """Identifies the language of a text."""

    @property
    def languages(self) -> frozenset[str]: ...

    def identify(self, text: str) -> str:
        """The ISO 639 code of the most probable language; empty for a text without letters."""
        ...

    def probability(self, text: str, lang: str) -> float:
        """How probable a language is for a text; 1 for a text without letters."""
        ...


class Py3Langid:
    """Naive Bayes over byte n-grams (py3langid), with the model that is part of the package."""

    def __init__(self, among: Iterable[str] = ()) -> None:
        self._identifier = load_identifier()
        supported = frozenset(map(str, self._identifier.labels))
        chosen = {identifier_code(lang, supported) for lang in among}
        self._identifier.set_languages(sorted(chosen) or None)
        self.languages = frozenset(map(str, self._identifier.labels))

    def probability(self, text: str, lang: str) -> float:
        if not any(map(str.isalpha, text)):
            return 1.0
        return float(dict(self._probabilities.rank(text)).get(lang, 0.0))

    @cached_property
    def _probabilities(self) -> Any:
        identifier = load_identifier(norm_probs=True)
        identifier.set_languages(sorted(self.languages))
        return identifier

    def identify(self, text: str) -> str:
        if not any(map(str.isalpha, text)):
            return ""
        return str(self._identifier.classify(text)[0])


@lru_cache(maxsize=2)
def _identifier(among: str) -> Identifier:
    return Py3Langid(filter(None, among.split(",")))


def identifier_code(lang: str | None, supported: frozenset[str]) -> str:
    """The code that the identifier uses for a language; script and region are dropped if needed.

    >>> identifier_code("pt-BR", frozenset({"pt"})), identifier_code("nb", frozenset({"no"}))
    ('pt', 'no')
    """
    if lang is None:
        raise LanguageError(
            "filter 'lid' needs the languages", cure="give {source_lang} and {target_lang}"
        )
    short = lang.lower().replace("_", "-").split("-")[0]
    for code in (lang, short, EQUIVALENT.get(short, "")):
        if code in supported:
            return code
    raise LanguageError(
        f"language identification does not support {lang!r}; leave out the filter lid "
        f"(supported: {', '.join(sorted(supported))})"
    )


@dataclass(frozen=True)
class LanguageFilter(Filter):
    """Keeps pairs in the expected languages: as a whole, and in their word n-grams.

    At least ``share`` of the n-grams must be in the expected language: half of all 5-grams in Prism
    (appendix B). N-grams without letters do not count. ``among`` restricts the candidate languages
    (codes separated by commas), which makes identification of short texts more reliable.

    The n-grams are of words, or of the tokens of a model (its name, or a SentencePiece file), as
    in the code of Prism, where n-grams without letters count, the whole text needs a probability
    of ``least``, and a text with fewer than n tokens is removed (``strict``).
    """

    n: int = 5
    share: float = 0.5
    among: str = ""
    tokens: str = WORDS
    least: float = 0.0
    strict: bool = False

    name: ClassVar[str] = "lid"
    reasons: ClassVar[tuple[str, ...]] = (
        "source language",
        "target language",
        "source n-grams",
        "target n-grams",
    )

    def judge(self, rows: Sequence[Row], progress: Progress | None = None) -> list[Verdict]:
        return [self._verdict(row) for row in rows]

    def _verdict(self, row: Row) -> Verdict:
        identifier = _identifier(self.among)
        sides = tuple(zip(("source", "target"), row.sides, strict=True))
        for side, text in sides:
            if self.least:
                code = identifier_code(text.lang, identifier.languages)
                probability = identifier.probability(text.text, code)
                if probability < self.least:
                    return Verdict(f"{side} language", probability)
            elif self._expected_share(identifier, [text.text], text) == 0:
                return Verdict(f"{side} language")
        for place, (side, text) in enumerate(sides):
            chunks = self._chunks(text.text, place)
            if len(chunks) > 1 or self.strict:
                share = self._expected_share(identifier, chunks, text)
                if share < self.share:
                    return Verdict(f"{side} n-grams", share)
        return KEPT

    def _chunks(self, text: str, side: int) -> list[str]:
        """The n-grams of a text; of words, a short text is one."""
        if self.tokens == WORDS:
            return ngrams(text, self.n)
        [tokens] = splitters(self.tokens)[side]([text])
        starts = range(len(tokens) - self.n + 1)
        return ["".join(tokens[at : at + self.n]).replace("\u2581", " ").strip() for at in starts]

    def _expected_share(self, identifier: Identifier, chunks: Sequence[str], text: Text) -> float:
        """The share of chunks in the expected language, among those with an identified language."""
        code = identifier_code(text.lang, identifier.languages)
        expected = EQUIVALENT.get(code, code)
        langs = [lang for lang in map(identifier.identify, chunks) if lang or self.strict]
        if not langs:
            return 0.0 if self.strict else 1.0
        return sum(EQUIVALENT.get(lang, lang) == expected for lang in langs) / len(langs)
