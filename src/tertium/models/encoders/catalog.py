"""Load encoders by name or folder, including the encoders of translation models."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

from tertium.errors import ModelError, SettingError
from tertium.models.base import TextEncoder
from tertium.models.catalog import DEFAULT_MODEL, locate, look_up, pair_names
from tertium.models.encoders import use
from tertium.models.encoders.folder import EncoderFolder, read_encoder_folder
from tertium.models.engine import ComputeType
from tertium.models.folder import ENCODER, ModelFolder, kind, read_card, read_folder
from tertium.models.public import (
    ENCODER_PACKAGES,
    PUBLIC_ENCODERS,
    catalog_name,
    package_hint,
    packaged_folder,
)
from tertium.storage.paths import models_folder


def load_encoder(
    encoder: str | Path = DEFAULT_MODEL,
    *,
    layer: int | None = None,
    compute_type: ComputeType = "auto",
    threads: int | None = None,
) -> TextEncoder:
    """Load an encoder by name or folder; a translation model stands for its encoder.

    ``layer`` counts from 1, like the hidden states of transformers, where 0 is the embeddings; the
    default is the last layer of the folder. Nothing above the layer is loaded or computed.

    >>> encoder = load_encoder("tertium-mini")
    >>> one, other, third = encoder.sentence_vectors(
    ...     ["I have a cat.", "Ich habe eine Katze.", "The train is late."]
    ... ).vectors
    >>> bool(one @ other > one @ third)
    True
    """
    from tertium.models.encoders.loading import encoder_of, universal

    if str(encoder).lower() == use.NAME:
        if layer is not None or compute_type not in ("auto", "float32"):
            raise SettingError(
                f"{use.NAME} has no layers to choose from, and supports only float32"
            )
        return universal(threads)
    folder = find_encoder(encoder)
    return encoder_of(folder.path, folder.fingerprint, layer, compute_type, threads)


def find_encoder(name: str | Path) -> EncoderFolder | ModelFolder:
    """Find an encoder, or a translation model that has one, by its name or its folder.

    An encoder that an installed package contains is converted when it is first used.
    """
    path = look_up(name)
    if len(pair_names(name)) > 1:
        raise ModelError(f"{name}: a pair of models has no common encoder; use --encoder")
    if path is None:
        public_name = catalog_name(str(name))
        packaged = packaged_folder(public_name)
        if packaged is not None:
            return _convert_packaged(public_name, packaged)
        try:
            path = locate(name)
        except ModelError as error:
            raise ModelError(f"{error}{package_hint(public_name)}") from None
    return read_either(path)


def read_either(path: Path) -> EncoderFolder | ModelFolder:
    """Read the folder of an encoder or of a translation model."""
    return read_encoder_folder(path) if kind(read_card(path)) == ENCODER else read_folder(path)


def _convert_packaged(name: str, source: Path) -> EncoderFolder:
    from tertium.models.convert.encoder import convert_encoder

    distribution = ENCODER_PACKAGES[name].distribution
    origin = f"{distribution} {version(distribution)}"
    licence = PUBLIC_ENCODERS[name].licence
    return convert_encoder(
        source, models_folder() / name, name=name, licence=licence, origin=origin
    )
