"""Surface measures are sacrebleu's, segment by segment and for the whole."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import sacrebleu
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER

import tertium
from tertium.errors import SettingError
from tertium.measures import surface, words

HYPOTHESES = ["The cat sat on the mat.", "It rains.", "", "Hello there, general!"]
REFERENCES = ["A cat sat on a mat.", "It is raining today.", "Empty no more.", "Hello there!"]


def test_corpus_scores_are_sacrebleus() -> None:
    references = [REFERENCES]
    for name, expected in (
        ("bleu", sacrebleu.corpus_bleu(HYPOTHESES, references).score),
        ("chrf", sacrebleu.corpus_chrf(HYPOTHESES, references).score),
        ("ter", -sacrebleu.corpus_ter(HYPOTHESES, references).score),
    ):
        system = tertium.load(name).score(HYPOTHESES, REFERENCES).system
        assert system == pytest.approx(expected, abs=1e-9)


def test_sentence_scores_are_sacrebleus() -> None:
    for name, function, sign in (
        ("bleu", sacrebleu.sentence_bleu, 1),
        ("chrf", sacrebleu.sentence_chrf, 1),
        ("ter", sacrebleu.sentence_ter, -1),
    ):
        expected = [
            sign * function(h, [r]).score for h, r in zip(HYPOTHESES, REFERENCES, strict=True)
        ]
        assert tertium.score(HYPOTHESES, REFERENCES, measure=name) == pytest.approx(expected)


def test_several_references_are_sacrebleus() -> None:
    pairs = [[a, b] for a, b in zip(REFERENCES, HYPOTHESES, strict=True)]
    streams = [REFERENCES, HYPOTHESES]
    system = tertium.load("chrf").score(HYPOTHESES, pairs).system
    assert system == pytest.approx(sacrebleu.corpus_chrf(HYPOTHESES, streams).score)


def test_published_example() -> None:
    """sacrebleu's README: three sentences with two references have BLEU 48.5."""
    system = [
        "The dog bit the man.",
        "It wasn't surprising.",
        "The man had just bitten him.",
    ]
    references = [
        ["The dog bit the man.", "The dog had bit the man."],
        ["It was not unexpected.", "No one was surprised."],
        ["The man bit him first.", "The man had bitten the dog."],
    ]
    assert tertium.load("bleu").score(system, references).system == pytest.approx(48.53, abs=0.01)


def test_error_rates_are_turned_round_and_say_so() -> None:
    scores = tertium.load("ter").score(["a b c d"], ["a b c d"])
    assert scores.segments == [0.0]
    assert "sign:negated" in str(scores.signature)


def test_signature_tells_the_settings() -> None:
    signature = str(
        tertium.load("bleu", tokenize="zh", lowercase=True).score(["a"], ["b"]).signature
    )
    assert "tok:zh" in signature
    assert "case:lc" in signature
    assert f"sacrebleu:{sacrebleu.__version__}" in signature


def test_every_setting_is_signed() -> None:
    one, two = (str(tertium.load("chrf", beta=b).score(["a"], ["b"]).signature) for b in (1, 2))
    assert one != two


def test_unknown_tokenizer() -> None:
    with pytest.raises(SettingError, match=r"it must be one of .*13a"):
        tertium.score(["a"], ["b"], measure="bleu", tokenize="14b")


TEXTS = st.one_of(
    st.lists(st.sampled_from(["a", "b", "cat", "cat,", "(cat)", "!", "Cat", "«dé»", "猫"])).map(
        " ".join
    ),
    st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=20),
)
CHRF_SETTINGS: list[dict[str, Any]] = [
    {},
    {"word_order": 2},
    {"beta": 3, "lowercase": True, "char_order": 2},
]
METRICS: dict[str, list[tuple[dict[str, Any], Any, Any]]] = {
    "bleu": [({}, BLEU(effective_order=True), BLEU())],
    "chrf": [(settings, CHRF(**settings), CHRF(**settings)) for settings in CHRF_SETTINGS],
    "ter": [({}, TER(), TER())],
}


@pytest.mark.parametrize("name", METRICS)
@given(rows=st.lists(st.tuples(TEXTS, TEXTS, TEXTS), min_size=1, max_size=3))
def test_every_bit_is_sacrebleus(name: str, rows: Sequence[tuple[str, str, str]]) -> None:
    """With two references, punctuation, other scripts and empty texts."""
    hypotheses = [row[0] for row in rows]
    references = [list(row[1:]) for row in rows]
    sign = -1 if name == "ter" else 1
    for settings, sentence, corpus in METRICS[name]:
        found = tertium.load(name, **settings).score(hypotheses, references)
        assert found.segments == [
            sign * sentence.sentence_score(hypothesis, some).score
            for hypothesis, some in zip(hypotheses, references, strict=True)
        ]
        streams = [list(stream) for stream in zip(*references, strict=True)]
        assert found.system == sign * corpus.corpus_score(hypotheses, streams).score


@pytest.mark.parametrize("module", [surface, words])
def test_nothing_private_of_sacrebleu_is_used(module: object) -> None:
    """A private name of our own is one that is used on ``self`` or defined in the module."""
    tree = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))  # type: ignore[attr-defined]
    private = [
        ast.unparse(node)
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and node.attr.startswith("_")
        and not node.attr.startswith("__")
        and ast.unparse(node.value) not in ("self", "super()")
    ]
    imported = [
        name.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("sacrebleu")
        for name in node.names
        if name.name.startswith("_")
    ]
    assert private == imported == []


@pytest.mark.parametrize("setting", ["char_order=0", "word_order=-2", "beta=0"])
def test_orders_of_chrf_must_make_sense(setting: str) -> None:
    with pytest.raises(SettingError, match=setting):
        tertium.load(f"chrf:{setting}")
