"""How an encoder reads a text: its pieces, their numbers, and what frames them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from tertium.errors import LanguageError
from tertium.models.base import Languages, per_row
from tertium.models.folder import ModelFolder
from tertium.models.languages import source_language
from tertium.models.tokenizer import UNKNOWN, open_tokenizer
from tertium.models.translation.dialects import dialect


@dataclass(frozen=True, slots=True)
class Reading:
    """A text as it goes to the engine."""

    tokens: tuple[str, ...]
    ids: tuple[int, ...]
    framing: tuple[bool, ...]
    cut: bool
    types: tuple[int, ...] = ()
    """Of a pair: which of the two texts each piece belongs to."""


class Reader(Protocol):
    """Makes readings of texts."""

    @property
    def settings(self) -> Mapping[str, str]: ...

    def read(self, texts: Sequence[str], lang: Languages) -> list[Reading]: ...


class JsonReader:
    """Reads with a ``tokenizer.json``, which knows its frame; the language does not matter.

    No text spells a token that is the model's own: ``[SEP]`` in a text is four pieces, or unknown.
    """

    settings: Mapping[str, str] = {}

    def __init__(self, path: Path, max_length: int, *, lowercase: bool = False) -> None:
        from tokenizers import Tokenizer

        self._backend = Tokenizer.from_file(str(path))
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
        return self._readings(self._spelled(texts))

    def read_pairs(self, first: Sequence[str], second: Sequence[str]) -> list[Reading]:
        """Read two texts as one sequence, as a classifier of pairs does; the longer one is cut."""
        return self._readings(zip(self._spelled(first), self._spelled(second), strict=True))

    def _spelled(self, texts: Sequence[str]) -> list[str]:
        return [text.lower() for text in texts] if self._lowercase else list(texts)

    def _readings(self, wanted: Iterable[str | tuple[str, str]]) -> list[Reading]:
        readings = []
        for found in self._backend.encode_batch(list(wanted)):
            framing = tuple(map(bool, found.special_tokens_mask))
            ids = tuple(
                self._unknown if id_ in self._reserved and not frames else id_
                for id_, frames in zip(found.ids, framing, strict=True)
            )
            types = tuple(found.type_ids)
            cut = bool(found.overflowing)
            readings.append(Reading(tuple(found.tokens), ids, framing, cut, types))
        return readings


class SourceReader:
    """Reads as the encoder of a translation model: the text is framed as a source.

    Some families name the target's language before a source. A text that is only to be encoded has
    no target; it is read as if it were to be translated into English, or, where the model has no
    English, into the first of its languages: the same for all texts, so that they can be compared.
    """

    def __init__(self, folder: ModelFolder) -> None:
        self.name = folder.name
        self.languages = folder.languages
        self._dialect = dialect(folder.dialect)
        self._max_length = folder.max_length
        self._ids = {piece: id_ for id_, piece in enumerate(folder.source_vocabulary())}
        tags = {*folder.languages.source.values(), *folder.languages.target.values()}
        self._tokenizer = open_tokenizer(
            folder.path / folder.source_tokenizer, () if self._dialect.tag_is_text else tags
        )
        self._into = ""
        self.settings: Mapping[str, str] = {}
        if self._dialect.before_source == "target":
            code = self._common_target()
            self._into = folder.languages.target[code]
            self.settings = {"into": code} if self._into else {}

    def read(self, texts: Sequence[str], lang: Languages) -> list[Reading]:
        tags = [self._source_tag(code) for code in per_row(lang, len(texts))]
        spelled = [self._dialect.source_text(text, target_tag=self._into) for text in texts]
        return [
            self._framed(pieces, tag)
            for pieces, tag in zip(self._tokenizer.encode(spelled), tags, strict=True)
        ]

    def _framed(self, pieces: list[str], source_tag: str) -> Reading:
        frame = self._dialect.source([], source_tag=source_tag, target_tag=self._into)
        kept = pieces[: self._max_length - len(frame)]
        tokens = self._dialect.source(kept, source_tag=source_tag, target_tag=self._into)
        before = len(tokens) - len(kept) - 1
        if self._dialect.tag_is_text and self._into in kept:
            before += kept.index(self._into) + 1
        unknown = self._ids[UNKNOWN]
        return Reading(
            tuple(tokens),
            tuple(self._ids.get(token, unknown) for token in tokens),
            tuple(place < before or place == len(tokens) - 1 for place in range(len(tokens))),
            cut=len(kept) < len(pieces),
        )

    def _source_tag(self, lang: str | None) -> str:
        if lang is None and not self._dialect.needs_source_language:
            return ""
        return self.languages.source[source_language(self, lang)]

    def _common_target(self) -> str:
        with suppress(LanguageError):  # the model has several kinds of English
            code = self.languages.resolve("en")
            if code in self.languages.target:
                return code
        return min(self.languages.target)
