"""Pooling: a sentence vector from the token vectors of a text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tertium.errors import ModelError
from tertium.models.card import DENSE, EncoderSettings

Vectors = NDArray[np.float32]

MODES: dict[str, Callable[[Vectors], Vectors]] = {
    "cls": lambda rows: rows[0],
    "max": lambda rows: rows.max(axis=0),
    "mean": lambda rows: rows.mean(axis=0, dtype=np.float32),
    "sum": lambda rows: rows.sum(axis=0, dtype=np.float64).astype(np.float32),
}
ACTIVATIONS: dict[str, Callable[[Vectors], Vectors]] = {
    "identity": lambda vector: vector,
    "relu": lambda vector: np.maximum(vector, 0),
    "tanh": np.tanh,
}


@dataclass(frozen=True, eq=False)
class Dense:
    """A dense layer after the pooling, as in LaBSE."""

    weight: Vectors
    bias: Vectors | None
    activation: str

    def __call__(self, vector: Vectors) -> Vectors:
        output = self.weight @ vector
        if self.bias is not None:
            output += self.bias
        return ACTIVATIONS[self.activation](output)


@dataclass(frozen=True, eq=False)
class Pooling:
    """Computes the vector of a text; the results of several modes are concatenated.

    Texts are pooled one by one, so that vectors do not depend on the batch.

    >>> pool = Pooling()
    >>> rows = np.array([[3, 0], [3, 8]], dtype=np.float32)
    >>> pool(rows, [False, False]).tolist()
    [0.6..., 0.8...]
    >>> Pooling(framing=False)(rows, [True, True]).tolist()
    [0.0, 0.0]
    """

    modes: tuple[str, ...] = ("mean",)
    dense: tuple[Dense, ...] = ()
    framing: bool = True
    """Whether special tokens around the text are included."""

    def __post_init__(self) -> None:
        for mode in self.modes:
            if mode not in MODES:
                raise ModelError(
                    f"unknown pooling {mode!r}; this version supports {', '.join(MODES)}"
                )
        for layer in self.dense:
            if layer.activation not in ACTIVATIONS:
                raise ModelError(
                    f"unknown activation {layer.activation!r}; "
                    f"this version supports {', '.join(ACTIVATIONS)}"
                )

    def __call__(self, rows: Vectors, framing: Sequence[bool]) -> Vectors:
        counted = rows if self.framing else rows[~np.asarray(framing, dtype=bool)]
        if not len(counted):
            return np.zeros(self.width(rows.shape[1]), dtype=np.float32)
        vector = np.concatenate([MODES[mode](counted) for mode in self.modes])
        for layer in self.dense:
            vector = layer(vector)
        length = np.linalg.norm(vector)
        return vector / length if length > 0 else vector

    def width(self, depth: int) -> int:
        """The length of a sentence vector if a token vector has length ``depth``."""
        return len(self.dense[-1].weight) if self.dense else depth * len(self.modes)

    def describe(self) -> str:
        """The name of the pooling in a signature.

        >>> Pooling(("cls", "mean"), framing=False).describe()
        'cls+mean-noframe'
        """
        layers = "".join(f"-dense.{layer.activation}" for layer in self.dense)
        return "+".join(self.modes) + layers + ("" if self.framing else "-noframe")


def read_pooling(folder: Path, settings: EncoderSettings) -> Pooling:
    """How the encoder in a folder computes one vector of a text."""
    dense = read_dense_layers(folder / DENSE, settings.activations) if settings.activations else ()
    return Pooling(settings.pooling, dense)


def read_dense_layers(file: Path, activations: Sequence[str]) -> tuple[Dense, ...]:
    """Read the layers in a file of arrays, one for each activation."""
    with np.load(file, allow_pickle=False) as arrays:
        return dense_layers(activations, dict(arrays))


def dense_layers(
    activations: Sequence[str], arrays: Mapping[str, NDArray[Any]]
) -> tuple[Dense, ...]:
    """Load layers from arrays named ``weight_0``, ``bias_0``, ``weight_1`` and so on."""
    return tuple(
        Dense(arrays[f"weight_{place}"], arrays.get(f"bias_{place}"), activation)
        for place, activation in enumerate(activations)
    )
