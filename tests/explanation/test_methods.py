"""Every method against a calculation by hand."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tertium
from tertium.errors import InputError, LanguageError, SettingError
from tertium.explanation.alignment import word_deletions, word_differences
from tertium.explanation.coverage import (
    FEWEST_TRIED,
    CoverageSettings,
    coverage,
    coverage_gains,
    most_improbable,
    phrases,
    without,
)
from tertium.explanation.flags import flag
from tertium.explanation.hallucination import contrasts, hallucinations
from tertium.explanation.likelihood import (
    TranslationDirection,
    directions,
    document_direction,
    word_contrasts,
    word_losses,
)
from tertium.explanation.opposites import opposites
from tertium.explanation.report import pieces, review_lines
from tertium.explanation.review import (
    PairReview,
    Reviewer,
    load_reviewer,
    read_methods,
    read_thresholds,
)
from tertium.explanation.spans import Span, strongest, worst
from tertium.explanation.unrelated import sentences, unrelated_sources
from tertium.explanation.words import split_words, word_scores
from tertium.models.base import TokenScores
from tertium.models.languages import LanguageSet
from tertium.models.translation.pair import PairOfModels
from tertium.text import Text

from ..fakes import FakeEncoder, FakeModel

A, B = Text("Ich sehe.", "de"), Text("I see you here.", "en")
ANY = CoverageSettings(surprise=0.0)
"""The fake model's tokens are not those of the text, so that phrases have no log-probability."""


def test_phrases_do_not_cross_punctuation_and_leave_something() -> None:
    text = "Yes, I do (now)."
    settings = CoverageSettings(min_words=1, max_words=2)
    found = [text[each.start : each.end] for each in phrases(text, settings)]
    assert found == ["Yes", "I", "I do", "do", "now"]
    assert list(phrases("Hello!")) == []
    assert list(phrases("")) == []
    assert [
        each.partial for each in phrases("我看你", CoverageSettings(min_words=1, max_words=1))
    ] == [*["看你", "我你", "我看"]]


@pytest.mark.parametrize(
    ("text", "phrase", "partial"),
    [
        ("We met here today.", "here", "We met today."),
        ("We met here.", "here", "We met."),
        ("Today we met.", "Today", "We met."),
        ("Today, we met.", "Today", "We met."),
        ("He said (again) no.", "again", "He said () no."),
        ("My dog, a terrier, barks.", "a terrier", "My dog, barks."),
        ("We met, again", "again", "We met"),
        ("שלום עולם יפה", "עולם", "שלום יפה"),
        ("ein 👍🏽 Hund", "👍🏽", "ein Hund"),
    ],
)
def test_a_phrase_is_deleted_with_what_is_left_over(text: str, phrase: str, partial: str) -> None:
    start = text.index(phrase)
    assert without(text, start, start + len(phrase)) == partial


def test_coverage_by_hand() -> None:
    """H(a|b) = -2. Without "you here" it is -0.5: a gain of 1.5, the largest. "see" overlaps with
    nothing that is reported and gains 0.5; "you" gains 1 but overlaps with "you here"."""
    model = FakeModel(
        {
            (A.text, B.text): (-1.0, -3.0),
            (A.text, "I see."): (-0.5, -0.5),
            (A.text, "I see here."): (-1.0, -1.0),
            (A.text, "I you here."): (-1.5, -1.5),
            **{
                (A.text, partial): (-4.0,)
                for partial in ("See you here.", "You here.", "I here.", "I see you.", "Here.")
            },
            (A.text, "I."): (-4.0,),
        }
    )
    settings = CoverageSettings(max_words=2, min_words=1, threshold=0.5, surprise=0.0, major=1.0)
    [spans] = coverage([(A, B)], model, settings)
    assert [(span.side, span.start, span.end, span.text, span.score) for span in spans] == [
        ("b", 2, 5, "see", 0.5),
        ("b", 6, 14, "you here", 1.5),
    ]
    assert [(span.kind, span.severity) for span in spans] == [
        *[("omission", "minor"), ("omission", "major")]
    ]
    assert spans[1].evidence == "has no counterpart in the other text"
    # phrases of b: 4 of one word, 3 of two; of a: 2 of one word; and both whole texts
    assert len(model.asked) == (7 + 1) + (2 + 1)
    [only] = coverage([(A, B)], model, replace(settings, threshold=0.6))
    assert [span.text for span in only] == ["you here"]
    # without "see", H is -1.5; without "you here", -0.5
    [only] = coverage([(A, B)], model, replace(settings, explained=-1.0))
    assert [span.text for span in only] == ["you here"]


