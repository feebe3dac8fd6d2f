"""sacrebleu's paired tests with our measures: the p-values of its own metrics."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import sacrebleu
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.significance import PairedTest, Result

import tertium
from tertium.comparison.compare import outputs_from
from tertium.comparison.significance import Draws, bootstrap_systems, permutation_p_values
from tertium.compat.sacrebleu import TertiumMetric
from tertium.jobs.tasks.score import score_rows
from tertium.stats.resampling import bootstrap_counts, bootstrap_p_value

from ..comparison.test_significance import made_up

SAMPLES, SEED = 300, 12345  # the seed is sacrebleu's default
METRICS = {"bleu": BLEU, "chrf": CHRF}


def paired(metric: object, kind: str) -> list[Result]:
    systems, references = made_up()
    test = PairedTest(
        list(systems.items()),
        {"metric": metric},  # type: ignore[dict-item]  # theirs or ours
        [references],
        test_type=kind,
        n_samples=SAMPLES,
    )
    [column] = [values for key, values in test()[1].items() if key != "System"]
    return [each for each in column if isinstance(each, Result)]


@pytest.mark.parametrize("kind", ["bs", "ar"])
@pytest.mark.parametrize("name", ["bleu", "chrf"])
def test_the_same_p_values_with_the_same_seed_and_samples(name: str, kind: str) -> None:
    theirs, ours = paired(METRICS[name](), kind), paired(TertiumMetric(name), kind)
    assert [each.p_value for each in ours] == [each.p_value for each in theirs]
    assert [each.score for each in ours] == pytest.approx([each.score for each in theirs])
    assert len({each.p_value for each in theirs}) > 2  # not only clear cases


@pytest.mark.parametrize("name", ["bleu", "chrf"])
def test_the_equivalence_that_the_documentation_states(name: str) -> None:
    """Our tests with sacrebleu's samples: its p-values, to the last digit."""
    systems, references = made_up()
    measure = tertium.load(name)
    table = score_rows(outputs_from(systems, references).sources, [measure])
    statistics = np.array([table[system, name].statistics for system in systems])
    scores = [table[system, name].system for system in systems]
    counts = bootstrap_counts(100, samples=SAMPLES, seed=SEED).astype(np.float64)
    coins = np.random.default_rng(SEED).integers(2, size=(SAMPLES, 100), dtype=bool)
    draws = Draws(counts, coins.astype(np.float64))
    samples = bootstrap_systems(measure, statistics, draws)
    for place, theirs in enumerate(paired(METRICS[name](), "bs")[1:], start=1):
        difference = scores[place] - scores[0]
        p = bootstrap_p_value(samples[place], samples[0], difference, tail="sacrebleu")
        assert p == theirs.p_value
    p_values = permutation_p_values(measure, statistics, draws)
    for place, theirs in enumerate(paired(METRICS[name](), "ar")[1:], start=1):
        assert p_values[0, place] == theirs.p_value


def test_any_measure_in_its_tests() -> None:
    systems, references = made_up()
    two = {name: systems[name][:10] for name in ("base", "worst")}
    metric = TertiumMetric("sss", lang="en")
    test = PairedTest(list(two.items()), {"sss": metric}, [references[:10]], "bs", n_samples=50)
    signatures, results = test()
    expected = tertium.load("sss").score(two["worst"], references[:10], lang="en").system
    assert isinstance(results["sss"][1], Result)
    assert results["sss"][1].score == pytest.approx(expected)
    signature = str(signatures["sss"])
    assert "measure:sss" in signature
    assert "bs:50" in signature
    assert f"sacrebleu:{sacrebleu.__version__}" in signature
    assert signatures["sss"].format(short=True)


def test_scores_as_sacrebleu_gives_them() -> None:
    hypotheses = ["a dog", "a cat"]
    references: list[Any] = [["a dog", "the cat"], ["the dog", None]]
    theirs = CHRF().corpus_score(hypotheses, references)
    ours = TertiumMetric("chrf").corpus_score(hypotheses, references)
    assert math.isclose(ours.score, theirs.score)
    assert math.isclose(
        TertiumMetric("chrf").sentence_score("a cat", ["the cat"]).score,
        CHRF().sentence_score("a cat", ["the cat"]).score,
    )
    source = TertiumMetric("prism-src", lang="en", sources=["ein Hund"], source_lang="de")
    assert source.corpus_score(["a dog"], None).score < 0
