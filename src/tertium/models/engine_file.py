"""The engine's ``model.bin``: its table of contents, and how to cut an encoder out of it.

The format is that of ``ctranslate2/specs/model_spec.py``, binary version 6: the name and revision
of a specification, then the variables, each with its bytes, then the aliases (other names for a
variable). All numbers are little-endian.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from tertium.errors import ModelError

BINARY_VERSION = 6
ENCODER_SPECIFICATION = ("TransformerEncoderSpec", 1)
LAYER = re.compile(r"encoder/layer_(\d+)/")
FINAL_NORM = "encoder/layer_norm/"
SCALES = ("_scale", "_zero")
"""What a quantized variable is read with; an alias of the variable is one of these, too."""
NO_ALIASES = struct.pack("<I", 0)
"""The end of a file in which every alias has become a variable."""
CHUNK = 16 << 20


@dataclass(frozen=True, slots=True)
class Variable:
    """Where a variable's description and bytes stand in the file, without its name."""

    start: int
    size: int


@dataclass(frozen=True)
class EngineFile:
    """What a ``model.bin`` holds."""

    path: Path
    specification: str
    variables: Mapping[str, Variable]
    """By every name that a variable has."""

    @property
    def encoder_layers(self) -> int:
        """How many layers the encoder has."""
        return len({found[1] for name in self.variables if (found := LAYER.match(name))})

    def encoder_parts(self, layer: int) -> Iterator[bytes]:
        """The encoder alone, up to a layer, as a ``model.bin`` of its own, piece by piece.

        Whatever is above the layer is left out. Where a model normalizes the output of its last
        layer, this goes with the last layer only, as in the hidden states of transformers.
        """
        kept = self._encoder_variables(layer)
        yield _head(len(kept))
        with self.path.open("rb") as stream:
            for name, variable in kept.items():
                yield _string(name)
                stream.seek(variable.start)
                left = variable.size
                while left:
                    part = stream.read(min(left, CHUNK))
                    if not part:
                        raise ModelError(f"{self.path} ends too early; fetch the model again")
                    yield part
                    left -= len(part)
        yield NO_ALIASES

    def encoder_size(self, layer: int) -> int:
        """How many bytes :meth:`encoder_parts` are."""
        kept = self._encoder_variables(layer)
        variables = sum(len(_string(name)) + variable.size for name, variable in kept.items())
        return len(_head(len(kept))) + variables + len(NO_ALIASES)

    def _encoder_variables(self, layer: int) -> dict[str, Variable]:
        return {
            name: variable
            for name, variable in sorted(self.variables.items())
            if name.startswith("encoder/") and self._is_within(name, layer)
        }

    def _is_within(self, name: str, layer: int) -> bool:
        if found := LAYER.match(name):
            return int(found[1]) < layer
        return not name.startswith(FINAL_NORM) or layer == self.encoder_layers


def read_engine_file(path: Path) -> EngineFile:
    """Read the table of contents; the weights are left where they are."""
    try:
        with path.open("rb") as stream:
            (version,) = _numbers(stream, "<I")
            if version != BINARY_VERSION:
                raise ModelError(
                    f"{path} is of the engine's format {version}, not {BINARY_VERSION}; "
                    "fetch or convert the model again"
                )
            specification = _read_string(stream)
            _revision, count = _numbers(stream, "<II")
            variables = dict(_read_variable(stream) for _ in range(count))
            (count,) = _numbers(stream, "<I")
            for _ in range(count):
                alias, name = _read_string(stream), _read_string(stream)
                variables.update(_aliased(variables, alias, name))
    except (KeyError, UnicodeDecodeError, struct.error) as error:
        raise ModelError(f"{path} is no file of the engine, or damaged ({error!r})") from None
    return EngineFile(path, specification, variables)


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
    (rank,) = _numbers(stream, "<B")
    *_shape, _kind, size = _numbers(stream, f"<{rank}IBI")
    end = stream.tell() + size
    stream.seek(end)
    return name, Variable(start, end - start)


def _numbers(stream: BinaryIO, layout: str) -> tuple[int, ...]:
    return struct.unpack(layout, stream.read(struct.calcsize(layout)))


def _read_string(stream: BinaryIO) -> str:
    (length,) = _numbers(stream, "<H")
    return stream.read(length).removesuffix(b"\0").decode()


def _head(count: int) -> bytes:
    name, revision = ENCODER_SPECIFICATION
    return struct.pack("<I", BINARY_VERSION) + _string(name) + struct.pack("<II", revision, count)


def _string(text: str) -> bytes:
    spelled = text.encode() + b"\0"
    return struct.pack("<H", len(spelled)) + spelled
