"""The folder of a detector: an encoder, its head, and ``"kind": "detector"`` in its card."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tertium.errors import ModelError
from tertium.models.encoders.folder import TOKENIZER, VOCABULARY
from tertium.models.folder import (
    DETECTOR,
    ENGINE_FILES,
    check_fingerprint,
    common_fields,
    kind,
    read_as,
    read_card,
    save_own_card,
)

if TYPE_CHECKING:
    from tertium.models.encoders.pooling import Dense

HEAD = "head.npz"


@dataclass(frozen=True)
class Detecting:
    """The settings of a detector that determine its output."""

    family: str
    """The ``model_type`` of the Hugging Face folder: bert, xlm-roberta and so on."""
    layers: int
    max_length: int
    """The maximum length of a pair in tokens, including special tokens."""
    activations: tuple[str, ...]
    """The activations of the layers of the head, whose weights are in ``head.npz``."""
    positive: int = 1
    """The class that means paraphrase."""
    lowercase: bool = False

    @property
    def types(self) -> bool:
        """Whether the network uses token types, which tell the two texts apart.

        >>> Detecting("xlm-roberta", 12, 128, ("tanh", "identity")).types
        False
        """
        return self.family == "bert"

    def as_card(self) -> dict[str, Any]:
        """The fields in ``tertium.json``."""
        return {**vars(self), "activations": list(self.activations)}


@dataclass(frozen=True)
class DetectorFolder:
    """The contents of ``tertium.json`` of a detector, and the path of its folder."""

    path: Path
    name: str
    detecting: Detecting
    licence: str
    origin: str
    fingerprint: str
    sizes: Mapping[str, int]

    def check(self) -> None:
        """Verify the hash of every file."""
        check_fingerprint(self.path, self.sizes, self.detecting.as_card(), self.fingerprint)

    def head(self) -> tuple[Dense, ...]:
        """The layers applied to the vector of the first token; the last one gives the classes."""
        import numpy as np

        from tertium.models.encoders.pooling import dense_layers

        with np.load(self.path / HEAD, allow_pickle=False) as arrays:
            return dense_layers(self.detecting.activations, dict(arrays))


def read_detector_folder(path: Path) -> DetectorFolder:
    """Read the folder of a detector; missing files or wrong sizes are an error."""
    card = read_card(path)
    if kind(card) != DETECTOR:
        raise ModelError(
            f"{card.get('name', path)} is not a paraphrase detector but a model for "
            f"{kind(card)}; train one with `tertium train detector`"
        )
    return read_as(path, card, _from_card)


def _from_card(path: Path, card: Mapping[str, Any]) -> DetectorFolder:
    return DetectorFolder(
        **common_fields(path, card),
        detecting=Detecting(
            family=str(card["family"]),
            layers=int(card["layers"]),
            max_length=int(card["max_length"]),
            activations=tuple(map(str, card["activations"])),
            positive=int(card["positive"]),
            lowercase=bool(card["lowercase"]),
        ),
    )


def write_detector_card(
    path: Path, detecting: Detecting, *, name: str, licence: str, origin: str
) -> DetectorFolder:
    """Write ``tertium.json`` for the files in ``path``, as the last step of conversion."""
    files = sorted([*ENGINE_FILES, VOCABULARY, TOKENIZER, HEAD])
    save_own_card(
        path, DETECTOR, files, detecting.as_card(), name=name, licence=licence, origin=origin
    )
    return read_detector_folder(path)