def test_an_addition_is_an_omission_of_the_other_side() -> None:
    model = FakeModel({(A.text, B.text): (-1.0,), (A.text, "I see."): (-0.5,)})
    [one] = coverage([(A, B)], model, ANY)
    [other] = coverage([(B, A)], model, ANY)
    assert [(span.side, span.kind, span.text) for span in one] == [("b", "omission", "you here")]
    assert [(span.side, span.kind, span.text) for span in other] == [("a", "addition", "you here")]


def test_whole_texts_are_one_call_and_partial_texts_another() -> None:
    calls = []

    class Counting(FakeModel):
        def log_probs(self, queries, **settings):  # type: ignore[no-untyped-def]
            calls.append(len(queries))
            return super().log_probs(queries, **settings)

    gains = coverage_gains([(A, B), (B, A)], Counting())
    assert calls == [4, sum(len(tried) for found in gains for _, tried in found.values())]


def test_empty_texts_have_no_spans() -> None:
    for pair in ((Text("", "de"), B), (A, Text("", "en")), (Text(" ", "de"), Text("", "en"))):
        assert coverage([pair], FakeModel()) == [[]]
    assert coverage([], FakeModel()) == []


class Words(FakeModel):
    """Each word is a token, then the end of the sentence."""

    def log_probs(self, queries, **settings):  # type: ignore[no-untyped-def]
        found = super().log_probs(queries, **settings)
        return [
            TokenScores((*query.target.split(), "</s>"), scores.log_probs)
            for query, scores in zip(queries, found, strict=True)
        ]


def test_a_phrase_must_be_improbable_given_the_other_text() -> None:
    a, b = Text("Ich sehe", "de"), Text("I see you here", "en")
    model = Words(
        {
            (a.text, b.text): (-1.0, -1.0, -1.0),
            (a.text, "I see"): (-0.5, -0.5, -0.5),
            (b.text, a.text): (-1.0, -1.0, -4.0, -3.5, -1.0),
            **{(a.text, part): (-3.0,) * 3 for part in ("You here", "I here", "I", "Here")},
            **{(b.text, part): (-3.0,) * 5 for part in ("Ich", "Sehe")},
        }
    )
    [found] = coverage_gains([(a, b)], model)
    full, tried = found["b"]
    assert full == -1.0
    [phrase] = [each for each in tried if each.partial == "I see"]
    assert (phrase.gain, phrase.surprise) == (0.5, 7.5)
    for least, texts, asked in ((7.5, ["you here"], ["I", "I see"]), (7.6, [], ["I"])):
        settings = CoverageSettings(surprise=least)
        [spans] = coverage([(a, b)], model, settings)
        assert [span.text for span in spans] == texts
        [some] = coverage_gains([(a, b)], model, settings, every=False)
        assert [each.partial for each in some["b"][1]] == asked


def test_in_long_texts_the_most_improbable_phrases_are_tried() -> None:
    """The mean is -3, with the end of the sentence: *f g* is 7 below two means, *i j* at two means.

    *e f* and *g h* overlap *f g*; *a b* and *b c* are 1 above two means, and the rest 2 or more.
    """
    text = "a b c d e f g h i j"
    log_probs = (-1.0, -4.0, -1.0, -1.0, -1.0, -6.0, -7.0, -1.0, -3.0, -3.0)
    scores = TokenScores((*text.split(), "</s>"), (*log_probs, -5.0))
    words = word_scores(text, scores)
    tried = list(phrases(text, CoverageSettings(max_words=2)))
    chosen = [
        [text[each.start : each.end] for each in most_improbable(tried, words, most)]
        for most in (1, 2, 3, 9)
    ]
    assert chosen[0] == ["f g"]
    assert chosen[1] == ["f g", "i j"]
    assert chosen[2] == ["a b", "f g", "i j"]
    assert len(tried) == len(chosen[3]) == 9


