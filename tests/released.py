"""Releases as fairseq leaves them, around PyTorch's own Transformer with random weights.

The layers are ``torch.nn``'s, the embeddings, positions and log-probabilities are written out here:
nothing is fairseq's, and nothing Tertium's. Only the names of the tensors are as fairseq has them.
"""

from __future__ import annotations

import math
from argparse import Namespace
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from .tiny import LANGUAGES, train_pieces

WIDTH, INNER, PAD, END, UNKNOWN = 32, 48, 1, 2, 3


@dataclass(frozen=True)
class Variant:
    """What can be otherwise from one fairseq model to the next."""

    encoder_pre_norm: bool = True
    decoder_pre_norm: bool = True
    final_norm: bool = True
    activation: Literal["relu", "gelu", "gelu_accurate"] = "relu"
    share: Literal["all", "decoder", "nothing"] = "all"
    attention: Literal["joined", "apart"] = "apart"
    output_name: Literal["embed_out", "output_projection.weight"] = "embed_out"
    name_shared_output: bool = False
    learned_positions: bool = False
    no_positions: bool = False
    scaled: bool = True
    embedding_norm: bool = False
    layers: tuple[int, int] = (2, 2)
    heads: tuple[int, int] = (4, 4)
    positions: tuple[int, int] = (64, 64)
    half_precision: bool = False
    zipped: bool = False
    """PyTorch 1.4 (and so the release) did not zip its files."""


M39V1_LIKE = Variant()


