"""A text is cut into words as its tokenizer says, and the signature says which."""

from __future__ import annotations

import sys

import pytest

import tertium
from tertium.errors import SettingError
from tertium.measures.words import ngrams, tokenizer, tokenizer_choices


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("split", "Ça va , toi?", ["Ça", "va", ",", "toi?"]),
        ("split", "昨日本を読みました。", ["昨日本を読みました。"]),
        ("split", " \t ", []),
        ("segment", "Ça va , toi?", ["Ça", "va", ",", "toi?"]),
        ("segment", "我昨天看书。", ["我", "昨天", "看书", "。"]),
        ("segment", "ฉันไปเมื่อวานนี้ Tom!", ["ฉัน", "ไป", "เมื่อ", "วาน", "นี้", "Tom!"]),
        ("segment", "", []),
        ("13a", "It's 3.5 km, no?", ["It's", "3.5", "km", ",", "no", "?"]),
        ("char", "ab c", ["a", "b", "c"]),
    ],
)
def test_words(name: str, text: str, words: list[str]) -> None:
    assert tokenizer(name)(text) == words


def test_japanese_is_segmented_and_nothing_is_lost() -> None:
    text = "昨日図書館で本を読みました。"
    words = tokenizer("segment")(text)
    assert "".join(words) == text
    assert {"昨日", "図書館", "本"} < set(words)


def test_lower_case() -> None:
    assert tokenizer("split", lowercase=True)("A Bc") == ["a", "bc"]


def test_ngrams_of_short_texts() -> None:
    assert list(ngrams(["a"], 2)) == []
    assert list(ngrams([], 1)) == []


def test_the_signature_names_the_version() -> None:
    assert tokenizer_choices("split") == {"tok": "split"}
    assert tokenizer_choices("segment")["tok"].startswith("segment-icu4py-")
    assert tokenizer_choices("13a")["tok"].startswith("13a-sacrebleu-")


def test_unknown_tokenizer() -> None:
    with pytest.raises(SettingError, match=r"one of split, segment, .*13a"):
        tokenizer("14b")


@pytest.mark.parametrize("lang", ["ja", "ko"])
def test_without_mecab(lang: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("MeCab", "mecab_ko"):
        monkeypatch.setitem(sys.modules, module, None)  # cannot be imported
    for module in [name for name in sys.modules if name.startswith("sacrebleu.tokenizers")]:
        monkeypatch.delitem(sys.modules, module)
    tokenizer.cache_clear()
    expected = rf"MeCab is missing: pip install 'tertium\[{lang}\]'"
    with pytest.raises(SettingError, match=expected):
        tokenizer(f"{lang}-mecab")
    with pytest.raises(SettingError, match=expected):
        tertium.score(["a"], ["b"], measure="bleu", tokenize=f"{lang}-mecab")


def test_without_icu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tertium.measures.words.find_spec", lambda name: None)
    tokenizer.cache_clear()
    with pytest.raises(SettingError, match=r"tertium\[words\]"):
        tokenizer("segment")
