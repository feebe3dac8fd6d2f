"""NIST is what Doddington's paper defines, what nltk computes, and what mteval computes."""

from __future__ import annotations

import math

import pytest
from nltk.translate.nist_score import corpus_nist, sentence_nist

import tertium
from tertium.errors import SettingError

# The example of nltk's docstring, which has it from the BLEU paper.
GUIDE = (
    "It is a guide to action which ensures that the military always obeys the commands of the party"
)
TROOPS = "It is to insure the troops forever hearing the activity guidebook that party direct"
REFERENCE = (
    "It is a guide to action that ensures that the military will forever heed Party commands"
)
OTHERS = [
    "It is the guiding principle which guarantees the military forces always being under the "
    "command of the Party",
    "It is the practical guide for the army always to heed the directions of the party",
]
HYPOTHESES = [GUIDE, TROOPS, "he read the book because he was interested in world history"]
REFERENCES = [REFERENCE, OTHERS[1], "he was interested in world history because he read the book"]


def words(texts: list[str]) -> list[list[str]]:
    return [text.split() for text in texts]


def test_where_nltk_divides_by_zero() -> None:
    """nltk 3.9 has no n-grams to divide by; here the unigrams count, or the score is 0."""
    for words_, defined in (("a b c d", False), ("a b c d e", True)):
        found = tertium.score(words_, words_, measure="nist", tokenize="split")
        assert tertium.score("a b c d", "a b c d", measure="nist", tokenize="split") == 2.0
        as_zero = tertium.score(words_, words_, measure="nist", tokenize="split", short="zero")
        if defined:
            assert (
                as_zero == found == pytest.approx(sentence_nist([words_.split()], words_.split()))
            )
        else:
            with pytest.raises(ZeroDivisionError):
                sentence_nist([words_.split()], words_.split())
            assert (as_zero, found) == (0.0, 2.0)  # log2 4/1 for each of 4 words, over 4 words


@pytest.mark.parametrize("order", [1, 3, 5])
def test_segments_are_nltks(order: int) -> None:
    found = tertium.score(HYPOTHESES, REFERENCES, measure="nist", tokenize="split", order=order)
    expected = [
        sentence_nist([b], a, n=order)
        for a, b in zip(words(HYPOTHESES), words(REFERENCES), strict=True)
    ]
    assert found == pytest.approx(expected, abs=1e-12)


def test_the_system_is_nltks_corpus() -> None:
    nist = tertium.load("nist", tokenize="split")
    expected = corpus_nist([[b] for b in words(REFERENCES)], words(HYPOTHESES))
    assert nist.score(HYPOTHESES, REFERENCES).system == pytest.approx(expected, abs=1e-12)


def test_by_hand() -> None:
    """Of "a b a c": info(a) = log2 4/2 = 1, info(b) = log2 4/1 = 2, info(a b) = log2 2/1 = 1.

    "a b d" matches 1 + 2 of 3 words and 1 of 2 pairs: 3/3 + 1/2. It has 3 of 4 words.
    """
    beta = math.log(0.5) / math.log(1.5) ** 2
    expected = 1.5 * math.exp(beta * math.log(3 / 4) ** 2)
    found = tertium.score("a b d", "a b a c", measure="nist", order=2, tokenize="split")
    assert found == pytest.approx(expected)


def test_several_references_by_hand() -> None:
    """mteval pools them: "a b a c" and "d a" have 6 words, 3 of them a; a may match twice.

    "a a d" matches 2 log2 6/3 + log2 6/1 of 3 words; the mean length of the references is 3.
    """
    found = tertium.score("a a d", ["a b a c", "d a"], measure="nist", order=1, tokenize="split")
    assert found == pytest.approx((2 + math.log2(6)) / 3)


def test_segments_by_the_information_of_the_corpus() -> None:
    """In "a b" and "a c", info(a) = log2 4/2 and info(b) = log2 4/1; "a b" has 3/2, "a" in "a c"
    1/1, with half the words."""
    nist = tertium.load("nist", order=1, tokenize="split", info="corpus")
    beta = math.log(0.5) / math.log(1.5) ** 2
    expected = [1.5, math.exp(beta * math.log(1 / 2) ** 2)]
    assert nist(["a b", "a"], ["a b", "a c"]) == pytest.approx(expected)


def test_short_and_empty_texts_have_a_score() -> None:
    """nltk divides by zero here; mteval, and we, add nothing for the orders that are not there."""
    found = tertium.score(["a b", "", "a", ""], ["a b", "a b", "", ""], measure="nist")
    assert found == pytest.approx([1.0, 0.0, 0.0, 0.0])  # log2 2/1 twice of two words; the pair: 0


def test_it_does_not_depend_on_neighbours_nor_on_order() -> None:
    nist = tertium.load("nist")
    together = nist(HYPOTHESES, REFERENCES)
    alone = [nist(a, b) for a, b in zip(HYPOTHESES, REFERENCES, strict=True)]
    assert together == alone


def test_the_signature_tells_the_settings() -> None:
    other = tertium.load("nist", tokenize="split", lowercase=True, info="corpus")
    one, two = (str(nist.score(["a"], ["b"]).signature) for nist in (tertium.load("nist"), other))
    assert "formula:mteval-v13a|order:5|case:mixed|tok:13a-sacrebleu-" in one
    assert "case:lc|tok:split|info:corpus" in two


def test_settings_that_cannot_be() -> None:
    with pytest.raises(SettingError, match="info='file'"):
        tertium.load("nist", info="file")
    with pytest.raises(SettingError, match="order=0"):
        tertium.load("nist", order=0)