class Released:
    """A release, and the numbers that its network gives."""

    def __init__(self, folder: Path, variant: Variant = M39V1_LIKE) -> None:
        import torch
        from torch import nn

        torch.manual_seed(11)
        self.folder, self.variant = folder, variant
        folder.mkdir(parents=True, exist_ok=True)
        self.pieces = train_pieces(folder, "spm.model", bos_id=-1, pad_id=-1, eos_id=-1, unk_id=0)
        self.source_words, self.target_words = self._write_dictionaries()

        def activation(x: Any) -> Any:
            if variant.activation == "relu":
                return nn.functional.relu(x)
            tanh = variant.activation == "gelu_accurate"
            return nn.functional.gelu(x, approximate="tanh" if tanh else "none")

        def layer(kind: Any, heads: int, pre_norm: bool) -> Any:
            return kind(WIDTH, heads, INNER, 0.0, activation, batch_first=True, norm_first=pre_norm)

        def norm(pre_norm: bool) -> Any:
            return nn.LayerNorm(WIDTH) if pre_norm and variant.final_norm else None

        self.encoder = nn.TransformerEncoder(
            layer(nn.TransformerEncoderLayer, variant.heads[0], variant.encoder_pre_norm),
            variant.layers[0],
            norm(variant.encoder_pre_norm),
            enable_nested_tensor=False,
        )
        self.decoder = nn.TransformerDecoder(
            layer(nn.TransformerDecoderLayer, variant.heads[1], variant.decoder_pre_norm),
            variant.layers[1],
            norm(variant.decoder_pre_norm),
        )
        rows = len(self.source_words) + 3, len(self.target_words) + 5  # the rest is made up
        if variant.share == "all":
            rows = rows[0], rows[0]
        self.embedding = [nn.Embedding(rows[0], WIDTH), nn.Embedding(rows[1], WIDTH)]
        if variant.share == "all":
            self.embedding[1] = self.embedding[0]
        self.output: Any = nn.Parameter(torch.empty(rows[1], WIDTH))
        if variant.share != "nothing":
            self.output = self.embedding[1].weight
        self.learned = [nn.Embedding(count + PAD + 1, WIDTH) for count in variant.positions]
        self.embedding_norm = [nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)]
        self._draw_weights()
        self._save()

    def _write_dictionaries(self) -> tuple[list[str], list[str]]:
        """Not in the order of the SentencePiece model, so that numbers cannot agree by chance."""
        words = [self.pieces.id_to_piece(i) for i in range(1, self.pieces.get_piece_size())]
        tags = [f"<{lang}>" for lang in LANGUAGES]
        source = [*words[::-1], *tags]
        target = source if self.variant.share == "all" else [*tags, *words[::2], *words[1::2]]
        special = ["<s>", "<pad>", "</s>", "<unk>"]
        for name, found in (("dict.src.txt", source), ("dict.tgt.txt", target)):
            lines = "".join(f"{word} {100 - i % 90}\n" for i, word in enumerate(found))
            (self.folder / name).write_text(lines, encoding="utf-8")
        return [*special, *source], [*special, *target]

    def _parameters(self) -> Iterator[Any]:
        modules = [self.encoder, self.decoder, *self.embedding, *self.learned]
        for module in [*modules, *self.embedding_norm]:
            yield from module.parameters()
        yield self.output

    def _draw_weights(self) -> None:
        """Draw all weights, biases and norms too, so that none can be left out unseen."""
        import torch

        for parameter in self._parameters():
            mean = 1.0 if parameter.dim() == 1 else 0.0
            parameter.data = torch.randn(parameter.shape) * 0.2 + mean
            if self.variant.half_precision:
                parameter.data = parameter.data.half().float()
        for module in (self.encoder, self.decoder):
            module.eval()

    def options(self) -> Namespace:
        v = self.variant
        return Namespace(
            arch="transformer",
            activation_fn=v.activation,
            adaptive_softmax_cutoff=None,
            encoder_layers=v.layers[0],
            decoder_layers=v.layers[1],
            encoder_attention_heads=v.heads[0],
            decoder_attention_heads=v.heads[1],
            encoder_normalize_before=v.encoder_pre_norm,
            decoder_normalize_before=v.decoder_pre_norm,
            encoder_learned_pos=v.learned_positions,
            decoder_learned_pos=v.learned_positions,
            max_source_positions=v.positions[0],
            max_target_positions=v.positions[1],
            no_scale_embedding=not v.scaled,
            no_token_positional_embeddings=v.no_positions,
            share_all_embeddings=v.share == "all",
            share_decoder_input_output_embed=v.share != "nothing",
            lr=[0.0005],
        )

    def tensors(self) -> dict[str, Any]:
        """The weights by fairseq's names."""
        import torch

        found: dict[str, Any] = {}
        for index, (side, stack) in enumerate(
            (("encoder", self.encoder), ("decoder", self.decoder))
        ):
            found[f"{side}.version"] = torch.Tensor([3])
            found[f"{side}.embed_tokens.weight"] = self.embedding[index].weight.data
            if self.variant.learned_positions:
                found[f"{side}.embed_positions.weight"] = self.learned[index].weight.data
            else:
                found[f"{side}.embed_positions._float_tensor"] = torch.zeros(1)
                found[f"{side}.embed_positions.weights"] = torch.zeros(66, WIDTH)  # never read
            if self.variant.embedding_norm:
                state = self.embedding_norm[index].state_dict(prefix=f"{side}.layernorm_embedding.")
                found.update(state)
            for name, tensor in stack.state_dict().items():
                found.update(self._renamed(side, name, tensor))
        if self.variant.share == "nothing":
            found[f"decoder.{self.variant.output_name}"] = self.output.data
        elif self.variant.name_shared_output:
            found["decoder.output_projection.weight"] = self.output.data
        if self.variant.half_precision:
            found = {name: tensor.half() for name, tensor in found.items()}
        return found

    def _renamed(self, side: str, name: str, tensor: Any) -> Iterator[tuple[str, Any]]:
        norms = ["self_attn_layer_norm", "final_layer_norm"]
        if side == "decoder":
            norms.insert(1, "encoder_attn_layer_norm")
        for number, norm in enumerate(norms, start=1):
            name = name.replace(f".norm{number}.", f".{norm}.")
        name = name.replace("linear1", "fc1").replace("linear2", "fc2")
        name = name.replace("multihead_attn", "encoder_attn")
        name = name.replace("norm.", "layer_norm.") if name.startswith("norm.") else name
        if "in_proj_" in name and self.variant.attention == "apart":
            start, _, kind = name.rpartition(".in_proj_")
            for part, piece in zip("qkv", tensor.chunk(3), strict=True):
                yield f"{side}.{start}.{part}_proj.{kind}", piece.clone()
        else:
            yield f"{side}.{name}", tensor

    def _save(self) -> None:
        self.save({"args": self.options(), "model": self.tensors()})

    def save(self, content: Any) -> None:
        import torch

        torch.save(
            content,
            self.folder / "checkpoint.pt",
            _use_new_zipfile_serialization=self.variant.zipped,
        )

    def _embed(self, index: int, ids: list[int]) -> Any:
        import torch

        x = self.embedding[index](torch.tensor([ids]))
        if self.variant.scaled:
            x = x * math.sqrt(WIDTH)
        places = range(PAD + 1, PAD + 1 + len(ids))
        if self.variant.no_positions:
            pass
        elif self.variant.learned_positions:
            x = x + self.learned[index](torch.tensor([list(places)]))
        else:
            x = x + torch.tensor([[sinusoid(place) for place in places]])
        return self.embedding_norm[index](x) if self.variant.embedding_norm else x

    def ids(self, words: list[str], text: str) -> list[int]:
        numbers = {word: number for number, word in enumerate(words)}
        pieces = self.pieces.encode(text, out_type=str)
        return [numbers.get(piece, UNKNOWN) for piece in pieces]

    def log_probs(self, target: str, source: str, lang: str) -> list[float]:
        """Of the target's pieces and its end; the decoder reads the end, then the tag."""
        import torch

        tag = self.target_words.index(f"<{lang}>")
        body = self.ids(self.target_words, target)
        with torch.no_grad():
            memory = self.encoder(self._embed(0, [*self.ids(self.source_words, source), END]))
            inputs = self._embed(1, [END, tag, *body])
            mask = torch.full((len(body) + 2,) * 2, -torch.inf).triu(1)
            states = self.decoder(inputs, memory, tgt_mask=mask)[0]
            log_probs = torch.log_softmax(states @ self.output.T, dim=-1)
        return [float(log_probs[1 + place, id_]) for place, id_ in enumerate([*body, END])]


def sinusoid(place: int) -> list[float]:
    """The sines of a place, then its cosines; wavelengths from 2 pi to 20000 pi."""
    half = WIDTH // 2
    angles = [place / 10000 ** (i / (half - 1)) for i in range(half)]
    return [*map(math.sin, angles), *map(math.cos, angles)]
