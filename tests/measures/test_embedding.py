"""SSS and SMD by hand, and what every measure by vectors owes."""

from __future__ import annotations

import math
from typing import Any

import pytest

import tertium
from tertium.errors import CutWarning, LanguageError, SettingError
from tertium.measures.base import Measure
from tertium.measures.loading import load

from ..fakes import FakeEncoder, FakeModel

# A cat lies to the east, a dog 60 degrees from it, and a car to the north.
VECTORS = {
    "cat": (2.0, 0.0),
    "dog": (1.0, math.sqrt(3)),
    "car": (0.0, 4.0),
    "anti-cat": (-1.0, 0.0),
    "<s>": (5.0, 5.0),
    "</s>": (5.0, 5.0),
}
NAMES = ("sss", "smd", "bertscore", "wmd", "wmdo", "sentsim", "sss+wmd")


SUMS = ("sentsim", "sss+wmd")


@pytest.fixture
def encoder() -> FakeEncoder:
    return FakeEncoder(VECTORS)


def loaded(name: str, **settings: Any) -> Measure:
    """A measure; sums by fixed ranges, for the encoder does not know the unrelated sentences."""
    return load(name, **{**({"scale": "fixed"} if name in SUMS else {}), **settings})


def test_sss_is_the_cosine(encoder: FakeEncoder) -> None:
    sss = load("sss", encoder=encoder)
    assert sss(["cat", "cat", "cat"], ["dog", "car", "anti-cat"]) == pytest.approx([0.5, 0, -1])


def test_sss_of_nothing(encoder: FakeEncoder) -> None:
    """A text that has no direction is like its kind, and like nothing else."""
    texts = ["", "", "cat"], ["", "cat", ""]
    assert load("sss", encoder=encoder, empty="formula")(*texts) == [1, 0, 0]
    assert load("sss", encoder=encoder)(*texts) == [0, 0, 0]


def test_smd_is_the_distance_of_the_means(encoder: FakeEncoder) -> None:
    """Of (2, 0) and (0, 4) the mean is (1, 2); what frames the text is left out."""
    smd = load("smd", encoder=encoder)
    assert smd("cat car", "cat") == pytest.approx(-math.hypot(1, 2))
    assert smd("cat", "cat") == 0


def test_smd_of_nothing_is_that_of_the_frame(encoder: FakeEncoder) -> None:
    assert load("smd", encoder=encoder)("", "cat") == pytest.approx(-math.hypot(3, 5))


@pytest.mark.parametrize("name", NAMES)
def test_symmetry(encoder: FakeEncoder, name: str) -> None:
    measure = loaded(name, encoder=encoder)
    first, second = ["cat dog", "car", "cat cat car"], ["dog", "cat car dog", "car cat"]
    forth, back = measure(first, second), measure(second, first)
    if name != "wmdo":  # the order of the reference's pieces in the hypothesis is another question
        assert forth == pytest.approx(back)


@pytest.mark.parametrize("name", NAMES)
def test_nothing_beats_the_same_text(encoder: FakeEncoder, name: str) -> None:
    measure = loaded(name, encoder=encoder)
    texts = ["cat dog car", "dog cat", "car", "cat"]
    for text in texts:
        same, *others = measure([text] * 4, [text, *(t for t in texts if t != text)])
        assert all(same >= other - 1e-9 for other in others)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "wmdo"])
def test_the_best_score_is_reached(encoder: FakeEncoder, name: str) -> None:
    measure = loaded(name, encoder=encoder)
    assert measure("cat dog", "cat dog") == pytest.approx(measure.bounds[1])


@pytest.mark.parametrize("name", NAMES)
def test_empty_text(encoder: FakeEncoder, name: str) -> None:
    texts = ["", "", "cat"], ["", "cat", ""]
    scores = loaded(name, encoder=encoder, empty="formula")(*texts)
    assert all(math.isfinite(score) for score in scores)
    assert scores[0] > max(scores[1:])
    lowest = loaded(name, encoder=encoder).bounds[0]
    if math.isfinite(lowest):
        assert loaded(name, encoder=encoder)(*texts) == [lowest] * 3


