"""Wrong targets: every kind, from pairs that allow it."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from tertium.data.negation import with_negation, without_negation
from tertium.data.opposites import OPPOSITE
from tertium.training.model.bitext import Pair
from tertium.training.model.contrasts import half_translated, with_opposite, wrong_target

PAIR = Pair("de", "en", "Der alte Laden ist heute leider nicht offen.", "The old shop is not open.")


def test_all_kinds_that_a_pair_allows_are_drawn() -> None:
    generator = np.random.default_rng(1)
    kinds = Counter(
        error[0] for _ in range(300) if (error := wrong_target(PAIR, None, generator)) is not None
    )
    assert set(kinds) == {"negation", "words", "opposite", "copy", "half", "omission"}
    assert min(kinds.values()) > 20


def test_wrong_targets_are_never_the_right_one() -> None:
    generator = np.random.default_rng(2)
    same = Pair("en", "en", "Well, well.", "Well, well.")
    assert wrong_target(same, None, generator) is None
    for _ in range(50):
        error = wrong_target(PAIR, None, generator)
        assert error is not None
        assert error[1] != PAIR.b


def test_within_a_language_nothing_is_copied() -> None:
    generator = np.random.default_rng(3)
    pair = Pair("en", "en", "The shop opens at nine today.", "Today the shop opens at nine.")
    kinds = {error[0] for _ in range(100) if (error := wrong_target(pair, None, generator))}
    assert kinds == {"words", "opposite", "omission"}


@pytest.mark.parametrize(
    ("lang", "negated", "plain"),
    [
        ("de", "Er ist nicht alt.", "Er ist alt."),
        ("en", "He is not old.", "He is old."),
        ("es", "Él no es viejo.", "Él es viejo."),
        ("fr", "Il n'est pas vieux.", "Il est vieux."),
    ],
)
def test_negations_are_removed_and_added(lang: str, negated: str, plain: str) -> None:
    assert without_negation(negated, lang) == plain
    assert with_negation(plain, lang) == negated
    assert with_negation(negated, lang) is None
    assert without_negation(plain, lang) is None


def test_opposites_go_both_ways_and_keep_capitals() -> None:
    for lang, words in OPPOSITE.items():
        for word, others in words.items():
            for other in others:
                assert word in map(str.lower, OPPOSITE[lang][other.lower()]), (lang, word)
    generator = np.random.default_rng(0)
    assert with_opposite("Before dinner", "en", generator) == "After dinner"
    assert with_opposite("Der Mann", "de", generator) == "Die Frau".replace("Die", "Der")
    assert with_opposite("Nothing here", "xx", generator) is None


def test_short_texts_have_no_halves() -> None:
    assert half_translated("Guten Tag!", "Good morning to you all!") is None
