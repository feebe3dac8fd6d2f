"""Tokenization for encoders: tokens, ids, and which of them are special tokens."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from tertium.errors import LanguageError
from tertium.models.base import Languages, per_row
from tertium.models.card import TranslationCard, read_vocabulary
from tertium.models.languages import source_language
from tertium.models.tokenizer import (
    UNKNOWN,
    dialect,
    open_tokenizer,
    open_tokenizer_json,
    unknown_share,
)


@dataclass(frozen=True, slots=True)
class Reading:
    """A tokenized text; ``framing`` marks special tokens that are not part of the text."""

    tokens: tuple[str, ...]
    ids: tuple[int, ...]
    framing: tuple[bool, ...]
    cut: bool
    types: tuple[int, ...] = ()
    """For a pair of texts: the text (0 or 1) of each token."""


class Reader(Protocol):
    """Tokenizes texts."""

    @property
    def settings(self) -> Mapping[str, str]: ...

    def read(self, texts: Sequence[str], lang: Languages) -> list[Reading]: ...

    def too_long(self, texts: Sequence[str]) -> list[bool]:
        """Whether each text is truncated, whatever its language."""
        ...

    def unknown_shares(self, texts: Sequence[str]) -> list[float]:
        """For each text, the share of characters that are unknown, or encoded byte by byte."""
        ...


class JsonReader:
    """Tokenizes with a ``tokenizer.json``, which adds special tokens; the language is ignored.

    Text never becomes a special token: ``[SEP]`` in a text is split into tokens, or unknown.
    """

    settings: Mapping[str, str] = {}

    def __init__(self, path: Path, max_length: int, *, lowercase: bool = False) -> None:
        self._backend = open_tokenizer_json(path)
        self._backend.no_padding()
        self._backend.enable_truncation(max_length)
        self._backend.encode_special_tokens = True
        self._lowercase = lowercase
        model = json.loads(self._backend.to_str())["model"]
        special = self._backend.get_added_tokens_decoder()
        unknown = self._backend.token_to_id(model.get("unk_token") or UNKNOWN)
        self._unknown = int(model.get("unk_id") or unknown or 0)
        self._reserved = {id_ for id_, token in special.items() if token.special}
        self._reserved.discard(self._unknown)

    def read(self, texts: Sequence[str], lang: Languages) -> list[Reading]:
        return self._readings(self._prepared(texts))

    def too_long(self, texts: Sequence[str]) -> list[bool]:
        return [
            bool(encoding.overflowing)
            for encoding in self._backend.encode_batch(self._prepared(texts))
        ]

    def unknown_shares(self, texts: Sequence[str]) -> list[float]:
        shares = []
        for encoding in self._backend.encode_batch(self._prepared(texts), add_special_tokens=False):
            unknown = sum(
                end - start
                for id_, (start, end) in zip(encoding.ids, encoding.offsets, strict=True)
                if id_ == self._unknown
            )
            total = sum(end - start for start, end in encoding.offsets)
            shares.append(unknown / total if total else 0.0)
        return shares

    def read_pairs(self, first: Sequence[str], second: Sequence[str]) -> list[Reading]:
        """Tokenize pairs of texts as one sequence each; the longer text is truncated first."""
        return self._readings(zip(self._prepared(first), self._prepared(second), strict=True))

    def _prepared(self, texts: Sequence[str]) -> list[str]:
        return [text.lower() for text in texts] if self._lowercase else list(texts)

    def _readings(self, inputs: Iterable[str | tuple[str, str]]) -> list[Reading]:
        readings = []
        for encoding in self._backend.encode_batch(list(inputs)):
            framing = tuple(map(bool, encoding.special_tokens_mask))
            ids = tuple(
                self._unknown if id_ in self._reserved and not frames else id_
                for id_, frames in zip(encoding.ids, framing, strict=True)
            )
            types = tuple(encoding.type_ids)
            cut = bool(encoding.overflowing)
            readings.append(Reading(tuple(encoding.tokens), ids, framing, cut, types))
        return readings


class SourceReader:
    """Tokenizes for the encoder of a translation model: the text becomes a source.

    Some families put a tag of the target language before the source. Encoding has no target
    language, so English is used, or the first language (by code) if the model has no English: the
    same for all texts, so that their vectors are comparable.
    """

    def __init__(self, card: TranslationCard) -> None:
        settings = card.settings
        self.name = card.name
        self.languages = settings.languages
        self._dialect = dialect(settings.dialect)
        self._max_length = settings.max_length
        self._ids = {token: id_ for id_, token in enumerate(read_vocabulary(card, "source"))}
        tags = {*self.languages.source.values(), *self.languages.target.values()}
        self._tokenizer = open_tokenizer(
            card.path / settings.source_tokenizer, () if self._dialect.tag_is_text else tags
        )
        self._into = ""
        self.settings: Mapping[str, str] = {}
        if self._dialect.before_source == "target":
            code = self._common_target()
            self._into = self.languages.target[code]
            self.settings = {"into": code} if self._into else {}

    def read(self, texts: Sequence[str], lang: Languages) -> list[Reading]:
        tags = [self._source_tag(code) for code in per_row(lang, len(texts))]
        prepared = [self._dialect.source_text(text, target_tag=self._into) for text in texts]
        return [
            self._framed(tokens, tag)
            for tokens, tag in zip(self._tokenizer.encode(prepared), tags, strict=True)
        ]

    def too_long(self, texts: Sequence[str]) -> list[bool]:
        tag = next(iter(self.languages.source.values()))
        frame = self._dialect.source([], source_tag=tag, target_tag=self._into)
        prepared = [self._dialect.source_text(text, target_tag=self._into) for text in texts]
        room = self._max_length - len(frame)
        return [len(tokens) > room for tokens in self._tokenizer.encode(prepared)]

    def unknown_shares(self, texts: Sequence[str]) -> list[float]:
        return [unknown_share(tokens, self._ids) for tokens in self._tokenizer.encode(texts)]

    def _framed(self, body: list[str], source_tag: str) -> Reading:
        frame = self._dialect.source([], source_tag=source_tag, target_tag=self._into)
        kept = body[: self._max_length - len(frame)]
        tokens = self._dialect.source(kept, source_tag=source_tag, target_tag=self._into)
        before = len(tokens) - len(kept) - 1
        if self._dialect.tag_is_text and self._into in kept:
            before += kept.index(self._into) + 1
        unknown = self._ids[UNKNOWN]
        return Reading(
            tuple(tokens),
            tuple(self._ids.get(token, unknown) for token in tokens),
            tuple(place < before or place == len(tokens) - 1 for place in range(len(tokens))),
            cut=len(kept) < len(body),
        )

    def _source_tag(self, lang: str | None) -> str:
        if lang is None and not self._dialect.needs_source_language:
            return ""
        return self.languages.source[source_language(self, lang)]

    def _common_target(self) -> str:
        with suppress(LanguageError):  # the model has several variants of English
            code = self.languages.resolve("en")
            if code in self.languages.target:
                return code
        return min(self.languages.target)
