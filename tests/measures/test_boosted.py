"""BoostedProb, as the authors' package computes it."""

from __future__ import annotations

import math

import pytest

import tertium
from tertium.errors import ModelError
from tertium.measures.boosted import SMALLEST_JUMP, boosted, boosted_log_prob
from tertium.measures.translation import PrismSrc
from tertium.models.base import TokenDistributions, TokenScores, make_queries
from tertium.models.cached import CachedModel, pack_distributions, unpack_distributions

from ..conftest import Converted
from ..fakes import FakeModel
from ..tiny import PARALLEL

# Each distribution, and what boostedprob 0.1.3 gives its tokens
# (calculate_boostedprob(log_probs, target) with its defaults).
PACKAGE = [
    ((0.5, 0.4, 0.05, 0.05), (0.9, 0.9, 0.05, 0.05)),
    ((0.5, 0.4, 0.05, 0.03, 0.02), (0.98, 0.98, 0.98, 0.98, 0.02)),
    ((0.25, 0.25, 0.25, 0.25), (0.25, 0.25, 0.25, 0.25)),
    ((0.9, 0.06, 0.04), (0.96, 0.96, 0.04)),
    ((0.3, 0.25, 0.2, 0.15, 0.1), (0.9, 0.9, 0.9, 0.9, 0.1)),
    ((0.012, 0.004, 0.984), (0.996, 0.004, 0.996)),
    ((0.34, 0.33, 0.32, 0.01), (0.99, 0.99, 0.99, 0.01)),
]


@pytest.mark.parametrize(("distribution", "expected"), PACKAGE)
def test_the_authors_package(distribution: tuple[float, ...], expected: tuple[float, ...]) -> None:
    ordered = sorted(distribution, reverse=True)
    count = sum(p > SMALLEST_JUMP for p in ordered) + 1
    top = [math.log(p) for p in ordered[:count]]  # what a model returns
    found = [math.exp(boosted_log_prob(math.log(p), top)) for p in distribution]
    assert found == pytest.approx(expected, abs=1e-6)


def test_by_hand() -> None:
    """Two tokens share 0.9, so the first has ln 0.9; the second position has one candidate."""
    scores = TokenScores(("a", "</s>"), (math.log(0.4), math.log(0.02)))
    top = ((math.log(0.5), math.log(0.4), math.log(0.05)), (math.log(0.9), math.log(0.02)))
    found = boosted(TokenDistributions(scores, top))
    assert found.log_probs == pytest.approx((math.log(0.9), math.log(0.02)))
    assert pytest.approx((math.log(0.9) + math.log(0.02)) / 2) == found.H


def test_distributions_are_those_of_forced_decoding(tiny: Converted) -> None:
    """The probabilities equal those of one forward pass, and the best token comes first."""
    from tertium.models.translation.ctranslate2 import CTranslate2Model

    model = CTranslate2Model(tiny.folder, threads=1)
    targets = [row[1] for row in PARALLEL] + ["", "Meer"]
    sources = [row[0] for row in PARALLEL] + ["The sea", "The sea"]
    queries = make_queries(targets, sources, target_lang="de", source_lang="en")
    plain = model.log_probs(queries)
    found = model.top_log_probs(queries, above=0.005)
    for expected, each in zip(plain, found, strict=True):
        assert each.scores.tokens == expected.tokens
        assert each.scores.log_probs == pytest.approx(expected.log_probs, abs=1e-4)
        for log_prob, top in zip(each.scores.log_probs, each.top, strict=True):
            assert list(top) == sorted(top, reverse=True)
            assert top[0] >= log_prob
            assert all(math.exp(x) > 0.005 for x in top[:-1])
            assert math.exp(top[-1]) <= 0.005


def test_an_empty_source_has_plain_probabilities() -> None:
    model = tertium.load_model(cache=False)
    [plain] = model.log_probs(make_queries(["Hallo."], [""], target_lang="de"))
    [found] = model.top_log_probs(make_queries(["Hallo."], [""], target_lang="de"), above=0.005)
    assert found.scores.log_probs == pytest.approx(plain.log_probs, abs=1e-4)


def test_boosted_is_a_setting_of_prism_src() -> None:
    plain = tertium.load("prism-src")
    measure = tertium.load("prism-src:boosted=yes")
    texts = (["Good morning!", "Nonsense drawer."], ["Guten Morgen!", "Guten Morgen!"])
    before = plain.score(*texts, lang="en", source_lang="de")
    after = measure.score(*texts, lang="en", source_lang="de")
    assert all(b >= a for a, b in zip(before.segments, after.segments, strict=True))
    assert after.segments[0] > after.segments[1]
    assert "boosted:yes" in str(after.signature)
    assert "boosted" not in str(before.signature)
    again = measure.score(*texts, lang="en", source_lang="de")
    assert again.segments == after.segments  # from the cache


def test_a_model_without_distributions_is_refused() -> None:
    for model in (FakeModel(), CachedModel(FakeModel())):
        measure = PrismSrc(model, boosted=True)
        with pytest.raises(ModelError, match="probabilities of other tokens"):
            measure("a", "b", lang="en", source_lang="de")


def test_cached_distributions() -> None:
    scores = TokenScores(("a", "b"), (-0.1, -2.5), target_cut=True)
    made = TokenDistributions(scores, ((-0.1, -3.0), ()))
    value = pack_distributions(made)
    assert unpack_distributions(value) == made
    assert unpack_distributions(value[:-2]) is None
    assert unpack_distributions(b"x") is None
