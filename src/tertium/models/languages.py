"""The source and target languages of a model, with alternative codes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from tertium.data.codes import spellings
from tertium.errors import LanguageError, literal


@dataclass(frozen=True)
class LanguageSet:
    """The languages of a model, each with its language tag (empty if there is none).

    >>> languages = LanguageSet({"de": "__de__"}, {"de": "__de__"}, {"deu": ("de",)})
    >>> languages.resolve("deu"), languages.source["de"]
    ('de', '__de__')
    >>> languages.resolve("German"), languages.resolve("de-AT"), languages.resolve("xx")
    ('de', 'de', 'xx')
    """

    source: Mapping[str, str]
    target: Mapping[str, str]
    aliases: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Alternative codes (ISO 639-3 for 639-1, ISO for FLORES); an ambiguous one has several."""

    @property
    def all(self) -> frozenset[str]:
        return frozenset(self.source) | frozenset(self.target)

    def resolve(self, lang: str) -> str:
        """Return the model's code of a language; an unsupported one is returned unchanged.

        English names and the codes of ISO 639 are understood in any case; a region that the model
        does not distinguish is ignored.
        """
        if lang in self.all:
            return lang
        for code in spellings(lang):
            if code in self.all:
                return code
            codes = self.aliases.get(code, ())
            if len(codes) > 1:
                raise LanguageError(f"{lang!r} is ambiguous: use {' or '.join(codes)}")
            if codes:
                return codes[0]
        return lang

    def needed_aliases(self) -> dict[str, tuple[str, ...]]:
        """The aliases that mean something else, or nothing, without an entry.

        >>> LanguageSet({"de": ""}, {"de": ""}, {"deu": ("de",), "bar": ("de",)}).needed_aliases()
        {'bar': ('de',)}
        """
        plain = LanguageSet(self.source, self.target)
        return {
            name: codes for name, codes in self.aliases.items() if codes != (plain.resolve(name),)
        }

    @property
    def symmetric(self) -> bool:
        """Whether the source languages are the target languages."""
        return set(self.source) == set(self.target)

    def describe(self) -> str:
        """List the languages, for messages."""
        if self.symmetric:
            return ", ".join(sorted(self.source))
        return f"translates {', '.join(sorted(self.source))} to {', '.join(sorted(self.target))}"


class HasLanguages(Protocol):
    """Anything with a name and languages."""

    @property
    def name(self) -> str: ...

    @property
    def languages(self) -> LanguageSet: ...


def supported_language(model: HasLanguages, lang: str | None, role: str = "the text") -> str:
    """Return the model's code of ``lang``; a missing or unsupported language is an error."""
    return _supported(model, lang, role, model.languages.all)


def source_language(model: HasLanguages, lang: str | None) -> str:
    """Like :func:`supported_language`, for a source text."""
    return _supported(model, lang, "the source", frozenset(model.languages.source))


def target_language(model: HasLanguages, lang: str | None) -> str:
    """Like :func:`supported_language`, for a target text."""
    return _supported(model, lang, "the target", frozenset(model.languages.target))


def _supported(model: HasLanguages, lang: str | None, role: str, codes: frozenset[str]) -> str:
    languages = f"{model.name}: {model.languages.describe()}"
    if lang is None:
        raise LanguageError(f"the language of {role} is needed and was not given ({languages})")
    code = model.languages.resolve(lang)
    if code not in codes:
        raise LanguageError(
            f"{role} is in {lang!r}, which the model does not support ({languages})",
            cure=f"choose a model that has {literal(lang)} (`tertium models`)",
        )
    return code
