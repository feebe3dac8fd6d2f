"""The formulas of NMTScore and Prism."""

from __future__ import annotations

import math
from typing import Any

import pytest

from tertium.errors import LanguageError, SettingError, TextWarning
from tertium.measures.loading import load, score
from tertium.measures.translation import Cross, Direct, Pivot, PrismRef, PrismSrc
from tertium.models.cached import CachedModel
from tertium.models.catalog import load_model
from tertium.models.languages import LanguageSet
from tertium.models.translation.translate import check_source

from ..conftest import Converted
from ..fakes import FakeModel

A, B = "a", "b"
HAND = FakeModel(
    scores={
        ("a", "b"): (-1.0, -3.0),  # H -2, G -4
        ("b", "a"): (-1.0, -1.0, -4.0),  # H -2, G -6
        ("a", "a"): (-0.5, -0.5),  # H -0.5, G -1
        ("b", "b"): (-0.2, -0.2, -0.2),  # H -0.2, G -0.6
        ("a", "b'"): (-1.5, -2.5),  # H -2
        ("a", "a'"): (-1.0, -1.0),  # H -1
        ("b", "a'"): (-3.0, -3.0, -3.0),  # H -3
        ("b", "b'"): (-1.0, -1.0, -1.0),  # H -1
        ("b'", "a"): (-4.0,),
        ("b'", "b"): (-1.0,),
        ("a'", "b"): (-2.0,),
        ("a'", "a"): (-1.5,),
    },
    translations={"a": "a'", "b": "b'"},
)
e = math.exp


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        (Direct(HAND), (e(-2 + 0.5) + e(-2 + 0.2)) / 2),
        (Direct(HAND, normalized=False), (e(-2) + e(-2)) / 2),
        (Direct(HAND, both_directions=False), e(-2 + 0.5)),
        (Direct(HAND, both_directions=False, normalized=False), e(-2)),
        (Direct(HAND, both_directions=False, normalized=False, base="2"), 2**-2),
        (Direct(HAND, base="2"), (2 ** (-2 + 0.5) + 2 ** (-2 + 0.2)) / 2),
        (Direct(HAND, aggregate="G"), (e(-4 + 1) + e(-6 + 0.6)) / 2),
        (Pivot(HAND), (e(-2 + 1) + e(-3 + 1)) / 2),
        (Pivot(HAND, normalized=False), (e(-2) + e(-3)) / 2),
        (Pivot(HAND, both_directions=False), e(-2 + 1)),
        (Cross(HAND), (e(-4 + 1) + e(-2 + 1.5)) / 2),
        (Cross(HAND, normalized=False), (e(-4) + e(-2)) / 2),
        (Cross(HAND, both_directions=False, base="2"), 2 ** (-4 + 1)),
        (PrismRef(HAND), (-2 + -2) / 2),
        (PrismRef(HAND, aggregate="G"), (-4 + -6) / 2),
        (PrismRef(HAND, aggregate="G", alpha=0.25), 0.75 * -6 + 0.25 * -4),
        (PrismRef(HAND, aggregate="G", alpha=1), -4),
        (PrismSrc(HAND), -2),
        (PrismSrc(HAND, aggregate="G"), -4),
    ],
)
def test_hand_calculation(measure: Any, expected: float) -> None:
    assert measure(A, B, lang="en") == pytest.approx(expected, rel=1e-12)


def test_prism_table_1() -> None:
    """The log-probabilities that the paper prints for its example, and the H that it prints."""
    printed = {
        "copy": (
            [-0.08, -0.26, -0.16, -0.16, -0.12, -0.11, -0.14, -0.10, -0.10, -0.11, -0.10],
            -0.13,
        ),
        "disfluent": ([-0.08, -0.26, -7.21, -0.12, -4.81, -0.10, -0.11, -0.11, -0.10], -1.43),
        "fluent": ([-0.08, -2.01, -1.63, -0.42, -0.10, -0.09, -0.16, -0.10], -0.57),
    }
    for name, (log_probs, H) in printed.items():
        measure = PrismSrc(FakeModel(scores={(name, "ref"): log_probs}))
        assert measure(name, "ref", lang="en") == pytest.approx(H, abs=0.006)


