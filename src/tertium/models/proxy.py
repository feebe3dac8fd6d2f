"""Proxy that delegates to another translation model."""

from __future__ import annotations

from collections.abc import Mapping

from tertium.models.base import TranslationModel
from tertium.models.languages import LanguageSet


class ModelProxy:
    """Has the properties of the wrapped model; subclasses add the methods."""

    def __init__(self, model: TranslationModel) -> None:
        self.model = model

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.model!r})"

    @property
    def name(self) -> str:
        return self.model.name

    @property
    def fingerprint(self) -> str:
        return self.model.fingerprint

    @property
    def languages(self) -> LanguageSet:
        return self.model.languages

    @property
    def needs_source_language(self) -> bool:
        return self.model.needs_source_language

    @property
    def settings(self) -> Mapping[str, str]:
        return self.model.settings
