"""The engine gives the numbers that the original weights give, whatever the batch."""

from __future__ import annotations

import math
import random
from typing import Any

import ctranslate2
import pytest

from tertium.errors import LanguageError, ModelError, SettingError
from tertium.models.arithmetic import int8_arithmetic
from tertium.models.base import Query, Search, make_queries, translation_queries
from tertium.models.card import TranslationSettings, read_card, read_vocabulary
from tertium.models.catalog import load_model
from tertium.models.tokenizer import open_tokenizer
from tertium.models.translation.ctranslate2 import CTranslate2Model

from ...conftest import Converted

SOME = [
    "Close the window.",
    "Der Zug kommt um acht Uhr an.",
    "Il pleut depuis hier soir.",
    "¿Dónde está la estación?",
    "A much longer sentence, with commas, that goes on and on, as sentences do in legal texts.",
    "No.",
    "🙂",
]


def ask(model: Any, pairs: list[tuple[str, str, str, str]]) -> Any:
    return model.log_probs(
        make_queries(
            [pair[0] for pair in pairs],
            [pair[1] for pair in pairs],
            target_lang=[pair[2] for pair in pairs],
            source_lang=[pair[3] for pair in pairs],
        )
    )


def test_nothing_is_translated_as_nothing(tiny_prism: Converted) -> None:
    model = CTranslate2Model(tiny_prism.folder)
    assert [t.text for t in model.translate(["", "  ", "\t\n"], target_lang="en")] == [""] * 3


def test_no_question_no_answer(tiny_prism: Converted) -> None:
    model = CTranslate2Model(tiny_prism.folder)
    assert model.log_probs(make_queries([], [], target_lang="en")) == []
    assert model.translate([], target_lang="en") == []


@pytest.mark.parametrize("batch_tokens", [1, 16, 100, 5000])
@pytest.mark.parametrize("threads", [1, 3])
def test_int8_numbers_are_the_same_to_the_bit_in_any_batch(batch_tokens: int, threads: int) -> None:
    folder = load_model("tertium-mini", cache=False).model.card  # type: ignore[attr-defined]
    pairs = [(a, b, "en", "en") for a in SOME for b in SOME]
    alone = [ask(CTranslate2Model(folder, compute_type="int8"), [pair])[0] for pair in pairs]
    order = list(range(len(pairs)))
    random.Random(batch_tokens).shuffle(order)
    model = CTranslate2Model(
        folder, compute_type="int8", batch_tokens=batch_tokens, threads=threads
    )
    together = ask(model, [pairs[index] for index in order])
    assert together == [alone[index] for index in order]


def test_int8_translations_do_not_depend_on_their_neighbours() -> None:
    model: Any = load_model("tertium-mini", compute_type="int8", cache=False).model
    alone = [model.translate([text], target_lang="fr")[0] for text in SOME]
    assert model.translate(SOME[::-1] * 2, target_lang="fr") == alone[::-1] * 2


def test_float32_numbers_hardly_depend_on_the_batch(tiny: Converted) -> None:
    pairs = [(a, b, "en", "en") for a in SOME for b in SOME]
    model = CTranslate2Model(tiny.folder)
    for pair, together in zip(pairs, ask(model, pairs), strict=True):
        [alone] = ask(model, [pair])
        assert together.log_probs == pytest.approx(alone.log_probs, abs=2e-5)


def test_how_long_a_translation_may_be_depends_on_its_source_alone(tiny: Converted) -> None:
    model: Any = CTranslate2Model(tiny.folder)
    engine, batches = model._engine.backend, []

    class Recorder:
        def translate_batch(self, sources: Any, prefixes: Any, **settings: Any) -> Any:
            batches.append((sources, settings["max_decoding_length"]))
            return engine.translate_batch(sources, prefixes, **settings)

    model._engine.backend = Recorder()

    def limits(*calls: list[str]) -> dict[tuple[str, ...], int]:
        batches.clear()
        for texts in calls:
            model.translate(texts, target_lang="de", source_lang="en", beam_size=1)
        return {tuple(source): limit for sources, limit in batches for source in sources}

    texts = ["sea " * count for count in range(1, 40)]
    alone = limits(*([text] for text in texts))
    assert limits(texts) == alone
    assert len(set(alone.values())) < len(batches) < len(texts)


def test_too_long_text_is_cut_openly(tiny: Converted) -> None:
    model = CTranslate2Model(tiny.folder)
    room = tiny.folder.settings.max_length
    long = "a b " * 50_000
    target, source, fits = ask(
        model, [(long, "sea", "en", "en"), ("sea", long, "en", "en"), ("sea", "sea", "en", "en")]
    )
    assert target.cut
    assert source.cut
    assert not fits.cut
    assert len(target.tokens) == room - 2  # but for the start of the decoder and the language
    assert "</s>" not in target.tokens
    [translation] = model.translate([long], target_lang="en", source_lang="en")
    assert translation.cut


def test_the_longest_text_that_fits_is_not_cut(tiny_prism: Converted) -> None:
    model = CTranslate2Model(tiny_prism.folder)
    room = tiny_prism.folder.settings.max_length - 2
    text = " ".join(["Mann"] * 10)
    tokenizer = open_tokenizer(tiny_prism.folder.path / tiny_prism.folder.settings.source_tokenizer)
    while len(tokenizer.encode([text])[0]) < room:
        text += "!"
    [fits] = ask(model, [(text, "sea", "en", "en")])
    assert len(fits.tokens) == room + 1
    assert not fits.cut
    [cut] = ask(model, [(text + "!", "sea", "en", "en")])
    assert cut.cut
    assert cut.log_probs == pytest.approx(fits.log_probs[:-1], abs=1e-5)


