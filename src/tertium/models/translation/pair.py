"""Two models for different translation directions, combined into one."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from tertium.errors import LanguageError
from tertium.models.base import Progress, Query, TranslationModel
from tertium.models.cached import DelegatingModel, Operation
from tertium.models.languages import LanguageSet


class PairOfModels(DelegatingModel):
    """A model and one for the opposite direction, such as opus-mt-en-fr and opus-mt-fr-en.

    Each query is delegated to the first of the two that supports its direction.
    """

    def __init__(self, forward: TranslationModel, backward: TranslationModel) -> None:
        self.models = (forward, backward)
        both = [model.languages for model in self.models]
        self._languages = LanguageSet(
            source={**both[1].source, **both[0].source},
            target={**both[1].target, **both[0].target},
            aliases={**both[1].aliases, **both[0].aliases},
        )

    @property
    def name(self) -> str:
        return "+".join(model.name for model in self.models)

    @property
    def fingerprint(self) -> str:
        fingerprints = "+".join(model.fingerprint for model in self.models)
        return hashlib.sha256(fingerprints.encode()).hexdigest()

    @property
    def languages(self) -> LanguageSet:
        return self._languages

    @property
    def needs_source_language(self) -> bool:
        return True  # to choose the model

    @property
    def settings(self) -> Mapping[str, str]:
        first, second = (model.settings for model in self.models)
        if first == second:
            return first
        names = {**first, **second}
        return {name: f"{first.get(name)}+{second.get(name)}" for name in names}

    def ask(
        self, operation: Operation, queries: Sequence[Query], progress: Progress | None
    ) -> list[Any]:
        """Ask each model for its directions."""
        places_by_model: defaultdict[int, list[int]] = defaultdict(list)
        for place, query in enumerate(queries):
            places_by_model[self._which(query.source_lang, query.target_lang)].append(place)
        results: dict[int, Any] = {}
        for number, places in places_by_model.items():
            some = [queries[place] for place in places]
            found = operation(self.models[number], some, progress)
            results.update(zip(places, found, strict=True))
        return [results[place] for place in range(len(queries))]

    def translates(self, source_lang: str | None, target_lang: str | None) -> bool:
        return any(model.translates(source_lang, target_lang) for model in self.models)

    def prepare(self, texts: Sequence[str]) -> None:
        for model in self.models:
            model.prepare(texts)

    def engine(self, source_lang: str, target_lang: str) -> TranslationModel:
        model = self.models[self._which(source_lang, target_lang)]
        return model.engine(source_lang, target_lang)

    def _which(self, source_lang: str | None, target_lang: str | None) -> int:
        """The first of the two models that supports a direction."""
        for number, model in enumerate(self.models):
            languages = model.languages
            if target_lang is None or languages.resolve(target_lang) not in languages.target:
                continue
            if source_lang is None or languages.resolve(source_lang) in languages.source:
                return number
        supported = "; ".join(
            f"{model.name}: {model.languages.describe()}" for model in self.models
        )
        hint = (
            " (normalized measures need a model that translates a language into itself: turn off "
            "normalization, or use another model)"
            if source_lang == target_lang
            else ""
        )
        raise LanguageError(
            f"no model translates {source_lang or 'an unknown language'} to "
            f"{target_lang or 'an unknown language'}: {supported}{hint}"
        )
