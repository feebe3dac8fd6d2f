"""Candidates by beam search, and sampling that can be repeated."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

import pytest

import tertium
from tertium.errors import ModelError, SettingError
from tertium.models.base import Candidate, Search, make_queries, translation_queries
from tertium.models.translation.ctranslate2 import CTranslate2Model
from tertium.models.translation.pair import PairOfModels

from ...fakes import FakeModel

SOURCES = ["I like dogs more than cats.", "The train is late.", "", "Where is he?"]


@pytest.fixture(scope="module")
def model() -> CTranslate2Model:
    engine = tertium.load_model("tertium-mini", cache=False).model
    assert isinstance(engine, CTranslate2Model)
    return engine


def draw(model: CTranslate2Model, sources: list[str], **settings: object) -> list[list[Candidate]]:
    search = Search(sampling=True, **settings)  # type: ignore[arg-type]
    return model.candidates(
        translation_queries(sources, target_lang="de", source_lang="en"), search=search
    )


def test_n_best_lists_begin_with_the_translation(model: CTranslate2Model) -> None:
    found = model.candidates(translation_queries(SOURCES, target_lang="de"), search=Search(count=3))
    best = model.translate(SOURCES, target_lang="de")
    assert [each[0].text for each in found] == [each.text for each in best]
    assert [len(each) for each in found] == [3, 3, 1, 3]
    assert found[2] == [Candidate("", 0.0, 0)]
    for each in found:
        # The engine sorts by the mean over all tokens, the tag included.
        means = [candidate.log_prob / (candidate.length + 1) for candidate in each]
        assert means == sorted(means, reverse=True)


def test_log_probabilities_are_those_of_forced_decoding(model: CTranslate2Model) -> None:
    [n_best] = model.candidates(
        translation_queries(SOURCES[:1], target_lang="de"), search=Search(count=3)
    )
    forced = model.log_probs(
        make_queries([c.text for c in n_best], SOURCES[:1] * 3, target_lang="de")
    )
    for candidate, scores in zip(n_best, forced, strict=True):
        assert candidate.length == len(scores.tokens)
        assert candidate.log_prob == pytest.approx(scores.G, abs=1e-3)


@pytest.mark.parametrize(
    "settings", [{}, {"top_k": 5}, {"top_p": 0.8, "temperature": 0.7}, {"epsilon": 0.05}]
)
def test_samples_depend_on_nothing_but_their_source(
    model: CTranslate2Model, settings: dict[str, float]
) -> None:
    together = draw(model, SOURCES, count=3, **settings)
    reversed_ = draw(model, SOURCES[::-1], count=3, **settings)[::-1]
    alone = [draw(model, [source], count=3, **settings)[0] for source in SOURCES]
    assert together == reversed_ == alone
    assert draw(model, SOURCES, count=3, seed=1, **settings) != together


def test_one_token_to_draw_from_is_greedy_search(model: CTranslate2Model) -> None:
    greedy = model.candidates(
        translation_queries(SOURCES, target_lang="de"), search=Search(beam_size=1)
    )
    for settings in ({"top_k": 1}, {"top_p": 1e-6}, {"epsilon": 0.999}):
        drawn = draw(model, SOURCES, **settings)
        assert [each[0].text for each in drawn] == [each[0].text for each in greedy]
        for one, other in zip(drawn, greedy, strict=True):
            assert one[0].log_prob == pytest.approx(other[0].log_prob, abs=1e-3)


def test_epsilon_draws_from_the_probable_tokens(model: CTranslate2Model) -> None:
    """The first token against the exact distribution: p where it is at least 0.05, rescaled."""
    [drawn] = draw(model, ["Hello!"], count=200, epsilon=0.05)
    vocabulary = [token for token in model.target_vocabulary if not token.startswith("<")]
    first_tokens = [model.target_tokens([token.replace("▁", " ")])[0] for token in vocabulary]
    single = [tokens[0] for tokens in first_tokens if len(tokens) == 1]
    scores = model.log_probs(
        make_queries(
            [token.replace("▁", " ") for token in single],
            ["Hello!"] * len(single),
            target_lang="de",
        )
    )
    probabilities = {each.tokens[0]: math.exp(each.log_probs[0]) for each in scores}
    allowed = {token: p for token, p in probabilities.items() if p >= 0.05}
    assert 2 <= len(allowed) <= 5
    first = Counter(model.target_tokens([each.text])[0][0] for each in drawn)
    assert set(first) <= set(allowed)
    for token, probability in allowed.items():
        share = probability / sum(allowed.values())
        deviation = math.sqrt(share * (1 - share) / 200)
        assert abs(first[token] / 200 - share) < 4 * deviation


def test_no_token_is_less_probable_than_epsilon(model: CTranslate2Model) -> None:
    [drawn] = draw(model, SOURCES[:1], count=8, epsilon=0.1)
    forced = model.log_probs(
        make_queries([c.text for c in drawn], SOURCES[:1] * 8, target_lang="de")
    )
    checked = 0
    for candidate, scores in zip(drawn, forced, strict=True):
        assert candidate.log_prob >= candidate.length * math.log(0.1)
        if len(scores.tokens) == candidate.length:  # the text has the tokens that were drawn
            improbable = [p for p in scores.log_probs if p < math.log(0.1) - 1e-4]
            checked += 1
            assert not improbable
    assert checked


def test_epsilon_may_allow_every_token(model: CTranslate2Model) -> None:
    [drawn] = draw(model, SOURCES[:1], count=4, epsilon=1e-9)
    [empty, _] = draw(model, ["", *SOURCES[:1]], count=1, epsilon=1e-9)
    assert len({each.text for each in drawn}) > 1
    assert empty[0].text == ""


def test_a_cache_returns_the_same(model: CTranslate2Model) -> None:
    memo = tertium.load_model("tertium-mini", cache=False)
    search = Search(2, sampling=True)
    first = memo.candidates(
        translation_queries(SOURCES, target_lang="de", source_lang="en"), search=search
    )
    again = memo.candidates(
        translation_queries(SOURCES, target_lang="deu", source_lang="en"), search=search
    )
    assert first == again == draw(model, SOURCES, count=2)
    assert memo.tally.queries == 8
    assert memo.tally.distinct == 4
    other = memo.candidates(
        translation_queries(SOURCES, target_lang="de", source_lang="en"),
        search=replace(search, seed=3),
    )
    assert other != first


@pytest.mark.parametrize(
    "settings",
    [
        {"count": 0},
        {"count": 6},
        {"beam_size": 0},
        {"temperature": 0.5},
        {"sampling": True, "temperature": 0},
        {"sampling": True, "top_p": 0},
        {"sampling": True, "epsilon": 1},
        {"sampling": True, "epsilon": 0.1, "top_k": 3},
        {"sampling": True, "seed": -1},
    ],
)
def test_wrong_settings(settings: dict[str, float]) -> None:
    with pytest.raises(SettingError):
        Search(**settings)  # type: ignore[arg-type]


def test_a_pair_of_models_delegates(model: CTranslate2Model) -> None:
    pair = PairOfModels(model, model)
    search = Search(2, sampling=True)
    found = pair.candidates(
        translation_queries(SOURCES, target_lang="de", source_lang="en"), search=search
    )
    assert found == draw(model, SOURCES, count=2)


def test_models_without_candidates() -> None:
    with pytest.raises(ModelError, match="fake cannot return several candidates"):
        tertium.translate("Hello!", "de", model=FakeModel(), count=2)


def test_translate() -> None:
    assert tertium.translate(["Thank you!", ""], "German") == ["Danke!", ""]
    several = tertium.translate("Thank you!", "de", count=7)
    assert len(several) == 7  # the beam is as large
    assert several[0].text == "Danke!"