@pytest.mark.parametrize("name", NAMES)
def test_several_references(encoder: FakeEncoder, name: str) -> None:
    best = loaded(name, encoder=encoder)
    mean = loaded(name, encoder=encoder, references="mean")
    one, other = best(["cat", "cat"], ["dog", "car"])
    assert best(["cat"], [["dog", "car"]]) == pytest.approx([max(one, other)])
    if "+" not in name and name != "sentsim":  # the mean of each part, not of the sum
        assert mean(["cat"], [["dog", "car"]]) == pytest.approx([(one + other) / 2])


@pytest.mark.parametrize("name", NAMES)
def test_cut_texts_are_marked(encoder: FakeEncoder, name: str) -> None:
    with pytest.warns(CutWarning, match="1 of 2 rows"):
        scores = loaded(name, encoder=encoder).score(["cat", "cat"], ["cat", "long cat"])
    assert scores.cut == [False, True]


@pytest.mark.parametrize("name", NAMES)
def test_system_score_is_the_mean(encoder: FakeEncoder, name: str) -> None:
    scores = loaded(name, encoder=encoder).score(["cat", "dog"], ["car", "cat"])
    assert scores.system == pytest.approx(sum(scores) / 2)


def test_signature_has_the_encoder(encoder: FakeEncoder) -> None:
    signature = str(load("wmd", encoder=encoder).score(["cat"], ["car"]).signature)
    assert signature.startswith(
        "measure:wmd|model:fake|fingerprint:eeeeeeeeeeee|references:max|distance:euclidean|"
        "mass:frequency|layer:3|sign:negated|"
    )


def test_one_question_for_each_text(encoder: FakeEncoder) -> None:
    load("smd", encoder=encoder)(["cat", "dog"], ["car", "cat"])
    assert encoder.asked == ["cat", "dog", "car", "cat"]  # in one call: the encoder asks once


def test_a_translation_model_is_no_encoder() -> None:
    with pytest.raises(SettingError, match=r"bertscore needs an encoder that gives token vectors"):
        load("bertscore", model=FakeModel())


def test_an_encoder_is_no_translation_model(encoder: FakeEncoder) -> None:
    with pytest.raises(SettingError, match="cross needs a translation model"):
        load("cross", model=encoder)


@pytest.mark.parametrize(
    ("name", "setting", "value"),
    [
        ("wmd", "distance", "far"),
        ("wmd", "mass", 1),
        ("bertscore", "part", "F2"),
        ("sss", "references", "min"),
    ],
)
def test_settings_are_checked(encoder: FakeEncoder, name: str, setting: str, value: object) -> None:
    with pytest.raises(SettingError, match=f"{setting}="):
        loaded(name, encoder=encoder, **{setting: value})


@pytest.mark.parametrize("name", ["sss", "smd", "bertscore", "wmd", "wmdo", "sentsim"])
def test_bundled_encoder(name: str) -> None:
    """Across languages, offline, with nothing but what ships."""
    measure = tertium.load(name)
    hypotheses = ["Good morning!", "Good morning!", "Good morning!"]
    references = ["Good morning!", "Guten Morgen!", "The train to Berlin leaves at noon."]
    same, translation, other = measure(hypotheses, references)
    assert same > translation > other


def test_any_batch_any_order() -> None:
    measure = tertium.load("sentsim")
    texts = ["Good morning!", "Guten Morgen!", "", "The train is late.", "Wo ist der Bahnhof?"]
    others = texts[1:] + texts[:1]
    whole = measure(texts, others)
    assert [measure(a, b) for a, b in zip(texts, others, strict=True)] == whole
    assert measure(texts[::-1], others[::-1]) == whole[::-1]


def test_unknown_language_is_refused_where_it_matters(tiny_m2m100: object) -> None:
    folder = tiny_m2m100.folder.path  # type: ignore[attr-defined]
    with pytest.raises(LanguageError):
        tertium.load("sss", model=folder)("The sea was calm.", "Das Meer war ruhig.")
    found = tertium.load("sss", model=folder)(
        "The sea was calm.", "Das Meer war ruhig.", lang="en", reference_lang="de"
    )
    assert -1 <= found <= 1
