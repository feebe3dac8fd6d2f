"""Load encoders from folders, in full or up to a layer."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from tertium.errors import SettingError
from tertium.models.encoders.catalog import read_either
from tertium.models.encoders.folder import TOKENIZER, VOCABULARY, EncoderFolder
from tertium.models.encoders.layers import cut_encoder
from tertium.models.encoders.model import CTranslate2Encoder
from tertium.models.encoders.pooling import Pooling
from tertium.models.encoders.reading import JsonReader, Reader, SourceReader
from tertium.models.encoders.static import FAMILY as STATIC
from tertium.models.encoders.static import StaticEncoder
from tertium.models.encoders.use import UniversalSentenceEncoder
from tertium.models.engine import ComputeType
from tertium.models.engine_file import EngineFile, read_engine_file
from tertium.models.folder import ModelFolder


@lru_cache(maxsize=1)
def universal(threads: int | None) -> UniversalSentenceEncoder:
    """The Universal Sentence Encoder, loaded once."""
    return UniversalSentenceEncoder(threads=threads)


@lru_cache(maxsize=4)
def encoder_of(
    path: Path,
    fingerprint: str,  # a folder that was rewritten is another encoder
    layer: int | None,
    compute_type: ComputeType,
    threads: int | None,
) -> CTranslate2Encoder | StaticEncoder:
    """The encoder in a folder, up to a layer; the last few stay loaded."""
    folder = read_either(path)
    if isinstance(folder, EncoderFolder) and folder.encoding.family == STATIC:
        if layer is not None:
            raise SettingError(f"layer {layer}: {folder.name} is static and has no layers")
        return StaticEncoder(folder)  # every compute type gives the same numbers
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
        pooling = Pooling(encoding.pooling)  # dense layers need the last layer
        vocabulary = VOCABULARY
    with cut_encoder(engine_file, layer, vocabulary=vocabulary, fingerprint=fingerprint) as cut:
        return CTranslate2Encoder(cut, reader, pooling, **settings)


def _check_layer(folder: EncoderFolder | ModelFolder, engine_file: EngineFile, layer: int) -> None:
    layers = engine_file.encoder_layers
    if 1 <= layer <= layers:
        return
    hint = ""
    if isinstance(folder, EncoderFolder) and 1 <= layer <= folder.encoding.layers_of_original:
        hint = f"; it was cut when it was converted: convert it again with --layer {layer}"
    raise SettingError(f"layer {layer}: {folder.name} has layers 1 to {layers}{hint}")