def test_the_cost_of_a_long_text_is_limited() -> None:
    model = tertium.load_model(cache=False)
    ours = ["Ich habe ein Auto.", "Wir gehen nach Hause.", "Sie liest ein Buch.", "Er schläft."]
    theirs = ["I have a car and a house.", "We are going home.", "She is reading a book."]
    a, b = Text(" ".join(ours), "de"), Text(" ".join([*theirs, "He is sleeping."]), "en")
    settings = CoverageSettings(surprise=0, threshold=0.02, explained=-math.inf)
    queries = []
    for letters in (100_000, 1_000):
        before = model.tally.distinct
        [spans] = coverage([(a, b)], model, replace(settings, letters=letters))
        queries.append(model.tally.distinct - before)
        assert any("house" in span.text for span in spans)
    assert queries[1] <= 2 + 2 * FEWEST_TRIED < queries[0]


def test_unlikely_by_hand() -> None:
    a, b = Text("ein Hund", "de"), Text("a house", "en")
    model = Words(
        {
            (a.text, b.text): (-0.5, -9.0, -0.25),
            (a.text, a.text): (-0.25, -1.0, -0.25),
            (b.text, a.text): (-0.5, -3.0, -9.0),
            (b.text, b.text): (-0.5, -1.5, -0.5),
        }
    )
    [(first, second)] = word_losses([(a, b)], model)
    assert [each.score for each in first] == [0.25, 8.0]
    assert [each.score for each in second] == [0.0, 1.5]  # the end is not a word
    reviewer = Reviewer(("unlikely",), model, thresholds={"unlikely": 4.0})
    spans = reviewer([(a, b)])[0].spans
    assert [(span.side, span.text, span.score, span.severity) for span in spans] == [
        ("a", "Hund", 8.0, "major")
    ]


def test_differences_by_hand() -> None:
    encoder = FakeEncoder({"red": (1, 0), "car": (0, 1), "blue": (3, 4), "auto": (0, 2)})
    pair = Text("red car"), Text("blue auto")
    [(first, second)] = word_differences([pair], encoder)
    assert [each.word.text for each in first] == ["red", "car"]
    # the best cosine of red is that with blue, 3/5; of blue that with car, 4/5
    assert [each.score for each in first] == pytest.approx([0.4, 0.0])
    assert [each.score for each in second] == pytest.approx([0.2, 0.0])
    reviewer = Reviewer(("differences",), encoder=encoder, thresholds={"differences": 0.3})
    spans = reviewer([pair])[0].spans
    assert [(span.side, span.start, span.end, span.text) for span in spans] == [("a", 0, 3, "red")]
    [(alone, nothing)] = word_differences([(Text("red"), Text(""))], encoder)
    assert nothing == []
    assert [each.word.text for each in alone] == ["red"]


def test_deletion_by_hand() -> None:
    """A = (3, 4), B = (0, 2): cos(A, B) = 4/5. Without red (3, 0) it is 1, without car (0, 4) it is
    0: (1 - 0.8 + 1) / 2 = 0.6 and (0 - 0.8 + 1) / 2 = 0.1. Without its only word, B is (0, 0), with
    a cosine of 0: 0.1."""
    encoder = FakeEncoder({"red": (3, 0), "car": (0, 4), "auto": (0, 2)})
    [(first, second)] = word_deletions([(Text("red car"), Text("auto"))], encoder)
    assert [(each.word.text, round(each.score, 6)) for each in first] == [
        ("red", 0.6),
        ("car", 0.1),
    ]
    assert [round(each.score, 6) for each in second] == [0.1]
    reviewer = Reviewer(("deletion",), encoder=encoder)
    [review] = reviewer([(Text("red car"), Text("auto"))])
    assert [(span.text, span.kind) for span in review.spans] == [("red", "difference")]
    [(nothing, alone)] = word_deletions([(Text(""), Text("auto"))], encoder)
    assert nothing == []
    assert [each.score for each in alone] == [0.5]


SHORT, LONG = sentences()["en"]


def test_contrast_by_hand() -> None:
    """ein: the loss is 1 given b, and (3 + 5) / 2 = 4 given unrelated sources: 1 - 3/4. Hund: 8
    and (6 + 6) / 2: not below 0, so 1. The end of the sentence is not a word."""
    a, b = Text("ein Hund", "de"), Text("a house", "en")
    model = Words(
        {
            (a.text, b.text): (-1.0, -8.0, -0.5),
            (a.text, SHORT): (-3.0, -6.0, -1.0),
            (a.text, LONG): (-5.0, -6.0, -1.0),
            **{(b.text, text): (-2.0, -2.0, -1.0) for text in (a.text, *sentences()["de"])},
        }
    )
    [(first, second)] = word_contrasts([(a, b)], model)
    assert [(each.word.text, each.score) for each in first] == [("ein", 0.25), ("Hund", 1.0)]
    assert [each.score for each in second] == [1.0, 1.0]
    # a model of one direction scores one side
    model.languages = LanguageSet({"en": ""}, {"de": ""})
    assert word_contrasts([(a, b)], model) == [(first, [])]


