"""Measures are named with their models and settings, and made symmetric."""

from __future__ import annotations

import pytest
from sacrebleu.metrics.bleu import BLEU

from tertium.errors import SettingError
from tertium.models.base import TranslationModel
from tertium.studies.specs import MeasureSpec, Similarity
from tertium.text import Text

from ..fakes import FakeEncoder, FakeModel


def no_model(*_: object) -> TranslationModel:
    raise AssertionError


@pytest.mark.parametrize(
    "text", ["chrf", "cross@prism", "pivot:beam_size=1", "direct@prism:normalized=no,base=2"]
)
def test_specs_are_read_as_they_are_written(text: str) -> None:
    assert str(MeasureSpec.parse(text)) == text


def test_values_have_their_types() -> None:
    spec = MeasureSpec.parse("pivot@m:normalized=no,beam-size=2,pivot_lang=de")
    assert spec.settings == {"normalized": False, "beam_size": 2, "pivot_lang": "de"}
    assert MeasureSpec.parse("direct:base=2").settings == {"base": "2"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("chrff", "no measure 'chrff'.*did you mean 'chrf'"),
        ("chrf@prism", "chrf takes no model"),
        ("chrf:beam_size=1", "chrf has no setting 'beam_size'"),
        ("chrf:beta=2,x", "beta=2,x: it must be a number"),
        ("chrf:x,beta=2", "'x' is not a setting; write SETTING=VALUE"),
    ],
)
def test_faults_are_named(text: str, message: str) -> None:
    with pytest.raises(SettingError, match=message):
        MeasureSpec.parse(text)


def test_bleu_takes_the_tokenizer_of_each_language() -> None:
    spec = MeasureSpec("bleu")
    similarity = Similarity(spec.make("en", no_model, ""), spec.make("zh", no_model, ""))
    a, b = "中国 I have 2 cats", "中国有2只猫"
    forth = BLEU(effective_order=True).sentence_score(a, [b]).score
    back = BLEU(effective_order=True, tokenize="zh").sentence_score(b, [a]).score
    [score] = similarity.segments([(Text(a), Text(b))]).scores
    assert back != forth
    assert score == (forth + back) / 2


def test_a_symmetric_measure_is_asked_once() -> None:
    model = FakeModel(scores={("a", "b"): (-2.0,), ("b", "a"): (-1.0,)})
    for name, calls in (("prism-ref", 2), ("prism-src", 2)):
        model.asked.clear()
        measure = MeasureSpec(name).make("en", lambda *_: model, "fake")
        pairs = [(Text("a", "en"), Text("b", "en"))]
        assert Similarity(measure, measure).segments(pairs).scores == [-1.5]
        assert len(model.asked) == calls
        assert measure.is_symmetric is (name == "prism-ref")


def test_signatures_tell_settings_apart() -> None:
    def signature(text: str, lang: str = "en") -> str:
        measure = MeasureSpec.parse(text).make(lang, lambda *_: FakeModel(), "fake")
        return Similarity(measure, measure).signature

    told = [
        signature("bleu"),
        signature("bleu", "zh"),
        signature("chrf"),
        signature("direct"),
        signature("direct:normalized=no"),
    ]
    assert len(set(told)) == len(told)
    assert signature("chrf") == signature("chrf", "de")


def test_encoders_and_their_layers() -> None:
    asked = []

    def load_encoder(*what: object) -> FakeEncoder:
        asked.append(what)
        return FakeEncoder({"a": (1.0, 0.0)}, name=str(what[1]))

    spec = MeasureSpec.parse("sentsim@one:layer=9,sentence_encoder=two,scale=corpus")
    measure = spec.make("en", load_encoder, "default")
    assert sorted(asked) == [("sentences", "two", None), ("tokens", "one", 9)]
    choices = measure.choices()
    assert (choices["sss.model"], choices["bertscore.model"]) == ("two", "one")
    assert choices["scale"] == "corpus"
    asked.clear()
    MeasureSpec.parse("sss+wmd").make("en", load_encoder, "default")
    assert {name for _, name, _ in asked} == {"default"}
