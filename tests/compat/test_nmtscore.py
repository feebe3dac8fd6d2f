"""The interface of nmtscore 0.3.3: its calls, its numbers, its hooks."""

from __future__ import annotations

import inspect
import os
import re
import shutil
from collections.abc import Callable
from importlib.metadata import version
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import tertium
from tertium.compat.nmtscore import (
    NMTScorer,
    TranslationModel,
    __version__,
    load_translation_model,
)
from tertium.errors import CutWarning, InputError, LanguageError, ModelError, SettingError
from tertium.models.convert.translation import convert
from tertium.storage.paths import models_folder

from ..conftest import Converted
from ..tiny import PARALLEL, Tiny

FAMILIES = {"m2m100_418M": "m2m100", "small100": "small100"}
EN, DE, FR, _ = PARALLEL[0]
OTHER = PARALLEL[1][0]
MEASURES = ("direct", "pivot", "cross")
WEIGHTS = os.environ.get("TERTIUM_TEST_WEIGHTS")
"""A folder with the files of huggingface.co/alirezamsh/small100 in ``small100/``."""


@pytest.mark.skipif(
    WEIGHTS is None,
    reason="NMTSCORE'S PUBLISHED NUMBERS WERE NOT CHECKED: "
    "set TERTIUM_TEST_WEIGHTS to a folder that has the files of SMaLL-100 in small100/",
)
def test_the_numbers_that_nmtscore_published(tmp_path: Path) -> None:
    """The examples of nmtscore's README, https://github.com/ZurichNLP/nmtscore."""
    convert(Path(str(WEIGHTS)) / "small100", tmp_path / "small100", dialect="small100")
    scorer = NMTScorer(str(tmp_path / "small100"))
    a = ["This is a sentence.", "This is a sentence.", "This is another sentence."]
    b = [
        "This is another sentence.",
        "This sentence is completely unrelated.",
        "This is another sentence.",
    ]
    wanted = [0.46773, 0.153069, 1.0]
    assert scorer.score(a, b) == pytest.approx(wanted, abs=1e-4)
    assert scorer.score(a[0], b[0]) == pytest.approx(wanted[0], abs=1e-4)
    model = scorer.model
    assert model.translate("de", ["This is a test."], src_lang="en") == ["Das ist ein Test."]
    scores = model.score("de", ["This is a test."], ["Das ist ein Test."], src_lang="en")
    assert scores == pytest.approx([0.82931], abs=1e-4)


def put(converted: Converted, name: str) -> Tiny:
    """Lay a tiny model where the real one would be."""
    shutil.copytree(converted.folder.path, models_folder() / name)
    return converted.original


@pytest.fixture(params=list(FAMILIES))
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def original(name: str, family: Callable[[str], Converted]) -> Tiny:
    return put(family(FAMILIES[name]), name)


@pytest.fixture
def scorer(name: str, original: Tiny) -> NMTScorer:
    return NMTScorer(name)


@pytest.fixture
def small100(family: Callable[[str], Converted]) -> NMTScorer:
    put(family("small100"), "small100")
    return NMTScorer()


def call(
    scorer: NMTScorer, measure: str, a: Any, b: Any, a_lang: str, b_lang: str, **settings: Any
) -> Any:
    """Call any of the three, by way of French where there is a way."""
    if measure == "direct":
        return scorer.score_direct(a, b, a_lang, b_lang, **settings)
    if measure == "pivot":
        return scorer.score_pivot(a, b, a_lang, b_lang, "fr", **settings)
    return scorer.score_cross_likelihood(a, b, a_lang, b_lang, "fr", **settings)


