"""Which languages a model reads and writes, and by which names they may be called."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from tertium.errors import LanguageError


@dataclass(frozen=True)
class LanguageSet:
    """The languages of a model, each with the token that names it (empty where there is none).

    >>> languages = LanguageSet({"de": "__de__"}, {"de": "__de__"}, {"deu": ("de",)})
    >>> languages.resolve("deu"), languages.source["de"]
    ('de', '__de__')
    """

    source: Mapping[str, str]
    target: Mapping[str, str]
    aliases: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Other names: ISO 639-3 for 639-1, ISO for FLORES codes; a name may stand for several."""

    @property
    def all(self) -> frozenset[str]:
        return frozenset(self.source) | frozenset(self.target)

    def resolve(self, lang: str) -> str:
        """Return the model's own name for a language; one that it has not is returned as it is."""
        if lang in self.all:
            return lang
        found = self.aliases.get(lang, ())
        if len(found) > 1:
            raise LanguageError(f"{lang!r} may be {' or '.join(found)}; say which")
        return found[0] if found else lang

    @property
    def symmetric(self) -> bool:
        """Whether everything that can be read can be written, and the other way round."""
        return set(self.source) == set(self.target)

    def describe(self) -> str:
        """Say what the model can do."""
        if self.symmetric:
            return f"has {', '.join(sorted(self.source))}"
        return f"translates {', '.join(sorted(self.source))} to {', '.join(sorted(self.target))}"


class HasLanguages(Protocol):
    """Anything with a name that has languages."""

    @property
    def name(self) -> str: ...

    @property
    def languages(self) -> LanguageSet: ...


def known_language(model: HasLanguages, lang: str | None, whose: str = "the text") -> str:
    """Return the model's own name for ``lang`` if it has it; otherwise say what is missing."""
    return _among(model, lang, whose, model.languages.all)


def source_language(model: HasLanguages, lang: str | None) -> str:
    """Like :func:`known_language`, for a text that is to be read."""
    return _among(model, lang, "the source", frozenset(model.languages.source))


def target_language(model: HasLanguages, lang: str | None) -> str:
    """Like :func:`known_language`, for a text that is to be written."""
    return _among(model, lang, "the target", frozenset(model.languages.target))


def _among(model: HasLanguages, lang: str | None, whose: str, among: frozenset[str]) -> str:
    can = f"{model.name} {model.languages.describe()}"
    if lang is None:
        raise LanguageError(f"the language of {whose} is needed and was not given ({can})")
    code = model.languages.resolve(lang)
    if code not in among:
        raise LanguageError(f"{whose} is in {lang!r}, which the model does not have ({can})")
    return code