def test_hallucinations_by_hand() -> None:
    """H(a | b) = -2. The better of the unrelated sources has -2.25: the score is -0.25, which
    is the threshold. The second hypothesis is far more probable given its source."""
    other = Text("Ja, ja.", "de")
    model = FakeModel(
        {
            (A.text, B.text): (-1.0, -3.0),
            (A.text, SHORT): (-2.25,),
            (A.text, LONG): (-4.0,),
            (other.text, B.text): (-0.5,),
            (other.text, SHORT): (-3.0,),
            (other.text, LONG): (-2.0,),
        }
    )
    pairs = [(A, B), (other, B)]
    assert [each.score for each in contrasts(pairs, model)] == [-0.25, -1.5]
    found = hallucinations(pairs, model)
    assert [[(span.start, span.end, span.severity) for span in spans] for spans in found] == [
        [(0, len(A.text), "major")],
        [],
    ]
    assert found[0][0].evidence == "H is -2.00 given the other text, -2.25 given an unrelated one"
    [flagged, fine] = Reviewer(("hallucination",), model)(pairs)
    assert (flagged.flags, fine.flags) == (("hallucination",), ())
    # the same alone, in another order, and with another threshold
    assert hallucinations(pairs[::-1], model) == found[::-1]
    assert hallucinations([(A, B)], model, -0.2) == [[]]
    assert hallucinations([(Text("", "de"), B)], model) == [[]]


def test_unrelated_sources_have_the_language_of_the_source_and_are_not_the_source() -> None:
    model = FakeModel()
    assert [text.text for text in unrelated_sources(model, A, Text(SHORT, "en"))] == [LONG]
    finnish = FakeModel(languages=LanguageSet({"xx": "", "en": ""}, {"de": ""}))
    found = unrelated_sources(finnish, A, Text("abc", "xx"))
    assert found == [Text(SHORT, "en"), Text(LONG, "en")]
    only = FakeModel(languages=LanguageSet({"xx": ""}, {"de": ""}))
    with pytest.raises(LanguageError, match="no unrelated sentences in 'xx'"):
        unrelated_sources(only, A, Text("abc", "xx"))
    assert all(len(texts) == 2 and all(texts) for texts in sentences().values())


def test_a_pair_of_models_has_the_directions_of_both() -> None:
    there = FakeModel({(A.text, B.text): (-1.0,), (A.text, "I see."): (-0.5,)}, name="en-de")
    there.languages = LanguageSet({"en": ""}, {"de": ""})
    back = FakeModel(name="de-en", languages=LanguageSet({"de": ""}, {"en": ""}))
    pair = PairOfModels(there, back)
    [review] = Reviewer(("coverage",), pair, coverage=ANY)([(A, B)])
    assert [(span.kind, span.text) for span in review.spans] == [("omission", "you here")]
    assert {target for target, *_ in back.asked} == {B.text}  # additions, and the surprise of B
    with pytest.raises(LanguageError, match="unlikely needs a model that translates both ways and"):
        Reviewer(("unlikely",), pair)([(A, B)])
    with pytest.raises(LanguageError, match="direction needs a model that translates en to de and"):
        Reviewer(("direction",), there)([(A, B)])
    with pytest.raises(LanguageError, match="row 3: hallucination needs a model that translates"):
        Reviewer(("hallucination",), back)([(A, B)], numbers=[3])


def test_thresholds_are_read() -> None:
    methods = ("coverage", "unlikely", "flags")
    assert read_thresholds(["unlikely=5,coverage=0.2"], methods) == {
        "unlikely": 5.0,
        "coverage": 0.2,
    }
    assert read_thresholds(["3"], ("unlikely",)) == {"unlikely": 3.0}
    for text, reason in (
        ("contrast=1", r"one of the chosen methods that have a threshold \(coverage, unlikely\)"),
        ("flags=1", "METHOD=NUMBER"),
        ("unlikely=x", "'x' is not a number"),
    ):
        with pytest.raises(SettingError, match=reason):
            read_thresholds([text], methods)
    reviewer = Reviewer(("coverage",), FakeModel(), thresholds={"coverage": 0.3})
    assert reviewer.coverage.threshold == reviewer.threshold("coverage") == 0.3
    assert reviewer.description()["coverage"]["threshold"] == 0.3


