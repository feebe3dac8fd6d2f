"""pivot and cross through several languages and several translations, by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

import tertium
from tertium.errors import LanguageError, ModelError, SettingError
from tertium.models.base import BEAM_SEARCH, Candidate, Progress, Query, Search

from ..fakes import FakeModel

A, B = "a", "b"


@dataclass
class Polyglot(FakeModel):
    """Translates "b" into German as "b-de", and has two candidates, "b-de" and "b-de2"."""

    searches: list[Search] = field(default_factory=list)

    def candidates(
        self,
        queries: Sequence[Query],
        *,
        search: Search = BEAM_SEARCH,
        progress: Progress | None = None,
    ) -> list[list[Candidate]]:
        self.searches.append(search)
        made = [f"{query.source}-{query.target_lang}" for query in queries]
        best = [[Candidate(text, math.log(0.6), 1)] for text in made]
        if search.count == 1:
            return best
        others = [Candidate(f"{text}2", math.log(0.2), 1) for text in made]
        return [[*one, other] for one, other in zip(best, others, strict=True)]


def model(**probabilities: float) -> Polyglot:
    """A model with p(target|source) by name, as in ``a__b_de=0.5`` for p(a|b-de)."""
    scores = {}
    for name, probability in probabilities.items():
        target, source = (part.replace("_", "-") for part in name.split("__"))
        scores[target, source] = (math.log(probability),)
    return Polyglot(scores=scores)


def directed(measure: str, engine: FakeModel, **settings: Any) -> float:
    made = tertium.load(measure, model=engine, both_directions=False, **settings)
    return made(A, B, lang="en")


def test_cross_through_two_languages() -> None:
    """de: 0.3 / 0.6 = 0.5; fr: 0.2 / 0.8 = 0.25; their mean is 0.375."""
    engine = model(b_de__a=0.3, b_de__b=0.6, b_fr__a=0.2, b_fr__b=0.8)
    assert directed("cross", engine, target_lang="de") == pytest.approx(0.5)
    assert directed("cross", engine, target_lang="de,fr") == pytest.approx(0.375)


def test_pivot_through_two_languages() -> None:
    """de: 0.1 / 0.5 = 0.2; fr: 0.3 / 0.5 = 0.6; their mean is 0.4."""
    engine = model(a__b_de=0.1, a__a_de=0.5, a__b_fr=0.3, a__a_fr=0.5)
    assert directed("pivot", engine, pivot_lang="de,fr") == pytest.approx(0.4)


def test_cross_through_two_translations() -> None:
    """Weights 0.6 and 0.2, that is 3/4 and 1/4: 3/4 * 0.3/0.6 + 1/4 * 0.1/0.5 = 0.425."""
    engine = model(b_de__a=0.3, b_de__b=0.6, b_de2__a=0.1, b_de2__b=0.5)
    assert directed("cross", engine, target_lang="de", pivots=2) == pytest.approx(0.425)
    assert engine.searches == [Search(2, 5)]
    plain = directed("cross", engine, target_lang="de", pivots=2, normalized=False)
    assert plain == pytest.approx(0.75 * 0.3 + 0.25 * 0.1)


@pytest.mark.parametrize("base", ["e", "2"])
def test_pivot_through_two_translations(base: str) -> None:
    """(3/4 * 0.1 + 1/4 * 0.3) / (3/4 * 0.5 + 1/4 * 0.7) = 0.15 / 0.55, or with 2 ** ln p."""
    engine = model(a__b_de=0.1, a__b_de2=0.3, a__a_de=0.5, a__a_de2=0.7)

    def p(probability: float) -> float:
        return probability if base == "e" else 2 ** math.log(probability)

    wanted = (0.75 * p(0.1) + 0.25 * p(0.3)) / (0.75 * p(0.5) + 0.25 * p(0.7))
    assert directed("pivot", engine, pivot_lang="de", pivots=2, base=base) == pytest.approx(wanted)


def test_samples_have_equal_weights() -> None:
    """(0.3/0.6 + 0.1/0.5) / 2 = 0.35: they are drawn as often as they are probable."""
    engine = model(b_de__a=0.3, b_de__b=0.6, b_de2__a=0.1, b_de2__b=0.5)
    options: dict[str, Any] = {"target_lang": "de", "pivots": 2, "pivot_search": "sampling"}
    assert directed("cross", engine, **options) == pytest.approx(0.35)
    assert engine.searches == [Search(2, sampling=True)]


def test_sums_that_underflow() -> None:
    """With G, exp(-900) is 0 in floating point, but the ratio of the two means is not."""
    engine = Polyglot(
        scores={
            (A, "b-de"): (-900.0,),
            (A, "b-de2"): (-900.0,),
            (A, "a-de"): (-899.0,),
            (A, "a-de2"): (-899.0,),
        }
    )
    found = directed("pivot", engine, pivot_lang="de", pivots=2, aggregate="G")
    assert found == pytest.approx(math.exp(-1))


def test_a_text_is_identical_to_itself() -> None:
    for spec in ("cross:pivots=3,target_lang=de,fr", "pivot:pivots=3,pivot_search=sampling"):
        assert tertium.load(spec)("The same.", "The same.", lang="en") == pytest.approx(1.0)


def test_signatures_name_them() -> None:
    scores = tertium.load("pivot:pivot_lang=fr,German,pivots=4").score("A.", "A.", lang="en")
    assert "|pivot_lang:fr,de|beam_size:5|pivots:4|pivot_search:beam|" in scores.signature.long
    plain = tertium.load("pivot").score("A.", "A.", lang="en").signature.long
    assert "|pivot_lang:en|beam_size:5|precision:" in plain


def test_wrong_settings() -> None:
    for spec, message in {
        "cross:pivots=0": "whole number from 1",
        "cross:target_lang=de,de": "each language may occur only once",
        "cross:pivot_search=sampling": "set pivots",
        "cross:pivots=2,pivot_search=greedy": "it must be one of",
    }.items():
        with pytest.raises(SettingError, match=message):
            tertium.load(spec)
    with pytest.raises(LanguageError, match="'xx'"):
        tertium.load("cross:target_lang=de,xx")
    with pytest.raises(ModelError, match="fake cannot return several candidates"):
        tertium.load("cross", model=FakeModel(), pivots=2)("a", "b", lang="en")
