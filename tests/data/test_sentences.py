"""Sentence splitting, by rules and by ICU."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tertium.data.sentences import Splitter, halves, join, split_sentences
from tertium.text import Text


@pytest.fixture(params=["rules", "icu"])
def by(request: pytest.FixtureRequest) -> Splitter:
    if request.param == "icu":
        pytest.importorskip("icu4py")
    splitter: Splitter = request.param
    return splitter


@pytest.mark.parametrize(
    ("lang", "sentences"),
    [
        ("en", ["Mr. Smith met Dr. J. Weber at 3.5 miles.", "It was cold, he said.", "Was it?"]),
        ("en", ["It was you and I.", "Nobody else was there."]),
        ("en", ["It is in vol. 3 of the series.", "They said no.", "Nobody came."]),
        ("de", ["Das kostet z. B. 3 Euro.", "Prof. Dr. Meier kam am 3. Mai.", "Sie auch."]),
        ("de", ["Er wurde 1950 geboren, sie erst 1960.", "Beide leben noch."]),
        ("fr", ["Mme. Dupont est là.", "Où est M. Martin ?", "Il dort."]),
        ("es", ["¿Dónde está?", "¡Aquí!", "Bien."]),
        (None, ["No language.", "Two sentences."]),
    ],
)
def test_languages_with_spaces(lang: str | None, sentences: list[str], by: Splitter) -> None:
    assert split_sentences("  " + "  ".join(sentences), lang, by) == sentences


def test_other_texts(by: Splitter) -> None:
    assert split_sentences("我有一只猫。你呢？", "zh", by) == ["我有一只猫。", "你呢？"]
    assert split_sentences("", "en", by) == split_sentences(" \n", "en", by) == []
    assert split_sentences("no full stop", "en", by) == ["no full stop"]
    assert split_sentences("It ends with Dr.", "en", by) == ["It ends with Dr."]
    assert split_sentences("A title\nThe text. More", "en", by) == ["A title", "The text.", "More"]
    assert split_sentences("Written by J. D.\nNext", "en", by) == ["Written by J. D.", "Next"]


def test_rules() -> None:
    assert split_sentences('"Stop!" he said. "Why?" "Go."') == [
        '"Stop!" he said.',
        '"Why?"',
        '"Go."',
    ]
    assert split_sentences("Wait… what? (Yes.) See www.a.org.") == [
        "Wait… what?",
        "(Yes.)",
        "See www.a.org.",
    ]
    assert split_sentences("क्या? हाँ। ठीक है।") == ["क्या?", "हाँ।", "ठीक है।"]


@given(st.text(alphabet='aB1.!?。 \n"Ié', max_size=60))
def test_nothing_is_lost(text: str) -> None:
    assert "".join("".join(split_sentences(text, "de")).split()) == "".join(text.split())


@given(st.text(alphabet="aB, 、é\u0301", min_size=2, max_size=60).filter(lambda text: text.strip()))
def test_halves(text: str) -> None:
    text = text.strip()
    if len(text) > 1:
        one, other = halves(text)
        assert "".join((one + other).split()) == "".join(text.split())
        assert max(len(one), len(other)) < len(text)


def test_halves_of_words() -> None:
    assert halves("one two three four") == ("one two", "three four")
    assert halves("a, b c d e f g h i j k") == ("a, b c d e", "f g h i j k")  # not at the edge


def test_joining() -> None:
    assert join([Text("一。", "zh"), Text("二。", "zh")]).text == "一。二。"
    assert join([]).text == ""
