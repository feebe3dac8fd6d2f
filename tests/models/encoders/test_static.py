"""A static encoder adds the vectors of a text's tokens; all numbers here are computed by hand."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
import sentencepiece

from tertium import load as tertium_load
from tertium.errors import ModelError, SettingError
from tertium.models.base import TextEncoder
from tertium.models.card import PIECES, STATIC_VECTORS, EncoderSettings, read_card, write_card
from tertium.models.catalog import load_encoder
from tertium.models.encoders.static import StaticEncoder, write_static_encoder

from ...cli.conftest import (
    Run,
    tertium,  # noqa: F401 (a fixture)
)

TABLE = {
    "▁dog": (3.0, 0.0),
    "▁bites": (0.0, 4.0),
    "▁man": (0.0, -1.0),
    "▁the": (0.0, 0.0),
}


def word_model() -> bytes:
    """A SentencePiece model whose tokens are the words of the table, in lower case."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["the dog bites the man"]),
        model_writer=model,
        model_type="word",
        vocab_size=len(TABLE) + 1,
        normalization_rule_name="nmt_nfkc_cf",
        unk_id=0,
        bos_id=-1,
        eos_id=-1,
        pad_id=-1,
        minloglevel=2,
    )
    return model.getvalue()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    model = word_model()
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    # the vector of the unknown token is replaced with zeros
    rows = [TABLE.get(processor.id_to_piece(id_), (9.0, 9.0)) for id_ in range(len(TABLE) + 1)]
    write_static_encoder(
        tmp_path / "tiny-static",
        np.array(rows),
        model,
        languages=("en",),
        name="tiny-static",
        licence="CC0-1.0",
        origin="by hand",
    )
    return tmp_path / "tiny-static"


def test_the_sum_of_the_tokens_with_length_one(folder: Path) -> None:
    encoder = load_encoder(folder)
    assert isinstance(encoder, TextEncoder)
    encoded = encoder.sentence_vectors(["dog bites", "Dog bites man man", "the", "", "cat", "man"])
    # (3, 4) / 5; (3, 4 - 2) / sqrt(13); no vector at all
    expected = [
        (0.6, 0.8),
        (3 / 13**0.5, 2 / 13**0.5),
        (0, 0),
        (0, 0),
        (0, 0),
        (0, -1),
    ]
    assert encoded.vectors == pytest.approx(np.array(expected), abs=1e-7)
    assert encoded.vectors.dtype == np.float32
    assert encoded.cut == (False,) * 6


def test_token_vectors_are_rows_of_the_table(folder: Path) -> None:
    empty, encoded = load_encoder(folder).token_vectors(["", "the DOG bites cat"])
    assert encoded.tokens == ("▁the", "▁dog", "▁bites", "▁cat")
    assert encoded.vectors == pytest.approx(np.array([(0, 0), (3, 0), (0, 4), (0, 0)]), abs=1e-6)
    assert encoded.framing == (False,) * 4
    assert not encoded.cut
    assert (empty.tokens, empty.framing) == (("</s>",), (True,))
    assert empty.vectors.tolist() == [[0, 0]]


def test_what_quantization_keeps(tmp_path: Path) -> None:
    """Each vector is a multiple of its largest component divided by 127, to the nearest."""
    rows = np.array([[0, 0, 0], [1.27, 0.634, -0.016], [254, 1, -1.1], [0, 0, 0], [-1, 1, 0.5]])
    write_static_encoder(
        tmp_path, rows, word_model(), languages=("en",), name="x", licence="", origin=""
    )
    with np.load(tmp_path / STATIC_VECTORS, allow_pickle=False) as arrays:
        # 0.634 / 0.01 = 63.4, -0.016 / 0.01 = -1.6; 1 / 2 = 0.5 and 63.5, to the even number
        expected = [[0, 0, 0], [127, 63, -2], [127, 0, -1], [0, 0, 0], [-127, 127, 64]]
        assert arrays["vectors"].tolist() == expected
        assert arrays["scales"] == pytest.approx([1, 0.01, 2, 1, 1 / 127])


def test_batches_and_orders_do_not_matter(folder: Path) -> None:
    encoder = load_encoder(folder)
    texts = ["dog bites man", "man", "", "dog " * 3_000, "man bites", "dog bites man"]
    together = encoder.sentence_vectors(texts).vectors
    for place in range(len(texts)):
        alone = encoder.sentence_vectors([texts[place]]).vectors[0]
        assert alone.tobytes() == together[place].tobytes()
    one, other = encoder.sentence_vectors(["dog bites man", "man bites dog"]).vectors
    assert one == pytest.approx(other, abs=1e-7)  # it cannot see the order of words


def test_unknown_and_empty_texts_are_not_similar_to_anything(folder: Path) -> None:
    encoder = load_encoder(folder)
    assert not encoder.sentence_vectors(["漢字", " "]).vectors.any()
    # the distance of the empty text to a word is the length of the word's vector
    [encoded] = encoder.token_vectors(["dog"])
    expected = -np.linalg.norm(encoded.vectors[0])
    assert tertium_load("wmd", encoder=encoder)([""], ["dog"]) == pytest.approx([expected])


def test_any_compute_type_gives_the_same_numbers(folder: Path) -> None:
    plain = load_encoder(folder).sentence_vectors(["dog bites man"]).vectors
    for compute_type in ("float32", "int8"):
        other = load_encoder(folder, compute_type=compute_type)
        assert other.sentence_vectors(["dog bites man"]).vectors.tobytes() == plain.tobytes()


def test_what_it_says_about_texts(folder: Path) -> None:
    encoder = load_encoder(folder)
    assert isinstance(encoder, StaticEncoder)
    assert encoder.too_long(["dog " * 10_000]) == [False]
    # "catcat" has 6 of 9 characters
    assert encoder.unknown_shares(["dog", "dog catcat", ""]) == pytest.approx([0, 2 / 3, 0])
    assert encoder.languages is not None
    assert encoder.languages.all == {"en"}
    assert encoder.settings == {"layer": "0", "pooling": "sum"}
    assert repr(encoder).startswith("StaticEncoder('tiny-static', languages=en, fingerprint=")


def test_there_are_no_layers(folder: Path) -> None:
    with pytest.raises(SettingError, match="layer 1: tiny-static is static and has no layers"):
        load_encoder(folder, layer=1)


def test_changed_files_are_refused(folder: Path) -> None:
    content = bytearray((folder / STATIC_VECTORS).read_bytes())
    content[-30] ^= 1
    (folder / STATIC_VECTORS).write_bytes(content)
    with pytest.raises(ModelError, match="was changed or is damaged"):
        load_encoder(folder)


def test_a_table_of_another_tokenizer_is_refused(tmp_path: Path) -> None:
    write_static_encoder(
        tmp_path, np.ones((3, 2)), word_model(), languages=(), name="x", licence="", origin=""
    )
    with pytest.raises(ModelError, match=f"has 3 vectors, but {PIECES} has 5 tokens"):
        load_encoder(tmp_path)


def test_pickled_objects_are_not_loaded(folder: Path) -> None:
    card = read_card(folder, EncoderSettings)
    np.savez(folder / STATIC_VECTORS, vectors=np.array([{"a": 1}], dtype=object), scales=np.ones(1))
    write_card(folder, card.settings, name="x", licence="", origin="")
    with pytest.raises(ModelError, match="not readable"):
        load_encoder(folder)


def test_the_command_line(tertium: Run, folder: Path) -> None:  # noqa: F811
    output = tertium("models", "info", str(folder)).stdout
    assert "encoder      static" in output
    assert "pooling      sum" in output
    assert "max length   none" in output
