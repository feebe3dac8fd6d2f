from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import sacrebleu
from safetensors.torch import load_file, save_file

from tertium.errors import ModelError
from tertium.models.base import make_queries
from tertium.models.catalog import load_model
from tertium.models.convert.translation import convert
from tertium.training.loop import Pace
from tertium.training.model.batches import Example, make_batch
from tertium.training.model.bitext import Pair
from tertium.training.model.corpus import Corpus, Source, build_corpus
from tertium.training.model.evaluation import (
    Direction,
    choose_sentences,
    development_batches,
    development_chrf,
    translate_greedily,
)
from tertium.training.model.export import export, export_model
from tertium.training.model.network import load_network, negative_log_likelihoods
from tertium.training.model.plan import Mixture, Plan
from tertium.training.model.run import train
from tertium.training.model.tokenizer import Tokenizer

ToyPairs = list[tuple[str, str]]


@pytest.fixture(scope="module")
def exported(tiny_plan: Plan, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that has learnt the toy corpus by heart, as a Hugging Face folder."""
    folder = tmp_path_factory.mktemp("export")
    recipe = replace(
        tiny_plan.recipe,
        dropout=0.0,
        label_smoothing=0.0,
        peak_rate=1e-3,
        warmup_steps=100,
        batch_tokens=150,
        accumulate=1,
    )
    mixture = Mixture(paraphrases=0.0, copies=0.0, joined=0.0, temperature=1.0)
    plan = replace(tiny_plan, dev=(), recipe=recipe, mixture=mixture)
    train(folder / "run", plan, Pace(steps=600, decay_steps=300))
    return export(folder / "run", folder / "hugging-face")


@pytest.fixture(scope="module")
def converted(exported: Path) -> Path:
    return export_model(
        exported.parent / "run", exported.parent / "tertium", name="toy", licence="CC0-1.0"
    ).path


def test_straight_or_by_way_of_hugging_face(exported: Path, converted: Path) -> None:
    detour = convert(exported, exported.parent / "detour", name="toy", dialect="prism")
    assert (detour.path / "model.bin").read_bytes() == (converted / "model.bin").read_bytes()
    assert sorted(path.name for path in exported.parent.iterdir()) == [
        *("detour", "hugging-face", "run", "tertium"),
    ]


def test_a_toy_corpus_is_learnt_by_heart(converted: Path, toy_pairs: ToyPairs) -> None:
    model = load_model(converted, cache=False)
    english, german = (list(side) for side in zip(*toy_pairs, strict=True))
    found = model.translate(english, target_lang="de", source_lang="en", beam_size=1)
    bleu = sacrebleu.corpus_bleu([translation.text for translation in found], [german])
    assert bleu.score > 90


def test_the_engine_gives_the_log_probs_of_the_network(
    exported: Path, converted: Path, toy_pairs: ToyPairs
) -> None:
    texts = [*toy_pairs[:20], ("An unknown 🦉!", "Straße 42")]
    tokenizer = Tokenizer(exported / "spm.model", ["en", "de"])
    pairs = [Pair("de", "en", de, en) for en, de in texts]
    corpus: Corpus = build_corpus([Source(pairs)], tokenizer, max_tokens=64)
    [stream] = [
        stream
        for stream in corpus.streams
        if stream.source_lang == "de" and stream.target_lang == "en"
    ]
    numbers = corpus.pairs[stream.start : stream.end].tolist()
    batch = make_batch(corpus, tokenizer.tags, [Example((de,), (en,), "en") for de, en in numbers])
    network = load_network(exported, tokenizer.size)
    network.eval()
    model = load_model(converted, cache=False)
    scores = model.log_probs(
        make_queries(
            [en for en, _ in texts], [de for _, de in texts], target_lang="en", source_lang="de"
        )
    )
    ours = np.concatenate([score.log_probs for score in scores])
    np.testing.assert_allclose(ours, -negative_log_likelihoods(network, batch).numpy(), atol=1e-4)


def test_missing_weights_are_not_made_up(exported: Path, tmp_path: Path) -> None:
    damaged = shutil.copytree(exported, tmp_path / "damaged")
    weights = load_file(damaged / "model.safetensors")
    del weights["model.decoder.layers.0.fc1.bias"]
    save_file(weights, damaged / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(
        ModelError, match=r"weights are missing: model\.decoder\.layers\.0\.fc1\.bias"
    ):
        load_network(damaged, Tokenizer(exported / "spm.model", ["en", "de"]).size)


def test_greedy_translations_are_those_of_the_engine(
    exported: Path, converted: Path, toy_pairs: ToyPairs
) -> None:
    tokenizer = Tokenizer(exported / "spm.model", ["en", "de"])
    corpus = build_corpus(
        [Source([Pair("de", "en", de, en) for en, de in toy_pairs])], tokenizer, max_tokens=64
    )
    batches = development_batches(corpus, tokenizer.tags)
    network = load_network(exported, tokenizer.size)
    scores = development_chrf(network, batches, tokenizer.decode, sentences=100)
    assert set(scores) == {"translation", "de-en", "en-de"}
    assert scores["en-de"] > 90
    network.eval()
    direction = Direction("translation", "de", "en")
    sentences = choose_sentences(batches, 100)[direction]
    found = translate_greedily(network, sentences, tokenizer.decode)
    sources = [tokenizer.decode(sentence.source[:-1].tolist()) for sentence in sentences]
    model = load_model(converted, cache=False)
    wanted = model.translate(sources, target_lang="en", source_lang="de", beam_size=1)
    assert found == [translation.text for translation in wanted]
    assert len(choose_sentences(batches, 3)[direction]) == 3


def test_what_cannot_be_exported(exported: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no checkpoint"):
        export(tmp_path, tmp_path / "out")
    with pytest.raises(ModelError, match=r"fewer than 3 checkpoints \(1\)"):
        export(exported.parent / "run", tmp_path / "out", average=3)
    for write in (export, export_model):
        with pytest.raises(ModelError, match="already"):
            write(exported.parent / "run", exported)
