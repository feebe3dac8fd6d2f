"""Tiny models of the real architecture, made on the spot and shared by the whole run."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest
from sentencepiece import SentencePieceProcessor, SentencePieceTrainer

from tertium.models.convert import convert
from tertium.models.folder import ModelFolder

LANGUAGES = ("en", "de", "fr", "ru")
PARALLEL = (
    ("The sea was calm.", "Das Meer war ruhig.", "La mer était calme.", "Море было спокойным."),
    ("She reads a book.", "Sie liest ein Buch.", "Elle lit un livre.", "Она читает книгу."),
    ("The old man sleeps.", "Der alte Mann schläft.", "Le vieil homme dort.", "Старик спит."),
)
"""The same in all four languages."""
SENTENCES = tuple(sentence for sentences in PARALLEL for sentence in sentences)


@dataclass(frozen=True)
class TinyModel:
    """A small random model in Hugging Face's layout, with its original forward pass."""

    folder: Path
    torch: Any
    pieces: SentencePieceProcessor
    dialect: Literal["prism", "m2m100"]

    def ids(self, tokens: Sequence[str]) -> list[int]:
        vocabulary = json.loads((self.folder / "ids.json").read_text())
        return [vocabulary.get(token, vocabulary["<unk>"]) for token in tokens]

    def encoder_ids(self, source: str, source_lang: str) -> list[int]:
        tag = [] if self.dialect == "prism" else [f"__{source_lang}__"]
        return self.ids([*tag, *self.pieces.encode(source, out_type=str), "</s>"])

    def decoder_ids(self, target: str, target_lang: str) -> list[int]:
        pieces = self.pieces.encode(target, out_type=str)
        return self.ids(["</s>", f"__{target_lang}__", *pieces, "</s>"])

    def learn(self, steps: int = 150) -> None:
        """Learn the few sentences by heart, so that translations come to an end."""
        import torch

        torch.set_num_threads(1)
        pairs = [
            (self.encoder_ids(source, source_lang), self.decoder_ids(target, target_lang))
            for sentences in PARALLEL
            for source, source_lang in zip(sentences, LANGUAGES, strict=True)
            for target, target_lang in zip(sentences, LANGUAGES, strict=True)
        ]
        pad = torch.nn.utils.rnn.pad_sequence
        encoder = pad([torch.tensor(ids) for ids, _ in pairs], True, 1)
        decoder = pad([torch.tensor(ids) for _, ids in pairs], True, 1)
        optimizer = torch.optim.Adam(self.torch.parameters(), 5e-3)
        for _ in range(steps):
            logits = self.torch(
                input_ids=encoder,
                attention_mask=encoder != 1,
                decoder_input_ids=decoder[:, :-1],
            ).logits
            labels = decoder[:, 1:].reshape(-1)
            loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), labels, ignore_index=1)
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()

    def log_probs(
        self, target: str, source: str, target_lang: str, source_lang: str
    ) -> list[float]:
        """Force-decode with plain PyTorch: one sentence, no padding, nothing of ours."""
        import torch

        decoder = self.decoder_ids(target, target_lang)
        with torch.no_grad():
            logits = self.torch(
                input_ids=torch.tensor([self.encoder_ids(source, source_lang)]),
                decoder_input_ids=torch.tensor([decoder[:-1]]),
            ).logits[0]
        log_probs = torch.log_softmax(logits, dim=-1)
        picked = log_probs[range(len(decoder) - 1), decoder[1:]]
        return [float(x) for x in picked[1:]]  # without the language tag

    def translate(self, source: str, target_lang: str, source_lang: str) -> str:
        """Translate with transformers' own beam search."""
        import torch

        [output] = self.torch.generate(
            input_ids=torch.tensor([self.encoder_ids(source, source_lang)]),
            forced_bos_token_id=self.ids([f"__{target_lang}__"])[0],
            num_beams=5,
            max_new_tokens=60,
        )
        words = json.loads((self.folder / "ids.json").read_text())
        by_id = {id_: token for token, id_ in words.items()}
        tokens = [by_id[int(id_)] for id_ in output[2:]]
        return str(self.pieces.decode([token for token in tokens if token != "</s>"]))


