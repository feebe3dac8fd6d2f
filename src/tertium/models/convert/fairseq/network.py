"""Conversion of a fairseq Transformer to CTranslate2; unused or missing tensors are an error."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from tertium.data.records import counted
from tertium.errors import ModelError
from tertium.models.convert.fairseq.checkpoint import PAD, Checkpoint, padded

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float32]

Side = Literal["encoder", "decoder"]
DEFAULT_POSITIONS = 1024
ACTIVATIONS = {
    "relu": "RELU",
    "gelu": "GELU",
    "gelu_fast": "GELUTanh",
    "gelu_accurate": "GELUTanh",
}
"""The names in fairseq, and those in CTranslate2."""
UNSUPPORTED_OPTIONS = (
    "adaptive_input",
    "adaptive_softmax_cutoff",
    "character_embeddings",
    "cross_self_attention",
    "decoder_layers_to_keep",
    "encoder_layers_to_keep",
    "layer_wise_attention",
    "no_cross_attention",
)
"""Options of networks that are not plain Transformers."""
UNUSED_TENSORS = ("version", "embed_positions._float_tensor", "embed_positions.weights")
"""Entries that are not weights; old versions also saved the sinusoids."""
OLDEST_VERSION = 3
"""Earlier versions did not normalize after the last layer, whatever the options are."""


class Weights:
    """The tensors of a checkpoint by name, with a record of those that were used."""

    def __init__(self, tensors: Mapping[str, Any]) -> None:
        self._tensors = tensors
        self._unused = set(tensors)

    def __contains__(self, name: str) -> bool:
        return name in self._tensors

    def take(self, name: str) -> Array:
        import torch

        if name not in self:
            raise ModelError(f"the checkpoint has no {name}: it is not a fairseq Transformer")
        self._unused.discard(name)
        array: Array = self._tensors[name].detach().to(torch.float32).numpy()
        return array

    def check_all_used(self) -> None:
        if self._unused:
            names = ", ".join(sorted(self._unused)[:3])
            raise ModelError(
                f"the checkpoint has {counted(len(self._unused), 'tensor')} that a plain "
                f"Transformer does not have ({names}); it cannot be converted"
            )


def max_length(options: Mapping[str, Any]) -> int:
    """The number of positions that both the encoder and the decoder have."""
    return min(_positions(options, "encoder"), _positions(options, "decoder"))


def transformer(checkpoint: Checkpoint, source: list[str], target: list[str]) -> Any:
    """The network as a CTranslate2 specification, with its weights and dictionaries."""
    from ctranslate2.specs.transformer_spec import (
        TransformerDecoderSpec,
        TransformerEncoderSpec,
        TransformerSpec,
    )

    options, weights = checkpoint.options, Weights(checkpoint.tensors)
    for name in UNSUPPORTED_OPTIONS:
        if options.get(name):
            raise ModelError(f"the network was trained with {name}, which is unsupported")
    encoder = TransformerEncoderSpec(**_architecture(options, weights, "encoder"))
    decoder = TransformerDecoderSpec(**_architecture(options, weights, "decoder"))
    source_embedding = _fill(encoder, encoder.embeddings[0], options, weights, "encoder")
    target_embedding = _fill(decoder, decoder.embeddings, options, weights, "decoder")
    decoder.projection.weight = _output_embedding(options, weights, target_embedding)
    weights.check_all_used()
    spec = TransformerSpec(encoder, decoder)
    spec.config.decoder_start_token = spec.config.eos_token
    spec.register_source_vocabulary(padded(source, len(source_embedding)))
    spec.register_target_vocabulary(padded(target, len(target_embedding)))
    return spec


def _architecture(options: Mapping[str, Any], weights: Weights, side: Side) -> dict[str, Any]:
    from ctranslate2.specs.common_spec import Activation

    activation = options.get("activation_fn") or "relu"
    if activation not in ACTIVATIONS:
        raise ModelError(f"the activation {activation!r} of the network is unsupported")
    final_norm = f"{side}.layer_norm.weight" in weights
    if final_norm and _version(weights, side) < OLDEST_VERSION:
        raise ModelError("the checkpoint is older than fairseq 0.6; save it again with fairseq 0.9")
    return {
        "num_layers": _option(options, f"{side}_layers"),
        "num_heads": _option(options, f"{side}_attention_heads"),
        "pre_norm": bool(options.get(f"{side}_normalize_before")),
        "no_final_norm": not final_norm,
        "layernorm_embedding": f"{side}.layernorm_embedding.weight" in weights,
        "activation": Activation[ACTIVATIONS[activation]],
    }


def _version(weights: Weights, side: Side) -> float:
    name = f"{side}.version"
    return float(weights.take(name)[0]) if name in weights else 1.0


def _option(options: Mapping[str, Any], name: str) -> int:
    try:
        return int(options[name])
    except (KeyError, TypeError, ValueError):
        raise ModelError(
            f"the checkpoint has no option {name}: it is not a fairseq Transformer"
        ) from None


def _positions(options: Mapping[str, Any], side: Side) -> int:
    name = "max_source_positions" if side == "encoder" else "max_target_positions"
    return int(options.get(name) or DEFAULT_POSITIONS)


def _fill(
    spec: Any, embeddings: Any, options: Mapping[str, Any], weights: Weights, side: Side
) -> Array:
    """Fill an encoder or a decoder, except for its output; return its embedding."""
    embedding = weights.take(f"{side}.embed_tokens.weight")
    embeddings.weight = embedding
    spec.scale_embeddings = not options.get("no_scale_embedding")
    spec.position_encodings.encodings = _position_table(
        options, weights, side, width=embedding.shape[1]
    )
    if f"{side}.layernorm_embedding.weight" in weights:
        _norm(spec.layernorm_embedding, weights, f"{side}.layernorm_embedding")
    for number, layer in enumerate(spec.layer):
        at = f"{side}.layers.{number}"
        _norm(layer.self_attention.layer_norm, weights, f"{at}.self_attn_layer_norm")
        _attention(layer.self_attention.linear, weights, f"{at}.self_attn", joined="qkv")
        if side == "decoder":
            _norm(layer.attention.layer_norm, weights, f"{at}.encoder_attn_layer_norm")
            _attention(layer.attention.linear, weights, f"{at}.encoder_attn", joined="kv")
        _norm(layer.ffn.layer_norm, weights, f"{at}.final_layer_norm")
        _linear(layer.ffn.linear_0, weights, f"{at}.fc1")
        _linear(layer.ffn.linear_1, weights, f"{at}.fc2")
    if f"{side}.layer_norm.weight" in weights and spec.pre_norm:
        _norm(spec.layer_norm, weights, f"{side}.layer_norm")
    for name in UNUSED_TENSORS:
        if f"{side}.{name}" in weights:
            weights.take(f"{side}.{name}")
    return embedding


def _norm(spec: Any, weights: Weights, name: str) -> None:
    spec.gamma = weights.take(f"{name}.weight")
    spec.beta = weights.take(f"{name}.bias")


def _linear(spec: Any, weights: Weights, name: str) -> None:
    spec.weight = weights.take(f"{name}.weight")
    spec.bias = weights.take(f"{name}.bias")


def _attention(
    specs: list[Any], weights: Weights, name: str, *, joined: Literal["qkv", "kv"]
) -> None:
    """Join keys and values, and in self-attention queries too, as CTranslate2 expects them."""
    import numpy as np

    parts = _projections(weights, name)
    groups = ["qkv"] if joined == "qkv" else ["q", "kv"]
    for spec, group in zip(specs, groups, strict=False):
        spec.weight = np.concatenate([parts[part][0] for part in group])
        spec.bias = np.concatenate([parts[part][1] for part in group])
    _linear(specs[-1], weights, f"{name}.out_proj")


def _projections(weights: Weights, name: str) -> dict[str, tuple[Array, Array]]:
    """Queries, keys and values: one matrix up to fairseq 0.8, separate since 0.9."""
    import numpy as np

    if f"{name}.in_proj_weight" not in weights:
        return {
            part: (
                weights.take(f"{name}.{part}_proj.weight"),
                weights.take(f"{name}.{part}_proj.bias"),
            )
            for part in "qkv"
        }
    matrices = np.split(weights.take(f"{name}.in_proj_weight"), 3)
    biases = np.split(weights.take(f"{name}.in_proj_bias"), 3)
    return dict(zip("qkv", zip(matrices, biases, strict=True), strict=True))


def _output_embedding(options: Mapping[str, Any], weights: Weights, embedding: Array) -> Array:
    """The output projection: the embedding of the decoder, or a separate matrix."""
    for name in ("decoder.output_projection.weight", "decoder.embed_out"):
        if name in weights:
            return weights.take(name)
    if options.get("share_all_embeddings") or options.get("share_decoder_input_output_embed"):
        return embedding
    raise ModelError("the checkpoint has no output embedding, and no option that it is shared")


def _position_table(
    options: Mapping[str, Any], weights: Weights, side: Side, *, width: int
) -> Array:
    """One row per position; the positions of fairseq start after the padding index."""
    import numpy as np

    count = _positions(options, side)
    if options.get("no_token_positional_embeddings"):
        return np.zeros((count, width), dtype=np.float32)
    if options.get(f"{side}_learned_pos"):
        return weights.take(f"{side}.embed_positions.weight")[PAD + 1 :]
    return sinusoids(count, width)


def sinusoids(count: int, width: int) -> Array:
    """The sinusoids of the first ``count`` positions, the sines before the cosines.

    They are computed in single precision, as in fairseq.
    """
    import numpy as np

    half = width // 2
    step = np.float32(-math.log(10000) / (half - 1))
    frequencies = np.exp(np.arange(half, dtype=np.float32) * step)
    positions = np.arange(PAD + 1, PAD + 1 + count, dtype=np.float32)
    angles = positions[:, None] * frequencies[None, :]
    table: Array = np.concatenate([np.sin(angles), np.cos(angles)], axis=1)
    return np.pad(table, ((0, 0), (0, width % 2)))
