"""Encoders by the names that users know, and the encoders inside translation models."""

from __future__ import annotations

from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tertium.errors import ModelError, SettingError
from tertium.models import use
from tertium.models.base import TextEncoder
from tertium.models.catalog import DEFAULT_MODEL, locate, look_up
from tertium.models.ctranslate2 import ComputeType
from tertium.models.encoder import CTranslate2Encoder
from tertium.models.encoder_cut import cut_encoder
from tertium.models.encoder_folder import (
    TOKENIZER,
    VOCABULARY,
    EncoderFolder,
    read_encoder_folder,
)
from tertium.models.engine_file import EngineFile, read_engine_file
from tertium.models.folder import ENCODER, ModelFolder, kind, read_card, read_folder
from tertium.models.known_encoders import KNOWN_ENCODERS
from tertium.models.packaged import PACKAGED, package_hint, packaged_folder
from tertium.models.pooling import Pooling
from tertium.models.reading import JsonReader, Reader, SourceReader
from tertium.paths import models_folder


def load_encoder(
    encoder: str | Path = DEFAULT_MODEL,
    *,
    layer: int | None = None,
    compute_type: ComputeType = "auto",
    threads: int | None = None,
) -> TextEncoder:
    """Load an encoder by name or folder; of a translation model, its encoder is taken.

    ``layer`` counts from 1, as the hidden states of transformers do, where 0 is the embeddings; the
    default is the last layer that the folder has. Nothing above the layer is loaded or computed.

    >>> encoder = load_encoder("tertium-mini")
    >>> one, other, third = encoder.sentence_vectors(
    ...     ["I have a cat.", "Ich habe eine Katze.", "The train is late."]
    ... ).vectors
    >>> bool(one @ other > one @ third)
    True
    """
    if str(encoder) == use.NAME:
        if layer is not None or compute_type not in ("auto", "float32"):
            raise SettingError(f"{use.NAME} has no layers to choose from, and float32 only")
        return _universal(threads)
    folder = find_encoder(encoder)
    return _encoder(folder.path, folder.fingerprint, layer, compute_type, threads)


def find_encoder(name: str | Path) -> EncoderFolder | ModelFolder:
    """Find an encoder, or a translation model that has one, by its name or its folder.

    An encoder that an installed package brings along is converted when it is first asked for.
    """
    path = look_up(name)
    if path is None:
        packaged = packaged_folder(str(name))
        if packaged is not None:
            return _convert_packaged(str(name), packaged)
        try:
            path = locate(name)
        except ModelError as error:
            raise ModelError(f"{error}{package_hint(str(name))}") from None
    return read_either(path)


def read_either(path: Path) -> EncoderFolder | ModelFolder:
    """Read what lies in a folder, whichever kind it is of."""
    return read_encoder_folder(path) if kind(read_card(path)) == ENCODER else read_folder(path)


def _convert_packaged(name: str, source: Path) -> EncoderFolder:
    from tertium.models.convert_encoder import convert_encoder

    known = KNOWN_ENCODERS[name]
    distribution = PACKAGED[name].distribution
    origin = f"{distribution} {version(distribution)}"
    return convert_encoder(
        source, models_folder() / name, name=name, licence=known.licence, origin=origin
    )


@lru_cache(maxsize=1)
def _universal(threads: int | None) -> use.UniversalSentenceEncoder:
    return use.UniversalSentenceEncoder(threads=threads)


@lru_cache(maxsize=4)
def _encoder(
    path: Path,
    fingerprint: str,  # a folder that was written anew is another encoder
    layer: int | None,
    compute_type: ComputeType,
    threads: int | None,
) -> CTranslate2Encoder:
    folder = read_either(path)
    engine_file = read_engine_file(path / "model.bin")
    if layer is None:
        layer = engine_file.encoder_layers
    _check_layer(folder, engine_file, layer)
    settings: dict[str, Any] = {
        "name": folder.name,
        "fingerprint": folder.fingerprint,
        "layer": layer,
        "compute_type": compute_type,
        "threads": threads,
    }
    reader: Reader
    if isinstance(folder, ModelFolder):
        reader, pooling = SourceReader(folder), Pooling(framing=False)
        vocabulary = folder.vocabulary_file("source")
    else:
        encoding = folder.encoding
        reader = JsonReader(path / TOKENIZER, encoding.max_length, lowercase=encoding.lowercase)
        settings["prefix"] = encoding.prefix
        settings["positions_as_types"] = encoding.family == "mpnet"
        if layer == encoding.layers:
            return CTranslate2Encoder(path, reader, folder.pooling(), **settings)
        pooling = Pooling(encoding.pooling)  # what stands behind the last layer goes with it
        vocabulary = VOCABULARY
    with cut_encoder(engine_file, layer, vocabulary=vocabulary, fingerprint=fingerprint) as cut:
        return CTranslate2Encoder(cut, reader, pooling, **settings)


def _check_layer(folder: EncoderFolder | ModelFolder, engine_file: EngineFile, layer: int) -> None:
    layers = engine_file.encoder_layers
    if 1 <= layer <= layers:
        return
    cure = ""
    if isinstance(folder, EncoderFolder) and 1 <= layer <= folder.encoding.layers_of_original:
        cure = f"; it was cut when it was converted: convert it again with --layer {layer}"
    raise SettingError(f"layer {layer}: {folder.name} has layers 1 to {layers}{cure}")
