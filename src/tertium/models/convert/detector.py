"""Conversion of Hugging Face classifiers of sentence pairs (extra: ``convert``)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tertium.errors import ModelError, SettingError
from tertium.models.card import (
    HEAD,
    TOKENIZER,
    DetectorCard,
    DetectorSettings,
    read_card,
    write_card,
)
from tertium.models.convert.checkpoint import (
    check_libraries,
    first_names,
    load_weights,
    not_converted,
)
from tertium.models.convert.encoder import (
    count_layers,
    read_config,
    save_tokenizer,
    vocabulary,
)
from tertium.models.convert.encoder_network import positions, write_network
from tertium.models.convert.translation import Quantization
from tertium.storage.atomic import appearing

MAX_LENGTH = 128
"""As in the paper and in XTREME; pairs of PAWS-X are rarely longer."""
HEADS = {
    "bert": ("bert.pooler.dense", "tanh", "classifier"),
    "camembert": ("classifier.dense", "tanh", "classifier.out_proj"),
    "distilbert": ("pre_classifier", "relu", "classifier"),
    "mpnet": ("classifier.dense", "tanh", "classifier.out_proj"),
    "roberta": ("classifier.dense", "tanh", "classifier.out_proj"),
    "xlm-roberta": ("classifier.dense", "tanh", "classifier.out_proj"),
}
"""The two layers after the vector of the first token, and the activation between them."""


def convert_detector(
    source: Path,
    out: Path,
    *,
    name: str | None = None,
    positive: int = 1,
    max_length: int = MAX_LENGTH,
    licence: str = "unknown",
    quantization: Quantization = "float32",
    origin: str = "",
) -> DetectorCard:
    """Convert a classifier, atomically; ``positive`` is the class that means paraphrase."""
    if not source.is_dir():
        raise ModelError(f"{source}: no such folder")
    config = read_config(source)
    layers = count_layers(config, source)
    check_libraries()
    network = load_classifier(source)
    classes = network.config.num_labels
    if not 0 <= positive < classes or classes < 2:
        raise SettingError(f"positive={positive}: {source} has {classes} classes, counted from 0")
    family = str(config["model_type"])
    inner, activation, outer = HEADS[family]
    encoder = network.base_model
    settings = DetectorSettings(
        family=family,
        layers=layers,
        max_length=min(positions(encoder), max_length),
        activations=(activation, "identity"),
        positive=positive,
    )
    with appearing(out) as made:
        scratch = made.with_name(TOKENIZER)
        save_tokenizer(source, scratch)
        tokens, unknown = vocabulary(scratch, network.config.vocab_size, source)
        try:
            write_network(
                encoder,
                made,
                tokens=tokens,
                unknown=unknown,
                quantization=quantization,
                types=settings.types,
            )
        except (RuntimeError, ValueError) as error:
            raise not_converted(source, error) from error
        scratch.rename(made / TOKENIZER)
        _write_head(network, (inner, outer), made / HEAD)
        write_card(
            made, settings, name=name or out.name, licence=licence, origin=origin or source.name
        )
    return read_card(out, DetectorSettings)


def load_classifier(folder: Path) -> Any:
    """Load a classifier; missing weights are an error, not random numbers."""
    from transformers import AutoModelForSequenceClassification

    network, report = load_weights(AutoModelForSequenceClassification, folder)
    if missing := report["missing_keys"]:
        raise ModelError(
            f"{folder}: weights are missing ({first_names(missing)}); it is not a classifier. "
            "Train one from an encoder with `tertium train detector`"
        )
    return network.eval()


def _write_head(network: Any, layers: tuple[str, str], file: Path) -> None:
    import numpy as np

    arrays = {}
    for place, layer in enumerate(layers):
        module = network.get_submodule(layer)
        arrays[f"weight_{place}"] = module.weight.detach().numpy()
        arrays[f"bias_{place}"] = module.bias.detach().numpy()
    np.savez(file, **arrays)