def test_direction_by_hand() -> None:
    model = FakeModel({(A.text, B.text): (-0.5, -1.0), (B.text, A.text): (-2.0,)})
    [found] = directions([(A, B)], model)
    assert (found.a_given_b, found.b_given_a, found.score) == (-0.75, -2.0, 1.25)


def test_the_direction_of_a_document() -> None:
    """With three equal pairs, 2 of 8 sign patterns are as extreme: p = 1/4."""
    found = document_direction([1.0] * 3, samples=20_000)
    assert found.score == 1.0
    assert found.p_value == pytest.approx(0.25, abs=0.02)
    assert document_direction([]).p_value == 1.0
    # 10 000 pairs with scores of +1 and -1, 100 more of the first: one standard deviation
    many = document_direction([1.0] * 5050 + [-1.0] * 4950)
    assert many.p_value == pytest.approx(0.3173, abs=1e-4)


@pytest.mark.parametrize(
    ("a", "b", "names", "marked"),
    [
        (("Das kostet 12.500 Euro.", "de"), ("It costs 12,500 euros.", "en"), [], []),
        (("Im Jahr 1998", "de"), ("In 1989", "en"), ["number"], ["1998", "1989"]),
        (("Ich habe 3 Hunde.", "de"), ("I have three dogs.", "en"), [], []),
        (("Ich habe 3 Hunde.", "de"), ("I have 4 dogs.", "en"), ["number"], ["3", "4"]),
        (("١٢٣٤ كتاب", "ar"), ("1234 books", "en"), [], []),
        (("I see the big dog.", "de"), ("I see the big dog.", "en"), ["copy"], []),
        (("I see the big dog.", "en"), ("I see the big dog.", "en"), [], []),
        (("Er sagte, dass", "de"), ("He said that he would come soon.", "en"), ["truncated"], []),
        (("Ja ja ja ja gut", "de"), ("Yes, good", "en"), ["repetition"], ["ja ja ja"]),
        (("Bla bla bla!", "de"), ("Blah blah blah!", "en"), [], []),
        (("Ich traf Tom in Rom.", "de"), ("I met Tom in Rome.", "en"), [], []),
        (("Ich traf Tom.", "de"), ("I met Obama.", "en"), ["name"], ["Tom", "Obama"]),
        (("Ich traf ihn.", "de"), ("I met Obama there.", "en"), [], []),
        (("Es wog 5 g.", "de"), ("It weighed 5 mg.", "en"), ["unit"], ["5 g", "5 mg"]),
        (("Hallo {nom}", "fr"), ("Hello {name}", "en"), ["placeholder"], ["{nom}", "{name}"]),
        (("", "de"), ("I met him.", "en"), ["empty"], []),
        (
            ("C'est une très belle journée pour une promenade.", "de"),
            ("It is a very fine day for a walk.", "en"),
            ["language"],
            [],
        ),
        (("", "de"), ("", "en"), [], []),
    ],
)
def test_flags_by_hand(
    a: tuple[str, str], b: tuple[str, str], names: list[str], marked: list[str]
) -> None:
    found, spans = flag(Text(*a), Text(*b))
    assert found == names
    assert [span.text for span in spans] == marked
    for span in spans:
        assert span.text == {"a": a, "b": b}[span.side][0][span.start : span.end]


def test_spans_round_trip_through_json() -> None:
    text = "e\u0301 👩\u200d👧 שלום x"
    for start in range(len(text)):
        for end in range(start, len(text) + 1):
            span = Span.of(text, start, end, side="a", kind="omission", score=0.1)
            again = Span.from_dict(json.loads(json.dumps(span.to_dict())))
            assert again == span
            assert text[again.start : again.end] == again.text
    with pytest.raises(InputError, match="not in a text of"):
        Span.of(text, 0, len(text) + 1, side="a", kind="omission", score=0.1)


ODD = st.text("ae\u0301\u05b7שלוםא👩\u200d👧🏽🇩🇪 .\u200f", min_size=1)


