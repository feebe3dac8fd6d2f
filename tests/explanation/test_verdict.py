"""What is said about a pair in one sentence, and which phrases match."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tertium import load_encoder
from tertium.explanation.matches import Match, Matches, find_matches
from tertium.explanation.review import PairReview
from tertium.explanation.spans import Span
from tertium.explanation.verdict import reason, verdict
from tertium.text import Text

A, B = Text("I see a dog.", "en"), Text("I see a cat.", "en")
OMISSION = Span("b", 8, 11, "cat", "omission", 1.0, "major", "has no counterpart")
APART = Matches(apart=(("a", 8, 11, "dog"), ("b", 8, 11, "cat")))


@pytest.mark.parametrize(
    ("probability", "spans", "matches", "level"),
    [
        (0.1, (), None, "same"),
        (0.3, (), None, "unsure"),
        (0.1, (), APART, "unsure"),
        (0.1, (), Matches(apart=APART.apart[:1]), "same"),  # coverage judges what one text has
        (0.1, (OMISSION,), None, "unsure"),
        (0.5, (), None, "different"),
        (0.9, (OMISSION,), None, "different"),
        (None, (), None, "unsure"),
        (None, (OMISSION,), None, "different"),
    ],
)
def test_nothing_is_the_same_that_was_not_judged(
    probability: float | None, spans: tuple[Span, ...], matches: Matches | None, level: str
) -> None:
    said = verdict(PairReview(A, B, spans, error_probability=probability), matches)
    assert said.level == level
    assert said.score == (None if probability is None else pytest.approx(100 * (1 - probability)))


def test_words_in_another_order_are_doubtful_in_one_language() -> None:
    a, b = "Dogs chase cats.", "Cats chase dogs."
    review = PairReview(Text(a, "en"), Text(b, "en"), error_probability=0.1)
    assert "another order" in verdict(review).sentence
    assert verdict(PairReview(Text(a, "en"), Text(b, "de"), error_probability=0.1)).level == "same"


def test_identical_and_empty_texts() -> None:
    assert verdict(PairReview(A, A, error_probability=0.1)).score == 100
    copy = PairReview(A, Text(A.text, "de"), flags=("copy",), error_probability=0.9)
    assert verdict(copy).level == "different"
    assert verdict(PairReview(A, Text(" ", "en"), flags=("empty",))).level == "unknown"


def test_reasons_name_both_sides() -> None:
    sides = [
        Span("a", 0, 6, "Madrid", "name", 1.0, "major", "names differ: Madrid"),
        Span("b", 0, 9, "Barcelona", "name", 1.0, "major", "names differ: Barcelona"),
    ]
    assert {reason(span, sides) for span in sides} == {"the name differs (Madrid / Barcelona)"}
    assert reason(sides[1], sides[1:]) == "“Barcelona” is only in the second text"
    addition = Span("a", 0, 3, "now", "addition", 1.0)
    assert reason(addition, [addition]) == "“now” is missing in the second text"
    assert reason(OMISSION, [OMISSION]) == "“cat” is missing in the first text"


def test_spans_match_their_counterparts_and_nothing_else() -> None:
    a, b = "My sister lives in Madrid.", "Mi hermana vive en Barcelona."
    spans = (
        Span("a", 19, 25, "Madrid", "name", 1.0, "major", "x"),
        Span("b", 19, 28, "Barcelona", "name", 1.0, "major", "y"),
    )
    review = PairReview(Text(a, "en"), Text(b, "es"), spans)
    encoder = load_encoder("tertium-mini-encoder")
    [found] = find_matches([review], encoder)
    assert found.phrases[-1] == Match((19, 25), (19, 28), differs=True)
    assert all(each.a[1] <= 19 and each.b[1] <= 19 for each in found.phrases[:-1])
    [nothing] = find_matches([PairReview(A, Text("", "en"))], encoder)
    assert nothing == Matches()


def test_phrases_do_not_overlap() -> None:
    a, b = "The cat saw the dog and the dog saw the cat.", "The dog saw the cat."
    review = PairReview(Text(a, "en"), Text(b, "en"))
    [found] = find_matches([review], load_encoder("tertium-mini-encoder"))
    for side in ("a", "b"):
        ranges = sorted(getattr(each, side) for each in found.phrases)
        assert all(one[1] <= other[0] for one, other in pairwise(ranges))