def expected(
    original: Tiny,
    measure: str,
    pair: tuple[str, str],
    langs: tuple[str, str],
    normalize: bool,
    both_directions: bool,
) -> float:
    """The package's formulas, over a plain PyTorch forward pass with the same weights."""

    def p(target: str, source: str, target_lang: str, source_lang: str) -> float:
        log_probs = original.log_probs(target, source, target_lang, source_lang)
        return float(2 ** (sum(log_probs) / len(log_probs)))

    def directed(a: str, b: str, a_lang: str, b_lang: str) -> float:
        if measure == "direct":
            top, bottom = (a, b, a_lang, b_lang), (a, a, a_lang, a_lang)
        elif measure == "pivot":
            b_, a_ = original.translate(b, "fr", b_lang), original.translate(a, "fr", a_lang)
            top, bottom = (a, b_, a_lang, "fr"), (a, a_, a_lang, "fr")
        else:
            b_ = original.translate(b, "fr", b_lang)
            top, bottom = (b_, a, "fr", a_lang), (b_, b, "fr", b_lang)
        return p(*top) / p(*bottom) if normalize else p(*top)

    forth = directed(*pair, *langs)
    return (forth + directed(*pair[::-1], *langs[::-1])) / 2 if both_directions else forth


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize(
    ("pair", "langs"),
    [((EN, OTHER), ("en", "en")), ((EN, DE), ("en", "de"))],
    ids=["one language", "two languages"],
)
def test_numbers_of_the_package(
    scorer: NMTScorer,
    original: Tiny,
    measure: str,
    pair: tuple[str, str],
    langs: tuple[str, str],
) -> None:
    for normalize, both_directions in product((True, False), repeat=2):
        found = call(
            scorer, measure, *pair, *langs, normalize=normalize, both_directions=both_directions
        )
        wanted = expected(original, measure, pair, langs, normalize, both_directions)
        assert found == pytest.approx(wanted, abs=1e-4), (normalize, both_directions)


@pytest.mark.parametrize("measure", MEASURES)
def test_equal_to_the_measures_in_base_2(scorer: NMTScorer, name: str, measure: str) -> None:
    way = {"direct": {}, "pivot": {"pivot_lang": "fr"}, "cross": {"target_lang": "fr"}}[measure]
    settings: dict[str, Any] = {"base": "2", **way}
    ours = tertium.load(measure, model=tertium.load_model(name, cache=False), **settings)
    wanted = ours([EN, OTHER], [DE, DE], lang="en", reference_lang="de")
    found = call(scorer, measure, [EN, OTHER], [DE, DE], "en", "de")
    assert found == pytest.approx(wanted, rel=1e-6)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("both_directions", [True, False])
def test_one_string_or_a_list(
    small100: NMTScorer, measure: str, normalize: bool, both_directions: bool
) -> None:
    settings = {"normalize": normalize, "both_directions": both_directions}
    single = call(small100, measure, EN, OTHER, "en", "en", **settings)
    batch = call(small100, measure, [EN, OTHER, EN], [OTHER, EN, EN], "en", "en", **settings)
    assert type(single) is float
    assert type(batch) is list
    assert [type(score) for score in batch] == [float] * 3
    assert batch[0] == pytest.approx(single, rel=1e-6)
    assert call(small100, measure, [], [], "en", "en", **settings) == []
    assert call(small100, measure, (EN,), (OTHER,), "en", "en", **settings) == [
        pytest.approx(single, rel=1e-6)
    ]


@pytest.mark.parametrize("measure", MEASURES)
def test_identity_and_symmetry(scorer: NMTScorer, measure: str) -> None:
    texts = [EN, "", "🙂", "The sea was calm. " * 2]
    assert call(scorer, measure, texts, texts, "en", "en") == [1.0] * len(texts)
    forth = call(scorer, measure, texts, texts[::-1], "en", "en")
    assert call(scorer, measure, texts[::-1], texts, "en", "en") == pytest.approx(forth, rel=1e-6)


def test_score_is_the_cross_likelihood_by_way_of_english(small100: NMTScorer) -> None:
    settings: dict[str, Any] = {"translate_kwargs": {"num_beams": 2}}
    assert small100.score(EN, OTHER, **settings) == small100.score_cross_likelihood(
        EN, OTHER, tgt_lang="en", **settings
    )


@pytest.mark.parametrize("measure", MEASURES)
def test_batch_size_changes_nothing(scorer: NMTScorer, measure: str) -> None:
    found = []
    for size in (1, 8):
        settings: dict[str, Any] = {"score_kwargs": {"batch_size": size}}
        if measure != "direct":
            settings["translate_kwargs"] = {"batch_size": size}
        found.append(call(scorer, measure, [EN, OTHER], [OTHER, DE], "en", "de", **settings))
    assert found[0] == found[1]


@pytest.mark.parametrize("measure", MEASURES)
def test_long_input_is_cut(small100: NMTScorer, measure: str) -> None:
    with pytest.warns(CutWarning, match="longer than the model reads"):
        found = call(small100, measure, [EN * 500, EN], [DE * 500, DE], "en", "de")
    assert len(found) == 2
    assert all(score > 0 for score in found)


SIGNATURES = {
    "direct": "NMTScore-direct|a-lang:en|b-lang:de",
    "pivot": "NMTScore-pivot|pivot-lang:fr|a-lang:en|b-lang:de",
    "cross": "NMTScore-cross|tgt-lang:fr|a-lang:en|b-lang:de",
}


