"""Measures with a causal language model."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

import tertium
from tertium.errors import CutWarning, LanguageError, SettingError, TextWarning
from tertium.measures.compound import CosineAndFluency
from tertium.measures.embedding import SemanticSentenceSimilarity
from tertium.measures.language import Fluency, LikelihoodFromReference, LikelihoodFromSource
from tertium.measures.loading import MeasureSpec, load
from tertium.measures.translation import PrismRef, PrismSrc
from tertium.models.base import Progress, TokenScores
from tertium.models.card import LanguageCard
from tertium.models.catalog import load_language_model

from ..fakes import FakeEncoder, FakeModel
from ..hostile import hostile_text
from ..tiny_language import TinyLanguageModel


@dataclass
class FakeLanguageModel:
    """Log-probabilities by (text, prompt); the last one is that of the end token."""

    table: Mapping[tuple[str, str], Sequence[float]]
    name: str = "fake"
    fingerprint: str = "f" * 64
    settings: Mapping[str, str] = field(default_factory=dict)

    def text_log_probs(
        self,
        texts: Sequence[str],
        *,
        prompts: Sequence[str] | None = None,
        progress: Progress | None = None,
    ) -> list[TokenScores]:
        found = []
        for text, prompt in zip(texts, prompts or [""] * len(texts), strict=True):
            numbers = tuple(self.table[text, prompt])
            found.append(TokenScores(("x",) * len(numbers), numbers, "long" in text))
        return found


HAND = FakeLanguageModel(
    {
        ("a", ""): (-1.0, -3.0, -0.5),
        ("", ""): (-7.0,),
        ("long", ""): (-2.0, -4.0),
        ("a", "b="): (-1.0, -2.0, -6.0),
        ("a", "c="): (-4.0, -4.0, -1.0),
        ("b", "a="): (-3.0, -9.0),
        ("a", "German: b\nEnglish: "): (-2.0, -1.0),
    }
)
EXACT: dict[str, Any] = {"template": "{source}=", "end": True}


def test_fluency_by_hand() -> None:
    assert Fluency(HAND)("a") == -2.0  # (-1 - 3) / 2: the end token does not count
    assert Fluency(HAND, end=True)("a") == -1.5
    assert Fluency(HAND, aggregate="G")("a") == -4.0
    assert Fluency(HAND, aggregate="G", end=True)("a") == -4.5
    assert Fluency(HAND)("") == -7.0  # nothing but the end token
    with pytest.warns(CutWarning, match="1 of 1 row holds"):
        assert Fluency(HAND)("long") == -3.0  # without an end token


def test_fluency_needs_hypotheses_alone() -> None:
    measure = Fluency(HAND)
    assert measure(["a", ""]) == [-2.0, -7.0]
    assert measure("a", "anything", lang="en") == -2.0
    assert measure.reads == ()
    scores = measure.score(["a"])
    assert "measure:lm|model:fake|fingerprint:ffffffffffff|aggregate:H|end:no|" in str(
        scores.signature
    )
    assert "against" not in str(Fluency(HAND, against="source").description())


def test_likelihood_by_hand() -> None:
    measure = LikelihoodFromSource(HAND, template="{source}=")
    assert measure("a", "b") == -1.5
    assert LikelihoodFromSource(HAND, aggregate="G", **EXACT)("a", "b") == -9.0
    default = LikelihoodFromSource(HAND)
    assert default("a", "b", lang="en", source_lang="de") == -2.0
    with pytest.raises(LanguageError, match=r"row 1: llm-src: the template has {source"):
        default("a", sources="b", lang="en")


def test_references_by_hand() -> None:
    measure = LikelihoodFromReference(HAND, template="{reference}=")
    assert measure(["a"], [["b", "c"]]) == [-1.5]
    assert measure.score(["a"], [["c", "b"]]).best_reference == [1]
    mean = LikelihoodFromReference(HAND, template="{reference}=", references="mean")
    assert mean(["a"], [["b", "c"]]) == [(-1.5 - 4) / 2]
    weighted = LikelihoodFromReference(HAND, template="{reference}=", alpha=0.25)
    assert weighted("a", "b") == 0.75 * -3 + 0.25 * -1.5


def test_prism_and_bartscore_are_special_cases() -> None:
    """The same probabilities give the same scores, whatever kind of model they come from.

    BARTScore from source to hypothesis, and its precision, recall and F score, are the mean
    log-probabilities of Prism.
    """
    table = {("a", "b"): (-1.0, -2.0, -6.0), ("b", "a"): (-3.0, -9.0)}
    translation = FakeModel(table)
    language = FakeLanguageModel({(text, f"{other}="): p for (text, other), p in table.items()})
    options = {"lang": "en", "source_lang": "de"}
    from_source = LikelihoodFromSource(language, **EXACT)
    assert from_source("a", "b", **options) == PrismSrc(translation)("a", "b", **options)
    for alpha in (0.0, 0.5, 1.0):  # recall, F score, precision
        from_reference = LikelihoodFromReference(
            language, template="{reference}=", end=True, alpha=alpha
        )
        prism = PrismRef(translation, alpha=alpha)
        assert from_reference("a", "b") == prism("a", "b", lang="en")


def test_what_is_filled_in_is_no_template() -> None:
    language = FakeLanguageModel({("a", "{lang} {source} en="): (-1.0, -1.0)})
    measure = LikelihoodFromSource(language, template="{source} en=")
    assert measure("a", "{lang} {source}") == -1.0


@pytest.mark.parametrize(
    ("template", "reason"),
    [
        ("no place", "must contain {source}"),
        ("{source} {reference}", "{reference} is not a placeholder"),
        ("{source} {}", "{} is not a placeholder"),
    ],
)
def test_bad_templates(template: str, reason: str) -> None:
    with pytest.raises(SettingError, match=reason):
        LikelihoodFromSource(HAND, template=template)


def test_bad_settings() -> None:
    with pytest.raises(SettingError, match="alpha=2"):
        LikelihoodFromReference(HAND, alpha=2)
    with pytest.raises(SettingError, match="aggregate='X'"):
        Fluency(HAND, aggregate="X")  # type: ignore[arg-type]
    with pytest.raises(SettingError, match="against='reference'"):
        LikelihoodFromSource(HAND, against="reference")  # type: ignore[arg-type]


def test_the_template_is_in_the_signature() -> None:
    measure = LikelihoodFromSource(HAND, template="A|B\\n{source}")
    assert measure.template == "A|B\n{source}"
    assert measure.description()["template"] == r"A\u007cB\n{source}"


def test_cosine_and_fluency_by_hand() -> None:
    """cos((1, 1), (1, 0)) is 1 / sqrt 2, and H(sys) is -2."""
    encoder = FakeEncoder({"a": (1, 1), "b": (1, 0)})
    parts = SemanticSentenceSimilarity(encoder), Fluency(HAND)
    for alpha in (0.0, 0.3, 1.0):
        measure = CosineAndFluency(parts, alpha=alpha, title="cosine-lm")
        expected = (1 - alpha) * -2 + 10 * alpha / math.sqrt(2)
        assert measure("a", "b") == pytest.approx(expected, abs=1e-6)
    assert measure.bounds == (-math.inf, 10)
    described = measure.description()
    assert (described["alpha"], described["sss.layer"], described["lm.aggregate"]) == (
        "1",
        "3",
        "H",
    )
    with pytest.raises(SettingError, match="alpha"):
        CosineAndFluency(parts, alpha=-0.1)


def test_from_names_to_measures(language_folder: LanguageCard) -> None:
    path = str(language_folder.path)
    spec = MeasureSpec.parse(f"cosine-lm@tertium-mini:language_model={path},alpha=0.25")
    assert spec.settings["alpha"] == 0.25
    measure = load(str(spec))
    assert isinstance(measure, CosineAndFluency)
    alone = load(f"lm@{path}")
    cosine = load("sss", encoder="tertium-mini")
    text, other = "The sea was calm.", "The sea was quiet."
    assert measure(text, other) == pytest.approx(
        0.75 * alone(text) + 0.25 * 10 * cosine(text, other)
    )
    assert load("lm", model=load_language_model(path))(text) == alone(text)
    with pytest.raises(SettingError, match="needs a causal language model"):
        load("lm", model=tertium.load_model(cache=False))
    with pytest.raises(SettingError, match="has no setting 'weights'"):
        load("cosine-lm:weights=1,2")


def test_tiny_model_against_transformers(
    language_folder: LanguageCard, tiny_language: TinyLanguageModel
) -> None:
    measure = LikelihoodFromSource(load_language_model(language_folder.path, cache=False))
    source, text = "Das Meer war ruhig.", "The sea was calm."
    expected = _after(tiny_language, f"German: {source}\nEnglish: ", text)
    scores = measure.score(text, source, lang="en", source_lang="de")
    assert scores.segments == pytest.approx([expected], abs=1e-4)
    template = "{reference}\nIn other words: "
    other = LikelihoodFromReference(measure.model)
    assert json.loads(f'"{other.description()["template"]}"') == template
    expected = _after(tiny_language, template.replace("{reference}", source), text)
    assert other(text, source) == pytest.approx(expected, abs=1e-4)


def _after(tiny: TinyLanguageModel, prompt: str, text: str) -> float:
    """H of a text after a prompt that ends in a space, a token of its own here."""
    context = tiny.ids(prompt)
    ids = [tiny.id(tiny.start), *tiny.ids(prompt + text)]
    assert ids[1 : len(context) + 1] == context
    log_probs = tiny.of_ids(ids)[len(context) :]
    return sum(log_probs) / len(log_probs)


def test_any_text_has_a_number(language_folder: LanguageCard) -> None:
    model = load_language_model(language_folder.path, cache=False)
    draw = random.Random(5)
    texts = ["", " ", "\0", "<|end|>", "x" * 3000, *(hostile_text(draw) for _ in range(20))]
    for measure in (Fluency(model), LikelihoodFromSource(model, template="{source}")):
        with pytest.warns((CutWarning, TextWarning)):
            scores = measure(texts, texts[::-1], lang="en")
        assert all(math.isfinite(score) and score <= 0 for score in scores)