def test_the_nmtscore_package_in_base_2(tiny: Converted) -> None:
    """Its formulas, written out over a plain PyTorch forward pass with the same weights."""
    original = tiny.original
    a, b = "The sea was calm.", "Das Meer war ruhig."
    a_lang, b_lang = "en", "de"

    def p(target: str, source: str, target_lang: str, source_lang: str) -> float:
        loss = -sum(x := original.log_probs(target, source, target_lang, source_lang)) / len(x)
        return float(2**-loss)

    def direct(a: str, b: str, a_lang: str, b_lang: str) -> float:
        return p(a, b, a_lang, b_lang) / p(a, a, a_lang, a_lang)

    def pivot(a: str, b: str, a_lang: str, b_lang: str, via: str = "fr") -> float:
        b_, a_ = original.translate(b, via, b_lang), original.translate(a, via, a_lang)
        return p(a, b_, a_lang, via) / p(a, a_, a_lang, via)

    def cross(a: str, b: str, a_lang: str, b_lang: str, into: str = "fr") -> float:
        b_ = original.translate(b, into, b_lang)
        return p(b_, a, into, a_lang) / p(b_, b, into, b_lang)

    model = load_model(tiny.folder.path, cache=False)
    for theirs, ours in (
        (direct, Direct(model, base="2")),
        (pivot, Pivot(model, base="2", pivot_lang="fr")),
        (cross, Cross(model, base="2", target_lang="fr")),
    ):
        expected = (theirs(a, b, a_lang, b_lang) + theirs(b, a, b_lang, a_lang)) / 2
        found = ours(a, b, lang=a_lang, reference_lang=b_lang)
        assert found == pytest.approx(expected, abs=1e-4)


TEXTS = ["Where is it?", "The old man and the sea.", "", "🙂 5 €", "Das ist gut.", "x " * 2000]


@pytest.mark.parametrize("measure", ["direct", "pivot", "cross"])
@pytest.mark.filterwarnings("ignore::tertium.errors.CutWarning")
def test_identical_texts_score_one(measure: str) -> None:
    scores = score(TEXTS, TEXTS, measure=measure, lang="en")
    assert scores == [1.0 if text else 0.0 for text in TEXTS]  # an empty text: the lowest
    formula = load(measure, empty="formula")
    assert formula(TEXTS, TEXTS, lang="en") == [1.0] * len(TEXTS)


@pytest.mark.parametrize("compute_type", ["int8", "float32"])
@pytest.mark.parametrize("measure", ["direct", "pivot", "cross", "prism-ref"])
@pytest.mark.filterwarnings("ignore::tertium.errors.CutWarning")
def test_symmetric_order_free_and_finite(measure: str, compute_type: Any) -> None:
    pairs = [(a, b) for a in TEXTS for b in TEXTS]
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    made = load(measure, model=load_model(compute_type=compute_type, cache=False))
    forth = made(first, second, lang="en")
    back = made(second, first, lang="en")
    assert forth == back
    assert all(math.isfinite(value) for value in forth)
    model = load_model(compute_type=compute_type, cache=False, batch_tokens=1)
    alone = [load(measure, model=model)(a, b, lang="en") for a, b in pairs[::5]]
    assert alone == pytest.approx(forth[::5], abs=1e-5)
    assert compute_type == "float32" or alone == forth[::5]  # in int8, to the bit


def test_sums_over_broken_text_stay_finite() -> None:
    model = FakeModel(scores={("a", "b"): [-1.0], ("a", "a"): [-30.0] * 500})
    assert math.isfinite(Direct(model, aggregate="G", both_directions=False)("a", "b", lang="en"))


