"""Decisions on pairs made by hand: who removes what, and by which number."""

from __future__ import annotations

import math

import pytest

import tertium
from tertium.errors import LanguageError, SettingError
from tertium.filters.base import Filter
from tertium.filters.duplicates import Duplicates
from tertium.filters.language import LanguageFilter
from tertium.filters.registry import load_filter
from tertium.filters.scores import Dual, MeasureFilter
from tertium.filters.sequence import filter_pairs
from tertium.filters.surface import Length, Overlap, Ratio
from tertium.registry import Extra
from tertium.text import Row, Text

from ..fakes import FakeModel

LANGS = ("de", "en")
GERMAN = "Der Zug nach Hamburg hat heute wieder Verspätung."
ENGLISH = "The train to Hamburg is late again today."


def verdict(one: Filter, source: str, target: str, langs: tuple[str, str] = LANGS) -> object:
    """What is said of one pair, and the number, if there is one, to four places."""
    [found] = one.judge([Row.pair(Text(source, langs[0]), Text(target, langs[1]))])
    if found.kept:
        return "kept"
    return found.reason if math.isnan(found.value) else (found.reason, round(found.value, 4))


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        ("Ja", "Yes", "kept"),
        ("", "Yes", ("source too short", 0)),
        ("Ja", "  ", ("target too short", 0)),
        ("ja " * 4, "yes yes yes yes", "kept"),
        ("ja " * 5, "yes", ("source too long", 5)),
        ("ja", "yes, yes, yes", ("target too long", 5)),
    ],
)
def test_length(source: str, target: str, expected: object) -> None:
    assert verdict(Length(longest=4, unit="words"), source, target) == expected


def test_two_hundred_tokens_and_no_more() -> None:
    assert verdict(Length(), "Haus " * 200, "House") == "kept"
    assert verdict(Length(), "Haus " * 201, "House") == ("source too long", 201)


def test_ratio() -> None:
    assert verdict(Ratio(unit="words"), "eins zwei drei", "three") == "kept"  # 3 to 1
    assert verdict(Ratio(unit="words"), "eins zwei drei vier", "four") == ("target too short", 4)
    assert verdict(Ratio(unit="words"), "", "three two one") == "kept"  # that is for length
    assert verdict(Ratio(1.2, unit="words"), "ein", "one two") == ("source too short", 2)


def test_chinese_is_counted_by_characters() -> None:
    zh = ("zh", "en")
    assert verdict(Ratio(2.0, unit="words"), "今天天气很好。", "The weather is fine.", zh) == "kept"
    assert verdict(Length(longest=6, unit="words"), "今天天气很好。", "Fine.", zh) == (
        "source too long",
        7,
    )


@pytest.mark.parametrize(
    ("source", "target", "langs", "expected"),
    [
        (GERMAN, ENGLISH, LANGS, "kept"),
        (ENGLISH, ENGLISH, LANGS, "source language"),
        (GERMAN, GERMAN, LANGS, "target language"),
        ("Поезд сегодня опаздывает.", "Le train a du retard aujourd'hui.", ("ru", "fr"), "kept"),
        ("火车今天晚点了，我们等了很久。", "今日は電車が遅れています。", ("zh", "ja"), "kept"),
        ("今日は電車が遅れています。", ENGLISH, ("zh", "en"), "source language"),
        ("12 : 30", "12.30", LANGS, "kept"),  # no letters, no language
    ],
)
def test_language(source: str, target: str, langs: tuple[str, str], expected: object) -> None:
    assert verdict(LanguageFilter(), source, target, langs) == expected


def test_most_of_the_five_grams_must_be_in_the_language() -> None:
    """A German sentence that ends in a long English quotation."""
    mixed = (
        "Der Minister sagte gestern in Berlin wörtlich we will never give up our plans for the "
        "development of the old harbour"
    )
    assert verdict(LanguageFilter(), GERMAN, mixed) == "kept"
    [strict] = LanguageFilter(share=0.9).judge([Row.pair(Text(GERMAN, "de"), Text(mixed, "en"))])
    assert strict.reason == "target n-grams"
    assert 0.5 < strict.value < 0.9


def test_languages_to_choose_from() -> None:
    """Four letters could be anything, unless there are only two things that they can be."""
    assert verdict(LanguageFilter(among="de,en"), "Ja, gern.", "Yes, please.") == "kept"
    with pytest.raises(LanguageError, match="does not support 'tlh'"):
        verdict(LanguageFilter(), "nuqneH", "Hello", ("tlh", "en"))
    with pytest.raises(LanguageError, match="source_lang="):
        LanguageFilter().judge([Row.pair(Text("Hallo"), Text("Hello"))])


