"""The encoder of a translation model gives the hidden states of its original."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tertium.errors import LanguageError
from tertium.models.catalog import load_encoder
from tertium.models.engine_file import EngineFile, read_engine_file

from ...conftest import Converted
from ...tiny import SENTENCES
from ..convert.test_families import UGLY


def hidden_states(converted: Converted, text: str, into: str, layer: int) -> Any:
    import torch

    original = converted.original
    ids = original.source_ids(text, original.sources[0], into)
    with torch.no_grad():
        output = original.model.get_encoder()(
            input_ids=torch.tensor([ids]), output_hidden_states=True
        )
    return output.hidden_states[layer][0].numpy()


@pytest.mark.parametrize("layer", [1, 2])
def test_token_vectors_equal_the_hidden_states(any_family: Converted, layer: int) -> None:
    original, folder = any_family.original, any_family.folder
    made = load_encoder(folder.path, layer=layer)
    names = {original.code(lang): lang for lang in original.targets}
    into = names.get(made.settings.get("into", ""), original.targets[-1])
    texts = [text for text in [*UGLY, *SENTENCES] if len(text) < 50]
    found = made.token_vectors(texts, lang=original.code(original.sources[0]))
    for text, vectors in zip(texts, found, strict=True):
        expected = hidden_states(any_family, text, into, layer)
        assert vectors.vectors == pytest.approx(expected, abs=1e-4), text
        assert vectors.framing[-1]
        assert not vectors.cut


def test_sentence_vectors_leave_the_frame_out(any_family: Converted) -> None:
    lang = any_family.original.code(any_family.original.sources[0])
    made = load_encoder(any_family.folder.path)
    texts = [*SENTENCES, ""]
    vectors = made.sentence_vectors(texts, lang=lang).vectors
    for tokens, vector in zip(made.token_vectors(texts, lang=lang), vectors, strict=True):
        inner = tokens.vectors[[not frames for frames in tokens.framing]]
        if any_family.original.family != "madlad":  # whose text has a space of its own
            assert len(inner) or not vector.any()
        if len(inner):
            mean = inner.mean(axis=0)
            assert vector == pytest.approx(mean / np.linalg.norm(mean), abs=1e-5)


def test_which_language_is_needed(family: Callable[[str], Converted]) -> None:
    m2m100 = load_encoder(family("m2m100").folder.path)
    with pytest.raises(LanguageError, match="language of the source is needed"):
        m2m100.token_vectors(["The sea."])
    [german, english] = m2m100.token_vectors(["sea", "sea"], lang=["deu", "en"])
    assert (german.tokens[0], english.tokens[0]) == ("__de__", "__en__")
    assert german.framing[0]
    prism = load_encoder(family("prism").folder.path)
    assert not prism.token_vectors(["The sea."])[0].framing[0]
    with pytest.raises(LanguageError, match="'xx'"):
        prism.sentence_vectors(["The sea."], lang="xx")


def test_the_same_target_stands_before_all_texts(family: Callable[[str], Converted]) -> None:
    small = load_encoder(family("small100").folder.path)
    assert small.settings["into"] == "en"
    found = small.token_vectors(["sea", "Meer"], lang=["en", "de"])
    assert {vectors.tokens[0] for vectors in found} == {"__en__"}
    marian = load_encoder(family("marian-multi").folder.path)
    assert marian.settings["into"] == "deu"  # of German and French
    madlad = load_encoder(family("madlad").folder.path)
    [vectors] = madlad.token_vectors(["sea"])
    tag = vectors.tokens.index("<2en>")
    assert all(vectors.framing[: tag + 1])
    assert not any(vectors.framing[tag + 1 : -1])


def test_too_long_text_is_cut_openly(any_family: Converted) -> None:
    made = load_encoder(any_family.folder.path)
    lang = any_family.original.code(any_family.original.sources[0])
    long = "a b " * 3000
    [vectors] = made.token_vectors([long], lang=lang)
    assert vectors.cut
    assert len(vectors.tokens) == any_family.folder.settings.max_length
    assert vectors.tokens[-1] == "</s>"
    assert made.sentence_vectors([long, "a"], lang=lang).cut == (True, False)


def encoder_bytes(whole: EngineFile, layer: int) -> bytes:
    out = io.BytesIO()
    out.writelines(whole.encoder(layer).parts())
    return out.getvalue()


def test_int8_weights_are_copied_as_they_are(tiny_int8: Converted) -> None:
    whole = read_engine_file(tiny_int8.folder.path / "model.bin")
    made = load_encoder(tiny_int8.folder.path, compute_type="int8")
    assert made.settings["precision"].startswith("int8-")
    content = (tiny_int8.folder.path / "model.bin").read_bytes()
    cut = encoder_bytes(whole, 2)
    name = "encoder/layer_1/ffn/linear_0/weight"
    weight = whole.variables[name]
    assert content[weight.start : weight.start + weight.size] in cut
    assert b"decoder/" not in cut
    assert len(cut) < len(content)


def test_the_final_norm_belongs_to_the_last_layer(tiny_prism: Converted) -> None:
    whole = read_engine_file(tiny_prism.folder.path / "model.bin")
    assert whole.encoder_layers == 2
    assert b"encoder/layer_norm/" in encoder_bytes(whole, 2)
    assert b"encoder/layer_norm/" not in encoder_bytes(whole, 1)
