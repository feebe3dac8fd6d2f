"""Small causal language models of every family: real architectures with random weights."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .tiny import SENTENCES

START, END = "<|start|>", "<|end|>"


@dataclass(frozen=True)
class TinyLanguageModel:
    """A network in transformers, its tokenizer, and the folder in which both are saved."""

    family: str
    folder: Path
    model: Any
    tokenizer: Any
    start: str

    def log_probs(self, text: str, prompt: str = "") -> list[float]:
        """The log-probabilities of the text's tokens and of the end, with plain PyTorch."""
        context = self.ids(prompt)
        whole = self.ids(prompt + text)
        assert whole[: len(context)] == context  # no token spans prompt and text
        ids = [self.id(self.start), *whole, self.id(END)]
        return self.of_ids(ids)[len(context) :]

    def of_ids(self, ids: Sequence[int]) -> list[float]:
        """The log-probabilities of all tokens but the first."""
        import torch

        with torch.no_grad():
            logits = self.model(torch.tensor([ids])).logits[0]
        log_probs = torch.log_softmax(logits, dim=-1)
        return [float(x) for x in log_probs[range(len(ids) - 1), ids[1:]]]

    def ids(self, text: str) -> list[int]:
        return list(self.tokenizer(text, add_special_tokens=False)["input_ids"])

    def id(self, token: str) -> int:
        return int(self.tokenizer.convert_tokens_to_ids(token))


def byte_tokenizer(specials: Sequence[str]) -> Any:
    """Byte-level BPE, as GPT-2, SmolLM2, Llama 3 and Qwen have it."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=320,
        special_tokens=list(specials),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    made.train_from_iterator(SENTENCES, trainer)
    return made


def piece_tokenizer(specials: Sequence[str], prepend: bool) -> Any:
    """SentencePiece as BPE with bytes for unknown characters, as Llama 2 and Gemma have it."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

    trained = Tokenizer(models.BPE(unk_token="<unk>"))
    trained.normalizer = normalizers.Replace(" ", "▁")
    trained.pre_tokenizer = pre_tokenizers.Split("▁", "merged_with_next")
    bytes_ = [f"<0x{byte:02X}>" for byte in range(256)]
    trainer = trainers.BpeTrainer(
        vocab_size=400, special_tokens=["<unk>", *specials, *bytes_], show_progress=False
    )
    trained.train_from_iterator(SENTENCES, trainer)
    content = json.loads(trained.to_str())["model"]
    made = Tokenizer(
        models.BPE(
            content["vocab"],
            [tuple(pair) for pair in content["merges"]],
            unk_token="<unk>",
            byte_fallback=True,
            fuse_unk=True,
        )
    )
    steps = [normalizers.Prepend("▁")] if prepend else []
    made.normalizer = normalizers.Sequence([*steps, normalizers.Replace(" ", "▁")])
    made.decoder = decoders.Replace("▁", " ")
    made.add_special_tokens(list(specials))
    return made


def _sizes(**more: Any) -> dict[str, Any]:
    return {
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": 64,
        **more,
    }


def _rope(theta: float, **more: Any) -> dict[str, Any]:
    return {"rope_parameters": {"rope_type": "default", "rope_theta": theta, **more}}


def _network(family: str, size: int) -> Any:
    import transformers as hf

    match family:
        case "gpt2":
            config = hf.GPT2Config(vocab_size=size, n_positions=64, n_embd=32, n_layer=2, n_head=4)
            return hf.GPT2LMHeadModel(config)
        case "opt":
            sizes = _sizes(ffn_dim=64, word_embed_proj_dim=32)
            return hf.OPTForCausalLM(hf.OPTConfig(vocab_size=size, **sizes))
        case "llama":
            return hf.LlamaForCausalLM(hf.LlamaConfig(vocab_size=size, **_sizes()))
        case "smollm2":
            more = _sizes(tie_word_embeddings=True, **_rope(130000.0))
            return hf.LlamaForCausalLM(hf.LlamaConfig(vocab_size=size, **more))
        case "mistral":
            more = _sizes(sliding_window=32)
            return hf.MistralForCausalLM(hf.MistralConfig(vocab_size=size, **more))
        case "qwen2":
            more = _sizes(**_rope(1e6))
            return hf.Qwen2ForCausalLM(hf.Qwen2Config(vocab_size=size, **more))
        case "qwen3":
            more = _sizes(head_dim=16, **_rope(1e6))
            return hf.Qwen3ForCausalLM(hf.Qwen3Config(vocab_size=size, **more))
        case "gemma":
            return hf.GemmaForCausalLM(hf.GemmaConfig(vocab_size=size, **_sizes(head_dim=8)))
        case "gemma2":
            more = _sizes(head_dim=8, query_pre_attn_scalar=8)
            return hf.Gemma2ForCausalLM(hf.Gemma2Config(vocab_size=size, **more))
        case "gemma3":
            more = _sizes(head_dim=8, query_pre_attn_scalar=8, sliding_window=32)
            return hf.Gemma3ForCausalLM(hf.Gemma3TextConfig(vocab_size=size, **more))
        case "gemma3-scaled":  # attention scaled by another number, as in the model of 27B
            more = _sizes(head_dim=8, query_pre_attn_scalar=2, sliding_window=32)
            return hf.Gemma3ForCausalLM(hf.Gemma3TextConfig(vocab_size=size, **more))
        case _:  # positions are scaled, as in Llama 3.1 and 3.2
            scaling = _rope(5e5, rope_type="llama3", factor=8.0, low_freq_factor=1.0)
            scaling["rope_parameters"] |= {
                "high_freq_factor": 4.0,
                "original_max_position_embeddings": 8192,
            }
            return hf.LlamaForCausalLM(hf.LlamaConfig(vocab_size=size, **_sizes(**scaling)))


FAMILIES = ("gpt2", "opt", "llama", "smollm2", "mistral", "qwen2", "qwen3", "gemma", "gemma3")
"""Those that the engine computes as transformers does."""
PIECES = ("llama", "mistral", "gemma", "gemma2", "gemma3", "gemma3-scaled")


def make_language_model(family: str, folder: Path) -> TinyLanguageModel:
    """Make a model with large random weights, so that every part of it counts, and save it."""
    import torch
    from transformers import AutoTokenizer

    folder.mkdir(parents=True)
    has_start = family not in ("qwen2", "qwen3")  # they start from the end token
    specials = [START, END] if has_start else [END]
    make: Callable[[], Any] = (
        (lambda: piece_tokenizer(specials, prepend=family in ("llama", "mistral")))
        if family in PIECES
        else (lambda: byte_tokenizer(specials))
    )
    backend = make()
    size = -(-backend.get_vocab_size() // 8) * 8  # some ids without a token, as real models have
    backend.save(str(folder / "tokenizer.json"))
    settings = {"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": END}
    if has_start:
        settings["bos_token"] = START
    (folder / "tokenizer_config.json").write_text(json.dumps(settings), encoding="utf-8")
    torch.manual_seed(3)
    network = _network(family, size).eval()
    for parameter in network.parameters():
        parameter.data.add_(torch.randn_like(parameter) * 0.4)
    network.tie_weights()
    network.config.bos_token_id = network.config.eos_token_id = None
    network.save_pretrained(folder)
    loaded = type(network).from_pretrained(folder).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    return TinyLanguageModel(family, folder, loaded, tokenizer, START if has_start else END)
