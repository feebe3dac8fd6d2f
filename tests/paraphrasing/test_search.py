"""The search: by hand on a table of probabilities, and beside the engine's own."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from tertium.models.catalog import load_model
from tertium.models.languages import LanguageSet
from tertium.models.translation.ctranslate2 import CTranslate2Model
from tertium.paraphrasing.penalties import NgramPenalty, TokenIndex, usual_unit
from tertium.paraphrasing.search import beam_search

from ..conftest import Converted
from ..tiny import LANGUAGES

VOCABULARY = ("</s>", "▁the", "▁a", "▁cat", "▁dog", "s")
THE, A, CAT, DOG = 1, 2, 3, 4
TABLE: Mapping[tuple[str, ...], Mapping[str, float]] = {
    (): {"▁a": 0.6, "▁the": 0.4},
    ("▁a",): {"▁cat": 0.5, "▁dog": 0.3, "s": 0.2},
    ("▁the",): {"▁cat": 0.9, "▁dog": 0.1},
}


ENGLISH = LanguageSet({"en": ""}, {"en": ""})


@dataclass
class TableModel:
    """Every probability is in the table; after two tokens the sentence ends."""

    longest: int = 10
    languages: LanguageSet = ENGLISH
    target_vocabulary: Sequence[str] = VOCABULARY

    def target_tokens(self, texts: Sequence[str]) -> list[list[str]]:
        return [[f"▁{word}" for word in text.split()] for text in texts]

    def target_text(self, tokens: Sequence[str]) -> str:
        return "".join(tokens).replace("▁", " ").strip()

    def forced_tokens(self, target_lang: str) -> int:
        return 0

    def longest_translation(self, source: str) -> int:
        return self.longest

    def next_log_probs(
        self,
        sources: Sequence[str],
        prefixes: Sequence[Sequence[str]],
        *,
        target_lang: str,
        source_lang: str | None = None,
    ) -> NDArray[np.float32]:
        rows = [TABLE.get(tuple(prefix), {"</s>": 1.0}) for prefix in prefixes]
        probabilities = [[row.get(piece, 1e-9) for piece in VOCABULARY] for row in rows]
        return np.log(np.array(probabilities, np.float32))


def search(size: int, **settings: object) -> list[str]:
    model = TableModel()
    [found] = beam_search(
        model,
        ["the cat"],
        target_lang="en",
        beam_size=size,
        **{"count": size, **settings},  # type: ignore[arg-type]
    )
    return [model.target_text(one.tokens) for one in found]


def test_a_wider_beam_finds_what_a_greedy_search_misses() -> None:
    assert search(1) == ["a cat"]  # 0.6 x 0.5 = 0.30
    assert search(2) == ["the cat", "a cat"]  # 0.4 x 0.9 = 0.36
    [[best]] = beam_search(TableModel(), ["the cat"], target_lang="en", beam_size=2)
    assert best.score == best.log_prob == pytest.approx(math.log(0.36), abs=1e-6)
    assert best.length == 3
    assert best.mean == pytest.approx(math.log(0.36) / 3, abs=1e-6)


def test_nothing_in_nothing_out_and_an_end_to_everything() -> None:
    assert search(2, count=1) == ["the cat"]
    [[nothing]] = beam_search(TableModel(), ["  "], target_lang="en")
    assert (nothing.tokens, nothing.ended) == ((), True)
    cut = beam_search(TableModel(longest=1), ["x"], target_lang="en", beam_size=2, count=2)[0]
    assert [(one.tokens, one.ended) for one in cut] == [(("▁a",), False), (("▁the",), False)]


def test_the_price_of_an_n_gram() -> None:
    """With a = 1 and b = 2 a word of the input costs 1, and one that continues a pair 1 + 4."""
    price = NgramPenalty(a=1, b=2).against(["▁The", "▁cat"], TokenIndex(VOCABULARY))
    assert price([]) == {THE: 1, CAT: 1}
    assert price(["▁the"]) == {THE: 1, CAT: 5}
    assert price(["▁a", "▁THE"]) == {THE: 1, CAT: 5}
    assert price(["▁the", "s"]) == {THE: 1, CAT: 1}  # another word
    assert price(["▁cat"]) == {THE: 1, CAT: 1}
    only_words = NgramPenalty(a=1, b=2, longest=1).against(["▁The", "▁cat"], TokenIndex(VOCABULARY))
    assert only_words(["▁the"]) == {THE: 1, CAT: 1}
    tokens = NgramPenalty(a=1, b=2, unit="tokens").against(["▁a", "s"], TokenIndex(VOCABULARY))
    assert tokens(["▁a"]) == {A: 1, 5: 5}
    assert usual_unit("zh_Hans") == "tokens"


def test_four_words_in_a_row_pay_for_every_order() -> None:
    vocabulary = [*["▁a", "▁b", "▁c", "▁d", "▁e"], "</s>"]
    price = NgramPenalty().against(vocabulary[:5], TokenIndex(vocabulary))
    assert price(vocabulary[:3])[3] == pytest.approx(0.006 * (1 + 16 + 81 + 256))
    assert price(vocabulary[:4])[4] == pytest.approx(0.006 * (1 + 16 + 81 + 256))


def test_a_penalty_leads_elsewhere() -> None:
    """Against "the cat", with a = 1 and b = 1, in nats:

    a cat: ln 0.30 - 1 = -2.20; a dog: ln 0.18 = -1.71; the cat: ln 0.36 - 1 - 3; the dog:
    ln 0.04 - 1.
    """
    price = NgramPenalty(a=1, b=1).against(["▁the", "▁cat"], TokenIndex(VOCABULARY))
    assert search(2, penalties=[price])[0] == "a dog"
    [[best]] = beam_search(
        TableModel(), ["the cat"], target_lang="en", beam_size=2, penalties=[price]
    )
    assert best.score == best.log_prob == pytest.approx(math.log(0.18), abs=1e-6)


@pytest.mark.parametrize("family_name", ["prism", "m2m100", "small100", "marian"])
def test_without_a_penalty_it_is_the_engines_search(
    family: Callable[[str], Converted], family_name: str
) -> None:
    made = family(family_name)
    model = CTranslate2Model(made.folder)
    sentences = [one[0] for one in made.original.parallel]
    into = "fr"
    for size in (1, 2, 5):
        wanted = model.translate(sentences, target_lang=into, source_lang="en", beam_size=size)
        found = beam_search(model, sentences, target_lang=into, source_lang="en", beam_size=size)
        assert [model.target_text(one.tokens) for [one] in found] == [one.text for one in wanted]
    assert into in LANGUAGES


def test_the_bundled_model_too() -> None:
    model = load_model(cache=False).model
    assert isinstance(model, CTranslate2Model)
    texts = ["Where is the station?", "I have to go now.", "The old man slept well.", ""]
    for size in (1, 3):
        wanted = model.translate(texts, target_lang="de", beam_size=size)
        found = beam_search(model, texts, target_lang="de", beam_size=size)
        assert [model.target_text(one.tokens) for [one] in found] == [one.text for one in wanted]


def test_next_tokens_have_the_probabilities_that_scoring_gives(tiny_prism: Converted) -> None:
    model = CTranslate2Model(tiny_prism.folder)
    source, target = "The sea was calm.", "La mer était calme."
    [scores] = model.log_probs([target], [source], target_lang="fr")
    ids = [model.target_vocabulary.index(token) for token in scores.tokens]
    prefixes = [scores.tokens[:place] for place in range(len(scores.tokens))]
    rows = model.next_log_probs([source] * len(prefixes), prefixes, target_lang="fr")
    assert rows[range(len(ids)), ids] == pytest.approx(scores.log_probs, abs=1e-4)
