"""Encoders are converted from whatever files they were published as, and run no code."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sentencepiece import SentencePieceProcessor

from tertium.errors import ModelError, SettingError
from tertium.models.card import EncoderSettings, read_card
from tertium.models.catalog import load_encoder
from tertium.models.convert.encoder import convert_encoder, is_encoder
from tertium.models.convert.translation import convert
from tertium.models.engine_file import read_engine_file

from ...conftest import Converted, ConvertedEncoder
from ...tiny import SENTENCES
from ...tiny_encoders import ENCODERS
from .test_families import UGLY
from .test_translation import Trap

Encoders = Callable[[str], ConvertedEncoder]


@pytest.fixture
def bert(encoder: Encoders, tmp_path: Path) -> Path:
    """A copy of the published folder, to be changed."""
    return shutil.copytree(encoder("bert").original.folder, tmp_path / "bert")


@pytest.mark.parametrize("family", list(ENCODERS))
def test_a_layer_that_is_cut_off_is_not_in_the_file(
    family: str, encoder: Encoders, tmp_path: Path
) -> None:
    original = encoder(family).original
    made = convert_encoder(original.folder, tmp_path / "cut", layer=2)
    assert (made.settings.layers, made.settings.layers_of_original) == (2, 3)
    assert read_engine_file(made.path / "model.bin").encoder_layers == 2
    assert made.sizes["model.bin"] < encoder(family).folder.sizes["model.bin"]
    [found] = load_encoder(made.path).token_vectors([SENTENCES[0]])
    expected = original.hidden_states(SENTENCES[0], 2)
    assert found.vectors == pytest.approx(expected, abs=1e-4)
    with pytest.raises(SettingError, match=r"layers 1 to 2; .*convert it again with layer=3"):
        load_encoder(made.path, layer=3)


def test_conversion_is_repeatable(encoder: Encoders, tmp_path: Path) -> None:
    first = encoder("bert")
    again = convert_encoder(first.original.folder, tmp_path / "again")
    assert again.fingerprint == first.folder.fingerprint
    again.verified()
    cut = convert_encoder(first.original.folder, tmp_path / "cut", layer=1)
    assert cut.fingerprint != again.fingerprint
    (again.path / "tokenizer.json").write_bytes(b" " * again.sizes["tokenizer.json"])
    with pytest.raises(ModelError, match="was changed or is damaged"):
        again.verified()


@pytest.fixture
def old(encoder: Encoders, tmp_path: Path) -> Callable[[str], Path]:
    """Folders as they were before ``tokenizer.json``."""

    def get(family: str) -> Path:
        folder = shutil.copytree(encoder(family).original.folder, tmp_path / "old")
        model = json.loads((folder / "tokenizer.json").read_text("utf-8"))["model"]
        for name in ("tokenizer.json", "tokenizer_config.json"):
            (folder / name).unlink()
        if family == "roberta":
            (folder / "vocab.json").write_text(json.dumps(model["vocab"]), "utf-8")
            merges = "\n".join(" ".join(pair) for pair in model["merges"])
            (folder / "merges.txt").write_text(f"#version: 0.2\n{merges}\n", "utf-8")
        elif family != "xlm-roberta":  # which has its sentencepiece.bpe.model
            pieces = sorted(model["vocab"], key=model["vocab"].__getitem__)
            (folder / "vocab.txt").write_text("\n".join(pieces) + "\n", "utf-8")
        return folder

    return get


def read_ids(folder: Path, texts: list[str]) -> list[list[int]]:
    made: Any = load_encoder(folder)
    return [list(reading.ids) for reading in made._reader.read(texts, None)]


@pytest.mark.parametrize("family", ["bert", "distilbert", "roberta"])
def test_folders_without_a_fast_tokenizer(
    family: str, old: Callable[[str], Path], encoder: Encoders, tmp_path: Path
) -> None:
    made = convert_encoder(old(family), tmp_path / "made")
    texts = [*UGLY, *SENTENCES]
    assert read_ids(made.path, texts) == [encoder(family).original.ids(text) for text in texts]


def test_a_folder_with_nothing_but_a_sentencepiece_model(
    old: Callable[[str], Path], tmp_path: Path
) -> None:
    """The numbers are SentencePiece's own, moved by one, as XLM-R has them."""
    folder = old("xlm-roberta")
    pieces = SentencePieceProcessor(model_file=str(folder / "sentencepiece.bpe.model"))
    made = convert_encoder(folder, tmp_path / "made")
    room = made.settings.max_length - 2
    texts = [text for text in [*UGLY, *SENTENCES] if "\u0323" not in text]
    expected = [[id_ + 1 if id_ else 3 for id_ in pieces.encode(text)][:room] for text in texts]
    assert read_ids(made.path, texts) == [[0, *ids, 2] for ids in expected]


