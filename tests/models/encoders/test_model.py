"""Every encoder gives the vectors of its original implementation, whatever the batch."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tertium.errors import ModelError, SettingError
from tertium.models.base import TextEncoder
from tertium.models.catalog import load_encoder
from tertium.models.engine_file import read_engine_file

from ...conftest import ConvertedEncoder
from ...tiny import SENTENCES
from ...tiny_encoders import ENCODERS, LAYERS, pooled
from ..convert.test_families import UGLY

LONG = "The sea was calm. She reads a book. " * 60
TEXTS = [*UGLY, *SENTENCES, LONG, "x"]


@pytest.fixture(params=list(ENCODERS))
def tiny_encoder(
    request: pytest.FixtureRequest, encoder: Callable[[str], ConvertedEncoder]
) -> ConvertedEncoder:
    """Every family in turn."""
    return encoder(request.param)


@pytest.mark.parametrize("layer", range(1, LAYERS + 1))
def test_token_vectors_equal_the_hidden_states(tiny_encoder: ConvertedEncoder, layer: int) -> None:
    original = tiny_encoder.original
    made = load_encoder(tiny_encoder.folder.path, layer=layer)
    for text, found in zip(TEXTS, made.token_vectors(TEXTS), strict=True):
        ids = original.ids(text)
        assert found.vectors == pytest.approx(original.hidden_states(text, layer), abs=1e-4), text
        assert len(found.tokens) == len(found.framing) == len(ids)
        assert found.framing == (True, *[False] * (len(ids) - 2), True)
        assert found.cut is original.cuts(text)


def test_no_layer_is_like_another(tiny_encoder: ConvertedEncoder) -> None:
    """The test above would pass for the wrong layer if all were alike."""
    states = [tiny_encoder.original.hidden_states(LONG, layer) for layer in range(LAYERS + 1)]
    for one, other in pairwise(states):
        assert np.abs(one - other).max() > 0.1


def test_sentence_vectors_are_the_mean_over_all_pieces(tiny_encoder: ConvertedEncoder) -> None:
    original = tiny_encoder.original
    found = load_encoder(tiny_encoder.folder.path).sentence_vectors(TEXTS)
    expected = pooled([original.hidden_states(text, LAYERS) for text in TEXTS])
    assert found.vectors == pytest.approx(expected, abs=1e-4)
    assert np.linalg.norm(found.vectors, axis=1) == pytest.approx(1, abs=1e-5)
    assert found.cut == tuple(map(original.cuts, TEXTS))
    assert any(found.cut)


def test_what_is_above_the_layer_is_not_loaded(
    tiny_encoder: ConvertedEncoder, tmp_path: Path
) -> None:
    path = tiny_encoder.folder.path / "model.bin"
    whole = read_engine_file(path)
    (tmp_path / "model.bin").write_bytes(b"".join(whole.encoder(1).parts()))
    assert read_engine_file(tmp_path / "model.bin").encoder_layers == 1
    assert (tmp_path / "model.bin").stat().st_size < path.stat().st_size
    (tmp_path / "copy.bin").write_bytes(b"".join(whole.parts()))
    assert (tmp_path / "copy.bin").read_bytes() == path.read_bytes()


@pytest.mark.parametrize("name", ["tertium-mini", "tiny"])
def test_int8_vectors_are_the_same_to_the_bit_in_any_batch(
    name: str, encoder: Callable[[str], ConvertedEncoder], tmp_path: Any
) -> None:
    from tertium.models.convert.encoder import convert_encoder

    where: Any = name
    if name == "tiny":
        where = convert_encoder(
            encoder("bert").original.folder, tmp_path / "int8", quantization="int8"
        ).path
    made = load_encoder(where, compute_type="int8")
    alone = [made.token_vectors([text])[0] for text in TEXTS]
    sentences = [made.sentence_vectors([text]).vectors[0] for text in TEXTS]
    order = list(range(len(TEXTS))) * 2
    random.Random(4).shuffle(order)
    other: Any = load_encoder(where, compute_type="int8", threads=3)
    for other._engine.batch_tokens in (1, 64, 5000):
        together = other.token_vectors([TEXTS[index] for index in order])
        for index, found in zip(order, together, strict=True):
            assert found.tokens == alone[index].tokens
            assert np.array_equal(found.vectors, alone[index].vectors)
        vectors = other.sentence_vectors([TEXTS[index] for index in order]).vectors
        assert np.array_equal(vectors, np.stack([sentences[index] for index in order]))


def test_each_distinct_text_is_encoded_once(encoder: Callable[[str], ConvertedEncoder]) -> None:
    made = load_encoder(encoder("bert").folder.path)
    seen: list[tuple[str, int, int]] = []
    texts = ["The sea.", "A book.", "The sea."] * 5
    made.token_vectors(texts, progress=lambda *step: seen.append(step))
    assert seen[-1] == ("encoding", 2, 2)
    found = made.token_vectors(texts)
    with pytest.raises(ValueError, match="read-only"):
        found[0].vectors[0, 0] = 1  # it is the vector of other texts, too


def test_no_text_no_vector(encoder: Callable[[str], ConvertedEncoder]) -> None:
    made = load_encoder(encoder("bert").folder.path)
    assert made.token_vectors([]) == []
    assert made.sentence_vectors([]).vectors.shape == (0, 32)
    assert isinstance(made, TextEncoder)


def test_special_tokens_in_a_text_are_text(tiny_encoder: ConvertedEncoder) -> None:
    made = load_encoder(tiny_encoder.folder.path)
    special = tiny_encoder.original.tokenizer.all_special_ids
    unknown = tiny_encoder.original.tokenizer.unk_token_id
    text = "a [SEP] </s> <pad> [PAD] <mask> [MASK] b"
    reading = made._reader.read([text], None)[0]  # type: ignore[attr-defined]
    assert not set(reading.ids[1:-1]) & (set(special) - {unknown})


def test_a_layer_that_is_not_there(encoder: Callable[[str], ConvertedEncoder]) -> None:
    for layer in (0, LAYERS + 1, -1):
        with pytest.raises(SettingError, match="tiny-bert has layers 1 to 3"):
            load_encoder(encoder("bert").folder.path, layer=layer)


def test_settings_tell_what_can_change_a_number(
    encoder: Callable[[str], ConvertedEncoder],
) -> None:
    folder = encoder("roberta").folder
    made = load_encoder(folder.path, layer=2)
    assert made.fingerprint == folder.fingerprint
    assert made.settings["layer"] == "2"
    assert made.settings["pooling"] == "mean"
    assert made.settings["precision"] == "float32"
    assert made.settings["engine"].startswith("ctranslate2-")
    with pytest.raises(SettingError, match="compute_type"):
        load_encoder(folder.path, compute_type="int4")  # type: ignore[arg-type]
    with pytest.raises(SettingError, match="threads"):
        load_encoder(folder.path, threads=0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_process_is_told_to_load_anew(encoder: Callable[[str], ConvertedEncoder]) -> None:
    made: Any = load_encoder(encoder("bert").folder.path)
    made._engine.process += 1
    try:
        with pytest.raises(ModelError, match="before this process was forked"):
            made.token_vectors(["a"])
    finally:
        made._engine.process -= 1


def test_a_damaged_file_of_the_engine(tmp_path: Any) -> None:
    file = tmp_path / "model.bin"
    for content in (b"", b"\x06\x00\x00\x00\x05", bytes(100), b"\x05\x00\x00\x00"):
        file.write_bytes(content)
        with pytest.raises(ModelError, match=r"model\.bin is"):
            read_engine_file(file)
