"""The models of the service; each request has proxies of them, which put queries to a batcher."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from tertium.errors import SettingError
from tertium.measures.base import Measure, ModelKind
from tertium.measures.loading import make_measure, read_specs
from tertium.models.base import (
    Languages,
    LimitedModel,
    Progress,
    Query,
    SentenceEncoder,
    SentenceVectors,
    TextEncoder,
    TokenVectors,
    TranslationModel,
    per_row,
)
from tertium.models.cached import ModelProxy, Operation, Proxy
from tertium.web.batching import Batcher, Call, Engine, estimated_tokens
from tertium.web.limits import Limits
from tertium.web.schema import Settings


def translation_engine(model: TranslationModel) -> Engine:
    """Return a function that runs the batched queries of many :class:`BatchedModel`."""

    def run(operation: Hashable, queries: Sequence[Any]) -> Sequence[Any]:
        if isinstance(operation, Operation):
            return operation(model, queries)
        return encoder_engine(model.own_encoder())(operation, queries)

    return run


def encoder_engine(encoder: SentenceEncoder) -> Engine:
    """Return a function that runs the batched queries of many :class:`BatchedEncoder`."""

    def run(operation: Hashable, queries: Sequence[Any]) -> Sequence[Any]:
        texts, langs = zip(*queries, strict=True)
        if operation == "token_vectors" and isinstance(encoder, TextEncoder):
            return encoder.token_vectors(texts, lang=langs)
        sentences = encoder.sentence_vectors(texts, lang=langs)
        return list(zip(sentences.vectors, sentences.cut, strict=True))

    return run


class BatchedModel(ModelProxy):
    """A translation model for one call."""

    def __init__(self, model: TranslationModel, batcher: Batcher, call: Call) -> None:
        super().__init__(model)
        self._batcher = batcher
        self._call = call

    def ask(
        self, operation: Operation, queries: Sequence[Query], progress: Progress | None
    ) -> list[Any]:
        tokens = [estimated_tokens(query.target, query.source) for query in queries]
        return self._batcher.submit(operation, queries, tokens, self._call)

    def own_encoder(self) -> BatchedEncoder:
        return BatchedEncoder(super().own_encoder(), self._batcher, self._call)


class BatchedEncoder(Proxy[SentenceEncoder]):
    """An encoder for one call."""

    def __init__(self, encoder: SentenceEncoder, batcher: Batcher, call: Call) -> None:
        super().__init__(encoder)
        self._batcher = batcher
        self._call = call

    def token_vectors(
        self, texts: Sequence[str], *, lang: Languages = None, progress: Progress | None = None
    ) -> list[TokenVectors]:
        return self._submit("token_vectors", texts, lang)

    def sentence_vectors(
        self, texts: Sequence[str], *, lang: Languages = None, progress: Progress | None = None
    ) -> SentenceVectors:
        import numpy as np

        results = self._submit("sentence_vectors", texts, lang)
        return SentenceVectors(
            np.array([vector for vector, _ in results], dtype=np.float32),
            tuple(cut for _, cut in results),
        )

    def too_long(self, texts: Sequence[str]) -> list[bool]:
        if not isinstance(self.model, LimitedModel):
            return [False] * len(texts)
        return self.model.too_long(texts)

    def _submit(self, operation: str, texts: Sequence[str], lang: Languages) -> list[Any]:
        queries = list(zip(texts, per_row(lang, len(texts)), strict=True))
        tokens = [estimated_tokens(text) for text in texts]
        return self._batcher.submit(operation, queries, tokens, self._call)


@dataclass(frozen=True)
class Loaded:
    """A model for each kind that measures need. Clients cannot request others."""

    translation: TranslationModel
    tokens: TextEncoder
    sentences: SentenceEncoder

    def __post_init__(self) -> None:
        if not isinstance(self.tokens, TextEncoder):
            raise SettingError(
                f"{self.tokens.name} has no token vectors",
                cure="use it as {sentence_encoder}, and another one as {encoder}",
            )


class BatchedEngines:
    """Gives every call its own proxies of the models."""

    def __init__(self, models: Loaded, limits: Limits, callers: Callable[[], float]) -> None:
        self.models = models

        def batcher(engine: Engine) -> Batcher:
            return Batcher(engine, window=limits.window, budget=limits.budget, callers=callers)

        tokens = batcher(encoder_engine(models.tokens))
        shared = models.sentences is models.tokens
        self.batchers: dict[ModelKind, Batcher] = {
            "translation": batcher(translation_engine(models.translation)),
            "tokens": tokens,
            "sentences": tokens if shared else batcher(encoder_engine(models.sentences)),
        }

    def model(self, call: Call) -> BatchedModel:
        """The translation model."""
        return BatchedModel(self.models.translation, self.batchers["translation"], call)

    def measures(
        self,
        names: Sequence[str],
        settings: Mapping[str, object],
        call: Call,
        lang: str | None = None,
    ) -> list[Measure]:
        """Make measures; a setting goes to those that have it, and one that none has is refused.

        ``lang`` is the language of all hypotheses, from which BLEU takes its tokenizer.
        """
        specs = read_specs(names, given=settings)
        for spec in specs:
            if spec.model is not None:
                raise SettingError(f"{spec}: the server chooses the model; leave out @{spec.model}")
            check_settings(spec.settings)
        return [
            make_measure(spec, lambda kind, *_: self._view(kind, call), lang=lang) for spec in specs
        ]

    def encoder(self, call: Call) -> BatchedEncoder:
        """The encoder of tokens."""
        return BatchedEncoder(self.models.tokens, self.batchers["tokens"], call)

    def _view(self, kind: ModelKind, call: Call) -> Any:
        if kind == "translation":
            return self.model(call)
        if kind == "language":
            raise SettingError("the server has no causal language model; use the command line")
        encoder = self.models.tokens if kind == "tokens" else self.models.sentences
        return BatchedEncoder(encoder, self.batchers[kind], call)

    @property
    def alive(self) -> bool:
        return all(batcher.alive for batcher in self.batchers.values())

    def close(self) -> None:
        for batcher in set(self.batchers.values()):
            batcher.close()


def check_settings(settings: Mapping[str, object]) -> None:
    """Refuse settings in the name of a measure that a request may not have otherwise.

    >>> check_settings({"baseline": "/etc/passwd"})
    Traceback (most recent call last):
    ...
    tertium.errors.SettingError: the setting baseline cannot be used on a server
    """
    for name, value in settings.items():
        if name not in Settings.model_fields:
            raise SettingError(f"the setting {name} cannot be used on a server")
        try:
            Settings.model_validate({name: list(value) if isinstance(value, tuple) else value})
        except ValidationError as error:
            raise SettingError(f"{name}={value}: {error.errors()[0]['msg']}") from None
