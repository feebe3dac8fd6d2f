"""Small models of every family: the real architectures, the real tokenizer classes, trained here.

Each learns a few sentences by heart, so that its translations come to an end.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sentencepiece import SentencePieceProcessor, SentencePieceTrainer

LANGUAGES = ("en", "de", "fr", "ru")
PARALLEL = (
    ("The sea was calm.", "Das Meer war ruhig.", "La mer était calme.", "Море было спокойным."),
    ("She reads a book.", "Sie liest ein Buch.", "Elle lit un livre.", "Она читает книгу."),
    ("The old man sleeps.", "Der alte Mann schläft.", "Le vieil homme dort.", "Старик спит."),
)
"""The same in all four languages."""
SENTENCES = tuple(sentence for sentences in PARALLEL for sentence in sentences)
FLORES = {"en": "eng_Latn", "de": "deu_Latn", "fr": "fra_Latn", "ru": "rus_Cyrl"}
MBART50 = {"en": "en_XX", "de": "de_DE", "fr": "fr_XX", "ru": "ru_RU"}
MARIAN = {"de": ">>deu<<", "fr": ">>fra<<"}
STEPS, MOST_STEPS, LEARNT = 150, 1500, 0.1
"""How long to learn: at least, at most, and the cross-entropy that is low enough. How fast it falls
depends on the processor."""


@dataclass(frozen=True)
class Tiny:
    """A family's smallest member, and its original way of making ids from text."""

    family: str
    folder: Path
    model: Any
    source_ids: Callable[[str, str, str], list[int]]
    """Text, its language, the target's language; as the original tokenizer frames it."""
    target_ids: Callable[[str, str], list[int]]
    """Text and language, without the start of the decoder, with the end."""
    prefix: int
    """How many tokens before the first piece of a target are forced."""
    decode: Callable[[list[int]], str]
    pad: int
    sources: Sequence[str] = LANGUAGES
    targets: Sequence[str] = LANGUAGES
    pad_is_nothing: bool = False
    """Marian has no padding token: transformers adds one, with zero weights, to start from."""
    code: Callable[[str], str] = str
    """The name that Tertium has for a language of this family."""
    parallel: Sequence[Sequence[str]] = PARALLEL
    """What it learns."""

    def directions(self) -> Iterator[tuple[str, str, str, str]]:
        """Every (target, source, target language, source language) there is to learn."""
        for sentences in self.parallel:
            by_lang = dict(zip(LANGUAGES, sentences, strict=True))
            for source in self.sources:
                for target in self.targets:
                    yield by_lang[target], by_lang[source], target, source

    def decoder_ids(self, target: str, lang: str) -> list[int]:
        return [self.model.config.decoder_start_token_id, *self.target_ids(target, lang)]

    def learn(self, steps: int | None = None) -> None:
        """Learn the translations, or train for a number of steps only."""
        import torch

        torch.set_num_threads(1)
        self.model.eval()  # without dropout it learns all of them, however the processor rounds
        pairs = list(self.directions())
        pad = torch.nn.utils.rnn.pad_sequence
        encoder = pad(
            [torch.tensor(self.source_ids(s, sl, tl)) for _, s, tl, sl in pairs], True, self.pad
        )
        decoder = pad([torch.tensor(self.decoder_ids(t, tl)) for t, _, tl, _ in pairs], True, -100)
        optimizer = torch.optim.Adam(self.model.parameters(), 5e-3)
        inputs = decoder[:, :-1].masked_fill(decoder[:, :-1] == -100, self.pad)
        for step in range(steps or MOST_STEPS):
            logits = self.model(
                input_ids=encoder,
                attention_mask=(encoder != self.pad).long(),
                decoder_input_ids=inputs,
            ).logits
            loss = torch.nn.functional.cross_entropy(
                logits.flatten(0, 1), decoder[:, 1:].reshape(-1)
            )
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            if self.pad_is_nothing:
                self.model.get_input_embeddings().weight.data[self.pad] = 0
            if step >= STEPS and loss.item() <= LEARNT:
                break

    def log_probs(
        self, target: str, source: str, target_lang: str, source_lang: str
    ) -> list[float]:
        """Force-decode with plain PyTorch: one sentence, no padding, nothing of ours."""
        import torch

        decoder = self.decoder_ids(target, target_lang)
        with torch.no_grad():
            logits = self.model(
                input_ids=torch.tensor([self.source_ids(source, source_lang, target_lang)]),
                decoder_input_ids=torch.tensor([decoder[:-1]]),
            ).logits[0]
        if self.pad_is_nothing:
            logits[:, self.pad] = -torch.inf
        log_probs = torch.log_softmax(logits, dim=-1)
        picked = log_probs[range(len(decoder) - 1), decoder[1:]]
        return [float(x) for x in picked[self.prefix :]]

    def translate(self, source: str, target_lang: str, source_lang: str) -> str:
        """Translate with transformers' own beam search."""
        import torch

        forced = {}
        if self.prefix:
            forced["forced_bos_token_id"] = self.target_ids("", target_lang)[0]
        [output] = self.model.generate(
            input_ids=torch.tensor([self.source_ids(source, source_lang, target_lang)]),
            num_beams=5,
            max_new_tokens=60,
            **forced,
        )
        ids = [int(id_) for id_ in output[1 + self.prefix :]]
        end = self.target_ids("", target_lang)[-1]
        return self.decode(ids[: ids.index(end)] if end in ids else ids)