def test_a_malicious_checkpoint_runs_nothing(bert: Path, tmp_path: Path) -> None:
    trapped = tmp_path / "trapped"
    (bert / "model.safetensors").unlink()
    torch.save({"embeddings.word_embeddings.weight": Trap(trapped)}, bert / "pytorch_model.bin")
    with pytest.raises(ModelError, match="cannot be converted"):
        convert_encoder(bert, tmp_path / "out")
    assert not trapped.exists()
    assert not (tmp_path / "out").exists()


def test_weights_from_before_safetensors(bert: Path, encoder: Encoders, tmp_path: Path) -> None:
    (bert / "model.safetensors").unlink()
    torch.save(dict(encoder("bert").original.model.state_dict()), bert / "pytorch_model.bin")
    made = convert_encoder(bert, tmp_path / "out")
    assert made.fingerprint == encoder("bert").folder.fingerprint


def test_missing_weights_are_not_made_up(bert: Path, encoder: Encoders, tmp_path: Path) -> None:
    (bert / "model.safetensors").unlink()
    weights = dict(encoder("bert").original.model.state_dict())
    del weights["encoder.layer.1.output.dense.weight"]
    torch.save(weights, bert / "pytorch_model.bin")
    with pytest.raises(ModelError, match="weights are missing"):
        convert_encoder(bert, tmp_path / "out")
    made = convert_encoder(bert, tmp_path / "first", layer=1)  # which does not need it
    assert made.settings.layers == 1