@pytest.mark.parametrize("measure", MEASURES)
def test_signature(
    scorer: NMTScorer, name: str, measure: str, capsys: pytest.CaptureFixture[str]
) -> None:
    published = {"m2m100_418M": "facebook/m2m100_418M", "small100": "alirezamsh/small100"}[name]
    versions = f"v{__version__}|hf{version('transformers')}"
    call(scorer, measure, EN, DE, "en", "de", print_signature=True)
    head = f"{SIGNATURES[measure]}|model:{published}"
    assert capsys.readouterr().out == f"{head}|normalized|both-directions|{versions}\n"
    call(
        scorer,
        measure,
        *(EN, DE, "en", "de"),
        print_signature=True,
        normalize=False,
        both_directions=False,
    )
    assert capsys.readouterr().out == f"{head}|unnormalized|single-direction|{versions}\n"


def test_signature_of_the_readme(small100: NMTScorer, capsys: pytest.CaptureFixture[str]) -> None:
    """As the package's own page shows it, but for the versions."""
    small100.score(EN, OTHER, print_signature=True)
    start = "NMTScore-cross|tgt-lang:en|model:alirezamsh/small100|normalized|both-directions|"
    assert re.fullmatch(
        re.escape(start) + r"v0\.3\.3\+tertium\S+\|hf\S+\n", capsys.readouterr().out
    )


def test_signatures_of_the_calls() -> None:
    """Names, order and defaults of the arguments, as the package has them."""
    found = {
        method: [
            (parameter.name, parameter.default)
            for parameter in list(inspect.signature(getattr(owner, method)).parameters.values())[1:]
        ]
        for owner, method in [
            (NMTScorer, "__init__"),
            (NMTScorer, "score_pivot"),
            (NMTScorer, "score_cross_likelihood"),
            (TranslationModel, "score"),
        ]
    }
    needed = inspect.Parameter.empty
    last = [("normalize", True), ("both_directions", True), ("print_signature", False)]
    options = [("translate_kwargs", None), ("score_kwargs", None)]
    assert found == {
        "__init__": [("model", "small100"), ("device", None), ("model_kwargs", None)],
        "score_pivot": [
            *[("a", needed), ("b", needed), ("a_lang", needed), ("b_lang", None)],
            *[("pivot_lang", "en"), *last, *options],
        ],
        "score_cross_likelihood": [
            *[("a", needed), ("b", needed), ("a_lang", None), ("b_lang", None)],
            *[("tgt_lang", "en"), *last, *options],
        ],
        "score": [
            *[("tgt_lang", needed), ("source_sentences", needed), ("hypothesis_sentences", needed)],
            *[("src_lang", None), ("batch_size", 8), ("use_cache", False), ("kwargs", needed)],
        ],
    }


def test_models_by_themselves(scorer: NMTScorer, original: Tiny, name: str) -> None:
    model = load_translation_model(name)
    assert model.requires_src_lang is (name != "small100")
    [text] = model.translate("fr", [EN], src_lang="en")
    assert text == model.translate("fr", EN, src_lang="en") == original.translate(EN, "fr", "en")
    log_probs = original.log_probs(FR, EN, "fr", "en")
    wanted = 2 ** (sum(log_probs) / len(log_probs))
    assert model.score("fr", [EN], [FR], src_lang="en") == [pytest.approx(wanted, abs=1e-4)]
    assert model.score("fr", EN, FR, src_lang="en") == pytest.approx(wanted, abs=1e-4)
    [(again, score)] = model.translate("fr", [EN], src_lang="en", return_score=True)
    assert again == text
    assert score == model.score("fr", EN, text, src_lang="en")
    assert model.translate("fr", [], src_lang="en") == []