def make_tiny_model(folder: Path, dialect: Literal["prism", "m2m100"]) -> TinyModel:
    """Train a tokenizer, draw random weights, and save both as the originals are saved."""
    import torch
    from transformers import M2M100Config, M2M100ForConditionalGeneration

    folder.mkdir()
    corpus = folder / "corpus.txt"
    corpus.write_text("\n".join(SENTENCES), encoding="utf-8")
    tags = [f"__{lang}__" for lang in LANGUAGES]
    SentencePieceTrainer.train(
        input=str(corpus),
        model_prefix=str(folder / "pieces"),
        vocab_size=420 if dialect == "prism" else 150,
        byte_fallback=dialect == "prism",
        bos_id=0,
        pad_id=1,
        eos_id=2,
        unk_id=3,
        user_defined_symbols=tags if dialect == "prism" else [],
        hard_vocab_limit=False,
        minloglevel=2,
    )
    pieces = SentencePieceProcessor(model_file=str(folder / "pieces.model"))
    tokens = [pieces.id_to_piece(id_) for id_ in range(pieces.get_piece_size())]
    name = "spm.model"
    if dialect == "m2m100":  # the tags follow the vocabulary, and some words are made up
        name = "sentencepiece.bpe.model"
        vocabulary = {token: id_ for id_, token in enumerate(tokens)}
        (folder / "vocab.json").write_text(json.dumps(vocabulary), encoding="utf-8")
        tokens = [*tokens, *tags, *(f"madeupword{n}" for n in range(4))]
    (folder / "pieces.model").rename(folder / name)
    (folder / "ids.json").write_text(json.dumps({token: i for i, token in enumerate(tokens)}))
    torch.manual_seed(7)
    config = M2M100Config(
        vocab_size=len(tokens),
        d_model=32,
        encoder_layers=2,
        decoder_layers=2,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        encoder_ffn_dim=64,
        decoder_ffn_dim=64,
        max_position_embeddings=64,
        bos_token_id=0,
        pad_token_id=1,
        eos_token_id=2,
        decoder_start_token_id=2,
    )
    tiny = TinyModel(folder, M2M100ForConditionalGeneration(config), pieces, dialect)
    tiny.learn()
    tiny.torch.eval().save_pretrained(folder)
    return tiny


@dataclass(frozen=True)
class Converted:
    """The same weights twice: in PyTorch, and in the engine's format."""

    original: TinyModel
    folder: ModelFolder


def converted(
    original: TinyModel, out: Path, quantization: Literal["int8"] | None = None
) -> Converted:
    folder = convert(
        original.folder,
        out,
        name=f"tiny-{original.dialect}",
        dialect=original.dialect,
        licence="CC0-1.0",
        languages=LANGUAGES if original.dialect == "m2m100" else (),
        quantization=quantization,
    )
    return Converted(original, folder)


@pytest.fixture(scope="session")
def tiny_m2m100(tmp_path_factory: pytest.TempPathFactory) -> Converted:
    scratch = tmp_path_factory.mktemp("m2m100")
    return converted(make_tiny_model(scratch / "original", "m2m100"), scratch / "converted")


@pytest.fixture(scope="session")
def tiny_prism(tmp_path_factory: pytest.TempPathFactory) -> Converted:
    scratch = tmp_path_factory.mktemp("prism")
    return converted(make_tiny_model(scratch / "original", "prism"), scratch / "converted")


@pytest.fixture(scope="session")
def tiny_int8(tiny_prism: Converted, tmp_path_factory: pytest.TempPathFactory) -> Converted:
    return converted(tiny_prism.original, tmp_path_factory.mktemp("int8") / "converted", "int8")


@pytest.fixture(params=["tiny_m2m100", "tiny_prism"])
def tiny(request: pytest.FixtureRequest) -> Converted:
    """Both dialects in turn."""
    found: Converted = request.getfixturevalue(request.param)
    return found
