"""The network of a detector: a pretrained or a small new encoder, with a classification head."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tertium.data.datasets.plain import read_pairs
from tertium.errors import ModelError, first_line
from tertium.models.convert.checkpoint import quiet
from tertium.models.convert.encoder import read_config, save_tokenizer
from tertium.models.encoders.sentence_modules import read_sentence_modules
from tertium.models.public import packaged_folder
from tertium.models.tokenizer import open_tokenizer_json
from tertium.storage.atomic import write_text
from tertium.training.detector.data import PairBatch
from tertium.training.detector.plan import DetectorPlan

TOKENIZER = "tokenizer.json"
SPECIAL_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def encoder_folder(init: str) -> Path:
    """Return the folder of an encoder, which may be part of an installed package."""
    folder = packaged_folder(init) or Path(init).expanduser()
    if not folder.is_dir():
        raise ModelError(f"{init}: no such Hugging Face folder")
    return read_sentence_modules(folder).transformer


def prepare_tokenizer(run: Path, plan: DetectorPlan) -> Any:
    """Return the run's tokenizer: that of the encoder, or one trained on the training pairs."""
    file = run / TOKENIZER
    if not file.is_file():
        run.mkdir(parents=True, exist_ok=True)
        if plan.init is not None:
            save_tokenizer(encoder_folder(plan.init), file)
        else:
            write_text(file, _train_tokenizer(plan).to_str(pretty=True))
    return open_tokenizer_json(file)


def new_classifier(plan: DetectorPlan, tokenizer: Any) -> Any:
    """Return the network that a run starts with; new weights are drawn from PyTorch's generator."""
    if plan.init is None:
        from transformers import BertConfig, BertForSequenceClassification

        small = plan.scratch
        config = BertConfig(
            vocab_size=tokenizer.get_vocab_size(with_added_tokens=True),
            hidden_size=small.width,
            num_hidden_layers=small.layers,
            num_attention_heads=small.heads,
            intermediate_size=4 * small.width,
            max_position_embeddings=max(128, plan.recipe.max_tokens),
            pad_token_id=SPECIAL_TOKENS.index("[PAD]"),
            num_labels=2,
        )
        return BertForSequenceClassification(config)
    return _load(encoder_folder(plan.init))


def padding(network: Any) -> int:
    """Return the id of the padding token."""
    return int(network.config.pad_token_id or 0)


def logits(network: Any, batch: PairBatch) -> Any:
    """Return the logits of both classes for each pair."""
    import torch

    arrays = {"input_ids": batch.ids, "attention_mask": batch.mask}
    if network.config.model_type == "bert":
        arrays["token_type_ids"] = batch.types
    inputs = {name: torch.from_numpy(rows).to(network.device) for name, rows in arrays.items()}
    return network(**inputs).logits


def save_classifier(network: Any, run: Path, out: Path) -> None:
    """Write a Hugging Face folder."""
    with quiet():
        network.save_pretrained(str(out))
    (out / TOKENIZER).write_bytes((run / TOKENIZER).read_bytes())
    config = {"tokenizer_class": "PreTrainedTokenizerFast"}
    (out / "tokenizer_config.json").write_text(json.dumps(config) + "\n", encoding="utf-8")


def _load(folder: Path) -> Any:
    from transformers import AutoModelForSequenceClassification

    read_config(folder)
    try:
        with quiet():  # transformers warns that the head is new
            return AutoModelForSequenceClassification.from_pretrained(
                folder, dtype="float32", num_labels=2
            )
    except Exception as error:  # from transformers, torch or safetensors
        raise ModelError(f"{folder} cannot be trained: {first_line(error)}") from error


def _train_tokenizer(plan: DetectorPlan) -> Any:
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers

    texts = [
        text.text
        for lang, file in plan.train
        for pair in read_pairs(Path(file), lang=lang)
        for text in (pair.a, pair.b)
    ]
    # Byte-level BPE: the trainer of WordPiece is not deterministic.
    tokenizer = Tokenizer(models.BPE(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    trainer = trainers.BpeTrainer(
        vocab_size=plan.scratch.vocabulary,
        special_tokens=list(SPECIAL_TOKENS),
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.post_processor = processors.BertProcessing(
        *((name, SPECIAL_TOKENS.index(name)) for name in ("[SEP]", "[CLS]"))
    )
    return tokenizer
