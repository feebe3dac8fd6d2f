"""Words, offsets and tokens: Unicode by hand, and tokenizers' own offsets."""

from __future__ import annotations

import itertools
import unicodedata
from functools import cache
from typing import Any

import pytest
import sentencepiece
from hypothesis import given
from hypothesis import strategies as st

from tertium.explanation.words import (
    characters,
    group_tokens,
    split_words,
    token_offsets,
    word_scores,
)
from tertium.models.base import TokenScores
from tertium.models.catalog import BUNDLED_FOLDER

FAMILY = "👩\u200d👩\u200d👧"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        (" \t\n", []),
        ("Don't stop-me now!", ["Don't", "stop-me", "now", "!"]),
        ("l’eau, 1.000,50 € - 10:30", ["l’eau", ",", "1.000,50", "€", "-", "10:30"]),
        ("end. 'Quote'", ["end", ".", "'", "Quote", "'"]),
        ("e\u0301te\u0301 cafe\u0301", ["e\u0301te\u0301", "cafe\u0301"]),
        (f"ok {FAMILY}👍🏽🇩🇪🇫🇷!", ["ok", FAMILY, "👍🏽", "🇩🇪", "🇫🇷", "!"]),
        ("שלום, עולם", ["שלום", ",", "עולם"]),
        ("שָׁלוֹם", ["שָׁלוֹם"]),
        ("مرحبا بالعالم.", ["مرحبا", "بالعالم", "."]),
        ("नमस्ते दुनिया", ["नमस्ते", "दुनिया"]),
        ("我有2只猫。", ["我", "有", "2", "只", "猫", "。"]),
        ("ねこが", ["ね", "こ", "が"]),
        ("か\u3099", ["か\u3099"]),
        ("ที่นี่", ["ที่", "นี่"]),
        ("한국어 문장", ["한국어", "문장"]),
    ],
)
def test_words_by_hand(text: str, words: list[str]) -> None:
    assert [word.text for word in split_words(text)] == words


@given(st.text())
def test_offsets_give_the_words_back(text: str) -> None:
    words = split_words(text)
    for word in words:
        assert word.text == text[word.start : word.end] != ""
    for one, two in itertools.pairwise(words):
        assert one.end <= two.start
    assert "".join(text[start:end] for start, end in characters(text)) == text


TEXTS = [
    "Hällo ☃ wörld, it's 3.5 km (approx.).",
    f"Emoji {FAMILY} and 👍🏽!",
    "e\u0301te\u0301 café naïve ﬁne ½ … ｆｕｌｌ",
    "你好世界。",
    "שלום עולם",
    "Zwei  Leerzeichen und\u00a0eines ohne Umbruch",
    "Straße ÄÖÜ İstanbul",
    "ab##cd <0x41> ▁ x",
]


@pytest.mark.parametrize("text", TEXTS)
def test_tokens_of_sentencepiece_are_at_their_offsets(text: str) -> None:
    tokens = _processor().encode(text, out_type=str)
    offsets = token_offsets(text, tokens)
    for token, span in zip(tokens, offsets, strict=True):
        body = token.replace("▁", "")
        if span is None:
            assert body == "" or token in ("<0xE2>", "<0x80>", "<0x8D>")  # a joiner
        elif not token.startswith("<0x"):
            assert body in unicodedata.normalize("NFKC", text[slice(*span)])
    found = [span for span in offsets if span is not None]
    assert found == sorted(found)
    covered = {place for span in found for place in range(*span)}
    assert covered == {place for place, char in enumerate(text) if char not in " ▁\u00a0"}


def test_bytes_of_a_character_are_one_word() -> None:
    tokens = ["▁", "<0xE4>", "<0xBD>", "<0xA0>", "<0xE5>", "<0xA5>", "<0xBD>", "</s>"]
    groups = group_tokens("你好", tokens)
    assert [(word.text, indices) for word, indices in groups] == [
        ("你", [0, 1, 2, 3]),
        ("好", [4, 5, 6]),
        ("", [7]),
    ]


def test_wordpiece_and_byte_level_tokens() -> None:
    assert token_offsets("Playing café", ["play", "##ing", "cafe"]) == [(0, 4), (4, 7), (8, 12)]
    byte_level = ["Play", "ing", "Ġcaf", "Ã©", "Ġâ", "ĺ", "ĥ"]
    assert token_offsets("Playing café ☃", byte_level) == [
        *[(0, 4), (4, 7), (8, 11), (11, 12)],
        *[(13, 14)] * 3,
    ]


def test_unknown_tokens_are_what_is_between_their_neighbours() -> None:
    assert token_offsets("a ☃☃ b ☃", ["▁a", "▁", "<unk>", "▁b", "▁", "<unk>", "</s>"]) == [
        *[(0, 1), None, (2, 4), (5, 6), None, (7, 8), None]
    ]


def test_words_that_share_a_token_are_one_word() -> None:
    tokens = ["▁你好", "世界", '!"', "</s>"]
    assert [(word.text, of) for word, of in group_tokens('你好世界!"', tokens)] == [
        ("你好", [0]),
        ("世界", [1]),
        ('!"', [2]),
        ("", [3]),
    ]


def test_words_beyond_a_truncated_text_are_left_out() -> None:
    scores = TokenScores(("▁one", "▁two"), (-1.0, -2.0), target_cut=True)
    found = word_scores("one two three", scores)
    assert [(each.word.text, each.log_prob) for each in found] == [("one", -1.0), ("two", -2.0)]


def test_an_empty_text_has_an_end() -> None:
    found = word_scores("", TokenScores(("</s>",), (-0.5,)))
    assert [(each.word.text, each.word.start, each.log_prob) for each in found] == [("", 0, -0.5)]


@given(st.text(st.characters(codec="utf-8"), max_size=40))
def test_log_probabilities_add_up(text: str) -> None:
    tokens = _processor().encode(text, out_type=str)
    scores = TokenScores((*tokens, "</s>"), tuple(-float(n) for n in range(len(tokens) + 1)))
    found = word_scores(text, scores)
    assert sum(each.log_prob for each in found) == scores.G
    assert sorted(token for each in found for token in each.tokens) == sorted(scores.tokens)
    assert found[-1].word.text == ""


@cache
def _processor() -> Any:
    path = BUNDLED_FOLDER / "tertium-mini" / "spm.model"
    return sentencepiece.SentencePieceProcessor(model_file=str(path))
