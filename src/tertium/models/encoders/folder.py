"""The folder of an encoder: a model folder with ``"kind": "encoder"`` in its card."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tertium.errors import ModelError
from tertium.models.folder import (
    ENCODER,
    ENGINE_FILES,
    check_fingerprint,
    common_fields,
    kind,
    read_as,
    read_card,
    save_own_card,
)

if TYPE_CHECKING:
    from tertium.models.encoders.pooling import Pooling

VOCABULARY = "vocabulary.json"
TOKENIZER = "tokenizer.json"
DENSE = "dense.npz"


@dataclass(frozen=True)
class Encoding:
    """The settings of an encoder that determine its output."""

    family: str
    """The ``model_type`` of the Hugging Face folder: bert, xlm-roberta and so on."""
    layers: int
    """The number of layers in the folder; the vectors are those of the last one."""
    layers_of_original: int
    max_length: int
    """The maximum length of a text in tokens, including special tokens."""
    pooling: tuple[str, ...] = ("mean",)
    activations: tuple[str, ...] = ()
    """The activations of the layers after the pooling, whose weights are in ``dense.npz``."""
    lowercase: bool = False
    prefix: str = ""
    """The text before every input of a sentence vector; E5 was trained with one."""

    def as_card(self) -> dict[str, Any]:
        """The fields in ``tertium.json``."""
        return {**vars(self), "pooling": list(self.pooling), "activations": list(self.activations)}


@dataclass(frozen=True)
class EncoderFolder:
    """The contents of ``tertium.json`` of an encoder, and the path of its folder."""

    path: Path
    name: str
    encoding: Encoding
    licence: str
    origin: str
    fingerprint: str
    sizes: Mapping[str, int]

    def check(self) -> None:
        """Verify the hash of every file."""
        check_fingerprint(self.path, self.sizes, self.encoding.as_card(), self.fingerprint)

    def pooling(self) -> Pooling:
        """How this encoder computes one vector of a text."""
        import numpy as np

        from tertium.models.encoders.pooling import Pooling, dense_layers

        encoding = self.encoding
        if not encoding.activations:
            return Pooling(encoding.pooling)
        with np.load(self.path / DENSE, allow_pickle=False) as arrays:
            return Pooling(encoding.pooling, dense_layers(encoding.activations, dict(arrays)))


def read_encoder_folder(path: Path) -> EncoderFolder:
    """Read the folder of an encoder; missing files or wrong sizes are an error."""
    card = read_card(path)
    if kind(card) != ENCODER:
        raise ModelError(f"{card.get('name', path)} is not an encoder but a {kind(card)} model")
    return read_as(path, card, _from_card)


def _from_card(path: Path, card: Mapping[str, Any]) -> EncoderFolder:
    return EncoderFolder(
        **common_fields(path, card),
        encoding=Encoding(
            family=str(card["family"]),
            layers=int(card["layers"]),
            layers_of_original=int(card["layers_of_original"]),
            max_length=int(card["max_length"]),
            pooling=tuple(map(str, card["pooling"])),
            activations=tuple(map(str, card["activations"])),
            lowercase=bool(card["lowercase"]),
            prefix=str(card["prefix"]),
        ),
    )


def write_encoder_card(
    path: Path, encoding: Encoding, *, name: str, licence: str, origin: str
) -> EncoderFolder:
    """Write ``tertium.json`` for the files in ``path``, as the last step of conversion."""
    dense = [DENSE] if encoding.activations else []
    files = sorted([*ENGINE_FILES, VOCABULARY, TOKENIZER, *dense])
    save_own_card(
        path, ENCODER, files, encoding.as_card(), name=name, licence=licence, origin=origin
    )
    return read_encoder_folder(path)