def train_pieces(
    folder: Path, name: str, sentences: Sequence[str] = SENTENCES, **settings: Any
) -> SentencePieceProcessor:
    """Train a SentencePiece model on the few sentences."""
    corpus = folder / "corpus.txt"
    corpus.write_text("\n".join(sentences), encoding="utf-8")
    SentencePieceTrainer.train(
        input=str(corpus),
        model_prefix=str(folder / "trained"),
        hard_vocab_limit=False,
        minloglevel=2,
        **{"vocab_size": 150, "bos_id": 0, "pad_id": 1, "eos_id": 2, "unk_id": 3, **settings},
    )
    (folder / "trained.model").rename(folder / name)
    (folder / "trained.vocab").unlink()
    corpus.unlink()
    return SentencePieceProcessor(model_file=str(folder / name))


def m2m100_model(vocabulary: int) -> Any:
    import torch
    from transformers import M2M100Config, M2M100ForConditionalGeneration

    torch.manual_seed(7)
    return M2M100ForConditionalGeneration(
        M2M100Config(
            vocab_size=vocabulary,
            decoder_start_token_id=2,
            max_position_embeddings=64,
            **_bart_sizes(),
        )
    )


def _bart_sizes() -> dict[str, Any]:
    sizes = {"layers": 2, "attention_heads": 4, "ffn_dim": 64}
    sides = {f"{side}_{name}": n for side in ("encoder", "decoder") for name, n in sizes.items()}
    return {**sides, "d_model": 32, "bos_token_id": 0, "pad_token_id": 1, "eos_token_id": 2}


def make_prism(folder: Path) -> Tiny:
    """The convention of the bundled model: tags in the SentencePiece model, none on the source."""
    tags = [f"__{lang}__" for lang in LANGUAGES]
    pieces = train_pieces(
        folder, "spm.model", vocab_size=420, byte_fallback=True, user_defined_symbols=tags
    )
    return Tiny(
        family="prism",
        folder=folder,
        model=m2m100_model(pieces.get_piece_size()),
        source_ids=lambda text, lang, into: [*pieces.encode(text), 2],
        target_ids=lambda text, lang: [pieces.piece_to_id(f"__{lang}__"), *pieces.encode(text), 2],
        prefix=1,
        decode=lambda ids: str(pieces.decode(ids)),
        pad=1,
    )


def _m2m100_tokenizer(folder: Path, parallel: Sequence[Sequence[str]]) -> Any:
    from transformers import M2M100Tokenizer

    corpus = [sentence for sentences in parallel for sentence in sentences]
    pieces = train_pieces(folder, "sentencepiece.bpe.model", corpus)
    vocabulary = {pieces.id_to_piece(i): i for i in range(pieces.get_piece_size())}
    (folder / "vocab.json").write_text(json.dumps(vocabulary), encoding="utf-8")
    return M2M100Tokenizer(folder / "vocab.json", folder / "sentencepiece.bpe.model")


def make_m2m100(folder: Path, parallel: Sequence[Sequence[str]] = PARALLEL) -> Tiny:
    tokenizer = _m2m100_tokenizer(folder, parallel)

    def framed(text: str, lang: str) -> list[int]:
        tokenizer.src_lang = lang
        return list(tokenizer(text)["input_ids"])

    return Tiny(
        family="m2m100",
        folder=folder,
        model=m2m100_model(len(tokenizer.encoder) + 100 + tokenizer.num_madeup_words),
        source_ids=lambda text, lang, into: framed(text, lang),
        target_ids=framed,
        prefix=1,
        decode=lambda ids: str(tokenizer.decode(ids)),
        pad=1,
        parallel=parallel,
    )


