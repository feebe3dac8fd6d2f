"""A model whose every answer can be worked out by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tertium.models.base import Languages, Progress, TokenScores, Translation, per_row
from tertium.models.languages import LanguageSet

TAGS = {"en": "", "de": "", "fr": ""}
LANGUAGES = LanguageSet(TAGS, TAGS)


@dataclass
class FakeModel:
    """Answers from a table of (target, source), and translates by another; counts the questions."""

    scores: Mapping[tuple[str, str], Sequence[float]] = field(default_factory=dict)
    translations: Mapping[str, str] = field(default_factory=dict)
    name: str = "fake"
    fingerprint: str = "f" * 64
    languages: LanguageSet = LANGUAGES
    needs_source_language: bool = False
    settings: Mapping[str, str] = field(default_factory=lambda: {"precision": "exact"})
    asked: list[tuple[str, str, str | None, str | None]] = field(default_factory=list)
    translated: list[tuple[str, str | None]] = field(default_factory=list)

    def log_probs(
        self,
        targets: Sequence[str],
        sources: Sequence[str],
        *,
        target_lang: Languages,
        source_lang: Languages = None,
        progress: Progress | None = None,
    ) -> list[TokenScores]:
        langs = per_row(target_lang, len(targets))
        source_langs = per_row(source_lang, len(targets))
        self.asked += zip(targets, sources, langs, source_langs, strict=True)
        found = []
        for target, source in zip(targets, sources, strict=True):
            numbers = tuple(self.scores.get((target, source), (-1.0,)))
            found.append(TokenScores(("x",) * len(numbers), numbers, "long" in target))
        return found

    def translate(
        self,
        sources: Sequence[str],
        *,
        target_lang: Languages,
        source_lang: Languages = None,
        beam_size: int = 5,
        progress: Progress | None = None,
    ) -> list[Translation]:
        self.translated += zip(sources, per_row(target_lang, len(sources)), strict=True)
        return [Translation(self.translations.get(source, source)) for source in sources]
