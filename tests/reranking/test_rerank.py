"""Choices by quality estimation, by minimum Bayes risk, and by mixtures."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tertium
from tertium.data.nbest import CandidateList
from tertium.errors import InputError, SettingError
from tertium.reranking.gain import Gain, judge
from tertium.reranking.rerank import Reranker
from tertium.text import Text

from ..fakes import FakeModel

A, B = "Ein Hund.", "Eine Katze."
MODEL = FakeModel(scores={(A, "A cat."): (-2.0,), (B, "A cat."): (-0.5,)})


def test_quality_estimation() -> None:
    ranking = tertium.rerank(
        [A, B, A], sources="A cat.", measure="prism-src", model=MODEL, lang="de", source_lang="en"
    )
    assert (ranking.text, ranking.place, ranking.score) == (B, 1, -0.5)
    assert ranking.order == (1, 0, 2)
    assert ranking.scores == (-2.0, -0.5, -2.0)
    assert ranking.pairs == 2


def test_any_measure_against_the_source() -> None:
    [ranking] = tertium.rerank(
        [["A dog.", "A cat."]], sources=["A cat."], measure="chrf", against="source"
    )
    assert ranking.text == "A cat."
    assert ranking.score == pytest.approx(100)


def test_mixture_with_the_decoder() -> None:
    """Standardized, the measure gives (-1, 1) and the decoder (1, -1)."""
    options: dict[str, Any] = {
        "sources": "A cat.",
        "measure": "prism-src",
        "model": MODEL,
        "lang": "de",
    }
    ranking = tertium.rerank([A, B], scores=[-1.0, -3.0], decoder=3, **options)
    assert ranking.scores == (2.0, -2.0)
    assert ranking.features == {"prism-src": (-2.0, -0.5), "decoder": (-1.0, -3.0)}
    assert tertium.rerank([A, B], scores=[-1.0, -3.0], decoder=0.5, **options).text == B


def test_ensemble_of_utilities() -> None:
    texts = ["The train is late.", "The train is very late.", "Dogs!"]
    both = tertium.rerank(texts, measure=["chrf", "bleu"], weights=(1, 3))
    parts = [tertium.rerank(texts, measure=name).scores for name in ("chrf", "bleu")]
    scaled = [(np.array(part) - np.mean(part)) / np.std(part) for part in parts]
    assert both.scores == pytest.approx(scaled[0] + 3 * scaled[1])


def test_the_first_of_equal_candidates_is_chosen() -> None:
    assert tertium.rerank(["Yes.", "No!?", "Yes."], measure="chrf").order == (0, 2, 1)
    assert tertium.rerank(["ab", "cd"], measure="chrf").order == (0, 1)


def lists() -> list[CandidateList]:
    """Lists of which the decoder prefers the first, wrong, candidate."""
    train = ("The dogs!", "The train is late.", "The train is late!")
    comes = ("Dogs bark.", "He comes.", "He comes!")
    return [
        CandidateList(
            number,
            group=str(number),
            candidates=tuple(map(Text, texts)),
            scores=(-1.0, -2.0, -3.0),
            references=(Text(texts[1]),),
        )
        for number, texts in enumerate((train, comes), start=1)
    ]


def test_gain() -> None:
    chrf = tertium.load("chrf")
    gain = Gain()
    for judged in judge(chrf, lists()):
        gain.add(judged, chosen=1)
    systems = gain.systems(chrf)
    assert systems["oracle"] == systems["chosen"] == pytest.approx(100)
    wanted = chrf.score(["The dogs!", "Dogs bark."], ["The train is late.", "He comes."]).system
    assert systems["first"] == pytest.approx(wanted)


def test_tuned_weights() -> None:
    """The decoder is wrong: chrF among the candidates must outweigh it."""
    chrf = tertium.load("chrf")
    found = Reranker([chrf], decoder=1.0).tuned(lists(), chrf)
    assert found.score == pytest.approx(100)
    tuned = Reranker([chrf], found.weights[:1], found.weights[1])
    assert [ranking.place for ranking in tuned.rank(lists())] == [1, 1]
    assert [ranking.place for ranking in Reranker([], decoder=1.0).rank(lists())] == [0, 0]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"measure": "prism-src", "lang": "de"}, InputError, "prism-src needs sources"),
        ({"measure": "chrf", "decoder": 1}, InputError, "list 1 has no scores of a decoder"),
        ({"measure": ["chrf", "bleu"], "weights": (1,)}, SettingError, "there must be 2"),
        ({"measure": "chrf", "weights": (0,)}, SettingError, "all weights are 0"),
        ({"measure": ["chrf", "bleu"], "prune": 0.9}, SettingError, "pruning needs"),
        (
            {"measure": "prism-src", "sources": "x", "prune": 0.9, "lang": "de"},
            SettingError,
            "prism-src reads sources",
        ),
        ({"measure": "chrf", "sources": ["a", "b"]}, InputError, "1 lists of candidates, but 2"),
        ({"measure": "chrf", "scores": [1.0]}, InputError, "2 candidates need as many scores"),
    ],
)
def test_wrong_calls(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        tertium.rerank([A, B], **options)


def test_empty_lists() -> None:
    nothing: list[list[str]] = []
    assert tertium.rerank(nothing, measure="chrf") == []
    with pytest.raises(InputError, match="list 2: give a list of candidates, not empty"):
        tertium.rerank([["a"], []], measure="chrf")
