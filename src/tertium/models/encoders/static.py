"""Static encoders: one vector per subword token, whatever the other tokens; numpy only.

A folder has a SentencePiece model and ``static.npz``: ``vectors``, int8 of shape (tokens,
dimensions), and ``scales``, the float32 factor of each. The vector of a token is their product; its
length is the learned weight of the token. The vector of a text is the sum over its tokens, divided
by its length, so it does not depend on the order of the tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from tertium.errors import ModelError
from tertium.models.base import Languages, Progress, SentenceVectors, TokenVectors
from tertium.models.card import (
    PIECES,
    STATIC,
    STATIC_VECTORS,
    EncoderCard,
    EncoderSettings,
    FromCard,
    write_card,
)
from tertium.models.encoders.pooling import read_pooling
from tertium.models.languages import LanguageSet
from tertium.models.tokenizer import open_tokenizer, unknown_share
from tertium.storage.atomic import write_bytes

UNKNOWN_ID = 0
END = "</s>"
SPACE = "▁"
CHUNK = 4_096
"""Texts between two reports of progress."""

Rows = NDArray[np.float32]


class StaticEncoder(FromCard[EncoderSettings]):
    """An encoder whose token vectors are looked up in a table.

    It reads texts of any length, in any of its languages without being told which. Tokens that are
    not in the vocabulary have a vector of zeros, and so has a text of nothing else. ``layer`` is
    that of the embeddings, 0.
    """

    layer = 0

    def __init__(self, card: EncoderCard) -> None:
        self.card = card
        self._pooling = read_pooling(card.path, card.settings)
        self._tokenizer = open_tokenizer(card.path / PIECES)
        spm = (card.path / PIECES).read_bytes()
        self._ids = {token: id_ for id_, token in enumerate(_vocabulary(spm))}
        self._vectors, self._scales = _read_vectors(card.path / STATIC_VECTORS, len(self._ids))
        self._settings = {"layer": str(self.layer), "pooling": self._pooling.describe()}
        tags = dict.fromkeys(card.settings.languages, "")
        self.languages = LanguageSet(tags, tags) if tags else None

    def token_vectors(
        self, texts: Sequence[str], *, lang: Languages = None, progress: Progress | None = None
    ) -> list[TokenVectors]:
        """Encode each text as one vector per token.

        There are no special tokens, except that an empty text has one, with a vector of zeros:
        measures that distribute weights over tokens need one.
        """
        results = []
        for start in range(0, len(texts), CHUNK):
            for tokens in self._tokenizer.encode(texts[start : start + CHUNK]):
                framing = (not tokens,) * max(len(tokens), 1)
                read = tokens or [END]
                results.append(TokenVectors(tuple(read), self._rows(read), framing))
            if progress is not None:
                progress("encoding", len(results), len(texts))
        return results

    def sentence_vectors(
        self, texts: Sequence[str], *, lang: Languages = None, progress: Progress | None = None
    ) -> SentenceVectors:
        """Encode each text as one vector of length 1, or of zeros if it has no known token."""
        distinct = list(dict.fromkeys(texts))
        places = {text: place for place, text in enumerate(distinct)}
        vectors = np.empty((len(distinct), self._vectors.shape[1]), dtype=np.float32)
        for start in range(0, len(distinct), CHUNK):
            chunk = self._tokenizer.encode(distinct[start : start + CHUNK])
            for place, tokens in enumerate(chunk, start):
                vectors[place] = self._pooling(self._rows(tokens), (False,) * len(tokens))
            if progress is not None:
                progress("encoding", start + len(chunk), len(distinct))
        order = np.array([places[text] for text in texts], dtype=np.int64)
        return SentenceVectors(vectors[order], (False,) * len(texts))

    def too_long(self, texts: Sequence[str]) -> list[bool]:
        """No text is too long."""
        return [False] * len(texts)

    def unknown_shares(self, texts: Sequence[str]) -> list[float]:
        """For each text, the share of characters that the tokenizer does not know."""
        return [unknown_share(tokens, self._ids) for tokens in self._tokenizer.encode(texts)]

    def forget(self) -> None:
        """Do nothing: no vectors are cached."""

    def _rows(self, tokens: Sequence[str]) -> Rows:
        ids = [self._ids.get(token, UNKNOWN_ID) for token in tokens]
        rows: Rows = self._vectors[ids].astype(np.float32) * self._scales[ids, None]
        return rows


def write_static_encoder(
    path: Path,
    vectors: NDArray[np.floating],
    tokenizer: bytes,
    *,
    languages: Sequence[str],
    name: str,
    licence: str,
    origin: str,
) -> EncoderCard:
    """Quantize vectors to int8, one factor per token, and write the folder of an encoder.

    The unknown token gets a vector of zeros, and so does a space that is a token of its own, as
    before an unknown character: texts of unknown characters must not be similar to each other.
    """
    path.mkdir(parents=True, exist_ok=True)
    largest = np.abs(vectors).max(axis=1)
    scales = np.where(largest > 0, largest / 127, 1).astype(np.float32)
    quantized = np.rint(vectors / scales[:, None]).clip(-127, 127).astype(np.int8)
    tokens = _vocabulary(tokenizer)
    quantized[[UNKNOWN_ID, *(id_ for id_, token in enumerate(tokens) if token == SPACE)]] = 0
    buffer = BytesIO()
    np.savez(buffer, vectors=quantized, scales=scales)
    write_bytes(path / STATIC_VECTORS, buffer.getvalue())
    write_bytes(path / PIECES, tokenizer)
    settings = EncoderSettings(
        STATIC,
        0,
        0,
        max_length=0,
        pooling=("sum",),
        lowercase=True,
        engine=STATIC,
        languages=tuple(languages),
    )
    return write_card(path, settings, name=name, licence=licence, origin=origin)


def _vocabulary(model: bytes) -> list[str]:
    from sentencepiece import SentencePieceProcessor

    processor = SentencePieceProcessor(model_proto=model)
    tokens: list[str] = processor.id_to_piece(list(range(processor.get_piece_size())))
    return tokens


def _read_vectors(path: Path, tokens: int) -> tuple[NDArray[np.int8], Rows]:
    try:
        with np.load(path, allow_pickle=False) as arrays:
            vectors, scales = arrays["vectors"], arrays["scales"]
    except (ValueError, KeyError, OSError, BadZipFile) as error:
        raise ModelError(f"{path} is not readable ({error}); fetch the model again") from None
    if vectors.dtype != np.int8 or vectors.ndim != 2 or scales.shape != (len(vectors),):
        raise ModelError(
            f"{path}: vectors must be int8 of shape (tokens, dimensions), with one scale per token"
        )
    if len(vectors) != tokens:
        raise ModelError(f"{path} has {len(vectors)} vectors, but {PIECES} has {tokens} tokens")
    return vectors, scales.astype(np.float32)
