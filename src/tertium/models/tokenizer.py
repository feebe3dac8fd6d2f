"""Tokenizers: text to subword tokens and back; and where a family's model expects special tokens.

The special tokens of a model (``</s>``, language tags) cannot occur in a text: they become unknown
tokens. The tags themselves (``__de__``, ``deu_Latn``, ``<2de>``) are listed in the model folder.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any, Literal, Protocol, cast

from cachetools import LRUCache

from tertium.errors import ModelError, first_line

END = "</s>"


@dataclass(frozen=True, slots=True)
class Dialect:
    """The input format of one model family.

    >>> DIALECTS["m2m100"].source(["▁Hallo"], source_tag="__de__", target_tag="__en__")
    ['__de__', '▁Hallo', '</s>']
    >>> DIALECTS["small100"].source(["▁Hallo"], source_tag="__de__", target_tag="__en__")
    ['__en__', '▁Hallo', '</s>']
    >>> DIALECTS["prism"].source(["▁Hallo"], source_tag="", target_tag="__en__")
    ['▁Hallo', '</s>']
    >>> DIALECTS["prism"].target_prefix("__en__")
    ['__en__']
    """

    name: str
    before_source: Literal["nothing", "source", "target"]
    """The language whose tag precedes the source."""
    before_target: bool
    """Whether the target begins with its language tag."""
    tag_is_text: bool = False
    """Whether the tag before the source is tokenized together with the text."""

    @property
    def needs_source_language(self) -> bool:
        return self.before_source == "source"

    def source_text(self, text: str, *, target_tag: str) -> str:
        """The text to be tokenized."""
        return f"{target_tag} {text}" if self.tag_is_text else text

    def source(self, tokens: Sequence[str], *, source_tag: str, target_tag: str) -> list[str]:
        """Add the special tokens that the encoder expects; an empty tag adds no token."""
        tag = {"nothing": "", "source": source_tag, "target": target_tag}[self.before_source]
        prefix = [tag] if tag and not self.tag_is_text else []
        return [*prefix, *tokens, END]

    def target_prefix(self, tag: str) -> list[str]:
        """The forced tokens before the first token of a target; they are not scored."""
        return [tag] if self.before_target and tag else []


DIALECTS = {
    dialect.name: dialect
    for dialect in (
        Dialect("prism", before_source="nothing", before_target=True),
        Dialect("m2m100", before_source="source", before_target=True),
        Dialect("nllb", before_source="source", before_target=True),
        Dialect("mbart50", before_source="source", before_target=True),
        Dialect("small100", before_source="target", before_target=False),
        Dialect("marian", before_source="target", before_target=False),
        Dialect("madlad", before_source="target", before_target=False, tag_is_text=True),
    )
}


def dialect(name: str) -> Dialect:
    """Look up a dialect by name."""
    try:
        return DIALECTS[name]
    except KeyError:
        raise ModelError(
            f"unsupported dialect {name!r}; this version of Tertium supports {', '.join(DIALECTS)}"
        ) from None


UNKNOWN = "<unk>"
BYTE = re.compile("<0x[0-9A-F]{2}>")
CONTROL = ("<s>", "</s>", "<pad>")
REMEMBERED = 1 << 20
"""The tokens that a tokenizer remembers, of some 40 000 sentences: about 20 MB."""


def open_sentencepiece(file: Path) -> Any:
    """Open a SentencePiece model."""
    from sentencepiece import SentencePieceProcessor

    content = file.read_bytes()
    if not content:  # the library accepts it, and logs an error later
        raise ModelError(f"{file} is not a SentencePiece model: it is empty")
    try:
        return SentencePieceProcessor(model_proto=content)
    except RuntimeError:  # its message is only a line of the library's source
        raise ModelError(f"{file} is not a SentencePiece model, or is incomplete") from None


def open_tokenizer_json(file: Path, *, named: Path | None = None) -> Any:
    """Open a ``tokenizer.json``; errors name ``named``, if the file is a copy of it."""
    from tokenizers import Tokenizer as Backend

    try:
        return Backend.from_file(str(file))
    except Exception as error:  # the library raises nothing more specific
        raise ModelError(f"{named or file} cannot be read: {first_line(error)}") from None


class Tokenizer(Protocol):
    """Splits text into the subword tokens of a model's vocabulary."""

    def encode(self, texts: Sequence[str]) -> list[list[str]]: ...

    def decode(self, tokens: Sequence[str]) -> str: ...


