"""Encoders run by CTranslate2, with the interface of :class:`~tertium.models.base.TextEncoder`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from typing import Literal, NamedTuple, TypeVar

import numpy as np
from cachetools import LRUCache
from numpy.typing import NDArray

from tertium.models.base import Languages, Progress, SentenceVectors, TokenVectors
from tertium.models.card import Card, FromCard, Settings
from tertium.models.encoders.pooling import Pooling
from tertium.models.encoders.reading import Reader, Reading
from tertium.models.engine import BATCH_TOKENS, ComputeType, Engine, uniform_batches
from tertium.models.engine_file import EngineFile
from tertium.models.languages import LanguageSet

Ids = tuple[int, ...]
Rows = NDArray[np.float32]

MAX_BYTES = 256 * 2**20
TypeIds = Literal["segments", "positions"]
"""What a model reads as types of tokens: the text that each is in, or its position (MPNet)."""


class VectorMemo:
    """Caches the vectors of the most recently used token sequences, up to a number of bytes.

    Several measures in one run, and many systems with the same references, encode the same texts
    again and again.

    >>> memo = VectorMemo(max_bytes=16)
    >>> for number in (1, 2, 3):
    ...     memo.put((number,), np.zeros((1, 2), np.float32))
    >>> memo.get((1,)) is None, memo.get((3,))
    (True, array([[0., 0.]], dtype=float32))
    """

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._rows: LRUCache[Ids, Rows] = LRUCache(max_bytes, getsizeof=lambda rows: rows.nbytes)
        self._lock = Lock()

    @property
    def bytes(self) -> int:
        """The number of bytes in use."""
        return int(self._rows.currsize)

    def get(self, ids: Ids) -> Rows | None:
        """Return the vectors of a sequence, or None, and mark them as recently used."""
        with self._lock:
            return self._rows.get(ids)

    def put(self, ids: Ids, rows: Rows) -> None:
        """Store the vectors of a sequence; the least recently used ones are evicted."""
        with self._lock:
            if ids not in self._rows and rows.nbytes <= self._rows.maxsize:
                self._rows[ids] = rows


Result = TypeVar("Result")


class RowOfBatch(NamedTuple):
    """The vectors of a text in a batch that is being encoded."""

    batch: Future[Rows]
    place: int

    def result(self) -> Rows:
        """Wait for them."""
        rows: Rows = self.batch.result()[self.place]
        return rows


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
        self.layer = layer
        self.card = card
        self._reader = reader
        self._pooling = pooling
        self._prefix = prefix
        self._types = types
        self._engine = Engine(
            "Encoder",
            card.path,
            card.name,
            compute_type=compute_type,
            threads=threads,
            batch_tokens=batch_tokens,
            encoder=part,
            vocabulary=vocabulary,
        )
        self._memo = VectorMemo()
        self._depth = self._forward([[0]]).shape[-1]
        self._settings = {
            "layer": str(layer),
            "pooling": pooling.describe(),
            **({"prefix": prefix.strip()} if prefix else {}),
            **reader.settings,
            **self._engine.settings,
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
        results: dict[tuple[int, ...], Result] = {}
        distinct = []
        for reading in {reading.ids: reading for reading in readings}.values():
            if (cached := self._memo.get(reading.ids)) is None:
                distinct.append(reading)
            else:
                results[reading.ids] = make(reading, cached)
        engine = self._engine

        def submit(batch: list[int]) -> list[RowOfBatch]:
            ids = [distinct[index].ids for index in batch]
            segments = self._types == "segments"
            types = [distinct[index].types for index in batch] if segments else None
            future = pool.submit(self._forward, ids, types)
            return [RowOfBatch(future, place) for place in range(len(batch))]

        def read(index: int, output: Rows) -> Result:
            rows = output.copy()  # a view would keep the whole batch in memory
            rows.flags.writeable = False  # texts with the same tokens share it
            self._memo.put(distinct[index].ids, rows)
            return make(distinct[index], rows)

        batches = uniform_batches([(len(each.ids),) for each in distinct], engine.batch_tokens)
        with ThreadPoolExecutor(engine.threads) as pool:
            new = engine.run("encoding", batches, len(distinct), submit, read, progress)
        return results | {each.ids: one for each, one in zip(distinct, new, strict=True)}

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
        output = self._engine.backend.forward_batch(batch, token_type_ids=kinds)
        return np.array(output.last_hidden_state, dtype=np.float32)
