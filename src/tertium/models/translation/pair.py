"""Two models for different translation directions, combined into one."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from tertium.errors import LanguageError
from tertium.models.base import (
    Alternative,
    Languages,
    Progress,
    SuggestingModel,
    TokenScores,
    Translation,
    TranslationModel,
    describe_model,
    per_row,
)
from tertium.models.candidates import BEAM_SEARCH, Candidate, Search, candidate_model
from tertium.models.languages import LanguageSet
from tertium.models.proxy import ModelProxy

Result = TypeVar("Result")


class PairOfModels:
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

    def __repr__(self) -> str:
        return describe_model(self)

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

    def log_probs(
        self,
        targets: Sequence[str],
        sources: Sequence[str],
        *,
        target_lang: Languages,
        source_lang: Languages = None,
        progress: Progress | None = None,
    ) -> list[TokenScores]:
        target_langs = per_row(target_lang, len(targets))
        source_langs = per_row(source_lang, len(targets))

        def query(model: TranslationModel, places: list[int]) -> list[TokenScores]:
            return model.log_probs(
                [targets[place] for place in places],
                [sources[place] for place in places],
                target_lang=[target_langs[place] for place in places],
                source_lang=[source_langs[place] for place in places],
                progress=progress,
            )

        return self._dispatch(source_langs, target_langs, query)

    def translate(
        self,
        sources: Sequence[str],
        *,
        target_lang: Languages,
        source_lang: Languages = None,
        beam_size: int = 5,
        progress: Progress | None = None,
    ) -> list[Translation]:
        target_langs = per_row(target_lang, len(sources))
        source_langs = per_row(source_lang, len(sources))

        def query(model: TranslationModel, places: list[int]) -> list[Translation]:
            return model.translate(
                [sources[place] for place in places],
                target_lang=[target_langs[place] for place in places],
                source_lang=[source_langs[place] for place in places],
                beam_size=beam_size,
                progress=progress,
            )

        return self._dispatch(source_langs, target_langs, query)

    def alternatives(
        self,
        target: str,
        source: str,
        places: Sequence[int],
        *,
        target_lang: str,
        source_lang: str | None = None,
        count: int = 3,
    ) -> list[list[Alternative]]:
        """Delegate to the model of the direction; empty if it is not a ``SuggestingModel``."""
        model = self.model_for(source_lang, target_lang)
        if not isinstance(model, SuggestingModel):
            return [[] for _ in places]
        return model.alternatives(
            target, source, places, target_lang=target_lang, source_lang=source_lang, count=count
        )

    def candidates(
        self,
        sources: Sequence[str],
        *,
        target_lang: Languages,
        source_lang: Languages = None,
        search: Search = BEAM_SEARCH,
        progress: Progress | None = None,
    ) -> list[list[Candidate]]:
        target_langs = per_row(target_lang, len(sources))
        source_langs = per_row(source_lang, len(sources))

        def query(model: TranslationModel, places: list[int]) -> list[list[Candidate]]:
            return candidate_model(model).candidates(
                [sources[place] for place in places],
                target_lang=[target_langs[place] for place in places],
                source_lang=[source_langs[place] for place in places],
                search=search,
                progress=progress,
            )

        return self._dispatch(source_langs, target_langs, query)

    def model_for(self, source_lang: str | None, target_lang: str | None) -> TranslationModel:
        """The first of the two models that supports a direction."""
        return self.models[self._which(source_lang, target_lang)]

    def _dispatch(
        self,
        source_langs: Sequence[str | None],
        target_langs: Sequence[str | None],
        query: Callable[[TranslationModel, list[int]], list[Result]],
    ) -> list[Result]:
        """Query each model for its directions, and return the results in the order of the input."""
        places_by_model: defaultdict[int, list[int]] = defaultdict(list)
        for place, direction in enumerate(zip(source_langs, target_langs, strict=True)):
            places_by_model[self._which(*direction)].append(place)
        results: dict[int, Result] = {}
        for number, places in places_by_model.items():
            results.update(zip(places, query(self.models[number], places), strict=True))
        return [results[place] for place in range(len(results))]

    def _which(self, source_lang: str | None, target_lang: str | None) -> int:
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


def translates(model: TranslationModel, source_lang: str | None, target_lang: str | None) -> bool:
    """Whether a model, or one of a pair, translates from one language into the other.

    >>> import tertium
    >>> mini = tertium.load_model(cache=False)
    >>> translates(mini, "de", "en"), translates(mini, "de", "ru")
    (True, False)
    """
    if isinstance(model, ModelProxy):
        return translates(model.model, source_lang, target_lang)
    if isinstance(model, PairOfModels):
        return any(translates(each, source_lang, target_lang) for each in model.models)
    languages = model.languages
    return (
        source_lang is not None
        and target_lang is not None
        and languages.resolve(source_lang) in languages.source
        and languages.resolve(target_lang) in languages.target
    )