def test_blocked_sequences_concern_one_source_only() -> None:
    model = load_model("tertium-mini", cache=False).model
    assert isinstance(model, CTranslate2Model)
    texts = ["Where is the station?", "Where is the dog?"]
    queries, search = translation_queries(texts, target_lang="de"), Search(2, 2)
    free = model.candidates(queries, search=search)
    [tokens] = model.target_tokens([free[0][0].text])
    blocked = [tokens[:2], tokens[-1:]]
    found = model.candidates_without(queries, [blocked, []], search=search)
    assert [each.text for each in found[1]] == [each.text for each in free[1]]
    for each in found[0]:
        [others] = model.target_tokens([each.text])
        assert others[:2] != tokens[:2]
        assert tokens[-1] not in others
    again = model.candidates_without(queries[:1], [blocked], search=search)
    assert again == found[:1]


def test_unknown_and_missing_languages(tiny_m2m100: Converted, tiny_prism: Converted) -> None:
    model = CTranslate2Model(tiny_m2m100.folder)
    with pytest.raises(LanguageError, match=r"'xx'.*af, am, ar"):
        model.log_probs(make_queries(["a"], ["b"], target_lang="xx", source_lang="en"))
    with pytest.raises(LanguageError, match="was not given"):
        model.log_probs(make_queries(["a"], ["b"], target_lang="en"))
    CTranslate2Model(tiny_prism.folder).log_probs(make_queries(["a"], ["b"], target_lang="en"))


def test_alternatives_have_the_probabilities_of_forced_decoding(tiny: Converted) -> None:
    model = CTranslate2Model(tiny.folder)
    target, source = "The sea was calm.", "Das Meer."
    [scores] = ask(model, [(target, source, "en", "de")])
    places = [0, 2, len(scores.tokens) - 1]
    query = Query(target, source, "en", "de")
    [found] = model.alternatives([query], places=places, count=5)
    for place, alternatives in zip(places, found, strict=True):
        assert len(alternatives) == 5
        assert alternatives == sorted(alternatives, key=lambda each: -each.log_prob)
        assert alternatives[0].log_prob >= scores.log_probs[place] - 1e-4
        by_token = {each.token: each.log_prob for each in alternatives}
        if scores.tokens[place] in by_token:
            assert by_token[scores.tokens[place]] == pytest.approx(
                scores.log_probs[place], abs=1e-4
            )


def test_the_whole_distribution_is_found_among_the_alternatives(tiny_prism: Converted) -> None:
    model = CTranslate2Model(tiny_prism.folder)
    vocabulary = len(read_vocabulary(tiny_prism.folder, "target"))
    [scores] = ask(model, [("sea", "Meer", "en", "de")])
    query = Query("sea", "Meer", "en", "de")
    [[alternatives]] = model.alternatives([query], places=[0], count=vocabulary)
    by_token = {each.token: each.log_prob for each in alternatives}
    assert by_token[scores.tokens[0]] == pytest.approx(scores.log_probs[0], abs=1e-3)
    assert sum(math.exp(log_prob) for log_prob in by_token.values()) == pytest.approx(1, abs=1e-3)


def test_progress_is_reported(tiny_prism: Converted) -> None:
    seen: list[tuple[str, int, int]] = []
    model = CTranslate2Model(tiny_prism.folder, batch_tokens=1)
    model.log_probs(
        make_queries(["sea"] * 5, ["Meer"] * 5, target_lang="en"),
        progress=lambda *args: seen.append(args),
    )
    assert seen[-1] == ("scoring", 5, 5)


def test_compute_type_is_honoured(tiny_int8: Converted) -> None:
    fast = CTranslate2Model(tiny_int8.folder, compute_type="int8")
    assert fast.settings["precision"] == f"int8-{int8_arithmetic()}"
    for compute_type in ("auto", "float32"):
        exact = CTranslate2Model(tiny_int8.folder, compute_type=compute_type)
        assert exact.settings["precision"] == "float32"


@pytest.mark.parametrize("setting", [{"compute_type": "int3"}, {"threads": 0}, {"batch_tokens": 0}])
def test_impossible_settings(tiny_prism: Converted, setting: dict[str, Any]) -> None:
    with pytest.raises(SettingError):
        CTranslate2Model(tiny_prism.folder, **setting)


class FakeTranslator:
    """Stands in for the engine on a machine with a GPU; it computes nothing."""

    compute_type = "float32"

    def __init__(self, path: str, *, device: str, **_: object) -> None:
        self.device = device


def test_a_device_is_passed_to_the_engine_and_part_of_the_signature(
    tiny_prism: Converted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ctranslate2.Translator", FakeTranslator)
    model = CTranslate2Model(tiny_prism.folder, device="cuda", batch_tokens=64)
    assert model.settings["device"] == "cuda-64"
    assert "device" not in CTranslate2Model(tiny_prism.folder).settings


@pytest.mark.skipif(ctranslate2.get_cuda_device_count() > 0, reason="there is a GPU")
def test_a_gpu_that_is_not_there_is_a_clear_error(tiny_prism: Converted) -> None:
    with pytest.raises(ModelError, match="the engine cannot load the model: CUDA"):
        CTranslate2Model(tiny_prism.folder, device="cuda")


def test_a_broken_model_is_a_clear_error(tiny_prism: Converted, tmp_path: Any) -> None:
    import shutil

    broken = tmp_path / "broken"
    shutil.copytree(tiny_prism.folder.path, broken)
    size = (broken / "model.bin").stat().st_size
    (broken / "model.bin").write_bytes(b"\0" * size)
    with pytest.raises(ModelError, match="cannot load"):
        CTranslate2Model(read_card(broken, TranslationSettings))
