"""Marks of rows, and the scores of empty texts."""

from __future__ import annotations

import math

import pytest

import tertium
from tertium.errors import TextWarning
from tertium.measures.base import Measure
from tertium.measures.compound import Compound
from tertium.measures.degenerate import is_copy
from tertium.measures.marks import mark_rows
from tertium.measures.translation import Cross, Direct, Pivot, PrismRef
from tertium.models.languages import LanguageSet
from tertium.text import Row, Text
from tests.fakes import FakeEncoder, FakeModel

RUSSIAN = "Где находится ближайший вокзал?", "Мой брат играет на скрипке."
JAPANESE = "一番近い駅はどこですか。", "弟は毎晩バイオリンを弾きます。"


@pytest.mark.parametrize("measure", [Direct, Pivot, Cross])
def test_an_empty_text_has_the_lowest_score(measure: type[Direct]) -> None:
    made = measure(FakeModel())
    scores = made.score(["", "a", "", "a", " \t"], ["a", "", "", "a", "a"], lang="en")
    assert scores.segments == [0, 0, 0, 1, 0]
    assert scores.system == 0.2
    assert scores.marks == [("empty",), ("empty",), ("empty",), (), ("empty",)]


def test_the_formula_is_available() -> None:
    made = Direct(FakeModel(), empty="formula")
    scores = made.score([""], [""], lang="en")
    assert scores.segments == [1]
    assert scores.marks == [("empty",)]
    assert "empty:formula" in str(scores.signature)
    assert "empty" not in str(Direct(FakeModel()).score(["a"], ["a"], lang="en").signature)


def test_embeddings_of_nothing_are_not_similar() -> None:
    encoder = FakeEncoder({"a": (1, 0)})
    for name in ("bertscore", "sss"):
        made = tertium.load(name, model=encoder)
        assert made.score(["", "a"], ["", "a"]).segments == [0, 1]


def test_an_empty_reference_is_the_worst_of_several() -> None:
    scores = Direct(FakeModel()).score(["a"], [["", "a"]], lang="en")
    assert scores.segments == [1]
    mean = Direct(FakeModel(), references="mean").score(["a"], [["", "a"]], lang="en")
    assert mean.segments == [0.5]


def test_without_a_lower_bound_the_formula_counts() -> None:
    model = FakeModel({("", "a"): (-7.0,), ("a", ""): (-5.0,)})
    scores = PrismRef(model).score([""], ["a"], lang="en")
    assert scores.segments == [-6]
    assert scores.marks == [("empty",)]


def test_a_sum_of_nothing_is_the_lowest() -> None:
    encoder = FakeEncoder({"a": (1, 0)})
    parts = (tertium.load("sss", model=encoder), tertium.load("bertscore", model=encoder))
    assert Compound(parts).score(["", "a"], ["", "a"]).segments == [1, pytest.approx(math.e)]


def test_every_measure_with_a_lower_bound_gives_it_to_empty_text() -> None:
    for name in ("bleu", "chrf", "nist"):
        assert tertium.score(["", ""], ["a b", ""], measure=name) == [0, 0]


@pytest.mark.parametrize("texts", [RUSSIAN, JAPANESE])
def test_a_script_that_the_model_has_never_seen(texts: tuple[str, str]) -> None:
    with pytest.warns(TextWarning, match="1 of 1 row holds text in a language or script"):
        scores = tertium.load("cross").score([texts[0]], [texts[1]])
    assert scores.marks == [("unknown",)]


def test_unknown_text_is_marked_with_embeddings_too() -> None:
    with pytest.warns(TextWarning, match="language or script"):
        scores = tertium.load("bertscore").score([RUSSIAN[0]], ["Where is the station?"])
    assert scores.marks == [("unknown",)]


def test_a_language_that_the_model_has_never_seen() -> None:
    polish = "Gdzie jest najbliższy dworzec kolejowy, proszę pana?"
    with pytest.warns(TextWarning, match="language or script"):
        scores = tertium.load("cross").score([polish], ["Where is the nearest station, sir?"])
    assert scores.marks == [("unknown",)]


def test_known_text_is_not_marked() -> None:
    scores = tertium.load("cross").score(
        ["Where is the nearest station, sir?", "Où est la gare la plus proche ?", "Ok 🙂 👍"],
        ["Wo ist bitte der nächste Bahnhof?", "¿Dónde está la estación más cercana?", "Tel. 7"],
    )
    assert scores.marks == [(), (), ()]


def test_a_model_of_the_script_is_not_suspected() -> None:
    tags = {"ru": "", "ja": ""}
    model = FakeModel(languages=LanguageSet(tags, tags))
    rows = [Row(1, Text(RUSSIAN[0]), (Text(JAPANESE[1]),))]
    assert mark_rows([Direct(model)], rows, [False], [False]).rows == [()]


def test_a_hypothesis_in_the_wrong_language() -> None:
    with pytest.warns(TextWarning, match="in another language than given"):
        scores = tertium.load("chrf").score(
            ["Wo ist bitte der nächste Bahnhof?", "Where is the nearest station, please?", "Ja."],
            ["Where is the nearest station?"] * 3,
            lang="en",
        )
    assert scores.marks == [("language",), (), ()]


