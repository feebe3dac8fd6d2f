"""Encoders run by CTranslate2, with the interface of :class:`~tertium.models.base.TextEncoder`."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from tertium.errors import ModelError
from tertium.models.base import Languages, Progress, SentenceVectors, TokenVectors
from tertium.models.batches import uniform_batches
from tertium.models.cache.vectors import VectorMemo
from tertium.models.card import Card, FromCard
from tertium.models.encoders.pooling import Pooling
from tertium.models.encoders.reading import Reader, Reading
from tertium.models.engine import IN_FLIGHT, ComputeType, check_engine_settings, open_engine
from tertium.models.engine_file import EngineFile
from tertium.models.languages import LanguageSet
from tertium.models.settings import Settings
from tertium.models.threads import available_cores

Result = TypeVar("Result")
Rows = NDArray[np.float32]

BATCH_TOKENS = 512
TypeIds = Literal["segments", "positions"]
"""What a model reads as types of tokens: the text that each is in, or its position (MPNet)."""


class CTranslate2Encoder(FromCard[Settings]):
    """An encoder run by CTranslate2: an encoder model, or the encoder of a translation model.

    The vectors are those of the last layer of the model in the folder, or of a ``part`` of it.
    """

    def __init__(
        self,
        card: Card[Settings],
        reader: Reader,
        pooling: Pooling,
        *,
        layer: int,
        part: EngineFile | None = None,
        vocabulary: Path | None = None,
        prefix: str = "",
        types: TypeIds | None = None,
        compute_type: ComputeType = "auto",
        threads: int | None = None,
        batch_tokens: int = BATCH_TOKENS,
    ) -> None:
        check_engine_settings(compute_type, threads, batch_tokens)
        self.threads = threads or available_cores()
        self.batch_tokens = batch_tokens
        self.layer = layer
        self.card = card
        self._reader = reader
        self._pooling = pooling
        self._prefix = prefix
        self._types = types
        self._engine, engine_settings = open_engine(
            "Encoder",
            card.path,
            compute_type=compute_type,
            threads=self.threads,
            encoder=part,
            vocabulary=vocabulary,
        )
        self._memo = VectorMemo()
        self._process = os.getpid()
        self._depth = self._forward([[0]]).shape[-1]
        self._settings = {
            "layer": str(layer),
            "pooling": pooling.describe(),
            **({"prefix": prefix.strip()} if prefix else {}),
            **reader.settings,
            **engine_settings,
        }

    def token_vectors(
        self, texts: Sequence[str], *, lang: Languages = None, progress: Progress | None = None
    ) -> list[TokenVectors]:
        """Encode each text as one vector per token.

        >>> import tertium
        >>> [encoded] = tertium.load_encoder("tertium-mini").token_vectors(["My house"])
        >>> encoded.tokens, encoded.framing, encoded.vectors.shape
        (('▁My', '▁house', '</s>'), (False, False, True), (3, 256))
        """
        readings = self._reader.read(texts, lang)

        vectors = self.encode(readings, lambda reading, rows: rows, progress)
        return [
            TokenVectors(reading.tokens, vectors[reading.ids], reading.framing, reading.cut)
            for reading in readings
        ]

    def sentence_vectors(
        self, texts: Sequence[str], *, lang: Languages = None, progress: Progress | None = None
    ) -> SentenceVectors:
        """Encode each text as one vector of length 1.

        >>> import tertium
        >>> encoded = tertium.load_encoder("tertium-mini").sentence_vectors(["My house", ""])
        >>> encoded.vectors.shape, encoded.vectors[1].any()
        ((2, 256), np.False_)
        """
        readings = self._reader.read([self._prefix + text for text in texts], lang)

        def pool(reading: Reading, rows: Rows) -> Rows:
            return self._pooling(rows, reading.framing)

        pooled = self.encode(readings, pool, progress)
        vectors = np.empty((len(texts), self._pooling.width(self._depth)), dtype=np.float32)
        for place, reading in enumerate(readings):
            vectors[place] = pooled[reading.ids]
        return SentenceVectors(vectors, tuple(reading.cut for reading in readings))

    def too_long(self, texts: Sequence[str]) -> list[bool]:
        """Whether each text, with the prefix of sentence encoders that have one, is truncated."""
        return self._reader.too_long([self._prefix + text for text in texts])

    @property
    def languages(self) -> LanguageSet | None:
        """The languages of the translation model that it belongs to; otherwise, None."""
        return getattr(self._reader, "languages", None)

    def unknown_shares(self, texts: Sequence[str]) -> list[float]:
        """For each text, the share of characters that the tokenizer does not know."""
        return self._reader.unknown_shares(texts)

    def forget(self) -> None:
        """Clear the cache of vectors, so that all texts are encoded again."""
        self._memo = VectorMemo()

    def encode(
        self,
        readings: Sequence[Reading],
        make: Callable[[Reading, Rows], Result],
        progress: Progress | None = None,
    ) -> dict[tuple[int, ...], Result]:
        """Encode each distinct sequence once, longest first, in batches without padding.

        Returns the result of ``make`` for each sequence's vectors, by the ids of its tokens.
        """
        if os.getpid() != self._process:
            raise ModelError(
                f"{self.name} was loaded before this process was forked, and its threads are gone; "
                "load it in the new process, or start processes with 'spawn'"
            )
        results: dict[tuple[int, ...], Result] = {}
        distinct = []
        for reading in {reading.ids: reading for reading in readings}.values():
            if (cached := self._memo.get(reading.ids)) is None:
                distinct.append(reading)
            else:
                results[reading.ids] = make(reading, cached)
        cached_count = len(results)
        pending: deque[tuple[list[int], Future[Rows]]] = deque()

        def collect() -> None:
            batch, future = pending.popleft()
            for index, output in zip(batch, future.result(), strict=True):
                rows = output.copy()  # a view would keep the whole batch in memory
                rows.flags.writeable = False  # texts with the same tokens share it
                self._memo.put(distinct[index].ids, rows)
                results[distinct[index].ids] = make(distinct[index], rows)
            if progress is not None:
                progress("encoding", len(results) - cached_count, len(distinct))

        shapes = [(len(reading.ids),) for reading in distinct]
        with ThreadPoolExecutor(self.threads) as pool:
            for batch in uniform_batches(shapes, self.batch_tokens):
                ids = [distinct[index].ids for index in batch]
                types = (
                    [distinct[index].types for index in batch]
                    if self._types == "segments"
                    else None
                )
                pending.append((batch, pool.submit(self._forward, ids, types)))
                if len(pending) > IN_FLIGHT * self.threads:
                    collect()
            while pending:
                collect()
        return results

    def _forward(
        self, ids: Sequence[Sequence[int]], types: Sequence[Sequence[int]] | None = None
    ) -> Rows:
        """The vectors of a batch, of shape (texts, tokens, width)."""
        if not ids[0]:  # CTranslate2 crashes on an empty sequence
            return np.empty((len(ids), 0, self._depth), dtype=np.float32)
        batch = [list(row) for row in ids]
        kinds = None
        if self._types == "positions":
            kinds = [list(range(len(row))) for row in batch]
        elif self._types:
            kinds = [list(row) for row in types or [[0] * len(row) for row in batch]]
        output = self._engine.forward_batch(batch, token_type_ids=kinds)
        return np.array(output.last_hidden_state, dtype=np.float32)
