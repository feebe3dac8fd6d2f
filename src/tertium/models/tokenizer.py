"""Text to pieces and back."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, cast


class Tokenizer(Protocol):
    """Cuts text into the pieces that a model knows."""

    def encode(self, texts: Sequence[str]) -> list[list[str]]: ...

    def decode(self, pieces: Sequence[str]) -> str: ...


class SentencePieceTokenizer:
    """A SentencePiece model; its pieces are the engine's vocabulary."""

    def __init__(self, path: Path) -> None:
        from sentencepiece import SentencePieceProcessor

        self._processor = SentencePieceProcessor(model_proto=path.read_bytes())

    def encode(self, texts: Sequence[str]) -> list[list[str]]:
        return cast("list[list[str]]", self._processor.encode(list(texts), out_type=str))

    def decode(self, pieces: Sequence[str]) -> str:
        return cast(str, self._processor.decode(list(pieces)))