@given(ODD, st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=4))
def test_pieces_of_a_report_are_the_text(text: str, places: list[tuple[int, int]]) -> None:
    """Combining characters, emoji, right-to-left letters and marks."""
    spans = [
        Span.of(text, start, end, side="a", kind="omission", score=1.0)
        for start, end in (sorted((min(x, len(text)), min(y, len(text)))) for x, y in places)
    ]
    cut = pieces(text, spans)
    assert "".join(piece.text for piece in cut) == text
    for span in spans:
        assert "".join(piece.text for piece in cut if span in piece.spans) == span.text


@given(ODD)
def test_phrases_are_at_their_offsets(text: str) -> None:
    words = {text[word.start : word.end] for word in split_words(text)}
    for phrase in phrases(text, CoverageSettings(min_words=1)):
        assert {word.text for word in split_words(text[phrase.start : phrase.end])} <= words
        assert phrase.partial != text


def test_strongest_spans_do_not_overlap() -> None:
    def span(side: str, start: int, end: int, score: float) -> Span:
        return Span.of("abcdefgh", start, end, side=side, kind="omission", score=score)

    spans = [span("a", 0, 4, 1.0), span("a", 3, 6, 2.0), span("b", 0, 4, 1.0), span("a", 6, 8, 1.0)]
    assert strongest(spans) == [spans[1], spans[3], spans[2]]
    assert strongest([span("a", 0, 4, 1.0), span("a", 0, 2, 1.0)]) == [span("a", 0, 2, 1.0)]
    assert worst([]) is None


def test_a_reviewer_needs_its_models_and_known_methods() -> None:
    assert read_methods(["flags", "unlikely,coverage"]) == ("coverage", "unlikely", "flags")
    with pytest.raises(SettingError, match="unknown method 'x': use coverage"):
        read_methods("x")
    with pytest.raises(SettingError, match="coverage: a translation model is needed"):
        Reviewer(("coverage",))
    with pytest.raises(SettingError, match="differences: an encoder is needed"):
        Reviewer(("differences",))
    with pytest.raises(LanguageError, match="row 8: the language of the second text is needed"):
        Reviewer(("coverage",), FakeModel())([(A, Text("x"))], numbers=[8])


def test_a_model_of_one_direction_reports_one_side() -> None:
    model = FakeModel(
        {(A.text, B.text): (-1.0,), (A.text, "I see."): (-0.5,)},
        languages=LanguageSet({"en": ""}, {"de": ""}),
    )
    [review] = Reviewer(("coverage",), model)([(A, B)])  # no probability of phrases is needed
    assert [span.side for span in review.spans] == ["b"]
    assert {target for target, *_ in model.asked} == {A.text}
    with pytest.raises(LanguageError, match="row 1: coverage needs a model that translates de"):
        Reviewer(("coverage",), model)([(A, A)])


def test_methods_together() -> None:
    model = FakeModel({(A.text, B.text): (-1.0,), (A.text, "I see."): (-0.5,)})
    [review] = Reviewer(("coverage", "direction", "flags"), model, coverage=ANY)([(A, B)])
    assert [span.kind for span in review.spans] == ["omission"]
    assert review.severity == "major"
    assert review.direction == TranslationDirection(-1.0, -1.0)
    assert json.loads(json.dumps(review.to_dict()))["spans"][0]["text"] == "you here"
    html = review._repr_html_()
    assert ">you here</button>" in html
    assert "“you here” is missing in the first text (major omission, 0.50)" in html


TWELVE = (
    ("The shop opens at nine.", "The shop closes at nine."),
    ("You can park here.", "You cannot park here."),
    ("Our team won the match.", "Our team lost the match."),
    ("Call me before dinner.", "Call me after dinner."),
    ("The price rose in May.", "The price fell in May."),
    ("He likes cold soup.", "He likes hot soup."),
    ("She always pays in cash.", "She never pays in cash."),
    ("The door is open.", "The door is closed."),
    ("Turn left at the bridge.", "Turn right at the bridge."),
    ("I came with my dog.", "I came without my dog."),
    ("This is the first page.", "This is the last page."),
    ("The test was easy.", "The test was not easy."),
)


@pytest.mark.parametrize(("a", "b"), TWELVE)
def test_one_word_contrasts_are_found(a: str, b: str) -> None:
    for first, second in ((a, b), (b, a)):
        [review] = load_reviewer("opposites")([(Text(first, "en"), Text(second, "en"))])
        assert {span.kind for span in review.spans} <= {"opposite", "negation"}
        words = set(first.strip(".").split()) ^ set(second.strip(".").split())
        assert {span.text for span in review.spans} == words


