"""One model for Tertium and its peers: an M2M100 folder that nmtscore and Tertium both load.

The weights are random, in a shape of one's choice, or those of a model that was trained in Prism's
convention. The pieces are those of the bundled model; the vocabulary is filled up with words that
no text has, so that it costs what the real one costs.
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
"""The languages of M2M100; their tags follow the vocabulary."""
MADE_UP = 8
"""Words that the tokenizer adds after the tags."""
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
    """Of the vocabulary."""


SHAPES = {
    "m2m100-60M": Shape(width=512, inner=2048, layers=6, heads=8, words=32_000),
    "m2m100-418M": Shape(width=1024, inner=4096, layers=12, heads=16, words=128_004),
}


def make_random(shape: Shape, folder: Path, *, length: int) -> Path:
    """A model whose weights are random, and whose translations end near ``length`` tokens."""
    import torch

    pieces = find("tertium-mini").path / "spm.model"
    words = _lay_tokenizer(pieces, folder, shape.words)
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
        embeddings[shape.words :] *= 0.5  # and no text goes on with a tag
        _end_at(length, network)
    _save(network, folder)
    return folder


def make_trained(original: Path, folder: Path) -> Path:
    """A trained model of Prism's convention, its tags moved to where M2M100 has them."""
    import torch
    from transformers import M2M100ForConditionalGeneration

    trained = M2M100ForConditionalGeneration.from_pretrained(original)
    old = trained.get_input_embeddings().weight.detach()
    words = _lay_tokenizer(original / "spm.model", folder, len(old))
    config = {**trained.config.to_dict(), "vocab_size": words + TAGS + MADE_UP}
    network = M2M100ForConditionalGeneration(type(trained.config)(**config))
    pieces = SentencePieceProcessor(model_file=str(original / "spm.model"))
    with torch.no_grad():
        weights = dict(trained.named_parameters())
        for name, parameter in network.named_parameters():
            if parameter.shape == weights[name].shape:
                parameter.copy_(weights[name])
        new = network.get_input_embeddings().weight
        new.zero_()
        new[:words] = old
        for place, tag in enumerate(_tags()):
            id_ = pieces.piece_to_id(tag)
            if pieces.id_to_piece(id_) == tag:
                new[words + place] = old[id_]
                new[id_] = 0.0  # said with the tag that M2M100 knows
    _save(network, folder)
    return folder


def _save(network: Any, folder: Path) -> None:
    """Write the network, with the search that the real M2M100 is published with.

    An old transformers looks for it in ``config.json``, where a new one does not write it.
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


def _lay_tokenizer(pieces: Path, folder: Path, words: int) -> int:
    """Write the files of M2M100's tokenizer; returns how many words are real."""
    folder.mkdir(parents=True)
    shutil.copyfile(pieces, folder / "sentencepiece.bpe.model")
    processor = SentencePieceProcessor(model_file=str(pieces))
    real = min(words, processor.get_piece_size())
    tags = set(_tags())
    vocabulary = {f"<unused{id_}>": id_ for id_ in range(words)}
    for id_ in range(real):
        piece = processor.id_to_piece(id_)
        if piece not in tags:  # they come after the words
            del vocabulary[f"<unused{id_}>"]
            vocabulary[piece] = id_
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

    A position is spelt in sines of many wavelengths. One of them rises all the way to ``length``
    and beyond; the embedding of the end lies along it, so far out that there the end wins over the
    most probable word.
    """
    import torch

    config = network.config
    half = config.d_model // 2
    waves = torch.exp(torch.arange(half) * -(torch.log(torch.tensor(10_000.0)) / (half - 1)))
    rising = int((waves - torch.pi / (4 * length)).abs().argmin())  # its top at twice the length
    embeddings = network.get_input_embeddings().weight
    embeddings[:, rising] = 0.0
    embeddings[config.eos_token_id] = 0.0
    words = torch.randint(100, 5000, (SAMPLES, length))
    output = network(input_ids=words, decoder_input_ids=words, output_hidden_states=True)
    strongest = output.logits[:, -1].max(dim=-1).values
    rise = output.decoder_hidden_states[-1][:, -1, rising]
    embeddings[config.eos_token_id, rising] = (strongest / rise).median()
