"""Conversion of an encoder network of transformers to CTranslate2 (extra: ``convert``).

BERT and related encoders are one network: embeddings, and post-norm layers. They differ in the
names of their modules and in their position embeddings.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tertium.errors import ModelError
from tertium.models.convert.checkpoint import load_weights, not_converted, quiet, refuse_missing
from tertium.models.convert.translation import Quantization
from tertium.models.engine_file import quantize_file


@dataclass(frozen=True, slots=True)
class Names:
    """The names of the modules of a layer in a family."""

    layers: str
    query: str
    key: str
    value: str
    attention_output: str
    attention_norm: str
    inner: str
    outer: str
    norm: str


BERT = Names(
    layers="encoder.layer",
    query="attention.self.query",
    key="attention.self.key",
    value="attention.self.value",
    attention_output="attention.output.dense",
    attention_norm="attention.output.LayerNorm",
    inner="intermediate.dense",
    outer="output.dense",
    norm="output.LayerNorm",
)
DISTILBERT = Names(
    layers="transformer.layer",
    query="attention.q_lin",
    key="attention.k_lin",
    value="attention.v_lin",
    attention_output="attention.out_lin",
    attention_norm="sa_layer_norm",
    inner="ffn.lin1",
    outer="ffn.lin2",
    norm="output_layer_norm",
)
MPNET = Names(
    layers="encoder.layer",
    query="attention.attn.q",
    key="attention.attn.k",
    value="attention.attn.v",
    attention_output="attention.attn.o",
    attention_norm="attention.LayerNorm",
    inner="intermediate.dense",
    outer="output.dense",
    norm="output.LayerNorm",
)
FAMILIES = {
    "bert": BERT,
    "camembert": BERT,
    "distilbert": DISTILBERT,
    "mpnet": MPNET,
    "roberta": BERT,
    "xlm-roberta": BERT,
}
ACTIVATIONS = {
    "gelu": "GELU",
    "gelu_fast": "GELUTanh",
    "gelu_new": "GELUTanh",
    "gelu_pytorch_tanh": "GELUTanh",
    "relu": "RELU",
    "silu": "SWISH",
    "swish": "SWISH",
}
MPNET_DISTANCE = 128
"""The largest relative distance of MPNet, which transformers defines in its code."""


def load_network(folder: Path, layers: int | None) -> Any:
    """Load the weights, up to a layer; missing weights are an error, not random numbers."""
    from transformers import AutoConfig, AutoModel

    try:
        with quiet():
            config = AutoConfig.from_pretrained(folder)
    except Exception as error:  # of transformers
        raise not_converted(folder, error) from error
    if layers is not None:
        config.num_hidden_layers = layers
    pooler = {} if config.model_type == "distilbert" else {"add_pooling_layer": False}
    network, report = load_weights(AutoModel, folder, config=config, **pooler)
    refuse_missing(folder, report)
    return network.eval()


def positions(network: Any) -> int:
    """The number of positions that the network supports."""
    return len(_position_weights(network))


def write_network(
    network: Any,
    out: Path,
    *,
    tokens: list[str],
    unknown: str,
    quantization: Quantization,
    types: bool = False,
) -> None:
    """Write CTranslate2's files; ``types`` keeps the token types, which BERT needs for pairs."""
    import torch

    with torch.no_grad():
        spec = _specification(network, types)
        spec.config.unk_token = unknown
        spec.config.bos_token = spec.config.eos_token = unknown  # the tokenizer adds them
        spec.register_vocabulary(tokens)
        spec.validate()
        spec.optimize()
        out.mkdir()
        spec.save(str(out))
    if quantization == "int8":
        quantize_file(out / "model.bin")


def _specification(network: Any, types: bool = False) -> Any:
    from ctranslate2.specs import common_spec, transformer_spec

    config, names = network.config, FAMILIES[network.config.model_type]
    relative = names is MPNET
    encoder = transformer_spec.TransformerEncoderSpec(
        config.num_hidden_layers,
        config.num_attention_heads,
        pre_norm=False,
        activation=getattr(common_spec.Activation, _activation(config)),
        layernorm_embedding=True,
        num_source_embeddings=2 if relative or types else 1,
        embeddings_merge=common_spec.EmbeddingsMerge.ADD,
        relative_attention_bias=relative,
    )
    encoder.scale_embeddings = False
    encoder.embeddings[0].weight = network.embeddings.word_embeddings.weight
    _set_norm(encoder.layernorm_embedding, network.embeddings.LayerNorm)
    if relative:
        # CTranslate2 has absolute or relative positions, not both; MPNet has both. Its absolute
        # positions take the place of BERT's token types, and are passed to the engine as such.
        encoder.embeddings[1].weight = _position_weights(network)
    elif types:
        encoder.embeddings[1].weight = network.embeddings.token_type_embeddings.weight
        encoder.position_encodings.encodings = _position_embeddings(network).detach()
    else:
        encoder.position_encodings.encodings = _position_weights(network)
    for made, layer in zip(encoder.layer, network.get_submodule(names.layers), strict=True):
        _set_layer(made, layer, names)
        if relative:
            made.self_attention.relative_attention_bias = (
                network.encoder.relative_attention_bias.weight
            )
            made.self_attention.relative_attention_max_distance = _int32(MPNET_DISTANCE)
    spec = transformer_spec.TransformerEncoderModelSpec(encoder)
    spec.config.layer_norm_epsilon = getattr(config, "layer_norm_eps", 1e-12)
    return spec


def _set_layer(made: Any, layer: Any, names: Names) -> None:
    import torch

    part = layer.get_submodule
    attention = made.self_attention
    triple = [part(names.query), part(names.key), part(names.value)]
    attention.linear[0].weight = torch.cat([one.weight for one in triple])
    attention.linear[0].bias = torch.cat([one.bias for one in triple])
    _set_linear(attention.linear[1], part(names.attention_output))
    _set_norm(attention.layer_norm, part(names.attention_norm))
    _set_linear(made.ffn.linear_0, part(names.inner))
    _set_linear(made.ffn.linear_1, part(names.outer))
    _set_norm(made.ffn.layer_norm, part(names.norm))


def _set_linear(made: Any, module: Any) -> None:
    made.weight, made.bias = module.weight, module.bias


def _set_norm(made: Any, module: Any) -> None:
    made.gamma, made.beta = module.weight, module.bias


def _position_weights(network: Any) -> Any:
    """The position embeddings, plus the embedding of token type 0 if the network has types."""
    weights = _position_embeddings(network)
    types = getattr(network.embeddings, "token_type_embeddings", None)
    return weights.detach() if types is None else (weights + types.weight[0]).detach()


def _position_embeddings(network: Any) -> Any:
    """The position embeddings from the first position on, which RoBERTa puts after padding."""
    embedding = network.embeddings.position_embeddings
    padding = embedding.padding_idx
    return embedding.weight[0 if padding is None else padding + 1 :]


def _activation(config: Any) -> str:
    name = getattr(config, "hidden_act", None) or config.activation
    if name not in ACTIVATIONS:
        raise ModelError(
            f"the activation {name!r} is unsupported (supported: {', '.join(ACTIVATIONS)})"
        )
    return ACTIVATIONS[name]


def _int32(number: int) -> Any:
    import numpy as np

    return np.int32(number)
