"""Causal language models give the numbers and the tokens of transformers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tertium.errors import ModelError
from tertium.models.card import TOKENIZER
from tertium.models.convert.language import (
    convert_language_model,
    is_language_model,
    longest,
    special_tokens,
)
from tertium.models.language_model import CTranslate2LanguageModel, PromptTokenizer

from ...tiny import SENTENCES
from ...tiny_language import END, FAMILIES, START, TinyLanguageModel, make_language_model
from .test_families import UGLY, ugly_strings

TEXTS = (*SENTENCES[:6], " ".join(SENTENCES[:2]), "x", "")


@pytest.fixture(scope="module", params=FAMILIES)
def tiny(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> TinyLanguageModel:
    return make_language_model(request.param, tmp_path_factory.mktemp("lm") / request.param)


def test_every_family_equals_transformers(tiny: TinyLanguageModel, tmp_path: Path) -> None:
    folder = convert_language_model(tiny.folder, tmp_path / "made", licence="CC0-1.0")
    folder.verified()
    model = CTranslate2LanguageModel(folder, threads=1)
    for text, scores in zip(TEXTS, model.text_log_probs(TEXTS), strict=True):
        assert scores.log_probs == pytest.approx(tiny.log_probs(text), abs=1e-4), text
        assert list(scores.tokens[:-1]) == tiny.tokenizer.convert_ids_to_tokens(tiny.ids(text))
        assert scores.tokens[-1] == END
        assert not scores.cut
    prompt = SENTENCES[0] + "\n"
    texts = [text for text in TEXTS if not text.startswith(" ")]
    after = model.text_log_probs(texts, prompts=[prompt] * len(texts))
    for text, scores in zip(texts, after, strict=True):
        assert scores.log_probs == pytest.approx(tiny.log_probs(text, prompt), abs=1e-4), text


@pytest.mark.parametrize("family", ["gpt2", "llama", "gemma"])
def test_tokens_equal_those_of_the_original_tokenizer(family: str, tmp_path: Path) -> None:
    tiny = make_language_model(family, tmp_path / family)
    strings = [text for text in [*UGLY, *ugly_strings(300)] if text]
    ours = PromptTokenizer(tiny.folder / TOKENIZER).encode([""] * len(strings), strings)
    for text, (prompt, tokens) in zip(strings, ours, strict=True):
        assert not prompt
        assert tokens == tiny.tokenizer.convert_ids_to_tokens(tiny.ids(text)), text


@pytest.mark.parametrize("family", ["gpt2", "llama", "gemma"])
def test_prompt_and_text_are_read_as_one_string(family: str, tmp_path: Path) -> None:
    """The space before a word belongs to its token, on whichever side of the border it stands."""
    tiny = make_language_model(family, tmp_path / family)
    tokenizer = PromptTokenizer(tiny.folder / TOKENIZER)
    whole = tiny.tokenizer.convert_ids_to_tokens(tiny.ids("The sea was calm."))
    for prompt, text in [("The sea ", "was calm."), ("The sea", " was calm.")]:
        [(before, after)] = tokenizer.encode([prompt], [text])
        assert before + after == whole
        assert "".join(after).lstrip("▁Ġ").startswith("was")
    [(before, after)] = tokenizer.encode(["The sea"], [""])
    assert (before, after) == (tiny.tokenizer.convert_ids_to_tokens(tiny.ids("The sea")), [])
    [(_, after)] = tokenizer.encode([""], [f"a {END}"])
    assert END not in after  # special tokens in a text are characters


@pytest.mark.parametrize("family", ["gemma2", "gemma3-scaled", "llama-3.1"])
def test_what_the_engine_computes_differently_is_refused(family: str, tmp_path: Path) -> None:
    tiny = make_language_model(family, tmp_path / family)
    with pytest.raises(ModelError, match=r"differ from those of transformers|unsupported"):
        convert_language_model(tiny.folder, tmp_path / "made")
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize(
    ("family", "buffer"),
    [
        ("gpt2", "h.0.attn.bias"),
        ("gpt2", "h.1.attn.masked_bias"),
        ("llama", "model.layers.0.self_attn.rotary_emb.inv_freq"),
    ],
)
def test_old_checkpoints_hold_more_than_weights(family: str, buffer: str, tmp_path: Path) -> None:
    """GPT-2 was published without the name of its network, and with its masks."""
    import torch
    from safetensors.torch import load_file, save_file

    tiny = make_language_model(family, tmp_path / "tiny")
    file = tiny.folder / "model.safetensors"
    weights = {name.removeprefix("transformer."): x for name, x in load_file(file).items()}
    save_file({**weights, buffer: torch.ones(4)}, file, metadata={"format": "pt"})
    folder = convert_language_model(tiny.folder, tmp_path / "made")
    [scores] = CTranslate2LanguageModel(folder, threads=1).text_log_probs(["The sea"])
    assert scores.log_probs == pytest.approx(tiny.log_probs("The sea"), abs=1e-4)
    other = f"{buffer.partition('attn')[0]}other.weight"
    save_file({**weights, other: torch.ones(4)}, file, metadata={"format": "pt"})
    with pytest.raises(ModelError, match="without some of the weights"):
        convert_language_model(tiny.folder, tmp_path / "other")


def test_int8(tmp_path: Path) -> None:
    tiny = make_language_model("smollm2", tmp_path / "tiny")
    folder = convert_language_model(tiny.folder, tmp_path / "made", quantization="int8")
    [scores] = CTranslate2LanguageModel(folder, compute_type="int8").text_log_probs(["The sea"])
    assert pytest.approx(sum(tiny.log_probs("The sea")) / len(scores.tokens), abs=0.5) == scores.H


def test_recognition(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"architectures": ["BertModel"]}')
    assert not is_language_model(tmp_path)
    (tmp_path / "config.json").write_text('{"architectures": ["GPT2LMHeadModel"]}')
    assert is_language_model(tmp_path)
    assert not is_language_model(tmp_path / "nothing")
    (tmp_path / "config.json").write_text(
        '{"architectures": ["FalconForCausalLM"], "model_type": "falcon"}'
    )
    with pytest.raises(ModelError, match="'falcon' are unsupported"):
        convert_language_model(tmp_path, tmp_path / "made")


def test_length() -> None:
    here = Path("config")
    assert longest({"n_positions": 1024}, here) == 1024
    assert longest({"max_position_embeddings": 131072}, here) == 2048
    qwen = {"max_position_embeddings": 1024, "sliding_window": 512, "use_sliding_window": False}
    assert longest(qwen, here) == 1024


def test_start_and_end(tmp_path: Path) -> None:
    tokens = ["<unk>", START, END]
    ids = {"bos_token_id": 1, "eos_token_id": [2, 0]}
    assert special_tokens(tmp_path, ids, tokens) == (START, END)
    assert special_tokens(tmp_path, {"eos_token_id": 2}, tokens) == (END, END)
    settings = {"bos_token": None, "eos_token": {"content": END}}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(settings))
    assert special_tokens(tmp_path, {"bos_token_id": 1}, tokens) == (START, END)
    with pytest.raises(ModelError, match="end token"):
        special_tokens(tmp_path, {}, ["a"])
