"""A model folder says what it is, and is believed only as far as it can be checked."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

import tertium
from tertium.errors import FingerprintWarning, ModelError
from tertium.models.card import CARD, TranslationSettings, read_card, write_card
from tertium.models.catalog import entries, find, find_encoder, load_model
from tertium.models.convert.translation import convert
from tertium.storage import paths
from tertium.storage.paths import (
    cache_folder,
    file_sha256,
    hashes_file,
    models_folder,
    results_file,
)

from ..conftest import Converted


@pytest.fixture
def copy(tiny_prism: Converted, tmp_path: Path) -> Path:
    folder = tmp_path / "copy"
    shutil.copytree(tiny_prism.folder.path, folder)
    return folder


def test_a_folder_is_read_and_checked(copy: Path) -> None:
    folder = read_card(copy, TranslationSettings)
    folder.verified()
    assert list(folder.settings.languages.source) == ["en", "de", "fr", "ru"]
    assert folder.settings.dialect == "prism"


FLIPS = {"model.bin": -1, "spm.model": 100, "shared_vocabulary.json": 7, "config.json": 5}
"""The files of a model, and a byte of each that can be changed without making it unreadable."""


@pytest.mark.parametrize("name", FLIPS)
def test_a_changed_file_is_refused_by_name(copy: Path, name: str) -> None:
    load_model(copy, cache=False)
    content = bytearray((copy / name).read_bytes())
    content[FLIPS[name]] ^= 1
    (copy / name).write_bytes(content)
    expected = f"{copy / name} was changed or is damaged; fetch or convert the model again"
    for load in (load_model, tertium.load_encoder, find):
        with pytest.raises(ModelError) as error:
            load(copy)
        assert str(error.value) == expected


def test_a_changed_model_leaves_nothing_in_the_cache(copy: Path) -> None:
    """2 000 changed bytes, of the same size: as an attacker, or a bad disk, would have it."""
    shutil.rmtree(copy)
    shutil.copytree(find("tertium-mini").path, copy)
    content = bytearray((copy / "model.bin").read_bytes())
    for place in range(100_000, 102_000):
        content[place] ^= 0xFF
    (copy / "model.bin").write_bytes(content)
    with pytest.raises(ModelError, match=r"model\.bin was changed"):
        tertium.score("A cat.", "A dog.", measure="direct", lang="en", model=str(copy))
    assert not results_file().exists()


CHANGES = {
    "max_length": 40,
    "early_stopping": True,
    "source_languages": {"en": "<de>", "de": "<en>", "fr": "<fr>", "ru": "<ru>"},
    "aliases": {"bar": ["fr"]},
    "fingerprint": "0" * 64,
}


@pytest.mark.parametrize("field", CHANGES)
@pytest.mark.parametrize("old", [False, True])
def test_a_changed_card_is_refused(copy: Path, field: str, old: bool) -> None:
    """A card of an earlier version has no hashes, and its aliases are not in its fingerprint."""
    card = json.loads((copy / CARD).read_text())
    if old:
        del card["hashes"]
    (copy / CARD).write_text(json.dumps(card))
    before = find(copy).fingerprint
    (copy / CARD).write_text(json.dumps({**card, field: CHANGES[field]}))
    if old and field == "aliases":
        with pytest.warns(FingerprintWarning, match="covers the names of languages now") as caught:
            after = find(copy).fingerprint
        assert after != before
        assert f"fingerprint {after[:12]}, in earlier versions {before[:12]}" in str(caught[0])
        return
    with pytest.raises(ModelError, match=r"tertium\.json.* was changed or is damaged"):
        find(copy)


@pytest.mark.parametrize("name", ["../spm.model", "/etc/hostname", "C:spm.model", "a\\spm.model"])
def test_a_card_names_only_files_in_its_folder(copy: Path, name: str) -> None:
    (copy.parent / "spm.model").write_bytes((copy / "spm.model").read_bytes())
    card = json.loads((copy / CARD).read_text())
    (copy / CARD).write_text(json.dumps({**card, "source_tokenizer": name}))
    with pytest.raises(ModelError, match=r"tertium\.json names .* outside of its folder"):
        find(copy)
    sizes = {**card["sizes"], name: 1}
    (copy / CARD).write_text(json.dumps({**card, "sizes": sizes}))
    with pytest.raises(ModelError, match="outside of its folder"):
        find(copy)


def test_all_files_that_a_model_needs_are_listed(copy: Path) -> None:
    card = json.loads((copy / CARD).read_text())
    shutil.copyfile(copy / "spm.model", copy / "other.model")
    (copy / CARD).write_text(json.dumps({**card, "source_tokenizer": "other.model"}))
    with pytest.raises(ModelError, match=r"does not list other\.model"):
        find(copy)


def test_a_file_that_the_engine_would_read_by_name(copy: Path) -> None:
    """CTranslate2 prefers a shared vocabulary to those of the two sides, for example."""
    (copy / "source_vocabulary.json").write_text('["<s>"]')
    with pytest.raises(ModelError, match=r"source_vocabulary\.json is not part of the model"):
        find(copy)


def test_a_file_is_hashed_once(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hashed: list[str] = []

    def sha256(path: Path) -> str:
        hashed.append(path.name)
        return file_sha256(path)

    monkeypatch.setattr(paths, "file_sha256", sha256)
    find(copy)
    assert sorted(hashed) == sorted(FLIPS)
    for memory in ("process", "cache folder"):
        if memory == "cache folder":
            paths._known.clear()
        find(copy)
    assert len(hashed) == len(FLIPS)
    os.utime(copy / "spm.model")
    hashes_file().write_text("{")  # damaged: as if there were none
    paths._known.clear()
    find(copy)
    assert len(hashed) == 2 * len(FLIPS)


def test_a_cache_folder_that_cannot_be_written(copy: Path) -> None:
    cache_folder().write_text("a file")
    assert find(copy).fingerprint == find(copy).fingerprint


def test_a_half_copied_file_is_found_out(copy: Path) -> None:
    (copy / "model.bin").write_bytes((copy / "model.bin").read_bytes()[:-10])
    with pytest.raises(ModelError, match="incomplete or was changed"):
        read_card(copy, TranslationSettings)
    (copy / "model.bin").unlink()
    with pytest.raises(ModelError, match=r"model\.bin is missing"):
        read_card(copy, TranslationSettings)


def test_a_model_is_loaded_once(copy: Path) -> None:
    first, again = (load_model(copy, cache=False).model for _ in range(2))
    assert again is first
    settings = replace(find(copy).settings, max_length=40)
    write_card(copy, settings, name="shorter", licence="CC0-1.0", origin="")
    other = load_model(copy, cache=False)
    assert other.model is not first
    assert other.fingerprint != first.fingerprint


def test_a_bad_card_is_a_clear_error(copy: Path) -> None:
    card = json.loads((copy / CARD).read_text())
    (copy / CARD).write_text(json.dumps({**card, "dialect": "klingon"}))
    with pytest.raises(ModelError, match=r"unsupported dialect 'klingon'.*prism, m2m100"):
        read_card(copy, TranslationSettings)
    del card["source_languages"]
    (copy / CARD).write_text(json.dumps(card))
    with pytest.raises(ModelError, match="has no field 'source_languages'"):
        read_card(copy, TranslationSettings)
    (copy / CARD).write_text("{")
    with pytest.raises(ModelError, match="not readable"):
        read_card(copy, TranslationSettings)
    (copy / CARD).unlink()
    with pytest.raises(ModelError, match="is not a Tertium model"):
        read_card(copy, TranslationSettings)


def test_models_are_found_by_name_and_by_folder(copy: Path) -> None:
    assert find("tertium-mini").name == "tertium-mini"
    assert find(copy).path == copy
    models_folder().mkdir(parents=True)
    shutil.copytree(copy, models_folder() / "mine")
    assert [(entry.name, entry.where) for entry in entries()] == [
        ("tertium-mini", "bundled"),
        ("tertium-mini-encoder", "bundled"),
        ("mine", "cached"),
    ]
    assert find("mine").path == models_folder() / "mine"


def test_an_unknown_model_lists_the_known_ones() -> None:
    with pytest.raises(ModelError, match=r"no model 'gpt-9'.*tertium-mini"):
        load_model("gpt-9")


def test_the_bundled_models_are_whole() -> None:
    find("tertium-mini").verified()
    find_encoder("tertium-mini-encoder").verified()


def test_converting_twice_gives_the_same_fingerprint(tiny_prism: Converted, tmp_path: Path) -> None:
    again = convert(
        tiny_prism.original.folder,
        tmp_path / "again",
        name="another name",
    )
    assert again.fingerprint == tiny_prism.folder.fingerprint


def test_a_conversion_that_fails_leaves_nothing(tiny_prism: Converted, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    shutil.copytree(tiny_prism.original.folder, broken)
    (broken / "model.safetensors").write_bytes(b"nothing")
    out = tmp_path / "out" / "model"
    with pytest.raises(ModelError, match="weights cannot be converted"):
        convert(broken, out)
    assert list(out.parent.iterdir()) == []
    with pytest.raises(ModelError, match="already exists"):
        convert(broken, broken)
    (broken / "spm.model").unlink()
    with pytest.raises(ModelError, match="no SentencePiece model"):
        convert(broken, out)
