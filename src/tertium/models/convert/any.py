"""Conversion of published models of any kind but detectors (extra: ``convert``)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tertium.errors import SettingError
from tertium.models.card import EncoderCard, LanguageCard, TranslationCard
from tertium.models.convert.encoder import convert_encoder, is_encoder
from tertium.models.convert.language import convert_language_model, is_language_model
from tertium.models.convert.translation import convert


def convert_any(
    source: Path,
    out: Path,
    *,
    dialect: str | None = None,
    layer: int | None = None,
    prefix: str | None = None,
    shown: str = "",
    **about: Any,
) -> TranslationCard | EncoderCard | LanguageCard:
    """Convert a folder of a kind that its files tell.

    ``about`` is what all converters take: name, licence, quantization and origin. ``shown`` is what
    messages call the folder.
    """
    encoder, language = is_encoder(source), is_language_model(source)
    if dialect is not None and (encoder or language):
        raise SettingError(
            f"{shown or source} cannot translate", cure="{dialect} is for translation models"
        )
    if not encoder and (layer is not None or prefix is not None):
        raise SettingError(
            f"{shown or source} is not an encoder", cure="{layer} and {prefix} are for encoders"
        )
    if encoder:
        return convert_encoder(source, out, layer=layer, prefix=prefix, **about)
    if language:
        return convert_language_model(source, out, **about)
    return convert(source, out, dialect=dialect, **about)
