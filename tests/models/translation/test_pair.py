"""Two bilingual models serve measures that one cannot."""

from __future__ import annotations

import math
from typing import Any

import pytest

from tertium.errors import LanguageError, ModelError
from tertium.measures.translation import Cross, Direct, Pivot
from tertium.models.base import Query, TranslationModel, make_queries
from tertium.models.cached import CachedModel
from tertium.models.catalog import load_model, pair_names
from tertium.models.languages import LanguageSet
from tertium.models.translation.pair import PairOfModels

from ...fakes import FakeModel

FORTH = FakeModel(
    name="en-fr",
    languages=LanguageSet({"en": ""}, {"fr": ""}, {"eng": ("en",)}),
    scores={("f", "e"): (-1.0,)},
    translations={"e": "f", "e2": "f2"},
)
BACK = FakeModel(
    name="fr-en",
    fingerprint="b" * 64,
    languages=LanguageSet({"fr": ""}, {"en": ""}, {"eng": ("en",)}),
    scores={("e", "f"): (-2.0,), ("e", "f2"): (-3.0,), ("e2", "f"): (-5.0,), ("e2", "f2"): (-1.5,)},
)
PAIR = PairOfModels(FORTH, BACK)


def test_it_is_a_model() -> None:
    assert isinstance(PAIR, TranslationModel)
    assert PAIR.name == "en-fr+fr-en"
    assert PAIR.fingerprint != PairOfModels(BACK, FORTH).fingerprint
    assert PAIR.languages.all == {"en", "fr"}


def test_each_question_goes_to_its_model_and_order_is_kept() -> None:
    answers = PAIR.log_probs(
        make_queries(["e", "f", "e"], ["f", "e", "f2"], target_lang=["en", "fr", "eng"])
    )
    assert [answer.G for answer in answers] == [-2, -1, -3]


def test_pivot_through_the_pair() -> None:
    score = Pivot(CachedModel(PAIR), pivot_lang="fr")("e", "e2", lang="en")
    assert score == pytest.approx((math.exp(-3 + 2) + math.exp(-5 + 1.5)) / 2)


def test_two_way_direct_through_the_pair() -> None:
    measure = Direct(PAIR, normalized=False)
    score = measure("e", "f", lang="en", reference_lang="fr")
    assert score == pytest.approx((math.exp(-2) + math.exp(-1)) / 2)
    with pytest.raises(LanguageError, match=r"no model translates en to en: .*normalization"):
        Direct(CachedModel(PAIR))("e", "f", lang="en", reference_lang="fr")


def test_cross_needs_one_direction_only(family: Any) -> None:
    model = load_model(family("marian").folder.path, cache=False)
    measure = Cross(model)
    assert measure.target_lang == "fr"
    assert measure("The sea was calm.", "The sea was calm.", lang="en") == 1
    assert measure("The sea was calm.", "She reads a book.") < 0.5
    for lang in ("de", "fr"):
        with pytest.raises(
            LanguageError, match=rf"is in '{lang}'|must translate the hypothesis \({lang}\)"
        ):
            measure("Das Meer.", "Das Meer.", lang=lang)
    with pytest.raises(LanguageError, match=r"target is in 'en'.*translates en to fr"):
        Direct(model)("a", "b", lang="en")


def test_a_pair_is_loaded_by_its_names() -> None:
    pair = load_model("tertium-mini+tertium-mini", cache=False)
    assert isinstance(pair.model, PairOfModels)
    assert pair.name == "tertium-mini+tertium-mini"
    with pytest.raises(ModelError, match="FIRST"):
        pair_names("a+b+c")


def test_the_directions_of_a_pair() -> None:
    assert CachedModel(PAIR).translates("en", "fr")
    assert PAIR.translates("eng", "fr")
    assert not PAIR.translates("en", "en")
    assert not PAIR.translates(None, "en")
    assert PAIR.alternatives([Query("f", "e", "fr", "en")], places=[0]) == [[[]]]