def test_number_of_beams_reaches_the_engine(
    small100: NMTScorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    model: Any = small100.model
    translate = model.model.translate

    def spy(*args: Any, **settings: Any) -> Any:
        asked.append(settings["beam_size"])
        return translate(*args, **settings)

    monkeypatch.setattr(model.model, "translate", spy)
    small100.score(EN, OTHER)
    small100.score(EN, OTHER, translate_kwargs={"num_beams": 2})
    small100.model.translate("fr", EN, beam=3)
    assert asked == [5, 2, 3]  # both directions in one call


def test_languages_that_are_missing(family: Callable[[str], Converted]) -> None:
    put(family("m2m100"), "m2m100_418M")
    scorer = NMTScorer("m2m100_418M")
    with pytest.warns(UserWarning, match="'en' and 'en' are assumed"):
        assert scorer.score(EN, EN) == 1.0
    with pytest.warns(UserWarning, match="'de' and 'de' are assumed"):
        assert scorer.score(DE, DE, a_lang="de") == 1.0
    with pytest.warns(UserWarning, match="'en' is assumed"):
        scorer.score_direct(EN, EN, "en", both_directions=False)
    with pytest.warns(UserWarning, match="'en' is assumed"):
        scorer.model.translate("fr", EN)
    with pytest.raises(LanguageError, match="b_lang is needed"):
        scorer.score_direct(EN, EN, "en")
    with pytest.raises(LanguageError, match="'xx'"):
        scorer.score_direct(EN, EN, "en", "xx")


def test_one_direction_needs_no_source_language(small100: NMTScorer) -> None:
    assert small100.score_direct(EN, EN, "en", both_directions=False) == 1.0
    assert small100.score_pivot(EN, EN, "en", both_directions=False, pivot_lang="fr") == 1.0


def test_what_cannot_be_scored(small100: NMTScorer) -> None:
    with pytest.raises(InputError, match="a is a single string, but b is not"):
        small100.score(EN, [EN])
    with pytest.raises(InputError, match="2 sentences in a, but 1 in b"):
        small100.score([EN, EN], [EN])
    with pytest.raises(InputError, match="row 2: the b is NoneType"):
        small100.score([EN, EN], [EN, None])  # type: ignore[list-item]
    with pytest.raises(InputError, match="source_sentences is int"):
        small100.model.translate("fr", 1)  # type: ignore[arg-type]
    with pytest.raises(SettingError, match="translate_kwargs has no top_k"):
        small100.score(EN, OTHER, translate_kwargs={"top_k": 3})
    with pytest.raises(SettingError, match="score_kwargs has no temperature"):
        small100.score(EN, OTHER, score_kwargs={"temperature": 3})


def test_loading(family: Callable[[str], Converted], tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"m2m100_1\.2B"):
        NMTScorer("m2m100_1.2B")
    folder = tmp_path / "mine"
    shutil.copytree(family("prism").folder.path, folder)
    assert str(NMTScorer(str(folder)).model) == "tiny-prism"
    assert str(NMTScorer("prism", "cpu", {"model_dir": folder}).model) == "prism"
    exact: Any = load_translation_model(folder, device="cpu", fp16=False)
    assert exact.model.settings["precision"] == "float32"
    with pytest.raises(SettingError, match="CUDA_VISIBLE_DEVICES=1"):
        NMTScorer(str(folder), device="cuda:1")
    with pytest.raises(SettingError, match="neither cpu nor cuda"):
        NMTScorer(str(folder), device="tpu")


class Shouting(TranslationModel):
    """A user's own model, with the hooks that the package publishes; it counts the questions."""

    def __init__(self, folder: Path, requires_src_lang: bool = False) -> None:
        self.folder = folder
        self.translated: list[str] = []
        self.scored: list[tuple[str, str]] = []
        self.languages: list[str] = []
        self._requires = requires_src_lang

    def __str__(self) -> str:
        return "my/shouting"

    @property
    def requires_src_lang(self) -> bool:
        return self._requires

    def _set_src_lang(self, src_lang: str) -> None:
        self.languages.append(f"from {src_lang}")

    def _set_tgt_lang(self, tgt_lang: str) -> None:
        self.languages.append(f"to {tgt_lang}")

    def _translate(
        self,
        source_sentences: list[str],
        return_score: bool = False,
        batch_size: int = 8,
        **kwargs: Any,
    ) -> list[Any]:
        self.translated += source_sentences
        texts = [source.upper() for source in source_sentences]
        return [(text, None) for text in texts] if return_score else texts

    def _score(
        self,
        source_sentences: list[str],
        hypothesis_sentences: list[str],
        batch_size: int = 8,
        **kwargs: Any,
    ) -> list[float]:
        self.scored += zip(source_sentences, hypothesis_sentences, strict=True)
        pairs = zip(source_sentences, hypothesis_sentences, strict=True)
        return [0.5 if source.upper() == hypothesis else 0.125 for source, hypothesis in pairs]

    @property
    def cache_path(self) -> Path:
        return self.folder / "answers.sqlite"


def test_a_users_own_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = Shouting(tmp_path, requires_src_lang=True)
    scorer = NMTScorer(model)
    score = scorer.score_cross_likelihood("a", "b", "de", "fr", tgt_lang="en", print_signature=True)
    assert score == 0.125 / 0.5
    assert model.translated == ["b", "a"]
    assert model.languages[:2] == ["to en", "from fr"]
    assert "|model:my/shouting|" in capsys.readouterr().out
    assert not (tmp_path / "answers.sqlite").exists()


def test_cache_hooks(tmp_path: Path) -> None:
    model = Shouting(tmp_path)
    settings = {"use_cache": True}
    kwargs: dict[str, Any] = {"translate_kwargs": settings, "score_kwargs": settings}
    first = NMTScorer(model).score(["a", "c"], ["b", "c"], **kwargs)
    assert first == [0.25, 1.0]
    again = Shouting(tmp_path)
    assert NMTScorer(again).score(["a", "c"], ["b", "c"], **kwargs) == first
    assert (again.translated, again.scored) == ([], [])
    with again.load_cache() as cache:
        assert len(cache) == 3 + 5  # a, b, c translated; A|a, A|b, B|a, B|b, C|c scored
    assert again.translate("en", ["a", "d", "b"], use_cache=True) == ["A", "D", "B"]
    assert again.translated == ["d"]


def test_cached_questions_are_not_mixed_up(tmp_path: Path) -> None:
    """Neither texts with the separator in them, nor other settings, hit the same entry."""
    model = Shouting(tmp_path)
    model.score("en", ["a_b"], ["c"], use_cache=True)
    model.score("en", ["a"], ["b_c"], use_cache=True)
    model.score("de", ["a"], ["b_c"], use_cache=True)
    model.score("en", ["a"], ["b_c"], use_cache=True, temperature=2)
    assert len(model.scored) == 4
    model.translate("en", ["a"], use_cache=True)
    model.translate("en", ["a"], use_cache=True, return_score=True)
    assert len(model.translated) == 2


def test_cache_hits_when_the_source_language_is_implied(tmp_path: Path) -> None:
    model = Shouting(tmp_path, requires_src_lang=True)
    for _ in range(2):
        with pytest.warns(UserWarning, match="'en' is assumed"):
            model.score("de", ["a"], ["b"], use_cache=True)
    model.score("de", ["a"], ["b"], src_lang="en", use_cache=True)
    assert model.scored == [("a", "b")]


def test_cache_of_a_subclass_that_opens_its_own(tmp_path: Path) -> None:
    class Store(dict[str, Any]):
        commits = 0

        def __enter__(self) -> Store:
            return self

        def __exit__(self, *error: object) -> None: ...

        def commit(self) -> None:
            self.commits += 1

    store = Store()

    class Opening(Shouting):
        def load_cache(self) -> Store:
            return store

    model = Opening(tmp_path)
    for _ in range(2):
        assert model.translate("en", "a", use_cache=True) == "A"
    assert model.translated == ["a"]
    assert (len(store), store.commits) == (1, 1)


def test_cache_of_the_engine(small100: NMTScorer, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = {"use_cache": True}
    kwargs: dict[str, Any] = {"translate_kwargs": settings, "score_kwargs": settings}
    first = small100.score([EN, OTHER], [DE, DE], **kwargs)
    assert small100.model.cache_path.is_file()
    again = NMTScorer("small100")
    model: Any = again.model
    monkeypatch.setattr(model, "_translate", None)
    monkeypatch.setattr(model, "_score", None)
    assert again.score([EN, OTHER], [DE, DE], **kwargs) == first


def test_cache_folder_of_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Plain(TranslationModel):
        def __str__(self) -> str:
            return "my/model"

    monkeypatch.setenv("NMTSCORE_CACHE", str(tmp_path / "theirs"))
    with Plain().load_cache() as cache:
        cache["question"] = ["answer", 0.5]
    assert [file.name for file in (tmp_path / "theirs").iterdir()] == ["my_model-tertium.sqlite"]
    with Plain().load_cache() as cache:
        assert dict(cache) == {"question": ["answer", 0.5]}
        del cache["question"]
        with pytest.raises(KeyError):
            del cache["question"]


def test_hooks_that_are_not_there() -> None:
    class Empty(TranslationModel):
        requires_src_lang = False

    with pytest.raises(NotImplementedError, match="Empty does not define _score"):
        Empty().score("en", "a", "b")
    with pytest.raises(NotImplementedError, match="Empty does not define __str__"):
        str(Empty())


def test_a_model_that_answers_too_little(tmp_path: Path) -> None:
    class Silent(Shouting):
        def _score(self, *args: Any, **kwargs: Any) -> list[float]:
            return []

    with pytest.raises(ModelError, match="my/shouting returned 0 results for 1 queries"):
        Silent(tmp_path).score("en", "a", "b")
