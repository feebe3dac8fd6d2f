"""Text to pieces and back.

No text spells a token that is the model's own (``</s>``, a language tag): such a piece is unknown.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Protocol, cast

UNKNOWN = "<unk>"
BYTE = re.compile("<0x[0-9A-F]{2}>")
CONTROL = ("<s>", "</s>", "<pad>")


class Tokenizer(Protocol):
    """Cuts text into the pieces that a model knows."""

    def encode(self, texts: Sequence[str]) -> list[list[str]]: ...

    def decode(self, pieces: Sequence[str]) -> str: ...


class SentencePieceTokenizer:
    """A SentencePiece model; its pieces are the engine's vocabulary."""

    def __init__(self, path: Path, reserved: frozenset[str]) -> None:
        from sentencepiece import SentencePieceProcessor

        self._processor = SentencePieceProcessor(model_proto=path.read_bytes())
        self._reserved = reserved

    def encode(self, texts: Sequence[str]) -> list[list[str]]:
        found = cast("list[list[str]]", self._processor.encode(list(texts), out_type=str))
        return [harmless(pieces, self._reserved) for pieces in found]

    def decode(self, pieces: Sequence[str]) -> str:
        return cast(str, self._processor.decode(list(pieces)))


class JsonTokenizer:
    """A ``tokenizer.json``, as Hugging Face's fast tokenizers keep it."""

    def __init__(self, path: Path, reserved: frozenset[str]) -> None:
        from tokenizers import Tokenizer as Backend

        self._backend = Backend.from_file(str(path))
        self._backend.no_truncation()
        self._backend.no_padding()
        self._backend.encode_special_tokens = True
        self._reserved = reserved

    def encode(self, texts: Sequence[str]) -> list[list[str]]:
        found = self._backend.encode_batch(list(texts), add_special_tokens=False)
        return [harmless(encoding.tokens, self._reserved) for encoding in found]

    def decode(self, pieces: Sequence[str]) -> str:
        ids = [self._backend.token_to_id(piece) for piece in pieces]
        return self._backend.decode([id_ for id_ in ids if id_ is not None]).strip()


def harmless(pieces: list[str], reserved: frozenset[str]) -> list[str]:
    """Put the unknown piece for what a text must not say.

    >>> harmless(["▁a", "</s>"], frozenset({"</s>"}))
    ['▁a', '<unk>']
    """
    if reserved.isdisjoint(pieces):
        return pieces
    return [UNKNOWN if piece in reserved else piece for piece in pieces]


def unknown_share(pieces: Sequence[str], vocabulary: Collection[str]) -> float:
    """The share of characters in tokens that the model does not know, or that are single bytes.

    >>> unknown_share(["▁a", "▁", "Привет", "<0xF0>"], {"▁a", "▁", "<0xF0>"})
    0.875
    """
    unknown = total = 0
    for piece in pieces:
        is_byte = BYTE.fullmatch(piece) is not None
        length = 1 if is_byte else len(piece.strip("▁"))
        total += length
        if is_byte or piece == UNKNOWN or piece not in vocabulary:
            unknown += length
    return unknown / total if total else 0.0


def open_tokenizer(path: Path, tags: Iterable[str] = ()) -> Tokenizer:
    """Open a tokenizer by the name of its file; ``tags`` are the model's own."""
    reserved = frozenset((*CONTROL, *tags)) - {""}
    if path.suffix == ".json":
        return JsonTokenizer(path, reserved)
    return SentencePieceTokenizer(path, reserved)
