"""Explanations as HTML: matrices by hand, and texts that must be escaped."""

from __future__ import annotations

import numpy as np

from tertium.explanation.explain import (
    Alignment,
    Direction,
    Explanation,
    Intermediate,
    PairExplanation,
    Transport,
)
from tertium.explanation.page import (
    cosine_matrix,
    explanation_fragment,
    explanation_page,
    transport_matrix,
)
from tertium.measures.bertscore import Match
from tertium.models.base import Alternative, TokenScores
from tertium.text import Text

HOSTILE = "<script>\"'&"
MATCH = Match(0.5, 0.25, 1 / 3)


def explanation(cut: bool = False) -> Explanation:
    text = Text(HOSTILE, HOSTILE)
    scores = TokenScores((HOSTILE, "▁b", "</s>"), (-1.0, -8.0, -2.0), cut)
    alternatives = {1: [Alternative(HOSTILE, -0.5), Alternative("▁c", -0.75)]}
    direction = Direction(text, text, scores, alternatives)
    return Explanation(HOSTILE, (direction, direction), 0.5)


def test_the_page_escapes_texts_tokens_languages_and_names() -> None:
    page = explanation_page(explanation())
    assert "<script" not in page
    assert page.count("&lt;script&gt;&#34;&#39;&amp;") == 2 * (2 + 1 + 3) + 1
    assert "instead of <b>b</b>" in page
    assert "(-0.50), <bdi>c</bdi> (-0.75)" in page
    assert "only its beginning" not in page
    assert "only its beginning was scored" in explanation_page(explanation(cut=True))


def test_the_fragment_has_the_parts_that_are_given() -> None:
    translation = Intermediate("cross", "en", HOSTILE, "b")
    fragment = explanation_fragment(
        PairExplanation("model", "encoder", explanation(), (translation,))
    )
    assert "<script" not in fragment
    assert "<h2>Intermediate translations</h2>" in fragment
    assert "(bertscore)" not in fragment
    assert explanation_fragment(PairExplanation("model", "encoder")).strip() == ""


def test_cosines_by_hand() -> None:
    cosines = np.array([[1.0, 0.5], [0.25, 0.0]])
    matrix = cosine_matrix(Alignment(("a", HOSTILE), ("a", "c"), cosines, MATCH))
    # Squared: 1, 0.25, 0.0625, 0; of each row and column the best is framed.
    assert [[cell.css_class for cell in row] for row in matrix.cells] == [
        ["heat-10 best", "heat-2 best"],
        ["heat-1 best", "heat-0"],
    ]
    assert matrix.cells[0][1].text == "0.50"
    assert "recall 0.2500" in matrix.description


def test_moves_by_hand() -> None:
    plan = np.array([[0.5, 0.0], [0.004, 0.496]])
    matrix = transport_matrix(Transport(("a", "b"), ("a", "c"), plan, np.ones((2, 2)), 1.0))
    assert [[cell.text for cell in row] for row in matrix.cells] == [["50", ""], ["<1", "50"]]
    assert matrix.cells[0][0].title == "50.0 % of the text, at a distance of 1.000"


def test_long_texts_have_no_matrix() -> None:
    many = ("a",) * 81
    alignment = Alignment(many, ("b",), np.ones((81, 1)), MATCH)
    fragment = explanation_fragment(PairExplanation("model", "encoder", alignment=alignment))
    assert "<table" not in fragment
    assert "too long for a table" in fragment