def test_what_cannot_be_converted_is_said(
    bert: Path, tiny_prism: Converted, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    with pytest.raises(ModelError, match="no such folder"):
        convert_encoder(tmp_path / "none", out)
    with pytest.raises(ModelError, match="encoders of type 'm2m_100' are unsupported"):
        convert_encoder(tiny_prism.original.folder, out)
    with pytest.raises(ModelError, match="translation models of type 'bert' are unsupported"):
        convert(bert, out)
    with pytest.raises(SettingError, match="has layers 1 to 3"):
        convert_encoder(bert, out, layer=4)
    config = json.loads((bert / "config.json").read_text("utf-8"))
    for change in ({"position_embedding_type": "relative_key"}, {"is_decoder": True}):
        (bert / "config.json").write_text(json.dumps({**config, **change}), "utf-8")
        with pytest.raises(ModelError, match="absolute positions"):
            convert_encoder(bert, out)
    (bert / "config.json").write_text(json.dumps({**config, "hidden_act": "tanh"}), "utf-8")
    with pytest.raises(ModelError, match="activation 'tanh'"):
        convert_encoder(bert, out)
    assert is_encoder(bert)
    assert not is_encoder(tiny_prism.original.folder)
    assert not is_encoder(tmp_path)


def write_modules(folder: Path, *kinds: str) -> None:
    modules = [
        {"idx": i, "name": str(i), "path": f"{i}_{kind}" if i else "", "type": f"st.models.{kind}"}
        for i, kind in enumerate(["Transformer", *kinds])
    ]
    (folder / "modules.json").write_text(json.dumps(modules))
    for module in modules[1:]:
        (folder / str(module["path"])).mkdir()


def write_dense(folder: Path, activation: str, *, safe: bool, bias: bool = True) -> Any:
    from safetensors.torch import save_file

    torch.manual_seed(2)
    linear = torch.nn.Linear(64, 16, bias=bias)
    config = {"activation_function": f"torch.nn.modules.activation.{activation}", "bias": bias}
    (folder / "config.json").write_text(json.dumps(config))
    weights = {f"linear.{name}": value.data for name, value in linear.named_parameters()}
    if safe:
        save_file(weights, folder / "model.safetensors")
    else:
        torch.save(weights, folder / "pytorch_model.bin")
    return linear


@pytest.mark.parametrize(
    ("activation", "safe", "bias"), [("Tanh", True, True), ("ReLU", False, False)]
)
def test_the_modules_of_sentence_transformers(
    bert: Path, encoder: Encoders, tmp_path: Path, activation: str, safe: bool, bias: bool
) -> None:
    """Pooling, Dense and Normalize by their documented formulas, in PyTorch."""
    write_modules(bert, "Pooling", "Dense", "Normalize")
    (bert / "1_Pooling" / "config.json").write_text(
        json.dumps({"pooling_mode_cls_token": True, "pooling_mode_max_tokens": True})
    )
    linear = write_dense(bert / "2_Dense", activation, safe=safe, bias=bias)
    (bert / "sentence_bert_config.json").write_text('{"max_seq_length": 9}')
    made = convert_encoder(bert, tmp_path / "made")
    assert made.settings.max_length == 9
    texts = ["", "The sea was calm.", *UGLY]
    loaded = load_encoder(made.path)
    found = loaded.sentence_vectors(texts)
    original = encoder("bert").original
    for text, vector, cut in zip(texts, found.vectors, found.cut, strict=True):
        ids = original.tokenizer(text, truncation=True, max_length=9)["input_ids"]
        with torch.no_grad():
            [states] = original.model(input_ids=torch.tensor([ids])).last_hidden_state
            both = torch.cat([states[0], states.max(dim=0).values])
            dense = getattr(torch.nn, activation)()(linear(both))
            expected = torch.nn.functional.normalize(dense, dim=0).numpy()
        assert vector == pytest.approx(expected, abs=1e-4), text
        assert cut is (len(original.tokenizer(text)["input_ids"]) > 9)
    assert loaded.settings["pooling"] == f"cls+max-dense.{activation.lower()}"
    lower = load_encoder(made.path, layer=1)  # what stands behind the last layer is left out
    assert lower.sentence_vectors(["The sea"]).vectors.shape == (1, 64)


def test_a_prefix_goes_before_the_text_of_a_sentence_vector(bert: Path, tmp_path: Path) -> None:
    prompts = {"prompts": {"query": "she reads: "}, "default_prompt_name": "query"}
    write_modules(bert, "Pooling")
    (bert / "1_Pooling" / "config.json").write_text('{"pooling_mode": "mean"}')
    (bert / "config_sentence_transformers.json").write_text(json.dumps(prompts))
    prompted = load_encoder(convert_encoder(bert, tmp_path / "prompted").path)
    plain = load_encoder(convert_encoder(bert, tmp_path / "plain", prefix="").path)
    assert prompted.settings["prefix"] == "she reads:"
    assert "prefix" not in plain.settings
    expected = plain.sentence_vectors(["she reads: a book"]).vectors
    assert np.array_equal(prompted.sentence_vectors(["a book"]).vectors, expected)
    tokens = [made.token_vectors(["a book"])[0].tokens for made in (prompted, plain)]
    assert tokens[0] == tokens[1]


def test_known_names_bring_their_layer_and_prefix(bert: Path, tmp_path: Path) -> None:
    config = json.loads((bert / "config.json").read_text("utf-8"))
    made = convert_encoder(bert, tmp_path / "out", name="multilingual-e5-small")
    assert made.settings.prefix == "query: "
    (bert / "config.json").write_text(json.dumps({**config, "num_hidden_layers": 12}))
    with pytest.raises(ModelError, match=r"weights are missing: encoder\.layer\.3"):
        convert_encoder(bert, tmp_path / "mbert", name="bert-base-multilingual-cased")


def test_modules_that_are_not_known(bert: Path, tmp_path: Path) -> None:
    write_modules(bert, "Pooling", "LSTM")
    pooling = bert / "1_Pooling" / "config.json"
    pooling.write_text('{"pooling_mode_lasttoken": true}')
    with pytest.raises(ModelError, match="pooling 'lasttoken' is unsupported"):
        convert_encoder(bert, tmp_path / "out")
    pooling.write_text('{"pooling_mode_mean_tokens": true, "include_prompt": false}')
    with pytest.raises(ModelError, match="without the prompt is unsupported"):
        convert_encoder(bert, tmp_path / "out")
    pooling.write_text("{}")
    with pytest.raises(ModelError, match="module LSTM is unsupported"):
        convert_encoder(bert, tmp_path / "out")


def test_a_malicious_dense_module_runs_nothing(bert: Path, tmp_path: Path) -> None:
    write_modules(bert, "Pooling", "Dense")
    (bert / "1_Pooling" / "config.json").write_text("{}")
    (bert / "2_Dense" / "config.json").write_text("{}")
    torch.save({"linear.weight": Trap(tmp_path / "trapped")}, bert / "2_Dense/pytorch_model.bin")
    with pytest.raises(ModelError, match="cannot be converted"):
        convert_encoder(bert, tmp_path / "out")
    assert not (tmp_path / "trapped").exists()


def test_a_card_that_is_not_whole(bert: Path, tmp_path: Path) -> None:
    made = convert_encoder(bert, tmp_path / "made")
    card = json.loads((made.path / "tertium.json").read_text("utf-8"))
    del card["layers"]
    (made.path / "tertium.json").write_text(json.dumps(card))
    with pytest.raises(ModelError, match="has no field 'layers'"):
        read_card(made.path, EncoderSettings)
    (made.path / "model.bin").unlink()
    (made.path / "tertium.json").write_text(json.dumps({**card, "layers": 3}))
    with pytest.raises(ModelError, match=r"model\.bin is missing"):
        read_card(made.path, EncoderSettings)