def make_small100(folder: Path, parallel: Sequence[Sequence[str]] = PARALLEL) -> Tiny:
    """M2M100's files; its own tokenizer puts the target's language before the source."""
    tokenizer = _m2m100_tokenizer(folder, parallel)
    (folder / "tokenizer_config.json").write_text('{"tokenizer_class": "SMALL100Tokenizer"}')

    def ids(text: str) -> list[int]:
        return list(tokenizer.convert_tokens_to_ids(tokenizer.tokenize(text)))

    return Tiny(
        family="small100",
        folder=folder,
        model=m2m100_model(len(tokenizer.encoder) + 100 + tokenizer.num_madeup_words),
        source_ids=lambda text, lang, into: [tokenizer.get_lang_id(into), *ids(text), 2],
        target_ids=lambda text, lang: [*ids(text), 2],
        prefix=0,
        decode=lambda ids: str(tokenizer.decode(ids)),
        pad=1,
        parallel=parallel,
    )


def make_nllb(folder: Path) -> Tiny:
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers
    from transformers import NllbTokenizer

    trained = Tokenizer(models.BPE(unk_token="<unk>"))
    trained.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.BpeTrainer(
        vocab_size=150, special_tokens=["<s>", "<pad>", "</s>", "<unk>"], show_progress=False
    )
    trained.train_from_iterator(SENTENCES, trainer)
    made = json.loads(trained.to_str())["model"]
    tokenizer = NllbTokenizer(made["vocab"], [tuple(pair) for pair in made["merges"]])
    tokenizer.save_pretrained(folder)

    def framed(text: str, lang: str) -> list[int]:
        tokenizer.src_lang = FLORES[lang]
        return list(tokenizer(text)["input_ids"])

    return Tiny(
        family="nllb",
        folder=folder,
        model=m2m100_model(len(tokenizer)),
        source_ids=lambda text, lang, into: framed(text, lang),
        target_ids=framed,
        prefix=1,
        decode=lambda ids: str(tokenizer.decode(ids)).strip(),
        pad=1,
        code=FLORES.__getitem__,
    )


def _scored_pieces(pieces: SentencePieceProcessor) -> list[tuple[str, float]]:
    return [(pieces.id_to_piece(i), pieces.get_score(i)) for i in range(pieces.get_piece_size())]


def make_mbart50(folder: Path) -> Tiny:
    import torch
    from transformers import MBart50Tokenizer, MBartConfig, MBartForConditionalGeneration

    pieces = train_pieces(folder, "trained.spm", unk_id=0, bos_id=1, eos_id=2, pad_id=-1)
    tokenizer = MBart50Tokenizer(_scored_pieces(pieces), src_lang="en_XX")
    tokenizer.save_pretrained(folder)
    torch.manual_seed(7)
    config = MBartConfig(
        vocab_size=len(tokenizer),
        decoder_start_token_id=2,
        max_position_embeddings=64,
        tokenizer_class="MBart50Tokenizer",
        scale_embedding=True,
        normalize_before=True,
        normalize_embedding=True,
        **_bart_sizes(),
    )
    config.forced_eos_token_id = None

    def framed(text: str, lang: str) -> list[int]:
        tokenizer.src_lang = MBART50[lang]
        return list(tokenizer(text)["input_ids"])

    return Tiny(
        family="mbart50",
        folder=folder,
        model=MBartForConditionalGeneration(config),
        source_ids=lambda text, lang, into: framed(text, lang),
        target_ids=framed,
        prefix=1,
        decode=lambda ids: str(tokenizer.decode(ids)).strip(),
        pad=1,
    )


