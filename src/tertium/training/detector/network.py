"""The network of a detector: a Hugging Face encoder with a new head, or a small one of ours."""

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
from tertium.training.detector.data import PairBatch
from tertium.training.detector.plan import DetectorPlan

TOKENIZER = "tokenizer.json"
FRAME = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def encoder_folder(init: str) -> Path:
    """Where an encoder lies: a folder, or a package that brings it along."""
    folder = packaged_folder(init) or Path(init).expanduser()
    if not folder.is_dir():
        raise ModelError(f"{init}: there is no such folder of Hugging Face")
    return read_sentence_modules(folder).transformer


def prepare_tokenizer(run: Path, plan: DetectorPlan) -> Any:
    """Take the encoder's tokenizer, or learn one from the training pairs; once a run."""
    from tokenizers import Tokenizer

    file = run / TOKENIZER
    if not file.is_file():
        run.mkdir(parents=True, exist_ok=True)
        if plan.init is not None:
            save_tokenizer(encoder_folder(plan.init), file)
        else:
            _learn_tokenizer(plan).save(str(file))
    return Tokenizer.from_file(str(file))


def new_classifier(plan: DetectorPlan, tokenizer: Any) -> Any:
    """The network that a run starts with; its head is random, and so are others' by the seed."""
    import torch

    torch.manual_seed(plan.seed)
    if plan.init is None:
        from transformers import BertConfig, BertForSequenceClassification

        small = plan.scratch
        config = BertConfig(
            vocab_size=tokenizer.get_vocab_size(with_added_tokens=True),
            hidden_size=small.width,
            num_hidden_layers=small.layers,
            num_attention_heads=small.heads,
            intermediate_size=4 * small.width,
            max_position_embeddings=max(128, plan.recipe.max_pieces),
            pad_token_id=FRAME.index("[PAD]"),
            num_labels=2,
        )
        return BertForSequenceClassification(config)
    return _load(encoder_folder(plan.init))


def padding(network: Any) -> int:
    """The number of the piece that fills up a batch."""
    return int(network.config.pad_token_id or 0)


def logits(network: Any, batch: PairBatch) -> Any:
    """What the network says of each pair, for either class."""
    import torch

    given = {
        "input_ids": torch.from_numpy(batch.ids),
        "attention_mask": torch.from_numpy(batch.mask),
    }
    if network.config.model_type == "bert":
        given["token_type_ids"] = torch.from_numpy(batch.types)
    return network(**given).logits


def save_classifier(network: Any, run: Path, out: Path) -> None:
    """Write a Hugging Face folder."""
    with quiet():
        network.save_pretrained(str(out))
    content = (run / TOKENIZER).read_bytes()
    (out / TOKENIZER).write_bytes(content)
    limit = {"tokenizer_class": "PreTrainedTokenizerFast"}
    (out / "tokenizer_config.json").write_text(json.dumps(limit) + "\n", encoding="utf-8")


def _load(folder: Path) -> Any:
    from transformers import AutoModelForSequenceClassification

    read_config(folder)
    try:
        with quiet():  # that the head is new is no news
            return AutoModelForSequenceClassification.from_pretrained(
                folder, dtype="float32", num_labels=2
            )
    except Exception as error:  # of transformers, torch or safetensors
        raise ModelError(f"{folder} cannot be trained: {first_line(error)}") from error


def _learn_tokenizer(plan: DetectorPlan) -> Any:
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers

    texts = [
        text.text
        for lang, file in plan.train
        for pair in read_pairs(Path(file), lang=lang)
        for text in (pair.a, pair.b)
    ]
    # BPE of bytes: the trainer of WordPiece gives other pieces each time.
    made = Tokenizer(models.BPE(unk_token="[UNK]"))
    made.normalizer = normalizers.NFC()
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    trainer = trainers.BpeTrainer(
        vocab_size=plan.scratch.vocabulary,
        special_tokens=list(FRAME),
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    made.train_from_iterator(texts, trainer)
    places = {name: FRAME.index(name) for name in ("[SEP]", "[CLS]")}
    made.post_processor = processors.BertProcessing(
        ("[SEP]", places["[SEP]"]), ("[CLS]", places["[CLS]"])
    )
    return made
