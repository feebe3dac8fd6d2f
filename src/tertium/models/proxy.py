"""Proxies that delegate to another model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Generic, Protocol, TypeVar

from tertium.models.base import TranslationModel
from tertium.models.languages import LanguageSet


class Described(Protocol):
    """What all models have."""

    @property
    def name(self) -> str: ...

    @property
    def fingerprint(self) -> str: ...

    @property
    def settings(self) -> Mapping[str, str]: ...


Model = TypeVar("Model", bound=Described)


class Proxy(Generic[Model]):
    """Has the name, fingerprint and settings of the wrapped model; subclasses add the methods."""

    def __init__(self, model: Model) -> None:
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
    def settings(self) -> Mapping[str, str]:
        return self.model.settings


class ModelProxy(Proxy[TranslationModel]):
    """A proxy of a translation model, with its languages."""

    @property
    def languages(self) -> LanguageSet:
        return self.model.languages

    @property
    def needs_source_language(self) -> bool:
        return self.model.needs_source_language
