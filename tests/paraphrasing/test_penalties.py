"""Penalties on n-grams, calculated by hand, and the sequences of tokens that complete them."""

from __future__ import annotations

import pytest

from tertium.paraphrasing.penalties import NgramPenalty, TokenIndex, usual_unit

VOCABULARY = ("</s>", "▁the", "▁a", "▁cat", "▁dog", "s", "▁", "▁c")


def test_the_price_of_an_n_gram() -> None:
    """With a = 1 and b = 2 a word of the input costs 1, and one that continues a pair 1 + 4."""
    penalty = NgramPenalty(a=1, b=2).against(["▁The", "▁cat"])
    assert penalty(["▁the"]) == 1
    assert penalty(["▁the", "▁cat"]) == 1 + 5
    assert penalty(["▁a", "▁THE", "▁Cat", "</s>"]) == 1 + 5
    assert penalty(["▁the", "s", "▁cat"]) == 1 + 1  # another word before
    assert penalty(["▁cat", "▁the"]) == 1 + 1
    assert penalty(["▁c", "at"]) == 1  # a word may begin with this token
    assert penalty(["▁a", "▁dog"]) == 0
    only_words = NgramPenalty(a=1, b=2, longest=1).against(["▁The", "▁cat"])
    assert only_words(["▁the", "▁cat"]) == 1 + 1
    tokens = NgramPenalty(a=1, b=2, unit="tokens").against(["▁a", "s"])
    assert tokens(["▁a", "s"]) == 1 + 5
    assert tokens(["▁", "a"]) == 0
    assert usual_unit("zh_Hans") == "tokens"


def test_four_words_in_a_row_pay_for_every_order() -> None:
    words = ["▁a", "▁b", "▁c", "▁d", "▁e"]
    penalty = NgramPenalty().against(words)
    prices = [0.006 * sum(n**4 for n in range(1, order + 1)) for order in (1, 2, 3, 4, 4)]
    assert penalty(words) == pytest.approx(sum(prices))
    assert NgramPenalty().price(4) == pytest.approx(prices[3])


def test_sequences_that_complete_an_n_gram() -> None:
    """The tokens of the words before, and each token with which the last word may begin."""
    penalty = NgramPenalty().against(["▁The", "▁cat", "s"])
    index = TokenIndex(VOCABULARY)
    blocked = penalty.sequences(2, index, VOCABULARY)
    assert sorted(blocked) == [["▁The", "▁"], ["▁The", "▁c"], ["▁The", "▁cat"]]
    assert sorted(penalty.sequences(1, index, VOCABULARY)) == [
        ["▁"],  # of "▁the"
        ["▁"],  # of "▁cats"
        ["▁c"],
        ["▁cat"],
        ["▁the"],
    ]
    assert penalty.sequences(3, index, VOCABULARY) == penalty.sequences(0, index, VOCABULARY) == []
    tokens = NgramPenalty(unit="tokens").against(["▁a", "S"])
    assert tokens.sequences(2, index, VOCABULARY) == [["▁a", "s"]]


def test_searches_depend_on_the_price() -> None:
    """At a = 0.006 a trigram costs 0.006 (1 + 16 + 81) = 0.59, a bigram 0.1: too little."""
    assert NgramPenalty(a=0.006).blocked_orders() == [0, 4, 3]
    assert NgramPenalty(a=100).blocked_orders() == [1]
    assert NgramPenalty(a=0.006, longest=2).blocked_orders() == [0]
