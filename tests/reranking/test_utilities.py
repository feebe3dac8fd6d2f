"""Expected utilities: against mbrs, and against brute force."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tertium
from tertium.data.nbest import CandidateList
from tertium.errors import SettingError
from tertium.measures.base import Measure
from tertium.reranking.utilities import Utilities, UtilitySettings, expected_utilities
from tertium.text import Text

from ..fakes import FakeEncoder, FakeModel

TRAIN = [
    "The train is late today.",
    "The train has a delay today.",
    "Today the train is late.",
    "The train is late today.",
    "The dogs are loud!",
    "",
]
MORGEN = ["Er kommt morgen.", "Morgen kommt er.", "Sie kommt morgen nicht.", "Er kommt übermorgen."]
# mbrs 0.1.8 (sacrebleu 2.6.0): DecoderMBR and DecoderAggregateMBR with MetricChrF
MBRS = {
    (0, False): (
        [55.42787, 43.72272, 48.46211, 55.42787, 24.26685, 0.0],
        [63.52541, 52.12134, 60.91402, 61.95923],
    ),
    (0, True): (
        [66.93901, 54.29029, 58.89845, 66.93901, 24.60438, 0.0],
        [62.57803, 49.36637, 62.9396, 61.91634],
    ),
    (2, False): (
        [54.47181, 42.30815, 45.57044, 54.47181, 23.40214, 0.0],
        [61.65735, 49.78536, 58.14621, 59.03178],
    ),
    (2, True): (
        [65.34959, 52.25844, 54.91182, 65.34959, 23.80958, 0.0],
        [60.77012, 47.41296, 60.32747, 58.57269],
    ),
}


WORDS = st.lists(st.sampled_from(["cat", "dog", "a", "the", "sleeps", "runs"]), max_size=5)


def listed(texts: list[str], number: int = 1, lang: str | None = None) -> CandidateList:
    candidates = tuple(Text(text, lang) for text in texts)
    return CandidateList(number, group=str(number), candidates=candidates)


def utilities(measure: Measure, texts: list[str], **options: object) -> Utilities:
    [found] = expected_utilities(measure, [listed(texts)], UtilitySettings(**options))  # type: ignore[arg-type]
    return found


def brute_force(measure: Measure, texts: list[str]) -> list[float]:
    """The mean over all candidates, one by one."""
    return [float(np.mean(measure([hyp] * len(texts), texts))) for hyp in texts]


@pytest.mark.parametrize(("word_order", "aggregate"), MBRS)
def test_same_numbers_as_mbrs(word_order: int, aggregate: bool) -> None:
    chrf = tertium.load("chrf", word_order=word_order)
    wanted = MBRS[word_order, aggregate]
    found = expected_utilities(
        chrf, [listed(TRAIN), listed(MORGEN, 2)], UtilitySettings(aggregate=aggregate)
    )
    for each, numbers in zip(found, wanted, strict=True):
        assert each.scores == pytest.approx(numbers, abs=1e-4)


@pytest.mark.parametrize("name", ["bleu", "ter", "chrf", "cross", "sss", "sss+chrf"])
def test_same_numbers_as_brute_force(name: str) -> None:
    measure = tertium.load(name)
    texts = [text for text in TRAIN if text]
    assert utilities(measure, texts).scores == pytest.approx(brute_force(measure, texts), abs=1e-5)


@settings(max_examples=40, deadline=None)
@given(st.lists(WORDS.map(" ".join), min_size=1, max_size=6), st.integers(0, 2))
def test_all_pairs_at_once(texts: list[str], word_order: int) -> None:
    chrf = tertium.load("chrf", word_order=word_order)
    assert utilities(chrf, texts).scores == pytest.approx(brute_force(chrf, texts), abs=1e-9)


def test_each_distinct_pair_is_scored_once() -> None:
    """Five distinct texts: 25 pairs, or 15 (with themselves) if the order makes no difference."""
    encoder = FakeEncoder({})
    assert utilities(tertium.load("chrf"), TRAIN).pairs == 25
    assert utilities(tertium.load("sss", encoder=encoder), TRAIN).pairs == 15
    one_way = tertium.load("cross", model=FakeModel(), both_directions=False)
    assert utilities(one_way, TRAIN).pairs == 25


def test_aggregated_vectors_are_exact() -> None:
    vectors = {"a": (1.0, 0.0), "b": (0.0, 1.0), "c": (0.6, 0.8)}
    texts = ["a b", "c", "a", "", "c"]
    for empty in ("worst", "formula"):
        sss = tertium.load("sss", encoder=FakeEncoder(vectors), empty=empty)
        exact = utilities(sss, texts).scores
        assert utilities(sss, texts, aggregate=True).scores == pytest.approx(exact, abs=1e-7)


@settings(max_examples=40, deadline=None)
@given(st.lists(WORDS.map(" ".join), min_size=1, max_size=12))
def test_pruning_never_compares_more(texts: list[str]) -> None:
    chrf = tertium.load("chrf")
    full, pruned = utilities(chrf, texts), utilities(chrf, texts, prune=0.99)
    assert pruned.pairs <= full.pairs
    kept = pruned.references == len(texts)
    assert pruned.scores[kept] == pytest.approx(full.scores[kept], abs=1e-9)
    if kept.any():  # otherwise, one candidate was left earlier
        assert full.scores[kept].max() == pytest.approx(
            pruned.scores[pruned.references == pruned.references.max()].max(), abs=1e-9
        )


def test_pruning_drops_what_cannot_win() -> None:
    """Of 40 samples, 30 are alike: the others lose against them in every bootstrap sample."""
    texts = ["The train is late today."] * 30 + [f"No, {n} birds sang." for n in range(10)]
    found = utilities(tertium.load("chrf"), texts, prune=0.99)
    assert found.scores.argmax() == 0
    assert found.references[30:].max() < 40
    assert found.pairs < 121
    again = utilities(tertium.load("chrf"), texts, prune=0.99)
    assert (again.scores == found.scores).all()


def test_a_list_is_pruned_by_itself() -> None:
    chrf = tertium.load("chrf")
    lists = [listed(TRAIN * 3, 1), listed(MORGEN * 4, 2)]
    together = expected_utilities(chrf, lists, UtilitySettings(prune=0.9))
    for place, each in enumerate(lists):
        [alone] = expected_utilities(chrf, [each], UtilitySettings(prune=0.9))
        assert (alone.scores == together[place].scores).all()


def test_one_candidate() -> None:
    for options in ({}, {"prune": 0.99}, {"aggregate": True}):
        assert utilities(tertium.load("chrf"), ["Yes."], **options).scores.tolist() == [100.0]


def test_what_cannot_be_a_utility() -> None:
    with pytest.raises(SettingError, match="bleu cannot aggregate references, as chrf and sss can"):
        utilities(tertium.load("bleu"), TRAIN, aggregate=True)
    with pytest.raises(SettingError, match="depend on other rows"):
        utilities(tertium.load("sss+chrf", scale="corpus"), TRAIN)
    with pytest.raises(SettingError, match="between 0 and 1"):
        UtilitySettings(prune=1.0)
    with pytest.raises(SettingError, match="cannot be combined"):
        UtilitySettings(prune=0.9, aggregate=True)
