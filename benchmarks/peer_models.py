"""Make M2M100 folders that both nmtscore and Tertium load.

The weights are random, for a given shape, or those of a model that was trained in the convention of
Prism. The subword tokens are those of the bundled model; the vocabulary is padded with unused
tokens, so that it costs as much as the real one.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sentencepiece import SentencePieceProcessor

from tertium.models.catalog import find

TAGS = 100
"""The number of languages of M2M100; their tags follow the vocabulary."""
MADE_UP = 8
"""The number of placeholder tokens that the tokenizer adds after the tags."""
POSITIONS = 256
SEED = 20221
SAMPLES = 16
SEARCH = {"max_length": 200, "num_beams": 5, "early_stopping": True}


@dataclass(frozen=True)
class Shape:
    """The size of a model."""

    width: int
    inner: int
    layers: int
    heads: int
    words: int
    """The size of the vocabulary."""


SHAPES = {
    "m2m100-60M": Shape(width=512, inner=2048, layers=6, heads=8, words=32_000),
    "m2m100-418M": Shape(width=1024, inner=4096, layers=12, heads=16, words=128_004),
}


def make_random(shape: Shape, folder: Path, *, length: int) -> Path:
    """A model with random weights, whose translations have about ``length`` tokens."""
    import torch

    tokenizer = find("tertium-mini").path / "spm.model"
    words = _write_tokenizer(tokenizer, folder, shape.words)
    torch.manual_seed(SEED)
    network = _network(
        vocab_size=shape.words + TAGS + MADE_UP,
        d_model=shape.width,
        **{
            f"{side}_{name}": value
            for side in ("encoder", "decoder")
            for name, value in (
                ("layers", shape.layers),
                ("ffn_dim", shape.inner),
                ("attention_heads", shape.heads),
            )
        },
    )
    with torch.no_grad():
        embeddings = network.get_input_embeddings().weight
        embeddings[words : shape.words] = 0.0  # never the most probable
        embeddings[shape.words :] *= 0.5  # no text contains a tag
        _end_at(length, network)
    _save(network, folder)
    return folder


def make_trained(original: Path, folder: Path) -> Path:
    """A trained model in the convention of Prism, its tags moved to their ids in M2M100."""
    import torch
    from transformers import M2M100ForConditionalGeneration

    trained = M2M100ForConditionalGeneration.from_pretrained(original)
    old = trained.get_input_embeddings().weight.detach()
    words = _write_tokenizer(original / "spm.model", folder, len(old))
    config = {**trained.config.to_dict(), "vocab_size": words + TAGS + MADE_UP}
    network = M2M100ForConditionalGeneration(type(trained.config)(**config))
    processor = SentencePieceProcessor(model_file=str(original / "spm.model"))
    with torch.no_grad():
        weights = dict(trained.named_parameters())
        for name, parameter in network.named_parameters():
            if parameter.shape == weights[name].shape:
                parameter.copy_(weights[name])
        new = network.get_input_embeddings().weight
        new.zero_()
        new[:words] = old
        for place, tag in enumerate(_tags()):
            id_ = processor.piece_to_id(tag)
            if processor.id_to_piece(id_) == tag:
                new[words + place] = old[id_]
                new[id_] = 0.0  # replaced by the tag of M2M100
    _save(network, folder)
    return folder


def _save(network: Any, folder: Path) -> None:
    """Write the network, with the search settings of the published M2M100.

    Old versions of transformers read them from ``config.json``, where new ones do not write them.
    """
    network.save_pretrained(folder)
    (folder / "generation_config.json").unlink()
    file = folder / "config.json"
    config = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps({**config, **SEARCH}, indent=1), encoding="utf-8")


def _network(**sizes: Any) -> Any:
    from transformers import M2M100Config, M2M100ForConditionalGeneration

    return M2M100ForConditionalGeneration(
        M2M100Config(
            max_position_embeddings=POSITIONS,
            bos_token_id=0,
            pad_token_id=1,
            eos_token_id=2,
            decoder_start_token_id=2,
            **sizes,
        )
    ).eval()


def _write_tokenizer(tokenizer: Path, folder: Path, words: int) -> int:
    """Write the files of an M2M100 tokenizer; returns the number of real tokens."""
    folder.mkdir(parents=True)
    shutil.copyfile(tokenizer, folder / "sentencepiece.bpe.model")
    processor = SentencePieceProcessor(model_file=str(tokenizer))
    real = min(words, processor.get_piece_size())
    tags = set(_tags())
    vocabulary = {f"<unused{id_}>": id_ for id_ in range(words)}
    for id_ in range(real):
        token = processor.id_to_piece(id_)
        if token not in tags:  # the tags follow the vocabulary
            del vocabulary[f"<unused{id_}>"]
            vocabulary[token] = id_
    (folder / "vocab.json").write_text(json.dumps(vocabulary), encoding="utf-8")
    (folder / "tokenizer_config.json").write_text(
        json.dumps({"tokenizer_class": "M2M100Tokenizer", "language_codes": "m2m100"}),
        encoding="utf-8",
    )
    return real


def _tags() -> list[str]:
    from transformers.models.m2m_100.tokenization_m2m_100 import FAIRSEQ_LANGUAGE_CODES

    return [f"__{code}__" for code in FAIRSEQ_LANGUAGE_CODES["m2m100"]]


def _end_at(length: int, network: Any) -> None:
    """Make the end of the text more probable with every position.

    Positions are encoded by sines of many wavelengths. One of them rises up to ``length`` and
    beyond; the embedding of the end token is a multiple of it, such that the end has a higher
    probability than any word from there on.
    """
    import torch

    config = network.config
    half = config.d_model // 2
    waves = torch.exp(torch.arange(half) * -(torch.log(torch.tensor(10_000.0)) / (half - 1)))
    # the sine with its maximum at twice the length
    rising = int((waves - torch.pi / (4 * length)).abs().argmin())
    embeddings = network.get_input_embeddings().weight
    embeddings[:, rising] = 0.0
    embeddings[config.eos_token_id] = 0.0
    words = torch.randint(100, 5000, (SAMPLES, length))
    output = network(input_ids=words, decoder_input_ids=words, output_hidden_states=True)
    strongest = output.logits[:, -1].max(dim=-1).values
    rise = output.decoder_hidden_states[-1][:, -1, rising]
    embeddings[config.eos_token_id, rising] = (strongest / rise).median()
