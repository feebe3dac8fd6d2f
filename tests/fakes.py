"""Models whose every answer can be worked out by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from tertium.models.base import (
    BEAM_SEARCH,
    Candidate,
    Languages,
    Progress,
    Query,
    Search,
    SentenceVectors,
    TokenScores,
    TokenVectors,
    TranslationModel,
)
from tertium.models.languages import LanguageSet

TAGS = {"en": "", "de": "", "fr": ""}
LANGUAGES = LanguageSet(TAGS, TAGS)


@dataclass(repr=False)
class FakeModel(TranslationModel):
    """Answers from a table of (target, source), and translates by another; counts the questions."""

    scores: Mapping[tuple[str, str], Sequence[float]] = field(default_factory=dict)
    translations: Mapping[str, str] = field(default_factory=dict)
    name: str = "fake"
    fingerprint: str = "f" * 64
    languages: LanguageSet = LANGUAGES
    needs_source_language: bool = False
    settings: ClassVar[Mapping[str, str]] = {"precision": "exact"}
    asked: list[Query] = field(default_factory=list)
    translated: list[tuple[str, str | None]] = field(default_factory=list)

    def log_probs(
        self, queries: Sequence[Query], *, progress: Progress | None = None
    ) -> list[TokenScores]:
        self.asked += queries
        found = []
        for target, source, *_ in queries:
            numbers = tuple(self.scores.get((target, source), (-1.0,)))
            found.append(TokenScores(("x",) * len(numbers), numbers, "long" in target))
        return found

    def candidates(
        self,
        queries: Sequence[Query],
        *,
        search: Search = BEAM_SEARCH,
        progress: Progress | None = None,
    ) -> list[list[Candidate]]:
        if search.count > 1:
            self.refuse("return several candidates")
        self.translated += [(query.source, query.target_lang) for query in queries]
        return [
            [Candidate(self.translations.get(query.source, query.source), 0.0, 1)]
            for query in queries
        ]


@dataclass
class FakeEncoder:
    """Gives each word the vector of a table (of two numbers), in a frame; counts the questions."""

    vectors: Mapping[str, tuple[float, float]]
    name: str = "fake"
    fingerprint: str = "e" * 64
    settings: Mapping[str, str] = field(default_factory=lambda: {"layer": "3"})
    asked: list[str] = field(default_factory=list)

    def token_vectors(
        self, texts: Sequence[str], *, lang: Languages = None, progress: Progress | None = None
    ) -> list[TokenVectors]:
        self.asked += texts
        found = []
        for text in texts:
            tokens = ("<s>", *text.split(), "</s>")
            rows = np.array([self.vectors.get(token, (0, 0)) for token in tokens], np.float32)
            framing = tuple(token in ("<s>", "</s>") for token in tokens)
            found.append(TokenVectors(tokens, rows, framing, "long" in text))
        return found

    def sentence_vectors(
        self, texts: Sequence[str], *, lang: Languages = None, progress: Progress | None = None
    ) -> SentenceVectors:
        """The sum of the words' vectors, of length 1."""
        sums = [
            found.vectors[1:-1].sum(axis=0, dtype=np.float32) for found in self.token_vectors(texts)
        ]
        rows = [row / np.linalg.norm(row) if row.any() else row for row in sums]
        return SentenceVectors(np.array(rows), tuple("long" in text for text in texts))


WORDS = 6
"""The limit of the fake models."""


class BagOfLetters:
    """A text's vector has one dimension per letter."""

    name, fingerprint = "bag", "b" * 64
    settings: dict[str, str] = {}  # noqa: RUF012

    def sentence_vectors(
        self, texts: Sequence[str], *, lang: Languages = None, progress: Progress | None = None
    ) -> SentenceVectors:
        rows = np.zeros((len(texts), 26), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for letter in text.lower():
                if "a" <= letter <= "z":
                    row[ord(letter) - ord("a")] += 1
            row /= max(1.0, float(np.linalg.norm(row)))
        return SentenceVectors(rows, (False,) * len(texts))


@dataclass
class LimitedFake(FakeModel):
    """Cannot read more than six words."""

    encoder: BagOfLetters = field(default_factory=BagOfLetters)

    def too_long(self, texts: Sequence[str]) -> list[bool]:
        return [len(text.split()) > WORDS for text in texts]

    def token_counts(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) for text in texts]

    def own_encoder(self) -> BagOfLetters:
        return self.encoder
