"""Load encoders from folders, in full or up to a layer."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, cast

from tertium.errors import SettingError
from tertium.models.card import (
    STATIC,
    TOKENIZER,
    VOCABULARY,
    WEIGHTS,
    EncoderCard,
    EncoderSettings,
    TranslationCard,
    vocabulary_file,
)
from tertium.models.encoders.model import CTranslate2Encoder
from tertium.models.encoders.pooling import Pooling, read_pooling
from tertium.models.encoders.reading import JsonReader, Reader, SourceReader
from tertium.models.encoders.static import StaticEncoder
from tertium.models.encoders.use import UniversalSentenceEncoder
from tertium.models.engine import ComputeType
from tertium.models.engine_file import EngineFile, read_engine_file


@lru_cache(maxsize=1)
def universal(threads: int | None) -> UniversalSentenceEncoder:
    """The Universal Sentence Encoder, loaded once."""
    return UniversalSentenceEncoder(threads=threads)


@lru_cache(maxsize=4)
def encoder_of(
    card: EncoderCard | TranslationCard,  # an overwritten folder is another encoder
    layer: int | None,
    compute_type: ComputeType,
    threads: int | None,
) -> CTranslate2Encoder | StaticEncoder:
    """The encoder in a folder, up to a layer; the last few stay loaded."""
    if isinstance(card.settings, EncoderSettings) and card.settings.engine == STATIC:
        if layer is not None:
            raise SettingError(f"layer {layer}: {card.name} is static and has no layers")
        return StaticEncoder(card)  # every compute type gives the same numbers
    engine_file = read_engine_file(card.path / WEIGHTS)
    if layer is None:
        layer = engine_file.encoder_layers
    _check_layer(card, engine_file, layer)
    options: dict[str, Any] = {
        "layer": layer,
        "compute_type": compute_type,
        "threads": threads,
    }
    settings = card.settings
    reader: Reader
    if isinstance(settings, EncoderSettings):
        file = card.path / TOKENIZER
        reader = JsonReader(file, settings.max_length, lowercase=settings.lowercase)
        options["prefix"] = settings.prefix
        options["types"] = "positions" if settings.family == "mpnet" else None
        if layer == settings.layers:
            pooling = read_pooling(card.path, settings)
            return CTranslate2Encoder(card, reader, pooling, **options)
        pooling = Pooling(settings.pooling)  # dense layers need the last layer
        options["vocabulary"] = card.path / VOCABULARY
    else:
        model = cast(TranslationCard, card)
        reader, pooling = SourceReader(model), Pooling(framing=False)
        options["vocabulary"] = card.path / vocabulary_file(model, "source")
    part = engine_file.encoder(layer)
    return CTranslate2Encoder(card, reader, pooling, part=part, **options)


def _check_layer(card: EncoderCard | TranslationCard, engine_file: EngineFile, layer: int) -> None:
    layers = engine_file.encoder_layers
    if 1 <= layer <= layers:
        return
    settings, hint, cure = card.settings, "", ""
    if isinstance(settings, EncoderSettings) and 1 <= layer <= settings.layers_of_original:
        hint = "; it was cut when it was converted"
        cure = f"convert it again with {{layer:{layer}}}"
    raise SettingError(f"layer {layer}: {card.name} has layers 1 to {layers}{hint}", cure=cure)
