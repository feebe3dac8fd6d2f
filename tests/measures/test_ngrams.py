"""N-grams that are packed and sorted are those that are counted one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from tertium.measures.ngrams import (
    NgramTable,
    numbered_ngrams,
    shared_ngrams,
)
from tertium.measures.surface import Bleu, ChrF, SurfaceMeasure
from tertium.text import Text

TEXTS = st.text("aab \U0001f642中é.,\ud800\0", max_size=12)
SENTENCES = st.lists(st.sampled_from(["A dog", "a", "dog.", "barks,", "(so", "", "中文"])).map(
    " ".join
)


def counted(first: str, second: str, longest: int) -> list[list[int]]:
    found = []
    for order in range(1, longest + 1):
        a, b = (
            Counter(text[start : start + order] for start in range(len(text) - order + 1))
            for text in (first, second)
        )
        found.append([a.total(), b.total(), (a & b).total()])
    return found


@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=5), st.integers(1, 7))
def test_pairs(pairs: list[tuple[str, str]], longest: int) -> None:
    texts = [text for pair in pairs for text in pair]
    found = shared_ngrams(texts, longest)
    assert found == [counted(*pair, longest) for pair in pairs]


@pytest.mark.parametrize("different", [100, 1000, 3000])
def test_ngrams_that_are_too_long_to_be_packed(different: int) -> None:
    """With 100 different characters, five pairs are; with 1 000, two of them; with 3 000, none."""
    random = np.random.default_rng(1)
    alphabet = [chr(0x4E00 + number) for number in range(different)]
    texts = [
        "".join(random.choice(alphabet, size)) for size in (5, 9, 4000, 4000, 3, 8, 0, 5, 1, 1)
    ]
    texts[0] = texts[1][2:7]
    found = shared_ngrams(texts, 6)
    pairs = zip(texts[::2], texts[1::2], strict=True)
    assert found == [counted(*pair, 6) for pair in pairs]


@pytest.fixture(autouse=True, params=[0, 500], scope="module")
def few(request: pytest.FixtureRequest) -> Iterator[None]:
    """Packed, and where there are few symbols, counted one by one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tertium.measures.ngrams.FEW", request.param)
        yield


def test_words_are_symbols() -> None:
    """*no way no way*, and *way no way*: three words and two bigrams are shared."""
    words = [["no", "way", "no", "way"], ["way", "no", "way"]]
    assert shared_ngrams(words, 2) == [[[4, 3, 3], [3, 2, 2]]]


@given(st.lists(TEXTS, min_size=1, max_size=5), st.integers(1, 4))
def test_table(texts: list[str], longest: int) -> None:
    numbered = list(numbered_ngrams(texts, longest))
    table = NgramTable.of(numbered, len(texts))
    places = range(len(texts))
    shared = table.shared(places, places)
    for one, other in product(places, places):
        expected = np.array(counted(texts[one], texts[other], longest))
        assert shared[one, other].tolist() == expected[:, 2].tolist()
        assert table.sizes[one].tolist() == expected[:, 0].tolist()


def test_references_are_compared_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [Text(text) for text in ("a dog barks", "the dog", "", "a cat", "a dog barks")]
    chrf = ChrF(word_order=2)
    whole = chrf.pairwise(texts, texts)
    monkeypatch.setattr("tertium.measures.ngrams.CELLS", 1)
    assert (chrf.pairwise(texts, texts) == whole).all()
    alone = [[chrf(one.text, other.text, lang="en") for other in texts] for one in texts]
    assert whole == pytest.approx(np.array(alone))


@pytest.mark.filterwarnings("ignore::tertium.errors.TextWarning")
@given(st.lists(st.tuples(SENTENCES, SENTENCES), min_size=1, max_size=5), st.booleans())
def test_scores_are_those_of_sacrebleu(pairs: list[tuple[str, str]], lowercase: bool) -> None:
    hypotheses, references = (list(side) for side in zip(*pairs, strict=True))
    chrf, chrf_plus_plus = (CHRF(6, words, lowercase=lowercase) for words in (0, 2))
    measures: list[tuple[SurfaceMeasure, Any, Any]] = [
        (ChrF(lowercase=lowercase), chrf, chrf),
        (ChrF(word_order=2, lowercase=lowercase), chrf_plus_plus, chrf_plus_plus),
        (
            Bleu(lowercase=lowercase),
            BLEU(lowercase=lowercase, effective_order=True),
            BLEU(lowercase=lowercase),
        ),
    ]
    for ours, theirs, corpus in measures:
        scores = ours.score(hypotheses, references, lang="en")
        expected = [theirs.sentence_score(a, [b]).score for a, b in pairs]
        assert scores.segments == pytest.approx(expected, abs=1e-9)
        system = corpus.corpus_score(hypotheses, [references]).score
        assert scores.system == pytest.approx(system, abs=1e-9)
