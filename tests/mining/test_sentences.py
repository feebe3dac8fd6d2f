"""Sentence splitting."""

from __future__ import annotations

import pytest

from tertium.mining.sentences import split_sentences

pytest.importorskip("icu4py")


@pytest.mark.parametrize(
    ("lang", "sentences"),
    [
        ("en", ["Mr. Smith met Dr. J. Weber at 3.5 miles.", "It was cold, he said.", "Was it?"]),
        ("en", ["It was you and I.", "Nobody else was there."]),
        ("de", ["Das kostet z. B. 3 Euro.", "Prof. Dr. Meier kam am 3. Mai.", "Sie auch."]),
        ("de", ["Er wurde 1950 geboren, sie erst 1960.", "Beide leben noch."]),
        ("fr", ["Mme. Dupont est là.", "Où est M. Martin ?", "Il dort."]),
        (None, ["No language.", "Two sentences."]),
    ],
)
def test_languages_with_spaces(lang: str | None, sentences: list[str]) -> None:
    assert split_sentences("  " + "  ".join(sentences), lang) == sentences


def test_other_texts() -> None:
    assert split_sentences("我有一只猫。你呢？", "zh") == ["我有一只猫。", "你呢？"]
    assert split_sentences("", "en") == split_sentences(" \n", "en") == []
    assert split_sentences("no full stop", "en") == ["no full stop"]
    assert split_sentences("It ends with Dr.", "en") == ["It ends with Dr."]
