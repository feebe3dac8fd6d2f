"""CTranslate2's ``model.bin``: its table of contents, extraction of encoders, and 7-bit weights.

The format is that of ``ctranslate2/specs/model_spec.py``, binary version 6: the name and revision
of a specification, then the variables, each with its bytes, then the aliases (other names for a
variable). All numbers are little-endian.

CTranslate2 quantizes weights to -127 ... 127. Processors without VNNI add two products of an
unsigned 8-bit activation and a signed 8-bit weight in a signed 16-bit register, which saturates at
32 767: 2 x 255 x 127 does not fit. Weights within -63 ... 63 always do (2 x 255 x 63 = 32 130), so
that int8 products are exact on every processor.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from tertium.errors import ModelError
from tertium.storage.atomic import replacing

BINARY_VERSION = 6
ENCODER_SPECIFICATION = ("TransformerEncoderSpec", 1)
LAYER = re.compile(r"encoder/layer_(\d+)/")
FINAL_NORM = "encoder/layer_norm/"
WEIGHT = "weight"
"""Suffix of the variables that CTranslate2 quantizes."""
SCALE = "_scale"
SCALES = (SCALE, "_zero")
"""Suffixes of variables that belong to a quantized variable; its aliases also apply to them."""
KINDS = ("float32", "int8", "int16", "int32", "float16", "bfloat16")
"""Data types, in the order of their codes in the file."""
LIMIT = 63
"""The largest absolute value of a 7-bit weight."""
NO_ALIASES = struct.pack("<I", 0)
"""The end of a file in which every alias has become a variable."""
CHUNK = 16 << 20


@dataclass(frozen=True, slots=True)
class Variable:
    """The shape and type of a variable, and the position of its description and bytes."""

    shape: tuple[int, ...]
    kind: int
    start: int
    """Of the description, which follows the name."""
    size: int
    """Of the description and the bytes."""

    @property
    def description(self) -> int:
        """The number of bytes of the description."""
        return struct.calcsize(f"<B{len(self.shape)}IBI")


@dataclass(frozen=True)
class EngineFile:
    """The table of contents of a ``model.bin``."""

    path: Path
    specification: str
    revision: int
    variables: Mapping[str, Variable]
    """By name; aliases are included."""
    aliases: Mapping[str, str]

    @property
    def encoder_layers(self) -> int:
        """The number of layers of the encoder."""
        return len({match[1] for name in self.variables if (match := LAYER.match(name))})

    def encoder(self, layer: int) -> EngineFile:
        """The encoder alone, up to a layer.

        Layers above it are left out. The normalization after the last layer, if there is one,
        belongs to the last layer only, as in the hidden states of transformers.
        """
        return EngineFile(self.path, *ENCODER_SPECIFICATION, self._encoder_variables(layer), {})

    def parts(self) -> Iterator[bytes]:
        """The consecutive parts of a ``model.bin``."""
        names = self._unaliased()
        yield _head(self.specification, self.revision, len(names))
        with self.path.open("rb") as stream:
            for name in names:
                yield _string(name)
                yield from self._copied(stream, self.variables[name])
        yield from self._alias_parts()

    def has_seven_bit_weights(self) -> bool:
        """Whether all weights are in int8 and within -63 ... 63."""
        with self.path.open("rb") as stream:
            for name in self._weights():
                weights = self.numbers(stream, name)
                if weights.dtype != np.int8 or np.abs(weights.astype(np.int16)).max() > LIMIT:
                    return False
        return True

    def seven_bit_parts(self) -> Iterator[bytes]:
        """The same model with all weights within 7 bits, as the parts of a ``model.bin``."""
        weights = self._weights()
        scales = {name + SCALE for name in weights}
        others = [name for name in self._unaliased() if name not in scales | {*weights}]
        yield _head(self.specification, self.revision, 2 * len(weights) + len(others))
        with self.path.open("rb") as stream:
            for name in others:
                yield _string(name)
                yield from self._copied(stream, self.variables[name])
            for name in weights:
                numbers = self.numbers(stream, name)
                if numbers.dtype == np.int8:
                    scale = self.numbers(stream, name + SCALE)
                    quantized, scale = rescaled(numbers, scale)
                else:
                    quantized, scale = quantize(numbers.astype(np.float32))
                yield from _variable(name, quantized)
                yield from _variable(name + SCALE, scale)
        yield from self._alias_parts()

    def _alias_parts(self) -> Iterator[bytes]:
        yield struct.pack("<I", len(self.aliases))
        for alias, name in self.aliases.items():
            yield _string(alias) + _string(name)

    def _unaliased(self) -> list[str]:
        """The names of the variables, without aliases."""
        aliased = {alias + end for alias in self.aliases for end in ("", *SCALES)}
        return [name for name in self.variables if name not in aliased]

    def _weights(self) -> list[str]:
        return [
            name
            for name in self._unaliased()
            if name.endswith(WEIGHT) and len(self.variables[name].shape) == 2
        ]

    def numbers(self, stream: BinaryIO, name: str) -> NDArray[Any]:
        """Read a variable, as it is stored."""
        variable = self.variables[name]
        kind = KINDS[variable.kind]
        stream.seek(variable.start + variable.description)
        content = stream.read(variable.size - variable.description)
        try:
            if kind == "bfloat16":  # the upper half of a float32
                numbers = np.frombuffer(content, "<u2").astype(np.uint32) << 16
                return numbers.view(np.float32).reshape(variable.shape)
            return np.frombuffer(content, kind).reshape(variable.shape)
        except ValueError:
            raise ModelError(f"{self.path} is incomplete; fetch the model again") from None

    def _copied(self, stream: BinaryIO, variable: Variable) -> Iterator[bytes]:
        stream.seek(variable.start)
        remaining = variable.size
        while remaining:
            part = stream.read(min(remaining, CHUNK))
            if not part:
                raise ModelError(f"{self.path} is incomplete; fetch the model again")
            yield part
            remaining -= len(part)

    def _encoder_variables(self, layer: int) -> dict[str, Variable]:
        return {
            name: variable
            for name, variable in sorted(self.variables.items())
            if name.startswith("encoder/") and self._is_within(name, layer)
        }

    def _is_within(self, name: str, layer: int) -> bool:
        if match := LAYER.match(name):
            return int(match[1]) < layer
        return not name.startswith(FINAL_NORM) or layer == self.encoder_layers


def quantize(weights: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Quantize each row to -63 ... 63; returns the integers and the factor of each row.

    >>> quantize(np.array([[0.5, -1.0], [0.0, 0.0]], np.float32))
    (array([[ 32, -63],
           [  0,   0]], dtype=int8), array([63.,  1.], dtype=float32))
    """
    largest = np.abs(weights).max(axis=1)
    scale = (np.float32(LIMIT) / np.where(largest == 0, np.float32(LIMIT), largest)).astype(
        np.float32
    )
    return np.rint(weights * scale[:, None]).astype(np.int8), scale


