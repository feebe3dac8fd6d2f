"""Models for one request: same protocols, but every query goes through a batcher."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from tertium.models.base import (
    Alternative,
    Languages,
    LimitedModel,
    LimitedTranslationModel,
    Progress,
    SentenceEncoder,
    SentenceVectors,
    SuggestingModel,
    TextEncoder,
    TokenScores,
    TokenVectors,
    Translation,
    TranslationModel,
    per_row,
)
from tertium.models.proxy import ModelProxy
from tertium.web.batching import Batcher, Call, Engine, estimated_tokens


def translation_engine(model: TranslationModel) -> Engine:
    """Return a function that runs the batched queries of many :class:`BatchedModel`."""

    def run(operation: Hashable, queries: Sequence[Any]) -> Sequence[Any]:
        match operation:
            case "log_probs":
                targets, sources, target_langs, source_langs = zip(*queries, strict=True)
                return model.log_probs(
                    targets, sources, target_lang=target_langs, source_lang=source_langs
                )
            case ("translate", int(beam_size)):
                sources, target_langs, source_langs = zip(*queries, strict=True)
                return model.translate(
                    sources,
                    target_lang=target_langs,
                    source_lang=source_langs,
                    beam_size=beam_size,
                )
            case "sentence_vectors" if isinstance(model, LimitedTranslationModel):
                return encoder_engine(model.own_encoder())(operation, queries)
            case ("alternatives", int(count)) if isinstance(model, SuggestingModel):
                return [
                    model.alternatives(
                        target,
                        source,
                        places,
                        target_lang=target_lang,
                        source_lang=source_lang,
                        count=count,
                    )
                    for target, source, places, target_lang, source_lang in queries
                ]
        raise ValueError(f"unsupported operation of a translation model: {operation!r}")

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

    def log_probs(
        self,
        targets: Sequence[str],
        sources: Sequence[str],
        *,
        target_lang: Languages,
        source_lang: Languages = None,
        progress: Progress | None = None,
    ) -> list[TokenScores]:
        count = len(targets)
        queries = list(
            zip(
                targets,
                sources,
                per_row(target_lang, count),
                per_row(source_lang, count),
                strict=True,
            )
        )
        tokens = [estimated_tokens(target, source) for target, source, *_ in queries]
        return self._batcher.submit("log_probs", queries, tokens, self._call)

    def translate(
        self,
        sources: Sequence[str],
        *,
        target_lang: Languages,
        source_lang: Languages = None,
        beam_size: int = 5,
        progress: Progress | None = None,
    ) -> list[Translation]:
        count = len(sources)
        queries = list(
            zip(sources, per_row(target_lang, count), per_row(source_lang, count), strict=True)
        )
        tokens = [estimated_tokens(source) for source in sources]
        return self._batcher.submit(("translate", beam_size), queries, tokens, self._call)

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
        """Return what the model prefers, or nothing if it cannot suggest."""
        if not isinstance(self.model, SuggestingModel):
            return [[] for _ in places]
        query = (target, source, tuple(places), target_lang, source_lang)
        tokens = [estimated_tokens(target, source)]
        [alternatives] = self._batcher.submit(("alternatives", count), [query], tokens, self._call)
        return list(alternatives)

    def own_encoder(self) -> BatchedEncoder:
        return BatchedEncoder(super().own_encoder(), self._batcher, self._call)


class BatchedEncoder:
    """An encoder for one call."""

    def __init__(self, encoder: SentenceEncoder, batcher: Batcher, call: Call) -> None:
        self.encoder = encoder
        self._batcher = batcher
        self._call = call

    @property
    def name(self) -> str:
        return self.encoder.name

    @property
    def fingerprint(self) -> str:
        return self.encoder.fingerprint

    @property
    def settings(self) -> Mapping[str, str]:
        return self.encoder.settings

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
        if not isinstance(self.encoder, LimitedModel):
            return [False] * len(texts)
        return self.encoder.too_long(texts)

    def _submit(self, operation: str, texts: Sequence[str], lang: Languages) -> list[Any]:
        queries = list(zip(texts, per_row(lang, len(texts)), strict=True))
        tokens = [estimated_tokens(text) for text in texts]
        return self._batcher.submit(operation, queries, tokens, self._call)
