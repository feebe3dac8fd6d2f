"""Tiny models of the real architectures, made on the spot and shared by the whole run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tertium.models.convert.encoder import convert_encoder
from tertium.models.convert.translation import Quantization, convert
from tertium.models.encoders.folder import EncoderFolder
from tertium.models.folder import ModelFolder

from .tiny import MAKERS, Tiny, make_tiny
from .tiny_encoders import TinyEncoder, make_tiny_encoder


@dataclass(frozen=True)
class Converted:
    """The same weights twice: in PyTorch, and in the engine's format."""

    original: Tiny
    folder: ModelFolder


def converted(original: Tiny, out: Path, quantization: Quantization = "float32") -> Converted:
    name = "opus-mt-en-fr" if original.family == "marian" else f"tiny-{original.family}"
    folder = convert(original.folder, out, name=name, licence="CC0-1.0", quantization=quantization)
    return Converted(original, folder)


@pytest.fixture(scope="session")
def family(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Converted]:
    """Make a family's tiny model when it is first asked for."""
    made: dict[str, Converted] = {}

    def get(name: str) -> Converted:
        if name not in made:
            scratch = tmp_path_factory.mktemp(name)
            made[name] = converted(make_tiny(name, scratch / "original"), scratch / "converted")
        return made[name]

    return get


@pytest.fixture(params=list(MAKERS))
def any_family(request: pytest.FixtureRequest, family: Callable[[str], Converted]) -> Converted:
    """Every family in turn."""
    return family(request.param)


@pytest.fixture(params=["m2m100", "prism"])
def tiny(request: pytest.FixtureRequest, family: Callable[[str], Converted]) -> Converted:
    """A model that tags its source, and one that does not."""
    return family(request.param)


@pytest.fixture
def tiny_m2m100(family: Callable[[str], Converted]) -> Converted:
    return family("m2m100")


@pytest.fixture
def tiny_prism(family: Callable[[str], Converted]) -> Converted:
    return family("prism")


@pytest.fixture(scope="session")
def tiny_int8(
    family: Callable[[str], Converted], tmp_path_factory: pytest.TempPathFactory
) -> Converted:
    out = tmp_path_factory.mktemp("int8") / "converted"
    return converted(family("prism").original, out, "int8")


@dataclass(frozen=True)
class ConvertedEncoder:
    """The same encoder twice: in PyTorch, and in the engine's format."""

    original: TinyEncoder
    folder: EncoderFolder


@pytest.fixture(scope="session")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], ConvertedEncoder]:
    """Make a family's tiny encoder when it is first asked for."""
    made: dict[str, ConvertedEncoder] = {}

    def get(name: str) -> ConvertedEncoder:
        if name not in made:
            scratch = tmp_path_factory.mktemp(name)
            original = make_tiny_encoder(name, scratch / "original")
            folder = convert_encoder(original.folder, scratch / "converted", name=f"tiny-{name}")
            made[name] = ConvertedEncoder(original, folder)
        return made[name]

    return get
