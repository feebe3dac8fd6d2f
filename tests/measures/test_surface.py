"""Surface measures are sacrebleu's, segment by segment and for the whole."""

from __future__ import annotations

import pytest
import sacrebleu

import tertium
from tertium.errors import SettingError

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