def test_the_best_reference_in_each_direction() -> None:
    """By hand, unnormalised: given b and c, a has e^-1 and e^-3; given a, they have e^-4 and e^-2.

    The means of both directions are (e^-1 + e^-4) / 2 = 0.193 for b and 0.093 for c. Each way by
    itself, the best are b and c: (e^-1 + e^-2) / 2 = 0.252.
    """
    scores = {("a", "b"): (-1.0,), ("a", "c"): (-3.0,), ("b", "a"): (-4.0,), ("c", "a"): (-2.0,)}
    model = FakeModel(scores=scores)
    best = Direct(model, normalized=False)
    each = Direct(model, normalized=False, references="max-each-way")
    assert best(["a"], [["b", "c"]], lang="en") == pytest.approx([(e(-1) + e(-4)) / 2])
    found = each.score(["a"], [["b", "c"]], lang="en")
    assert found.segments == pytest.approx([(e(-1) + e(-2)) / 2])
    assert "references:max-each-way" in str(found.signature)
    assert each("a", "c", lang="en") == best("a", "c", lang="en")
    one_way = Direct(model, normalized=False, both_directions=False, references="max-each-way")
    assert one_way(["a"], [["b", "c"]], lang="en") == pytest.approx([e(-1)])


def test_several_references() -> None:
    model = FakeModel(scores={("a", "b"): [-1.0], ("a", "c"): [-3.0]})
    one_way: dict[str, Any] = {"normalized": False, "both_directions": False}
    best = Direct(model, **one_way).score(["a"], [["b", "c"]], lang="en")
    assert best.segments == [math.exp(-1.0)]
    assert "nrefs:2" in str(best.signature)
    mean = Direct(model, references="mean", **one_way)(["a"], [["b", "c"]], lang="en")
    assert mean == [(math.exp(-1.0) + math.exp(-3.0)) / 2]
    varied = Direct(model, **one_way).score(["a", "a"], [["b", "c"], ["c"]], lang="en")
    assert varied.segments == [math.exp(-1.0), math.exp(-3.0)]
    assert "nrefs:mixed" in str(varied.signature)


def test_shared_questions_are_asked_once() -> None:
    model = FakeModel(translations={"a": "a'", "b": "b'"})
    memo = CachedModel(model)
    for name in ("direct", "prism-ref", "prism-src", "cross", "pivot"):
        load(name, model=memo)(["a"], ["b"], lang="en")
    assert len(model.asked) == len(set(model.asked)) == 4 + 4 + 4
    assert len(model.translated) == 2


def test_languages_a_row() -> None:
    model = FakeModel()
    Direct(model, both_directions=False, normalized=False)(
        ["a", "b"], ["c", "d"], lang=["en", "de"], reference_lang=["fr", "en"]
    )
    assert model.asked == [("a", "c", "en", "fr"), ("b", "d", "de", "en")]


@pytest.mark.parametrize("measure", ["direct", "pivot", "prism-ref", "prism-src"])
def test_a_language_that_is_needed_must_be_given(measure: str) -> None:
    with pytest.raises(LanguageError, match=r"row 1: .*hypothesis.*not given.*de, en, fr"):
        load(measure, model=FakeModel())(["a"], ["b"])


def test_cross_needs_no_language_unless_the_model_does() -> None:
    assert Cross(FakeModel())(["a"], ["b"]) == [1.0]
    with pytest.raises(LanguageError, match="was not given"):
        Cross(FakeModel(needs_source_language=True))(["a"], ["b"])


@pytest.mark.filterwarnings("ignore:.* script that the model was not trained on")
def test_prism_src_reads_any_source_but_marks_languages_that_the_model_has_not_seen() -> None:
    """Table 4 of Prism has gu-en; the model has no Gujarati, and reads no tag of the source."""
    model = FakeModel(scores={("a", "b"): (-1.0, -3.0)})
    assert PrismSrc(model)(["a"], ["b"], lang="en", reference_lang="gu") == [-2.0]
    assert model.asked == [("a", "b", "en", None)]
    bundled = PrismSrc(load_model("tertium-mini", cache=False))
    hypotheses = ["A cat sleeps."] * 2
    with pytest.warns(TextWarning, match="not trained on"):
        scores = bundled.score(
            hypotheses, ["Kissa nukkuu."] * 2, lang="en", reference_lang=["fi", "de"]
        )
    assert scores.segments[0] == scores.segments[1]
    assert scores.marks[0] == ("unknown",)
    with pytest.raises(LanguageError, match=r"the hypothesis is in 'gu'"):
        PrismSrc(model)(["a"], ["b"], lang="gu", reference_lang="en")
    with pytest.raises(LanguageError, match=r"the source is in 'gu'"):
        PrismSrc(FakeModel(needs_source_language=True))(
            ["a"], ["b"], lang="en", reference_lang="gu"
        )