def test_a_copy_of_the_source() -> None:
    source = "Wo ist der Bahnhof?"
    with pytest.warns(TextWarning, match="untranslated copy"):
        scores = tertium.load("chrf").score(
            [source, "Where is the station?"], ["Where is it?"] * 2, sources=[source] * 2
        )
    assert scores.marks == [("copy",), ()]


@pytest.mark.parametrize(
    "row",
    [
        Row(1, Text("Angela Merkel"), (Text("Angela Merkel"),), Text("Angela Merkel")),
        Row(1, Text("Berlin"), (Text("In Berlin"),), Text("Berlin")),
        Row(1, Text("2 + 2 = 4"), (), Text("2 + 2 = 4")),
        Row(1, Text("It is cold.", "en"), (), Text("It is cold.", "en-GB")),
        Row(1, Text(""), (), Text("")),
    ],
)
def test_what_is_right_is_no_copy(row: Row) -> None:
    assert not is_copy(row)


def test_marks_do_not_change_scores() -> None:
    made: Measure = tertium.load("chrf")
    source = "Wo ist der Bahnhof?"
    with pytest.warns(TextWarning, match="copy"):
        marked = made.score([source], [source + " Sag!"], sources=[source])
    assert marked.segments == made.score([source], [source + " Sag!"]).segments


GERMAN = [
    "Wie geht's?",
    "Guten Tag!",
    "Ich weiß es nicht.",
    "Wir gehen jetzt.",
    "Sehr schön.",
    "Ich habe Hunger.",
    "Wo wohnst du?",
    "Das ist gut.",
    "Sie schläft noch.",
    "Er liest ein Buch.",
    "Komm bitte her.",
    "Es regnet wieder.",
]
ENGLISH = [
    "How are you?",
    "Good day!",
    "I do not know it.",
    "We are going now.",
    "Very nice.",
    "I am hungry.",
    "Where do you live?",
    "That is good.",
    "She is still asleep.",
    "He reads a book.",
    "Please come here.",
    "It is raining again.",
]
"""Too short to be identified one by one."""


def test_short_hypotheses_in_the_wrong_language() -> None:
    made = tertium.load("chrf")
    with pytest.warns(TextWarning, match=r"most hypotheses are in another language \(de\) than"):
        scores = made.score(GERMAN, ENGLISH, lang="en")
    assert set(scores.marks) == {()}  # too short, each of them
    with pytest.warns(TextWarning, match=r"most references are in another language \(en\) than"):
        made.score(GERMAN, ENGLISH, lang="de")
    assert made.score(GERMAN, ENGLISH, lang="de", reference_lang="en").marks == scores.marks
    assert made.score(GERMAN[:3], ENGLISH[:3], lang="en").marks == [(), (), ()]  # too few


def test_untranslated_hypotheses_without_a_given_language() -> None:
    with pytest.warns(TextWarning, match="most hypotheses are in de and most references in en"):
        tertium.load("chrf").score(GERMAN, ENGLISH)
    against_source = tertium.load("chrf", against="source")
    with pytest.warns(TextWarning) as caught:
        against_source.score(GERMAN, sources=GERMAN)
    messages = [str(each.message) for each in caught]
    assert any("most hypotheses are in the language of the sources (de)" in m for m in messages)
    assert any("untranslated copy" in message for message in messages)
    assert against_source.score(ENGLISH, sources=GERMAN).marks == [()] * 12


def test_words_of_languages_without_spaces_need_a_tokenizer() -> None:
    texts = ["我喜欢读书和看电影", "他们昨天去了北京旅游"]
    with pytest.warns(TextWarning, match="bleu splits texts at spaces.*use tokenize=zh"):
        assert tertium.score(texts, texts[::-1], measure="bleu") == [0, 0]
    with pytest.warns(TextWarning, match="bleu:tokenize=13a splits texts at spaces"):
        tertium.score(texts, texts, measure="bleu:tokenize=13a", lang="zh")
    assert tertium.score(texts, texts, measure="bleu", lang="zh") == pytest.approx([100, 100])
    assert tertium.load("bleu").tokenize == "13a"  # type: ignore[attr-defined]


def test_a_tokenizer_that_is_given_is_not_replaced() -> None:
    made = tertium.load("bleu:tokenize=char", lang="zh")
    assert made.tokenize == "char"  # type: ignore[attr-defined]
    text = ["我喜欢读书和看电影"]
    table = tertium.score(text, text, measure=["bleu:tokenize=char"], lang="zh")
    assert "tok:char" in str(table["bleu:tokenize=char"].signature)
    other = ["我喜欢看书"]
    scores = [
        tertium.score(text, other, measure=measure, lang="zh")
        for measure in ("bleu:tokenize=char", "bleu")
    ]
    assert scores[0] == tertium.load("bleu", tokenize="char").score(text, other).segments
    assert scores[1] == tertium.load("bleu", tokenize="zh").score(text, other).segments


def test_warnings_point_at_the_line_that_calls() -> None:
    with pytest.warns(TextWarning) as caught:
        tertium.score(GERMAN, ENGLISH, measure="chrf")
    assert [each.filename for each in caught] == [__file__]