def test_opposites_in_two_languages_by_hand() -> None:
    """G(a|b) is -8; with *schließt* for *öffnet* it is -3: 5 nats more, above the margin of 2."""
    a, b = Text("Der Laden öffnet.", "de"), Text("The shop closes.", "en")
    model = FakeModel(
        {
            (a.text, b.text): (-4.0, -4.0),
            ("Der Laden schließt.", b.text): (-1.0, -2.0),
            (b.text, a.text): (-4.0, -4.0),
            ("The shop opens.", a.text): (-3.5, -4.0),
        }
    )
    [spans] = opposites([(a, b)], model)
    assert [(span.side, span.text, span.score) for span in spans] == [
        ("a", "öffnet", 5.0),
        ("b", "closes", 0.5),
    ]
    [review] = Reviewer(("opposites",), model)([(a, b)])
    assert [(span.kind, span.severity, span.evidence) for span in review.spans] == [
        ("opposite", "major", "'schließt' is more likely here than 'öffnet'")
    ]


def test_a_score_begins_with_a_prior_where_words_tell_of_a_negation() -> None:
    """G(a|b) is -8, with a negation -5: 3 nats more, and 6 where *not* stands on one side alone."""
    a = Text("Er ist hier.", "de")
    differs = "one text is negated, and the other is not"
    for other, score, evidence in (
        ("He is not here.", 9.0, differs),
        ("He is absent.", 3.0, "the other text seems to say the opposite"),
    ):
        b = Text(other, "en")
        model = FakeModel(
            {(a.text, b.text): (-4.0, -4.0), ("Er ist nicht hier.", b.text): (-1.0, -4.0)}
        )
        [spans] = opposites([(a, b)], model, kinds=["negation"], sides=["a"])
        assert [(span.text, span.score, span.evidence) for span in spans] == [
            ("ist", score, evidence)
        ]


def test_what_differs_in_nothing_else_is_certain() -> None:
    """The learned thresholds are those of free paraphrases, among which there are no such pairs."""
    pairs = (
        ("The shop is open.", "The shop is not open.", {"not"}),
        ("She works in Lyon.", "She does not work in Lyon.", {"works", "does not work"}),
        ("The shop opens at nine.", "The shop closes at nine.", {"opens", "closes"}),
    )
    for a, b, words in pairs:
        for first, second in ((a, b), (b, a)):
            [review] = load_reviewer()([(Text(first, "en"), Text(second, "en"))])
            spans = [span for span in review.spans if span.kind in ("negation", "opposite")]
            assert {span.text for span in spans} == words
            assert review.error_probability is not None
            assert review.error_probability > 0.9


def test_in_one_language_opposites_are_tried_without_a_counterpart() -> None:
    a, b = Text("The shop opens at nine.", "en"), Text("It is closed until nine.", "en")
    model = FakeModel({(a.text, b.text): (-9.0,), ("The shop closes at nine.", b.text): (-5.0,)})
    [spans] = opposites([(a, b)], model, kinds=["opposite"], sides=["a"])
    assert [(span.text, span.score) for span in spans] == [("opens", 4.0)]


def test_a_replaced_word_has_the_lower_score_of_both_directions() -> None:
    """*film* given *movie* loses 3 nats, *movie* given *film* 9: the score of both is 3."""
    a, b = Text("The film was great.", "en"), Text("The movie was great.", "en")
    model = FakeModel(
        {
            (a.text, b.text): (-4.0,),
            (b.text, b.text): (-1.0,),
            (b.text, a.text): (-10.0,),
            (a.text, a.text): (-1.0,),
        }
    )
    [spans] = opposites([(a, b)], model, kinds=["change"])
    assert [(span.side, span.kind, span.text, span.score) for span in spans] == [
        ("a", "change", "film", 3.0),
        ("b", "change", "movie", 3.0),
    ]


def test_changes_are_drawn_whatever_the_methods_say() -> None:
    a, b = Text("The film was great.", "en"), Text("The movie was really great.", "en")
    review = PairReview(a, b)
    assert review.changes == ([(4, 8)], [(4, 9), (14, 20)])
    lines = [line.plain for line in review_lines(review)]
    assert lines[:2] == [
        "a (en): The {film} was great.",
        "b (en): The {movie} was {really} great.",
    ]
    assert '<span class="changed">film</span>' in review._repr_html_()
    assert PairReview(a, Text("Der Film war gut.", "de")).changes == ([], [])