@pytest.mark.parametrize("measure", [Direct, Cross])
def test_a_model_for_one_direction(measure: type[Direct]) -> None:
    """The text is named that it would have to translate from a language that it cannot read."""

    class OneWay(FakeModel):
        def log_probs(self, queries: Any, **ways: Any) -> Any:
            for query in queries:
                check_source(self, query.source_lang)
            return super().log_probs(queries, **ways)

        def candidates(self, queries: Any, **ways: Any) -> Any:
            for query in queries:
                check_source(self, query.source_lang)
            return super().candidates(queries, **ways)

    model = OneWay(languages=LanguageSet({"de": ""}, {"en": ""}))
    with pytest.raises(LanguageError) as caught:
        measure(model)(["a"], ["b"], lang="en")
    assert str(caught.value) == (
        f"row 1: {measure.name} must translate the hypothesis (en); fake only translates de to "
        "en; choose a model or a pair of models that does (`tertium models`)"
    )


def test_unknown_languages_name_the_row_and_the_known_ones() -> None:
    with pytest.raises(LanguageError, match=r"row 2: cross: the reference is in 'xx'.*de, en, fr"):
        Cross(FakeModel())(["a", "b"], ["c", "d"], lang="en", reference_lang=["en", "xx"])
    with pytest.raises(LanguageError, match="'xx'"):
        Cross(FakeModel(), target_lang="xx")
    with pytest.raises(LanguageError, match="'xx'"):
        Pivot(FakeModel(), pivot_lang="xx")


@pytest.mark.parametrize(
    "setting",
    [
        {"base": "10"},
        {"base": 2},
        {"aggregate": "F"},
        {"references": "min"},
        {"beams": 3},
        {"normalized": "no"},
        {"both_directions": 1},
        {"beam_size": 2.5},
        {"beam_size": 0},
    ],
)
def test_impossible_settings(setting: dict[str, Any]) -> None:
    with pytest.raises(SettingError):
        load("cross", model=FakeModel(), **setting)


def test_alpha_is_in_the_signature_if_it_is_not_the_default() -> None:
    assert "alpha" not in PrismRef(FakeModel()).description()
    assert PrismRef(FakeModel(), alpha=0.3).description()["alpha"] == "0.3"
    assert not PrismRef(FakeModel(), alpha=0.3).is_symmetric
    for alpha in (-0.1, 1.1, True, "x"):
        with pytest.raises(SettingError, match="alpha"):
            PrismRef(FakeModel(), alpha=alpha)  # type: ignore[arg-type]


def test_cut_rows_are_marked_and_warned_of_once() -> None:
    from tertium.errors import CutWarning

    with pytest.warns(CutWarning, match="1 of 2 rows") as warned:
        scores = PrismSrc(FakeModel()).score(["long a", "a"], ["b", "b"], lang="en")
    assert len(warned) == 1
    assert scores.cut == [True, False]


def test_signature_pins_every_choice() -> None:
    scores = Cross(FakeModel(), target_lang="de", base="2", beam_size=3).score(["a"], ["b"])
    assert scores.signature.long.rpartition("|version:")[0] == (
        "measure:cross|model:fake|fingerprint:ffffffffffff|aggregate:H|references:max|"
        "normalized:yes|base:2|target_lang:de|beam_size:3|precision:exact|directions:both|"
        "lang:unknown|reference_lang:unknown|nrefs:1"
    )
    assert scores.signature.short.startswith("m:cross|mod:fake|fp:ffffffffffff|")
