"""Models for one request: same protocols, but every query goes through a batcher."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

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