def rescaled(
    weights: NDArray[np.int8], scale: NDArray[np.float32]
) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Scale rows with weights beyond 63 down to 63; other rows stay unchanged.

    >>> rescaled(np.array([[127, -64], [63, 1]], np.int8), np.array([2, 2], np.float32))
    (array([[ 63, -32],
           [ 63,   1]], dtype=int8), array([0.992126, 2.      ], dtype=float32))
    """
    numbers = weights.astype(np.float32)
    factor = np.float32(LIMIT) / np.maximum(np.abs(numbers).max(axis=1), np.float32(LIMIT))
    return np.rint(numbers * factor[:, None]).astype(np.int8), (scale * factor).astype(np.float32)


def quantize_file(path: Path) -> None:
    """Replace a ``model.bin`` with the same model with 7-bit weights."""
    engine_file = read_engine_file(path)
    with replacing(path) as stream:
        stream.writelines(engine_file.seven_bit_parts())


def encoder_file(variables: Mapping[str, NDArray[Any]]) -> bytes:
    """A ``model.bin`` of an encoder with these variables."""
    parts: Iterable[bytes] = (
        part for name, numbers in variables.items() for part in _variable(name, numbers)
    )
    return _head(*ENCODER_SPECIFICATION, len(variables)) + b"".join(parts) + NO_ALIASES


def read_engine_file(path: Path) -> EngineFile:
    """Read the table of contents; the weights stay on disk."""
    try:
        with path.open("rb") as stream:
            (version,) = _unpack(stream, "<I")
            if version != BINARY_VERSION:
                raise ModelError(
                    f"{path} is in version {version} of the engine's format, not {BINARY_VERSION}; "
                    "fetch or convert the model again"
                )
            specification = _read_string(stream)
            revision, count = _unpack(stream, "<II")
            variables = dict(_read_variable(stream) for _ in range(count))
            (count,) = _unpack(stream, "<I")
            aliases = {}
            for _ in range(count):
                alias, name = _read_string(stream), _read_string(stream)
                aliases[alias] = name
                variables.update(_aliased(variables, alias, name))
    except (KeyError, UnicodeDecodeError, struct.error) as error:
        raise ModelError(f"{path} is not a CTranslate2 model, or is damaged ({error!r})") from None
    return EngineFile(path, specification, revision, variables, aliases)


def _aliased(
    variables: Mapping[str, Variable], alias: str, name: str
) -> Iterator[tuple[str, Variable]]:
    yield alias, variables[name]
    for scale in SCALES:
        if name + scale in variables:
            yield alias + scale, variables[name + scale]


def _read_variable(stream: BinaryIO) -> tuple[str, Variable]:
    name = _read_string(stream)
    start = stream.tell()
    (rank,) = _unpack(stream, "<B")
    *shape, kind, size = _unpack(stream, f"<{rank}IBI")
    end = stream.tell() + size
    stream.seek(end)
    return name, Variable(tuple(shape), kind, start, end - start)


def _variable(name: str, numbers: NDArray[Any]) -> Iterator[bytes]:
    kind = KINDS.index(numbers.dtype.name)
    content = numbers.astype(numbers.dtype.newbyteorder("<")).tobytes()
    shape = numbers.shape
    yield _string(name) + struct.pack(f"<B{len(shape)}IBI", len(shape), *shape, kind, len(content))
    yield content


def _unpack(stream: BinaryIO, layout: str) -> tuple[int, ...]:
    return struct.unpack(layout, stream.read(struct.calcsize(layout)))


def _read_string(stream: BinaryIO) -> str:
    (length,) = _unpack(stream, "<H")
    return stream.read(length).removesuffix(b"\0").decode()


def _head(name: str, revision: int, count: int) -> bytes:
    return struct.pack("<I", BINARY_VERSION) + _string(name) + struct.pack("<II", revision, count)


def _string(text: str) -> bytes:
    encoded = text.encode() + b"\0"
    return struct.pack("<H", len(encoded)) + encoded
