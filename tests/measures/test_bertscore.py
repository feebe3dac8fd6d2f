"""BERTScore by hand, and against the package."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import tertium
from tertium.errors import SettingError
from tertium.measures.bertscore import BertScore, Match
from tertium.measures.loading import load
from tertium.models.convert.encoder import convert_encoder
from tertium.text import Text

from ..fakes import FakeEncoder
from ..tiny_encoders import make_tiny_encoder

S = math.sqrt(3) / 2
# Cosines: a-b 0.5, a-c 0, b-c sqrt(3)/2; x and a are opposites.
VECTORS = {
    "a": (1.0, 0.0),
    "b": (0.5, S),
    "c": (0.0, 2.0),
    "x": (-3.0, 0.0),
    "<s>": (0.0, -1.0),
    "</s>": (0.0, -1.0),
}
HYPOTHESES = ["The sea was calm.", "She reads", "The", "Der alte Mann schläft.", "book book book"]
REFERENCES = ["The old man sleeps.", "She reads a book.", "sea", "The old man sleeps.", "a"]


@pytest.fixture
def encoder() -> FakeEncoder:
    return FakeEncoder(VECTORS)


def test_by_hand(encoder: FakeEncoder) -> None:
    """Hypothesis a b, reference c: P = (0 + S) / 2, R = S."""
    P, R = S / 2, S
    for part, wanted in (("P", P), ("R", R), ("F1", 2 * P * R / (P + R))):
        assert load("bertscore", encoder=encoder, part=part)("a b", "c") == pytest.approx(wanted)


def test_a_frame_is_matched_but_does_not_count(encoder: FakeEncoder) -> None:
    """x is opposite to a, and no better than at right angles to <s>, which it is matched with."""
    assert load("bertscore", encoder=encoder, part="P")("x", "a") == pytest.approx(0)


def test_rare_pieces_count_more(encoder: FakeEncoder) -> None:
    """Of the references a c, a and a: idf(a) = ln 4/4 = 0, idf(c) = ln 4/2, idf(b) = ln 4."""
    measure = load("bertscore", encoder=encoder, part="P", idf=True)
    found = measure(["a b", "c b", "a"], ["a c", "a", "a"])
    wanted_first = S  # a weighs nothing, b matches c
    wanted_second = (math.log(2) * 0 + math.log(4) * 0.5) / (math.log(2) + math.log(4))
    assert found == pytest.approx([wanted_first, wanted_second, 1])


def test_idf_looks_at_all_rows(encoder: FakeEncoder) -> None:
    assert load("bertscore", encoder=encoder, idf=True).needs_all_rows
    assert not load("bertscore", encoder=encoder).needs_all_rows


def test_baseline(encoder: FakeEncoder, tmp_path: Path) -> None:
    file = tmp_path / "baseline.tsv"
    file.write_text("LAYER,P,R,F\n2,0.1,0.1,0.1\n3,0.4,0.5,0.6\n")
    found = load("bertscore", encoder=encoder, baseline=file, part="R").score(["a b"], ["c"])
    assert found[0] == pytest.approx((S - 0.5) / (1 - 0.5))
    assert "baseline:0.400000/0.500000/0.600000" in str(found.signature)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("LAYER,P,R,F\n2,0.1,0.1,0.1\n", "line for layer 3"),
        ("LAYER,P,R\n3,0.1,0.1\n", "has no 'F'"),
        ("LAYER,P,R,F\n3,0.1,many,0.1\n", "not a number"),
    ],
)
def test_bad_baseline(encoder: FakeEncoder, tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "baseline.tsv"
    file.write_text(text)
    with pytest.raises(SettingError, match=message):
        load("bertscore", encoder=encoder, baseline=file)("a", "c")


def test_absent_baseline(encoder: FakeEncoder, tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="not readable"):
        load("bertscore", encoder=encoder, baseline=tmp_path / "none.tsv")("a", "c")


def test_nothing_matches_nothing_alone(encoder: FakeEncoder) -> None:
    texts = ["", "", "a"], ["", "a", "  "]
    assert load("bertscore", encoder=encoder, empty="formula")(*texts) == [1, 0, 0]
    assert load("bertscore", encoder=encoder)(*texts) == [0, 0, 0]


@pytest.mark.parametrize("family", ["bert", "roberta", "xlm-roberta", "distilbert"])
def test_same_as_the_package(family: str, tmp_path: Path) -> None:
    """bert-score (0.3.13 when this was written) on the same weights, layer by layer."""
    bert_score = pytest.importorskip("bert_score")
    original = make_tiny_encoder(family, tmp_path / "original")
    original.tokenizer.model_max_length = original.max_length
    original.tokenizer.save_pretrained(original.folder)
    convert_encoder(original.folder, tmp_path / "converted")
    for layer, idf, batch_size in ((2, False, 8), (3, False, 1), (3, True, 8)):
        encoder = tertium.load_encoder(tmp_path / "converted", layer=layer)
        measure = load("bertscore", encoder=encoder, idf=idf)
        assert isinstance(measure, BertScore)
        found, _ = measure.matches([Text(a) for a in HYPOTHESES], [Text(b) for b in REFERENCES])
        wanted = bert_score.score(
            HYPOTHESES,
            REFERENCES,
            model_type=str(original.folder),
            num_layers=layer,
            idf=idf,
            batch_size=batch_size,
        )
        for part, numbers in zip(Match._fields, wanted, strict=True):
            ours = [getattr(match, part) for match in found]
            np.testing.assert_allclose(ours, numbers.numpy(), atol=1e-4)


def test_padding_does_not_win() -> None:
    """bert-score gives padding a cosine of 0, which beats what is negative; we have no padding."""
    negative = {"a": (1.0, 0.0), "x": (-1.0, 0.1), "<s>": (-1.0, 0.0), "</s>": (-1.0, 0.0)}
    encoder = FakeEncoder(negative)
    alone = load("bertscore", encoder=encoder, part="P")("a", "x")
    with_longer = load("bertscore", encoder=encoder, part="P")(["a", "a"], ["x", "x x x x x"])
    assert alone < -0.9
    assert with_longer[0] == alone
