"""Conversion of Hugging Face and sentence-transformers encoders (extra: ``convert``)."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tertium.errors import ModelError, SettingError, first_line
from tertium.models.card import (
    DENSE,
    TOKENIZER,
    EncoderCard,
    EncoderSettings,
    read_card,
    write_card,
)
from tertium.models.convert.checkpoint import (
    CONFIG,
    check_libraries,
    count,
    not_converted,
    quiet,
    read_config_file,
)
from tertium.models.convert.encoder_network import FAMILIES, load_network, positions, write_network
from tertium.models.convert.translation import Quantization
from tertium.models.encoders.pooling import Dense
from tertium.models.encoders.sentence_modules import MODULES, SentenceModules, read_sentence_modules
from tertium.models.public import public_entry
from tertium.models.tokenizer import open_sentencepiece, open_tokenizer_json
from tertium.storage.atomic import appearing


def is_encoder(source: Path) -> bool:
    """Whether a folder contains an encoder of a supported family."""
    if (source / MODULES).is_file():
        return True
    try:
        return _is_supported(read_config_file(source))
    except ModelError:
        return False


def convert_encoder(
    source: Path,
    out: Path,
    *,
    layer: int | None = None,
    name: str | None = None,
    prefix: str | None = None,
    licence: str = "unknown",
    quantization: Quantization = "float32",
    origin: str = "",
) -> EncoderCard:
    """Convert an encoder, up to a layer; ``out`` is written atomically.

    By default, the layer is the best one for token vectors if the catalog has the encoder, and the
    last layer otherwise. The Dense modules of a sentence-transformers model are kept only with the
    last layer.
    """
    if not source.is_dir():
        raise ModelError(f"{source}: no such folder")
    name = name or out.name
    entry = public_entry(name, "encoder") or public_entry(source.name, "encoder")
    modules = read_sentence_modules(source)
    config = read_config(modules.transformer)
    layers = count_layers(config, modules.transformer)
    layer = layer or (entry.layer if entry else None) or layers
    if not 1 <= layer <= layers:
        raise SettingError(f"layer {layer}: {source} has layers 1 to {layers}")
    check_libraries()
    network = load_network(modules.transformer, layer)
    dense = modules.dense if layer == layers else ()
    settings = EncoderSettings(
        family=str(config["model_type"]),
        layers=layer,
        layers_of_original=layers,
        max_length=min(positions(network), modules.max_length or positions(network)),
        pooling=modules.pooling,
        activations=tuple(one.activation for one in dense),
        lowercase=modules.lowercase,
        prefix=prefix if prefix is not None else modules.prefix or (entry.prefix if entry else ""),
    )
    with appearing(out) as made:
        _write(network, modules, dense, made, quantization)
        write_card(made, settings, name=name, licence=licence, origin=origin or source.name)
    return read_card(out, EncoderSettings)


def _write(
    network: Any,
    modules: SentenceModules,
    dense: tuple[Dense, ...],
    made: Path,
    quantization: Quantization,
) -> None:
    import numpy as np

    scratch = made.with_name(TOKENIZER)
    save_tokenizer(modules.transformer, scratch)
    tokens, unknown = vocabulary(scratch, network.config.vocab_size, modules.transformer)
    try:
        write_network(network, made, tokens=tokens, unknown=unknown, quantization=quantization)
    except (RuntimeError, ValueError) as error:
        raise not_converted(modules.transformer, error) from error
    scratch.rename(made / TOKENIZER)
    if dense:
        arrays = {f"weight_{place}": one.weight for place, one in enumerate(dense)}
        arrays |= {f"bias_{i}": one.bias for i, one in enumerate(dense) if one.bias is not None}
        np.savez(made / DENSE, **arrays)  # type: ignore[arg-type]


def read_config(folder: Path) -> dict[str, Any]:
    """Read the configuration of an encoder that can be converted."""
    config = read_config_file(folder)
    if not _is_supported(config):
        raise ModelError(
            f"{folder}: encoders of type {config.get('model_type')!r} are unsupported "
            f"(supported: {', '.join(FAMILIES)})"
        )
    if config.get("position_embedding_type", "absolute") != "absolute" or config.get("is_decoder"):
        raise ModelError(f"{folder}: only encoders with absolute positions can be converted")
    return config


def count_layers(config: Mapping[str, Any], folder: Path) -> int:
    """The number of layers, for which DistilBERT has another key."""
    return count(config, folder / CONFIG, "num_hidden_layers", "n_layers")


def _is_supported(config: Mapping[str, Any]) -> bool:
    kind = config.get("model_type")
    return isinstance(kind, str) and kind in FAMILIES


def save_tokenizer(folder: Path, file: Path) -> None:
    """Copy ``tokenizer.json``, or let transformers create it if the folder has none."""
    if (folder / TOKENIZER).is_file():
        shutil.copyfile(folder / TOKENIZER, file)
        return
    from transformers import AutoTokenizer

    for model in sorted(folder.glob("*.model")):
        open_sentencepiece(model)
    try:
        with quiet():
            AutoTokenizer.from_pretrained(folder).backend_tokenizer.save(str(file))
    except Exception as error:  # of transformers, tokenizers or sentencepiece
        raise ModelError(
            f"{folder}: its tokenizer cannot be converted: {first_line(error)}"
        ) from error


def vocabulary(tokenizer: Path, size: int, folder: Path) -> tuple[list[str], str]:
    """The tokens by id, and the unknown token."""
    backend = open_tokenizer_json(tokenizer, named=folder / TOKENIZER)
    ids = backend.get_vocab(with_added_tokens=True)
    if not ids:
        raise ModelError(f"{folder / TOKENIZER} has no tokens")
    if max(ids.values()) >= size:
        raise ModelError(
            f"{folder}: the tokenizer has {max(ids.values()) + 1} tokens, the model only {size}"
        )
    tokens = [f"<extra_id_{id_}>" for id_ in range(size)]
    for token, id_ in ids.items():
        tokens[id_] = token
    model = json.loads(backend.to_str())["model"]
    unknown = tokens[model.get("unk_id") or ids.get(model.get("unk_token") or "<unk>", 0)]
    return tokens, unknown
