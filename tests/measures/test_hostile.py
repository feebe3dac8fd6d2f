"""Whatever the texts are: a number, the same alone and in company, and the best for the same."""

from __future__ import annotations

import math
import random
import warnings
from functools import cache

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import tertium
from tertium.errors import CutWarning, InputError, TextWarning
from tertium.measures.base import Measure
from tertium.measures.registry import kinds_of, measure_class, measure_names, parts_of
from tertium.models.cached import CachedModel

from ..hostile import ALPHABETS, hostile_text

NAMES = [name for name in measure_names() if "language" not in kinds_of(name)]
"""All but those with a language model, of which none ships; see test_language."""
SYMMETRIC = ["direct", "pivot", "cross", "prism-ref", "bertscore", "sss", "wmd", "smd", "sentsim"]
BEST_IS_KNOWN = ["direct", "pivot", "cross", "bertscore", "sss", "wmd", "smd", "ter", "sentsim"]
"""An identical text scores the upper bound, whatever it is, unless it is empty."""
LOOSE = ["direct", "pivot", "cross", "bertscore", "sss"]
"""The measures whose bounds may be passed: by a better text than the same, or a negative cosine."""
EXTREMES = (
    "",
    " \t\n\u00a0\u2028",
    "\0",
    "x" * 30_000,
    "👩\u200d👩\u200d👧\u200d👦" * 300,
    "e" + "\u0301" * 5_000,
    "\u202eשלום\u202c " * 50,
    "\x1b[31m\x07\x08\x7f\x85",
    "</s> <unk> <s> <pad> __en__ ▁",
    "\ufffe\uffff\U0010ffff",
    "word " * 2_000,
    " ".join(str(number) for number in range(2_000)),
)
TEXTS = st.one_of(
    st.text(max_size=40),
    st.sampled_from(ALPHABETS).flatmap(lambda letters: st.text(letters, max_size=40)),
)
FEW = settings(max_examples=6, deadline=None, derandomize=True, database=None)


@cache
def model() -> CachedModel:
    """One for all measures, which share most of their questions."""
    return tertium.load_model(cache=False)


@cache
def measure(name: str) -> Measure:
    if name in ("pivot", "cross"):
        return tertium.load(name, model=model(), beam_size=1)
    translating = measure_class(parts_of(name)[0]).model_kind == "translation"
    return tertium.load(name, model=model() if translating else None)


def score(name: str, hypotheses: list[str], references: list[str]) -> list[float]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CutWarning)
        warnings.simplefilter("ignore", TextWarning)
        return measure(name)(hypotheses, references, lang="en")


def assert_sound(name: str, scores: list[float]) -> None:
    low, high = measure(name).bounds
    for found in scores:
        assert math.isfinite(found)
        assert str(found) != "-0.0"
        if name not in LOOSE:
            assert low - 1e-9 <= found <= high + 1e-9


@pytest.mark.parametrize("name", NAMES)
@FEW
@given(pairs=st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=3), order=st.randoms())
def test_any_text_has_a_number_of_its_own(
    name: str, pairs: list[tuple[str, str]], order: random.Random
) -> None:
    hypotheses, references = map(list, zip(*pairs, strict=True))
    together = score(name, hypotheses, references)
    assert_sound(name, together)
    shuffled = list(range(len(pairs)))
    order.shuffle(shuffled)
    again = score(name, [hypotheses[n] for n in shuffled], [references[n] for n in shuffled])
    assert again == [together[n] for n in shuffled]
    for pair, found in zip(pairs, together, strict=True):
        assert score(name, [pair[0]], [pair[1]]) == [found]


@pytest.mark.parametrize("name", SYMMETRIC)
@FEW
@given(one=TEXTS, two=TEXTS)
def test_which_is_first_does_not_matter(name: str, one: str, two: str) -> None:
    assert score(name, [one], [two]) == pytest.approx(score(name, [two], [one]), abs=1e-9)


@pytest.mark.parametrize("name", BEST_IS_KNOWN)
@FEW
@given(text=TEXTS)
def test_nothing_is_better_than_the_same(name: str, text: str) -> None:
    assume(text.strip())
    assert score(name, [text], [text]) == pytest.approx([measure(name).bounds[1]], abs=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_extremes(name: str) -> None:
    assert_sound(name, score(name, list(EXTREMES), [*EXTREMES[1:], EXTREMES[0]]))


@pytest.mark.parametrize("name", NAMES)
def test_half_a_character_is_refused_with_its_place(name: str) -> None:
    with pytest.raises(InputError, match=r"row 2: .* lone surrogate \(U\+DC80\) at character 2"):
        score(name, ["fine", "a\udc80"], ["fine", "fine"])
    with pytest.raises(InputError, match=r"row 1: the (reference|source) holds a lone surrogate"):
        score(name, ["fine"], ["\ud83d"])


def test_the_texts_of_the_fuzz_run_are_hostile() -> None:
    draw = random.Random(1)
    drawn = [hostile_text(draw) for _ in range(2000)]
    assert "" in drawn
    assert max(map(len, drawn)) > 10_000
    assert any("\0" in text for text in drawn)
    assert not any("\ud800" <= char <= "\udfff" for text in drawn for char in text)


def test_ter_says_when_it_reads_the_beginning_only() -> None:
    long = "a b c d " * 300
    with pytest.warns(CutWarning, match="1 of 2 rows"):
        found = tertium.load("ter").score([long, "a b"], [long, "a c"])
    assert found.cut == [True, False]
    assert found.segments == [0, -50]
    assert "longest:500" in str(found.signature)
    with pytest.warns(CutWarning):
        assert tertium.load("ter", longest=2)("a b x", "a b y") == 0
