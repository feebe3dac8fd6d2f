"""``bleu-nltk``, ``chrf-nltk`` and ``meteor`` are nltk's numbers, and not sacrebleu's."""

from __future__ import annotations

import warnings
from typing import Any

import nltk
import pytest
from nltk.translate.bleu_score import SmoothingFunction, corpus_bleu, sentence_bleu
from nltk.translate.chrf_score import corpus_chrf, sentence_chrf
from nltk.translate.meteor_score import meteor_score

import tertium
from tertium.errors import SettingError
from tertium.measures.nltk import NoSynonyms

HYPOTHESES = [
    "It is a guide to action which ensures that the military always obeys the commands",
    "the cat sat on the mat .",
    "It rains.",
    "",
    "Morgen kommt Tom nach Hause.",
]
REFERENCES = [
    "It is a guide to action that ensures that the military will forever heed Party commands",
    "A cat sat on the mat .",
    "It is raining today.",
    "Empty no more.",
    "Tom kommt morgen nach Hause.",
]
OTHERS = ["It is the practical guide for the army", "cat", "It rains.", "", "Er kommt."]
SMOOTHING = ["method0", "method1", "method2", "method3", "method4"]


def words(texts: list[str]) -> list[list[str]]:
    return [text.split() for text in texts]


@pytest.mark.parametrize("smooth", SMOOTHING)
def test_bleu_is_nltks(smooth: str) -> None:
    method = getattr(SmoothingFunction(), smooth)
    bleu = tertium.load("bleu-nltk", smooth=smooth)
    scores = bleu.score(HYPOTHESES, REFERENCES)
    pairs = list(zip(words(HYPOTHESES), words(REFERENCES), strict=True))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = [sentence_bleu([b], a, smoothing_function=method) for a, b in pairs]
        if smooth != "method4":  # nltk gives it the length of the last segment
            system = corpus_bleu([[b] for _, b in pairs], [a for a, _ in pairs], [0.25] * 4, method)
            assert scores.system == pytest.approx(system, abs=1e-12)
    assert scores.segments == pytest.approx(expected, abs=1e-12)


def test_several_references_are_nltks() -> None:
    pairs = [list(pair) for pair in zip(REFERENCES, OTHERS, strict=True)]
    scores = tertium.load("bleu-nltk", order=2).score(HYPOTHESES, pairs)
    system = corpus_bleu([words(pair) for pair in pairs], words(HYPOTHESES), (0.5, 0.5))
    assert scores.system == pytest.approx(system, abs=1e-12)


def test_bleu_by_hand() -> None:
    """Five of six words, four of five pairs; as long as the reference: sqrt(5/6 * 4/5)."""
    found = tertium.score("a b c d e f", "x b c d e f", measure="bleu-nltk", order=2)
    assert found == pytest.approx((5 / 6 * 4 / 5) ** 0.5)


def test_unsmoothed_bleu_of_what_shares_no_fourgram_is_0() -> None:
    found = tertium.score(
        ["It rains.", "a b c x d e", "x"], ["It rains.", "a b c d e", "y"], **BLEU
    )
    assert found == [0.0, 0.0, 0.0]


BLEU: dict[str, Any] = {"measure": "bleu-nltk"}


def test_chrf_is_nltks() -> None:
    chrf = tertium.load("chrf-nltk")
    scores = chrf.score(HYPOTHESES, REFERENCES)
    pairs = zip(REFERENCES, HYPOTHESES, strict=True)
    assert scores.segments == pytest.approx([sentence_chrf(b, a) for b, a in pairs], abs=1e-12)
    assert scores.system == pytest.approx(corpus_chrf(REFERENCES, HYPOTHESES), abs=1e-12)


def test_chrf_by_hand() -> None:
    """Of "abc" in "abd": 2/3 of the letters, 1/2 of the pairs, none of the triples; beta 1."""
    found = tertium.score("abc", "abd", measure="chrf-nltk", char_order=3, beta=1.0)
    assert found == pytest.approx((2 / 3 + 1 / 2 + 0) / 3)


def test_chrf_takes_the_best_reference() -> None:
    chrf = tertium.load("chrf-nltk")
    assert chrf("guide", ["army", "guides"]) == chrf("guide", "guides")


def test_settings_are_signed() -> None:
    bleu = str(tertium.load("bleu-nltk", tokenize="segment").score(["a"], ["b"]).signature)
    assert "order:4|case:mixed|tok:segment-icu4py-" in bleu
    assert f"smooth:method0|nltk:{nltk.__version__}" in bleu
    chrf = str(tertium.load("chrf-nltk", beta=2.0, lowercase=True).score(["a"], ["b"]).signature)
    assert f"nc:6|beta:2.0|space:no|case:lc|nltk:{nltk.__version__}" in chrf


def test_words_of_a_script_without_spaces() -> None:
    pair = ("我昨天在家看书。", "我昨天在家看了书。")
    assert tertium.score(*pair, measure="bleu-nltk") == 0
    assert tertium.score(*pair, measure="bleu-nltk", tokenize="segment", smooth="method1") > 0.2


def test_settings_that_cannot_be() -> None:
    with pytest.raises(SettingError, match="smooth='method7'"):
        tertium.load("bleu-nltk", smooth="method7")
    with pytest.raises(SettingError, match="order=0"):
        tertium.load("bleu-nltk", order=0)
    with pytest.raises(SettingError, match="char_order=0"):
        tertium.load("chrf-nltk", char_order=0)


@pytest.mark.parametrize("name", ["bleu-nltk", "chrf-nltk"])
def test_without_nltk(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tertium.registry.find_spec", lambda name: None)
    with pytest.raises(SettingError, match=r"tertium\[nltk\]"):
        tertium.score("a", "b", measure=name)


def test_meteor_by_hand() -> None:
    """the-the and sat-sat are equal, cats-cat have the same stem: P is 3/3, R 3/4, in one chunk.

    F = PR / (0.9 P + 0.1 R), and the penalty is 0.5 (1/3)^3 (Lavie and Agarwal 2007).
    """
    meteor = tertium.load("meteor")
    F = 0.75 / (0.9 + 0.075)
    assert meteor("The cats sat", "the cat sat down") == pytest.approx(F * (1 - 0.5 / 27))
    swapped = 0.5 * (2 / 2) ** 3  # two chunks of one word each
    assert meteor("b a", "a b") == pytest.approx(1 - swapped)
    scores = meteor.score(["nothing", "a b"], [["else", "at all"], ["c", "a b"]])
    assert scores.segments == pytest.approx([0.0, 1 - 0.5 * (1 / 2) ** 3])
    assert scores.system == pytest.approx(sum(scores.segments) / 2)
    assert "stages:exact+stem|" in str(scores.signature)


def test_meteor_is_nltks() -> None:
    """With the same stages."""
    expected = [
        meteor_score([reference.split()], hypothesis.split(), wordnet=NoSynonyms())
        for reference, hypothesis in zip(REFERENCES, HYPOTHESES, strict=True)
    ]
    assert tertium.load("meteor").score(HYPOTHESES, REFERENCES).segments == expected


def test_meteor_without_the_data_of_wordnet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nltk.data, "path", [])
    with pytest.raises(SettingError, match="synonyms=yes needs the data of WordNet"):
        tertium.load("meteor", synonyms=True)("a", "a")