def make_madlad(folder: Path) -> Tiny:
    import torch
    from transformers import T5Config, T5ForConditionalGeneration, T5Tokenizer

    tags = [f"<2{lang}>" for lang in LANGUAGES]
    pieces = train_pieces(
        folder,
        "trained.spm",
        pad_id=0,
        eos_id=1,
        unk_id=2,
        bos_id=-1,
        user_defined_symbols=tags,
    )
    tokenizer = T5Tokenizer(_scored_pieces(pieces), extra_ids=0)
    tokenizer.save_pretrained(folder)
    torch.manual_seed(7)
    config = T5Config(
        vocab_size=len(tokenizer),
        d_model=32,
        d_kv=8,
        d_ff=64,
        num_layers=2,
        num_heads=4,
        feed_forward_proj="gated-gelu",
        tie_word_embeddings=False,
        decoder_start_token_id=0,
        pad_token_id=0,
        eos_token_id=1,
        dropout_rate=0.0,
    )
    return Tiny(
        family="madlad",
        folder=folder,
        model=T5ForConditionalGeneration(config),
        source_ids=lambda text, lang, into: list(tokenizer(f"<2{into}> {text}")["input_ids"]),
        target_ids=lambda text, lang: list(tokenizer(text)["input_ids"]),
        prefix=0,
        decode=lambda ids: str(tokenizer.decode(ids)),
        pad=0,
    )


def make_marian(folder: Path, targets: Sequence[str] = ("fr",)) -> Tiny:
    """English to French, or to several languages with a tag; two SentencePiece models."""
    import torch
    from transformers import MarianConfig, MarianMTModel, MarianTokenizer

    english = [sentences[0] for sentences in PARALLEL]
    others = [s[LANGUAGES.index(lang)] for s in PARALLEL for lang in targets]
    settings = {"vocab_size": 90, "bos_id": -1, "pad_id": -1, "eos_id": 0, "unk_id": 1}
    names = [
        processor.id_to_piece(i)
        for name, sentences in (("source.spm", english), ("target.spm", others))
        for processor in [train_pieces(folder, name, sentences, **settings)]
        for i in range(2, processor.get_piece_size())
    ]
    tags = [MARIAN[lang] for lang in targets] if len(targets) > 1 else []
    tokens = list(dict.fromkeys(["</s>", "<unk>", *tags, *names, "<pad>"]))
    (folder / "vocab.json").write_text(
        json.dumps({token: i for i, token in enumerate(tokens)}), encoding="utf-8"
    )
    files = [str(folder / name) for name in ("source.spm", "target.spm", "vocab.json")]
    tokenizer = MarianTokenizer(*files)
    pad = len(tokens) - 1
    torch.manual_seed(7)
    config = MarianConfig(
        vocab_size=len(tokens),
        max_position_embeddings=64,
        scale_embedding=True,
        decoder_start_token_id=pad,
        forced_eos_token_id=None,
        **{**_bart_sizes(), "pad_token_id": pad, "eos_token_id": 0, "bos_token_id": 0},
    )
    model = MarianMTModel(config)
    model.generation_config.bad_words_ids = [[pad]]  # as the published models have it

    def source_ids(text: str, lang: str, into: str) -> list[int]:
        return list(tokenizer((MARIAN[into] + " " if tags else "") + text)["input_ids"])

    return Tiny(
        family="marian",
        folder=folder,
        model=model,
        source_ids=source_ids,
        target_ids=lambda text, lang: list(tokenizer(text_target=text)["input_ids"]),
        prefix=0,
        decode=lambda ids: str(tokenizer.decode(ids)),
        pad=pad,
        sources=("en",),
        targets=targets,
        pad_is_nothing=True,
        code=(lambda lang: MARIAN[lang].strip("<>") if lang in MARIAN else lang) if tags else str,
    )


MAKERS: dict[str, Callable[[Path], Tiny]] = {
    "prism": make_prism,
    "m2m100": make_m2m100,
    "small100": make_small100,
    "nllb": make_nllb,
    "mbart50": make_mbart50,
    "madlad": make_madlad,
    "marian": make_marian,
    "marian-multi": lambda folder: make_marian(folder, ("de", "fr")),
}


def make_tiny(family: str, folder: Path) -> Tiny:
    """Make a family's tiny model, teach it, and save it as the original is saved."""
    folder.mkdir(parents=True)
    tiny = MAKERS[family](folder)
    tiny.learn()
    tiny.model.save_pretrained(folder)
    assert math.isfinite(sum(tiny.log_probs(PARALLEL[0][2], PARALLEL[0][0], "fr", "en")))
    return tiny


def make_untaught(family: str, folder: Path) -> Path:
    """The same without having learned anything: for tests that do not look at its numbers."""
    folder.mkdir(parents=True)
    MAKERS[family](folder).model.save_pretrained(folder)
    return folder
