"""A language model is trained on the sentences of the bitext, and scores as its network does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import tertium
from tertium.errors import InputError, SettingError
from tertium.measures.language import Fluency
from tertium.models.catalog import load_language_model
from tertium.models.language_model import PromptTokenizer
from tertium.training.loop import Pace
from tertium.training.model.bitext import Pair, read_texts
from tertium.training.model.corpus import load_corpus
from tertium.training.model.export import export_model
from tertium.training.model.plan import MIXTURES, Plan, get_recipe
from tertium.training.model.tokenizer import END, Tokenizer, write_tokenizer_json

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

from tertium.training.model.run import train  # noqa: E402


@pytest.fixture(scope="module")
def plan(tiny_plan: Plan) -> Plan:
    recipe = replace(
        get_recipe("lm"),
        d_model=64,
        ffn=128,
        decoder_layers=2,
        heads=4,
        vocabulary=340,
        dropout=0.0,
        peak_rate=5e-3,
        warmup_steps=20,
        batch_tokens=200,
        accumulate=1,
        max_positions=64,
        max_tokens=60,
    )
    return replace(tiny_plan, recipe=recipe, mixture=MIXTURES["lm"])


@pytest.fixture(scope="module")
def run(plan: Plan, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lm")
    trained = train(folder, plan, Pace(steps=150, dev_steps=75))
    assert trained.step == 150
    return folder


def test_each_sentence_is_one_text(run: Path, toy_pairs: list[tuple[str, str]]) -> None:
    corpus = load_corpus(run / "corpus")
    assert corpus is not None
    assert [(s.kind, s.source_lang, s.target_lang, s.size) for s in corpus.streams] == [
        ("text", "en", "en", len({en for en, _ in toy_pairs})),
        ("text", "de", "de", len({de for _, de in toy_pairs})),
    ]
    assert (corpus.pairs[:, 0] == corpus.pairs[:, 1]).all()


def test_one_column_is_enough(tmp_path: Path) -> None:
    path = tmp_path / "mono.tsv"
    path.write_text("id\ten\n1\tOne.\n2\t\n3\tTwo.\n", encoding="utf-8")
    expected = [Pair("en", "en", "One.", "One."), Pair("en", "en", "Two.", "Two.")]
    assert list(read_texts(path, ["en"])) == expected
    path.write_text("lang_a\tlang_b\tsentence_a\tsentence_b\nde\ten\tEins.\tOne.\n", "utf-8")
    assert list(read_texts(path, ["en"])) == expected[:1]
    path.write_text("en\nOne.\n", encoding="utf-8")
    with pytest.raises(InputError, match="has none of the languages fr"):
        list(read_texts(path, ["fr"]))


def test_the_export_scores_as_the_network(
    run: Path, plan: Plan, toy_pairs: list[tuple[str, str]], tmp_path: Path
) -> None:
    """H with and without the end, computed by hand from the logits of the network."""
    from tertium.training.checkpoints import average_weights, list_checkpoints
    from tertium.training.model.network import new_network

    card = export_model(run, tmp_path / "model")
    assert "--recipe lm" in card.origin
    tokenizer = Tokenizer(run / "spm.model", plan.languages)
    network = new_network(plan.recipe, tokenizer.size)
    network.load_state_dict(average_weights(list_checkpoints(run)[-1:]))
    network.eval()
    model = load_language_model(card.path, cache=False)
    for text in (toy_pairs[0][0], toy_pairs[3][1], "An unknown 🦉!"):
        [ids] = tokenizer.encode([text])
        with torch.no_grad():
            logits = network(torch.tensor([[END, *ids]])).logits[0].double()
        log_probs = torch.log_softmax(logits, -1)[range(len(ids) + 1), [*ids, END]].numpy()
        without = tertium.load("lm", model=model)(text)
        with_end = Fluency(model, end=True)(text)
        assert without == pytest.approx(log_probs[:-1].mean(), abs=1e-4)
        assert with_end == pytest.approx(log_probs.mean(), abs=1e-4)
    english, garbled = toy_pairs[0][0], " ".join(reversed(toy_pairs[0][0].split()))
    assert Fluency(model)(english) > Fluency(model)(garbled)


@pytest.mark.parametrize(
    "text", ["Wo ist 🦉 42?", "  two   spaces ", "½ ﬁ", "</s> __en__ <unk> <pad>", "", "日本語"]
)
def test_texts_have_the_ids_of_sentencepiece(run: Path, text: str, tmp_path: Path) -> None:
    write_tokenizer_json(run / "spm.model", tmp_path / "tokenizer.json")
    tokenizer = Tokenizer(run / "spm.model", ["en", "de"])
    [(_, tokens)] = PromptTokenizer(tmp_path / "tokenizer.json").encode([""], [text])
    from tokenizers import Tokenizer as Backend

    backend = Backend.from_file(str(tmp_path / "tokenizer.json"))
    assert [backend.token_to_id(token) for token in tokens] == tokenizer.encode([text])[0]


def test_the_loss_of_both_languages_falls(run: Path) -> None:
    from tertium.training.log import curve_points, read_log

    points = curve_points(read_log(run / "log.jsonl"))
    for lang in ("en", "de"):
        first, last = points[f"text {lang}"][1]
        assert last < first < np.log(340)


def test_language_models_that_cannot_be(plan: Plan) -> None:
    with pytest.raises(SettingError, match="reads no source"):
        replace(plan.recipe, ranking=0.1)
    with pytest.raises(SettingError, match="starts from random weights"):
        replace(plan, init="folder")
    with pytest.raises(SettingError, match="trained on sentences"):
        replace(plan, mixture=replace(plan.mixture, copies=0.1))