class SentencePieceTokenizer:
    """A SentencePiece model, whose tokens are those of the engine's vocabulary."""

    def __init__(self, path: Path, reserved: frozenset[str]) -> None:
        self._processor = open_sentencepiece(path)
        self._reserved = reserved

    def encode(self, texts: Sequence[str]) -> list[list[str]]:
        encoded = cast("list[list[str]]", self._processor.encode(list(texts), out_type=str))
        return [without_special_tokens(tokens, self._reserved) for tokens in encoded]

    def decode(self, tokens: Sequence[str]) -> str:
        return cast(str, self._processor.decode(list(tokens)))


class JsonTokenizer:
    """A ``tokenizer.json`` of Hugging Face's fast tokenizers."""

    def __init__(self, path: Path, reserved: frozenset[str]) -> None:
        self._backend = open_tokenizer_json(path)
        self._backend.no_truncation()
        self._backend.no_padding()
        self._backend.encode_special_tokens = True
        self._reserved = reserved

    def encode(self, texts: Sequence[str]) -> list[list[str]]:
        encodings = self._backend.encode_batch(list(texts), add_special_tokens=False)
        return [without_special_tokens(encoding.tokens, self._reserved) for encoding in encodings]

    def decode(self, tokens: Sequence[str]) -> str:
        ids = [self._backend.token_to_id(token) for token in tokens]
        decoded: str = self._backend.decode([id_ for id_ in ids if id_ is not None])
        return decoded.strip()


class RememberingTokenizer:
    """Remembers the tokens of recent texts; callers must not change the lists that it returns.

    A text is read several times in a run: as source and as target, by every measure, and to find
    out whether it is too long.
    """

    def __init__(self, tokenizer: Tokenizer, most: int = REMEMBERED) -> None:
        self._tokenizer = tokenizer
        self._remembered: LRUCache[str, list[str]] = LRUCache(
            most, getsizeof=lambda tokens: len(tokens) + 1
        )
        self._lock = Lock()

    def encode(self, texts: Sequence[str]) -> list[list[str]]:
        distinct = dict.fromkeys(texts)
        with self._lock:
            found = {text: self._remembered.get(text) for text in distinct}
        missing = [text for text, tokens in found.items() if tokens is None]
        if missing:
            encoded = self._tokenizer.encode(missing)
            new = {
                text: list(map(sys.intern, tokens))  # the same few thousand tokens in all texts
                for text, tokens in zip(missing, encoded, strict=True)
            }
            found |= new
            with self._lock:
                for text, tokens in new.items():
                    if len(tokens) < self._remembered.maxsize:
                        self._remembered[text] = tokens
        return [cast("list[str]", found[text]) for text in texts]

    def decode(self, tokens: Sequence[str]) -> str:
        return self._tokenizer.decode(tokens)


def without_special_tokens(tokens: list[str], reserved: frozenset[str]) -> list[str]:
    """Replace special tokens that occur in a text with the unknown token.

    >>> without_special_tokens(["▁a", "</s>"], frozenset({"</s>"}))
    ['▁a', '<unk>']
    """
    if reserved.isdisjoint(tokens):
        return tokens
    return [UNKNOWN if token in reserved else token for token in tokens]


def unknown_share(tokens: Sequence[str], vocabulary: Collection[str]) -> float:
    """The share of characters in tokens that the model does not know, or that are single bytes.

    >>> unknown_share(["▁a", "▁", "Привет", "<0xF0>"], {"▁a", "▁", "<0xF0>"})
    0.875
    """
    unknown = total = 0
    for token in tokens:
        is_byte = BYTE.fullmatch(token) is not None
        length = 1 if is_byte else len(token.strip("▁"))
        total += length
        if is_byte or token == UNKNOWN or token not in vocabulary:
            unknown += length
    return unknown / total if total else 0.0


def open_tokenizer(path: Path, tags: Iterable[str] = ()) -> Tokenizer:
    """Open a tokenizer file, once in a process; ``tags`` are the model's language tags."""
    status = path.stat()
    version = (status.st_ino, status.st_size, status.st_mtime_ns)
    return _open(path, version, frozenset((*CONTROL, *tags)) - {""})


@lru_cache(maxsize=8)
def _open(path: Path, version: tuple[int, ...], reserved: frozenset[str]) -> Tokenizer:
    kind = JsonTokenizer if path.suffix == ".json" else SentencePieceTokenizer
    return RememberingTokenizer(kind(path, reserved))
