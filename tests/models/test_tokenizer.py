"""Texts are tokenized once in a run, whatever they are used for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

import tertium
from tertium.jobs.tasks.score import ScoreTask
from tertium.models import tokenizer
from tertium.models.tokenizer import RememberingTokenizer
from tertium.text import Row, Text

TEXTS = ["The sea was calm.", "Ships came back.", "", "The sea was calm."]


class Letters:
    """A letter is a token; counts how often each text is read."""

    def __init__(self) -> None:
        self.read = Counter[str]()

    def encode(self, texts: Sequence[str]) -> list[list[str]]:
        self.read.update(texts)
        return [list(text) for text in texts]

    def decode(self, tokens: Sequence[str]) -> str:
        return "".join(tokens)


def test_recent_texts_are_remembered() -> None:
    letters = Letters()
    made = RememberingTokenizer(letters, most=20)
    assert made.encode(TEXTS) == [list(text) for text in TEXTS]
    assert made.encode(TEXTS[1:3]) == [list(text) for text in TEXTS[1:3]]
    assert letters.read == {TEXTS[0]: 1, TEXTS[1]: 1, "": 1}
    assert made.encode(TEXTS[:1]) == [list(TEXTS[0])]  # 18 and 17 tokens do not fit together
    assert letters.read[TEXTS[0]] == 2
    assert made.encode(["x" * 30]) == [["x"] * 30]  # longer than all that is remembered


@pytest.mark.parametrize("measures", ["cross", "direct,pivot,prism-ref"])
def test_a_text_is_tokenized_once_in_a_run(monkeypatch: pytest.MonkeyPatch, measures: str) -> None:
    """As source, as target, by every measure, for its length, and for unknown characters."""
    counts = Counter[str]()
    for kind in (tokenizer.SentencePieceTokenizer, tokenizer.JsonTokenizer):
        original: Any = kind.encode

        def encode(self: Any, texts: Sequence[str], original: Any = original) -> Any:
            counts.update(texts)
            return original(self, texts)

        monkeypatch.setattr(kind, "encode", encode)
    model = tertium.load_model(cache=False)
    names = measures.split(",")
    scorer = ScoreTask([tertium.load(name, model=model) for name in names]).load()
    a, b = (f"{text} ({measures})" for text in ("A new text", "Another new text"))
    rows = [
        Row(1, Text(a, "en"), (Text(b, "en"),)),
        Row(2, Text(b, "en"), (Text(a, "en"), Text(b, "en"))),
    ]
    scorer(rows)
    assert {a, b} <= set(counts)
    assert set(counts.values()) == {1}
