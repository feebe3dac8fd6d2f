"""Tokenizers: text to subword tokens and back.

The special tokens of a model (``</s>``, language tags) cannot occur in a text: they become unknown
tokens.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Protocol, cast

UNKNOWN = "<unk>"
CONTROL = ("<s>", "</s>", "<pad>")


class Tokenizer(Protocol):
    """Splits text into the subword tokens of a model's vocabulary."""

    def encode(self, texts: Sequence[str]) -> list[list[str]]: ...

    def decode(self, tokens: Sequence[str]) -> str: ...


class SentencePieceTokenizer:
    """A SentencePiece model, whose tokens are those of the engine's vocabulary."""

    def __init__(self, path: Path, reserved: frozenset[str]) -> None:
        from sentencepiece import SentencePieceProcessor

        self._processor = SentencePieceProcessor(model_proto=path.read_bytes())
        self._reserved = reserved

    def encode(self, texts: Sequence[str]) -> list[list[str]]:
        encoded = cast("list[list[str]]", self._processor.encode(list(texts), out_type=str))
        return [without_special_tokens(tokens, self._reserved) for tokens in encoded]

    def decode(self, tokens: Sequence[str]) -> str:
        return cast(str, self._processor.decode(list(tokens)))


class JsonTokenizer:
    """A ``tokenizer.json`` of Hugging Face's fast tokenizers."""

    def __init__(self, path: Path, reserved: frozenset[str]) -> None:
        from tokenizers import Tokenizer as Backend

        self._backend = Backend.from_file(str(path))
        self._backend.no_truncation()
        self._backend.no_padding()
        self._backend.encode_special_tokens = True
        self._reserved = reserved

    def encode(self, texts: Sequence[str]) -> list[list[str]]:
        encodings = self._backend.encode_batch(list(texts), add_special_tokens=False)
        return [without_special_tokens(encoding.tokens, self._reserved) for encoding in encodings]

    def decode(self, tokens: Sequence[str]) -> str:
        ids = [self._backend.token_to_id(token) for token in tokens]
        return self._backend.decode([id_ for id_ in ids if id_ is not None]).strip()


def without_special_tokens(tokens: list[str], reserved: frozenset[str]) -> list[str]:
    """Replace special tokens that occur in a text with the unknown token.

    >>> without_special_tokens(["▁a", "</s>"], frozenset({"</s>"}))
    ['▁a', '<unk>']
    """
    if reserved.isdisjoint(tokens):
        return tokens
    return [UNKNOWN if token in reserved else token for token in tokens]


def open_tokenizer(path: Path, tags: Iterable[str] = ()) -> Tokenizer:
    """Open a tokenizer file; ``tags`` are the model's language tags."""
    reserved = frozenset((*CONTROL, *tags)) - {""}
    if path.suffix == ".json":
        return JsonTokenizer(path, reserved)
    return SentencePieceTokenizer(path, reserved)
