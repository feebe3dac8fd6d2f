"""Causal language models: cutting, prompts, the cache and loading."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tertium.errors import ModelError
from tertium.measures.loading import ModelPool, ModelSettings
from tertium.models.base import LanguageModel, Progress, TokenScores
from tertium.models.cached import CachedLanguageModel
from tertium.models.card import LanguageCard, LanguageSettings, TranslationSettings, read_card
from tertium.models.catalog import load_language_model
from tertium.models.language_model import CTranslate2LanguageModel
from tertium.models.results import ResultFile

from ..tiny_language import END, TinyLanguageModel

WORDS = "The sea was calm. " * 30


def test_batches_and_order_change_nothing(language_folder: LanguageCard) -> None:
    model = CTranslate2LanguageModel(language_folder, threads=1, batch_tokens=40)
    texts = ["She reads.", "", "The sea was calm. She reads a book.", "x", "She reads."]
    alone = [model.text_log_probs([text])[0] for text in texts]
    for one, together in zip(alone, model.text_log_probs(texts), strict=True):
        assert one.tokens == together.tokens
        assert one.log_probs == pytest.approx(together.log_probs, abs=1e-5)
    assert model.text_log_probs([]) == []


def test_a_long_text_is_cut_and_marked(
    language_folder: LanguageCard, tiny_language: TinyLanguageModel
) -> None:
    model = CTranslate2LanguageModel(language_folder, threads=1)
    room = language_folder.settings.max_length - 1
    [scores] = model.text_log_probs([WORDS])
    assert scores.target_cut
    assert not scores.source_cut
    assert len(scores.tokens) == room
    assert END not in scores.tokens
    ids = [tiny_language.id(tiny_language.start), *tiny_language.ids(WORDS)[:room]]
    assert scores.log_probs == pytest.approx(tiny_language.of_ids(ids), abs=1e-4)


def test_a_text_that_just_fits(
    language_folder: LanguageCard, tiny_language: TinyLanguageModel
) -> None:
    model = CTranslate2LanguageModel(language_folder, threads=1)
    room = language_folder.settings.max_length - 1
    text = "x" * room  # one token for each
    assert len(tiny_language.ids(text)) == room
    fits, long = model.text_log_probs([text, text + "x"])
    assert (fits.cut, long.cut) == (False, True)
    assert len(fits.tokens) == room + 1
    assert fits.log_probs[:-1] == pytest.approx(long.log_probs, abs=1e-5)
    assert fits.log_probs == pytest.approx(tiny_language.log_probs(text), abs=1e-4)


def test_a_long_prompt_loses_its_beginning(
    language_folder: LanguageCard, tiny_language: TinyLanguageModel
) -> None:
    model = CTranslate2LanguageModel(language_folder, threads=1)
    [scores] = model.text_log_probs(["calm"], prompts=[WORDS])
    assert scores.source_cut
    assert not scores.target_cut
    whole = tiny_language.ids(WORDS + "calm")
    room = language_folder.settings.max_length - 1
    ids = [tiny_language.id(tiny_language.start), *whole[-room:], tiny_language.id(END)]
    expected = tiny_language.of_ids(ids)[-len(scores.tokens) :]
    assert scores.log_probs == pytest.approx(expected, abs=1e-4)
    with pytest.raises(ValueError, match="1 prompts for 2 texts"):
        model.text_log_probs(["a", "b"], prompts=["c"])


class Counting:
    """A model that counts the queries that it gets."""

    name, fingerprint, settings = "counting", "c" * 64, {"precision": "exact"}

    def __init__(self) -> None:
        self.queries: list[tuple[str, str]] = []

    def text_log_probs(
        self,
        texts: Sequence[str],
        *,
        prompts: Sequence[str] | None = None,
        progress: Progress | None = None,
    ) -> list[TokenScores]:
        self.queries += zip(prompts or [""] * len(texts), texts, strict=True)
        return [TokenScores(("x",), (-float(len(text)),)) for text in texts]


def test_each_distinct_query_is_computed_once(tmp_path: Path) -> None:
    model = Counting()
    memo = CachedLanguageModel(model, ResultFile(tmp_path / "results"))
    assert isinstance(memo, LanguageModel)
    assert [each.H for each in memo.text_log_probs(["aa", "b", "aa"])] == [-2, -1, -2]
    memo.text_log_probs(["b", "aa"], prompts=["", "p"])
    assert model.queries == [("", "aa"), ("", "b"), ("p", "aa")]
    again = Counting()
    resumed = CachedLanguageModel(again, ResultFile(tmp_path / "results"))
    assert resumed.text_log_probs(["aa"], prompts=["p"])[0].H == -2
    assert again.queries == []
    assert str(memo.tally) == "5 queries, 3 distinct, 0 from cache"


def test_loading(language_folder: LanguageCard) -> None:
    model = load_language_model(language_folder.path, cache=False)
    assert model.name == language_folder.name
    assert model.settings["precision"] == "float32"
    assert "fingerprint=" in repr(model)
    with pytest.raises(ModelError, match="is a translation model, not a causal language"):
        load_language_model("tertium-mini")
    with pytest.raises(ModelError, match="models fetch SmolLM2-135M"):
        load_language_model("smollm2-135m")
    with pytest.raises(ModelError, match="is a causal language model, not a translation model"):
        read_card(language_folder.path, TranslationSettings)


def test_measures_share_a_model(language_folder: LanguageCard) -> None:
    pool = ModelPool(ModelSettings(cache=False))
    name = str(language_folder.path)
    assert pool("language", name) is pool("language", name)
    assert pool.tally is pool("language", name).tally


def test_a_damaged_folder(language_folder: LanguageCard, tmp_path: Path) -> None:
    import shutil

    copy = tmp_path / "copy"
    shutil.copytree(language_folder.path, copy)
    content = bytearray((copy / "model.bin").read_bytes())
    content[-1] ^= 1
    (copy / "model.bin").write_bytes(content)
    with pytest.raises(ModelError, match=r"model\.bin was changed or is damaged"):
        read_card(copy, LanguageSettings).verified()
    (copy / "tokenizer.json").unlink()
    with pytest.raises(ModelError, match=r"tokenizer\.json is missing"):
        read_card(copy, LanguageSettings)
