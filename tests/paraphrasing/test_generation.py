"""Paraphrases: none is the input, and they stand in the order of a measure."""

from __future__ import annotations

import pytest

import tertium
from tertium.errors import LanguageError, ModelError, SettingError
from tertium.models.base import Search, make_queries, translation_queries
from tertium.models.cached import CachedModel
from tertium.models.translation.pair import PairOfModels
from tertium.paraphrasing.generation import Candidate, Paraphraser, distinct, diversity
from tertium.paraphrasing.penalties import NgramPenalty

from ..fakes import FakeModel

TEXTS = ["I have to go now.", "My father has a new car."]


def test_what_only_repeats_is_dropped() -> None:
    texts = ("i have to go now", "I must go.", "I MUST GO!", " ")
    candidates = [Candidate(text, "") for text in texts]
    assert distinct(candidates, "I have to go now.") == [Candidate("I must go.", "")]
    assert diversity("I must go.", "I must go.") == 0
    assert diversity("xyz", "I must go.") == 100


def test_paraphrases_are_ranked_and_differ() -> None:
    found = Paraphraser(beam_size=2, count=3, pivots=("", "de"))([*TEXTS, ""], "en")
    assert [len(some) > 0 for some in found] == [True, True, False]
    for text, some in zip(TEXTS, found, strict=False):
        assert len(some) <= 3
        assert len({one.text for one in some}) == len(some)
        similarities = [one.similarity for one in some]
        assert similarities == sorted(similarities, reverse=True)
        scores = tertium.score([one.text for one in some], [text] * len(some), lang="en")
        assert similarities == pytest.approx(scores)
        assert all(one.diversity == pytest.approx(diversity(one.text, text)) for one in some)
        assert {one.via for one in some} <= {"", "de"}


def test_a_penalty_makes_them_differ_more() -> None:
    means = []
    for a in (0.0, 0.5):
        made = Paraphraser(beam_size=2, count=1, penalty=NgramPenalty(a=a))
        means.append(sum(one.diversity for some in made(TEXTS, "en") for one in some))
    assert means[1] > means[0]


def test_least_diversity() -> None:
    made = Paraphraser(beam_size=2, count=9, least_diversity=60, penalty=NgramPenalty(a=0.1))
    assert all(one.diversity >= 60 for some in made(TEXTS, "en") for one in some)


def test_batches_change_nothing() -> None:
    made = Paraphraser(beam_size=2, count=2)
    assert made(TEXTS, "en") == [made([text], "en")[0] for text in TEXTS]


def test_candidates_are_those_with_the_best_penalized_score() -> None:
    """(G - penalties) / tokens, of the translations of all searches."""
    made = Paraphraser(beam_size=2, penalty=NgramPenalty(a=0.05))
    [kept] = made._candidates(TEXTS[:1], "en", "", None)
    assert len(kept) == 4  # twice the beam size
    engine = tertium.load_model(cache=False).model
    source = NgramPenalty(a=0.05).against(engine.target_tokens(TEXTS[:1])[0])
    scores = engine.log_probs(
        make_queries(
            [each.text for each in kept], TEXTS[:1] * 4, target_lang="en", source_lang="en"
        )
    )
    penalized = [(each.G - source(each.tokens)) / len(each.tokens) for each in scores]
    assert penalized == sorted(penalized, reverse=True)


def test_without_a_penalty_candidates_are_the_engines_n_best() -> None:
    engine = tertium.load_model(cache=False).model
    n_best = engine.candidates(
        translation_queries(TEXTS, target_lang="en", source_lang="en"), search=Search(4, 4)
    )
    kept = Paraphraser(beam_size=2, penalty=NgramPenalty(a=0))._candidates(TEXTS, "en", "", None)
    for text, found, candidates in zip(TEXTS, n_best, kept, strict=True):
        expected = distinct([Candidate(each.text, "") for each in found], text)
        assert {each.text for each in candidates} == {each.text for each in expected}


def test_mistakes() -> None:
    with pytest.raises(LanguageError, match="'it'"):
        Paraphraser()(TEXTS, "it")
    with pytest.raises(SettingError, match="count is 0"):
        Paraphraser(count=0)
    with pytest.raises(SettingError, match="longest is 0"):
        NgramPenalty(longest=0)
    with pytest.raises(ModelError, match="fake cannot tokenize targets"):
        Paraphraser(model=FakeModel())(TEXTS, "en")


def test_a_pair_of_models_has_one_for_the_way_back() -> None:
    engine = tertium.load_model(cache=False).model
    assert PairOfModels(FakeModel(), engine).engine("en", "de").name == "fake"
    pair = CachedModel(PairOfModels(engine, FakeModel()))
    assert pair.engine("en", "en") is engine
