"""Paired tests on summed statistics: the p-values of sacrebleu, up to sampling error."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER
from sacrebleu.significance import PairedTest, Result

import tertium
from tertium.comparison.compare import outputs_from
from tertium.comparison.significance import Draws, bootstrap_systems, permutation_p_values
from tertium.jobs.tasks.score import score_rows
from tertium.measures.base import Measure

WORDS = ["the", "a", "cat", "dog", "house", "runs", "sees", "eats", "in", "under", "big", "red"]
METRICS = {"bleu": BLEU, "chrf": CHRF, "ter": TER}
SAMPLES = 2000


def noisy(texts: list[str], share: float, random: np.random.Generator) -> list[str]:
    return [
        " ".join(
            str(random.choice(WORDS)) if random.random() < share else word for word in text.split()
        )
        for text in texts
    ]


@cache
def made_up() -> tuple[dict[str, list[str]], list[str]]:
    random = np.random.default_rng(11)
    references = [" ".join(random.choice(WORDS, size=random.integers(3, 25))) for _ in range(100)]
    shares = {"base": 0.30, "close": 0.315, "near": 0.325, "far": 0.34, "worst": 0.5}
    return {name: noisy(references, share, random) for name, share in shares.items()}, references


def agree(ours: float, theirs: float) -> bool:
    """Whether two estimates of one p-value agree, within four standard deviations."""
    p = (ours + theirs) / 2
    return bool(abs(ours - theirs) <= 4 * np.sqrt(2 * p * (1 - p) / SAMPLES) + 2 / SAMPLES)


@pytest.mark.parametrize("name", ["bleu", "chrf", "ter"])
def test_the_same_p_values_as_sacrebleu(name: str) -> None:
    systems, references = made_up()
    result = tertium.compare(
        systems, references, measures=name, samples=SAMPLES, tail="sacrebleu", baseline="base"
    )[name]
    seen = []
    for kind in ("bs", "ar"):
        _, results = PairedTest(
            list(systems.items()),
            {name: METRICS[name]()},
            [references],
            test_type=kind,
            n_samples=SAMPLES,
        )()
        [column] = [values for key, values in results.items() if key != "System"]
        for system, theirs in zip(systems, column, strict=True):
            assert isinstance(theirs, Result)
            sign = -1 if name == "ter" else 1
            assert result.scores[system] == pytest.approx(sign * theirs.score)
            if theirs.p_value is None:
                continue
            pair = result.pair(system, "base")
            ours = pair.bootstrap_p if kind == "bs" else pair.permutation_p
            if name == "ter" and kind == "ar":
                # Edits are whole numbers, so swaps often give just the difference that was seen.
                # That is as extreme as it; sacrebleu leaves it out.
                assert ours > theirs.p_value or agree(ours, theirs.p_value)
            else:
                assert agree(ours, theirs.p_value), (kind, system, ours, theirs.p_value)
            seen.append(theirs.p_value)
    assert any(0.02 < p < 0.98 for p in seen)  # not only clear cases


@pytest.mark.parametrize("name", ["bleu", "chrf", "ter"])
def test_many_system_scores_at_once(name: str) -> None:
    measure = tertium.load(name)
    systems, references = made_up()
    rows = [measure.score(outputs, references).system for outputs in systems.values()]
    statistics = statistics_by(measure)
    assert measure.systems(statistics.sum(axis=1)) == pytest.approx(rows, abs=1e-9)
    odd = np.zeros((4, statistics.shape[2]))  # nothing there, nothing right, one order only
    odd[1] = statistics.sum(axis=1)[0]
    odd[2, :2] = 5
    odd[3] = odd[1] * (np.arange(odd.shape[1]) < 3)
    expected = [measure.system(row.tolist()) for row in odd]
    assert measure.systems(odd) == pytest.approx(expected, abs=1e-9)


def statistics_by(measure: Measure) -> Any:
    """Of shape (systems, segments, statistics)."""
    table = score_rows(outputs_from(*made_up()).sources, [measure])
    return np.array([table[system, measure.column].statistics for system in table.systems])


@pytest.mark.parametrize("name", ["bleu", "chrf", "ter"])
def test_samples_are_computed_as_if_they_were_drawn(name: str) -> None:
    measure = tertium.load(name)
    systems, references = made_up()
    random = np.random.default_rng(1)
    counts = random.multinomial(100, [1 / 100] * 100, size=2).astype(float)
    result = bootstrap_systems(measure, statistics_by(measure), Draws(counts, counts))
    for sample, row in enumerate(counts):
        drawn = np.repeat(np.arange(100), row.astype(int))
        for place, outputs in enumerate(systems.values()):
            expected = measure.score(
                [outputs[item] for item in drawn], [references[item] for item in drawn]
            ).system
            assert result[place, sample] == pytest.approx(expected)


def test_swaps_are_swaps() -> None:
    measure = tertium.load("bleu")
    systems, references = made_up()
    statistics = statistics_by(measure)
    coins = np.random.default_rng(2).integers(2, size=(30, 100)).astype(float)
    result = permutation_p_values(measure, statistics, Draws(coins, coins))
    names = list(systems)
    for i, j in ((0, 1), (2, 4)):
        a, b = systems[names[i]], systems[names[j]]
        system_scores = measure.systems(statistics.sum(axis=1))
        observed = abs(system_scores[i] - system_scores[j])
        extreme = 0
        for row in coins:
            first = [y if coin else x for x, y, coin in zip(a, b, row, strict=True)]
            second = [x if coin else y for x, y, coin in zip(a, b, row, strict=True)]
            scores = [measure.score(outputs, references).system for outputs in (first, second)]
            extreme += abs(scores[0] - scores[1]) >= observed
        assert result[i, j] == result[j, i] == (extreme + 1) / 31


def test_identical_systems_do_not_differ() -> None:
    systems, references = made_up()
    twins = {"a": systems["base"], "b": systems["base"]}
    for name in ("bleu", "chrf"):
        [pair] = tertium.compare(twins, references, measures=name)[name].pairs
        assert pair.bootstrap_p == pair.permutation_p == 1
        assert (pair.wins, pair.ties, pair.losses) == (0, 100, 0)
        assert pair.interval.low == pair.interval.high == 0