def test_overlap() -> None:
    by_words = Overlap(unit="words")
    # A name of three words: 1 of 3 3-grams, and no 4-gram.
    assert verdict(by_words, "Da kam Anna Maria Schmidt", "Anna Maria Schmidt came then") == "kept"
    # 2 of the 3 3-grams of the shorter side.
    assert verdict(by_words, "a b c d x", "y z a b c d") == ("3-grams", 0.6667)
    # 3 of 5 3-grams (0.6, which is allowed), but 2 of 4 4-grams.
    assert verdict(by_words, "a b c d e x y", "a b c d e v w") == ("4-grams", 0.5)
    assert verdict(by_words, "OK !", "OK !") == "kept"  # too short to have any
    assert verdict(Overlap(), "Sehr geehrter Herr Weber!", "Sehr geehrter Herr Weber!") == (
        "3-grams",
        1.0,
    )


def test_duplicates() -> None:
    pairs = [
        ("Wie geht's?", "How are you?"),
        ("wie gehts", "How are you"),  # marks and case
        ("Wie geht's?", "How do you do?"),  # another target
        ("Seite 12", "Page 12"),
        ("Seite 37", "page 37."),  # another number, of as many digits
        ("Seite 137", "page 137"),
        ("?", "?"),
        ("!", "!"),  # nothing but marks: they count
        ("Ｗｉｅ geht’s ?", "HOW ARE YOU ?"),  # full-width letters
    ]
    judged = Duplicates().judge([Row.pair(Text(a), Text(b)) for a, b in pairs])
    assert [one.kept for one in judged] == [
        *(True, False, True),
        *(True, False, True),
        *(True, True, False),
    ]
    by_source = Duplicates("source").judge([Row.pair(Text(a), Text(b)) for a, b in pairs[:3]])
    assert [one.kept for one in by_source] == [True, False, False]
    with pytest.raises(SettingError, match="'both'"):
        load_filter("duplicates", of="both")


def test_dual_cross_entropy() -> None:
    model = FakeModel({("one", "eins"): (-1.0, -2.0), ("eins", "one"): (-0.5, -0.5)})
    # |1.5 - 0.5| + (1.5 + 0.5) / 2 = 2, and exp(-2) = 0.1353
    assert verdict(Dual(0.13, model), "eins", "one") == "kept"
    assert verdict(Dual(0.14, model), "eins", "one") == ("too improbable", 0.1353)
    assert model.asked[:2] == [("one", "eins", "en", "de"), ("eins", "one", "de", "en")]


def test_any_measure() -> None:
    chrf = tertium.load("chrf")
    near = MeasureFilter(chrf, at_least=40, at_most=99)
    assert verdict(near, "the same thing", "the same thing") == ("too high", 100)
    assert verdict(near, "the same thing", "the same things") == "kept"
    assert verdict(near, "the same thing", "quux") == ("too low", 0)
    with pytest.raises(SettingError, match="at_least"):
        MeasureFilter(chrf)


@pytest.mark.parametrize("name", ["prism-src", "cross"])
def test_measures_of_the_source_and_of_a_reference(name: str) -> None:
    measure = tertium.load(name)
    pair = ("Guten Morgen!", "Good morning!")
    score = measure(pair[1], pair[0], lang="en", reference_lang="de")
    assert verdict(MeasureFilter(measure, at_least=score), *pair) == "kept"
    assert verdict(MeasureFilter(measure, at_least=score + 0.01), *pair) == (
        "too low",
        round(score, 4),
    )


def test_the_prism_set_in_memory() -> None:
    sources = [
        "Der Hund schläft unter dem großen Tisch.",
        "Der Hund schläft unter dem großen Tisch!",
        "",
        "Sehr geehrte Damen und Herren, willkommen in Köln!",
        "Wir haben gestern den ganzen Tag von früh bis spät im Garten gearbeitet.",
        "Die Bibliothek ist am Montag leider geschlossen.",
    ]
    targets = [
        "The dog is sleeping under the big table.",
        "The dog is sleeping under the big table.",
        "Nothing.",
        "Sehr geehrte Damen und Herren, willkommen in Köln!",
        "Work.",
        "Unfortunately the library is closed on Mondays.",
    ]
    found = filter_pairs(sources, targets, source_lang="de", target_lang="en")
    assert found.kept == [0, 5]
    assert [(one.row, one.filter, one.reason) for one in found.removed] == [
        (1, "duplicates", "seen before"),
        (2, "length", "source too short"),
        (3, "lid", "target language"),
        (4, "ratio", "target too short"),
    ]
    assert [(one.filter, one.removed, one.after) for one in found.counts] == [
        ("length", 1, 5),
        ("ratio", 1, 4),
        ("lid", 1, 3),
        ("overlap", 0, 3),
        ("duplicates", 1, 2),
    ]
    assert filter_pairs([], []).kept == []


def test_mistakes_are_named() -> None:
    with pytest.raises(SettingError, match="did you mean 'ratio'"):
        load_filter("ration")
    with pytest.raises(SettingError, match="highest"):
        load_filter("ratio", at_most=2)


def test_names_are_matched_in_any_case() -> None:
    assert load_filter("Ratio", highest=2.0) == Ratio(2.0)


def test_a_missing_extra_is_named_before_any_row_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Ratio, "requires", (Extra("ja", ("no_such_module",)),))
    with pytest.raises(SettingError) as caught:
        load_filter("ratio")
    assert str(caught.value) == "filter 'ratio' needs no_such_module: pip install 'tertium[ja]'"
