"""Small encoders of every family: the real architectures and tokenizer classes, random weights."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .tiny import SENTENCES, train_pieces

LAYERS = 3
POSITIONS = {"mpnet": 160}
"""MPNet tells distances up to 128 apart."""
FEW_POSITIONS = 24
DEPTH = 32
BERT_FRAME = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
MPNET_FRAME = ("<s>", "<pad>", "</s>", "[UNK]", "<mask>")
ROBERTA_FRAME = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")


@dataclass(frozen=True)
class TinyEncoder:
    """A family's smallest member, as transformers has it."""

    family: str
    folder: Path
    model: Any
    tokenizer: Any

    @property
    def max_length(self) -> int:
        return POSITIONS.get(self.family, FEW_POSITIONS)

    def ids(self, text: str) -> list[int]:
        """As the original tokenizer frames and cuts a text."""
        framed = self.tokenizer(text, truncation=True, max_length=self.max_length)
        return list(framed["input_ids"])

    def cuts(self, text: str) -> bool:
        """Whether a text is longer than the model reads."""
        return len(self.tokenizer(text)["input_ids"]) > self.max_length

    def hidden_states(self, text: str, layer: int) -> NDArray[np.float32]:
        """The vectors of a layer, with plain PyTorch: one text, no padding."""
        import torch

        with torch.no_grad():
            output = self.model(input_ids=torch.tensor([self.ids(text)]), output_hidden_states=True)
        found: NDArray[np.float32] = output.hidden_states[layer][0].numpy()
        return found


def _wordpiece(frame: Sequence[str] = BERT_FRAME) -> dict[str, int]:
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    trained = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    trained.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(
        vocab_size=160, special_tokens=list(frame), show_progress=False
    )
    trained.train_from_iterator([sentence.lower() for sentence in SENTENCES], trainer)
    return trained.get_vocab()


def _bert_tokenizer(folder: Path) -> Any:
    from transformers import BertTokenizer

    return BertTokenizer(_wordpiece())


def _distilbert_tokenizer(folder: Path) -> Any:
    from transformers import DistilBertTokenizer

    return DistilBertTokenizer(_wordpiece())


def _mpnet_tokenizer(folder: Path) -> Any:
    from transformers import MPNetTokenizer

    return MPNetTokenizer(_wordpiece(MPNET_FRAME))


def _roberta_tokenizer(folder: Path) -> Any:
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers
    from transformers import RobertaTokenizer

    trained = Tokenizer(models.BPE())
    trained.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=330,
        special_tokens=list(ROBERTA_FRAME),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    trained.train_from_iterator(SENTENCES, trainer)
    made = json.loads(trained.to_str())["model"]
    return RobertaTokenizer(made["vocab"], [tuple(pair) for pair in made["merges"]])


def _xlm_roberta_tokenizer(folder: Path) -> Any:
    from transformers import XLMRobertaTokenizer

    pieces = train_pieces(
        folder, "sentencepiece.bpe.model", unk_id=0, bos_id=1, eos_id=2, pad_id=-1
    )
    scored = [(pieces.id_to_piece(i), pieces.get_score(i)) for i in range(3, len(pieces))]
    frame = [(token, 0.0) for token in ("<s>", "<pad>", "</s>", "<unk>")]
    return XLMRobertaTokenizer([*frame, *scored, ("<mask>", 0.0)])


def _sizes(tokenizer: Any, positions: int) -> dict[str, Any]:
    return {
        "vocab_size": len(tokenizer) + 3,  # as published: rounded up
        "hidden_size": DEPTH,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": 4,
        "intermediate_size": 64,
        "max_position_embeddings": positions,
        "pad_token_id": tokenizer.pad_token_id,
    }


ENCODERS: dict[str, tuple[Callable[[Path], Any], str, str, int]] = {
    "bert": (_bert_tokenizer, "BertConfig", "BertModel", 0),
    "distilbert": (_distilbert_tokenizer, "DistilBertConfig", "DistilBertModel", 0),
    "roberta": (_roberta_tokenizer, "RobertaConfig", "RobertaModel", 2),
    "xlm-roberta": (_xlm_roberta_tokenizer, "XLMRobertaConfig", "XLMRobertaModel", 2),
    "camembert": (_roberta_tokenizer, "CamembertConfig", "CamembertModel", 2),
    "mpnet": (_mpnet_tokenizer, "MPNetConfig", "MPNetModel", 2),
}


def make_tiny_encoder(family: str, folder: Path) -> TinyEncoder:
    """Make a family's tiny encoder, and save it as the original is saved."""
    import torch
    import transformers

    folder.mkdir(parents=True)
    torch.manual_seed(5)
    make_tokenizer, config, network, before_first = ENCODERS[family]
    tokenizer = make_tokenizer(folder)
    sizes = _sizes(tokenizer, before_first + POSITIONS.get(family, FEW_POSITIONS))
    model = getattr(transformers, network)(getattr(transformers, config)(**sizes))
    for name, weights in model.named_parameters():
        if "LayerNorm" in name or "layer_norm" in name or name.endswith("bias"):
            torch.nn.init.normal_(weights, 1.0 if name.endswith("weight") else 0.0, 0.1)
        elif weights.dim() > 1:
            torch.nn.init.normal_(weights, 0.0, 0.2)  # large enough to tell layers apart
    model.eval()
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return TinyEncoder(family, folder, model, tokenizer)


def pooled(states: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
    """The mean over all pieces, of length 1: the formula of sentence-transformers."""
    means = np.stack([rows.mean(axis=0) for rows in states])
    return np.asarray(means / np.linalg.norm(means, axis=1, keepdims=True), dtype=np.float32)
