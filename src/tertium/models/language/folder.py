"""The folder of a language model: the engine's files, ``tokenizer.json``, and its card."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tertium.errors import ModelError
from tertium.models.encoders.folder import TOKENIZER, VOCABULARY
from tertium.models.folder import (
    ENGINE_FILES,
    LANGUAGE,
    check_fingerprint,
    common_fields,
    kind,
    read_as,
    read_card,
    save_own_card,
)


@dataclass(frozen=True)
class Reading:
    """The settings of a language model that determine its output, besides its weights."""

    family: str
    """The ``model_type`` of the Hugging Face folder: gpt2, llama, qwen2 and so on."""
    max_length: int
    """The maximum number of tokens that it reads, including the start token."""
    start: str
    """The token before every text, so that the first token has a probability, too."""
    end: str
    """The token after the last one of a text."""

    def as_card(self) -> dict[str, Any]:
        """The fields in ``tertium.json``."""
        return dict(vars(self))


@dataclass(frozen=True)
class LanguageFolder:
    """The contents of ``tertium.json`` of a language model, and the path of its folder."""

    path: Path
    name: str
    reading: Reading
    licence: str
    origin: str
    fingerprint: str
    sizes: Mapping[str, int]

    def check(self) -> None:
        """Verify the hash of every file."""
        check_fingerprint(self.path, self.sizes, self.reading.as_card(), self.fingerprint)


def read_language_folder(path: Path) -> LanguageFolder:
    """Read the folder of a language model; missing files or wrong sizes are an error."""
    card = read_card(path)
    if kind(card) != LANGUAGE:
        raise ModelError(
            f"{card.get('name', path)} is not a causal language model but a model for "
            f"{kind(card)}; name one after the measure (lm@MODEL), or as a setting of a sum "
            "(language_model=MODEL); `tertium models` lists them"
        )
    return read_as(path, card, _from_card)


def _from_card(path: Path, card: Mapping[str, Any]) -> LanguageFolder:
    return LanguageFolder(
        **common_fields(path, card),
        reading=Reading(
            family=str(card["family"]),
            max_length=int(card["max_length"]),
            start=str(card["start"]),
            end=str(card["end"]),
        ),
    )


def write_language_card(
    path: Path, reading: Reading, *, name: str, licence: str, origin: str
) -> LanguageFolder:
    """Write ``tertium.json`` for the files in ``path``, as the last step of conversion."""
    files = sorted([*ENGINE_FILES, VOCABULARY, TOKENIZER])
    save_own_card(
        path, LANGUAGE, files, reading.as_card(), name=name, licence=licence, origin=origin
    )
    return read_language_folder(path)
