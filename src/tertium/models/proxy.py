"""Models that delegate to other models."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from tertium.models.base import (
    BEAM_SEARCH,
    Alternative,
    Candidate,
    Model,
    Progress,
    Query,
    Search,
    SentenceEncoder,
    TokenDistributions,
    TokenScores,
    TranslationModel,
)
from tertium.models.languages import LanguageSet

ModelT = TypeVar("ModelT", bound=Model)


class Proxy(Generic[ModelT]):
    """Has the name, fingerprint and settings of the wrapped model; subclasses add the methods."""

    def __init__(self, model: ModelT) -> None:
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


@dataclass(frozen=True)
class Operation:
    """A method of :class:`TranslationModel` that takes queries, with its settings.

    >>> from tertium import load_model
    >>> log_probs = Operation("log_probs")
    >>> [scores] = log_probs(load_model(cache=False), [Query("Hallo!", "Hello!", "de")])
    >>> scores.tokens
    ('▁Hallo', '!', '</s>')
    """

    method: str
    settings: tuple[tuple[str, Hashable], ...] = ()

    def __call__(
        self, model: TranslationModel, queries: Sequence[Query], progress: Progress | None = None
    ) -> list[Any]:
        """One result for each query."""
        results: list[Any] = getattr(model, self.method)(
            queries, **dict(self.settings), progress=progress
        )
        return results


class DelegatingModel(TranslationModel):
    """Answers every kind of query in one way, which a subclass defines."""

    @abstractmethod
    def ask(
        self, operation: Operation, queries: Sequence[Query], progress: Progress | None
    ) -> list[Any]:
        """One result for each query."""

    def log_probs(
        self, queries: Sequence[Query], *, progress: Progress | None = None
    ) -> list[TokenScores]:
        return self.ask(Operation("log_probs"), queries, progress)

    def candidates(
        self,
        queries: Sequence[Query],
        *,
        search: Search = BEAM_SEARCH,
        progress: Progress | None = None,
    ) -> list[list[Candidate]]:
        return self.ask(Operation("candidates", (("search", search),)), queries, progress)

    def top_log_probs(
        self, queries: Sequence[Query], *, above: float, progress: Progress | None = None
    ) -> list[TokenDistributions]:
        return self.ask(Operation("top_log_probs", (("above", above),)), queries, progress)

    def alternatives(
        self,
        queries: Sequence[Query],
        *,
        places: Sequence[int],
        count: int = 3,
        progress: Progress | None = None,
    ) -> list[list[list[Alternative]]]:
        settings = (("places", tuple(places)), ("count", count))
        return self.ask(Operation("alternatives", settings), queries, progress)


class ModelProxy(Proxy[TranslationModel], DelegatingModel):
    """Stands for another translation model, and answers queries in a way of its own."""

    @property
    def languages(self) -> LanguageSet:
        return self.model.languages

    @property
    def needs_source_language(self) -> bool:
        return self.model.needs_source_language

    def translates(self, source_lang: str | None, target_lang: str | None) -> bool:
        return self.model.translates(source_lang, target_lang)

    def prepare(self, texts: Sequence[str]) -> None:
        self.model.prepare(texts)

    def too_long(self, texts: Sequence[str]) -> list[bool]:
        return self.model.too_long(texts)

    def token_counts(self, texts: Sequence[str]) -> list[int]:
        return self.model.token_counts(texts)

    def own_encoder(self) -> SentenceEncoder:
        return self.model.own_encoder()

    def engine(self, source_lang: str, target_lang: str) -> TranslationModel:
        return self.model.engine(source_lang, target_lang)
