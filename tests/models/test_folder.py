"""A model folder says what it is, and is believed only as far as it can be checked."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tertium.errors import ModelError
from tertium.models import catalog
from tertium.models.catalog import entries, find, load_model
from tertium.models.convert.translation import convert
from tertium.models.folder import CARD, ModelFolder, read_folder
from tertium.storage.paths import models_folder

from ..conftest import Converted


@pytest.fixture
def copy(tiny_prism: Converted, tmp_path: Path) -> Path:
    folder = tmp_path / "copy"
    shutil.copytree(tiny_prism.folder.path, folder)
    return folder


def test_a_folder_is_read_and_checked(copy: Path) -> None:
    folder = read_folder(copy)
    folder.check()
    assert list(folder.languages.source) == ["en", "de", "fr", "ru"]
    assert folder.dialect == "prism"


def test_changed_weights_are_found_out(copy: Path) -> None:
    weights = bytearray((copy / "model.bin").read_bytes())
    weights[-1] ^= 1
    (copy / "model.bin").write_bytes(weights)
    with pytest.raises(ModelError, match="do not match the fingerprint"):
        read_folder(copy).check()


def test_a_half_copied_file_is_found_out(copy: Path) -> None:
    (copy / "model.bin").write_bytes((copy / "model.bin").read_bytes()[:-10])
    with pytest.raises(ModelError, match="incomplete or was changed"):
        read_folder(copy)
    (copy / "model.bin").unlink()
    with pytest.raises(ModelError, match=r"model\.bin is missing"):
        read_folder(copy)


def test_a_folder_is_read_once_per_load(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths: list[Path] = []

    def read(path: Path) -> ModelFolder:
        paths.append(path)
        return read_folder(path)

    monkeypatch.setattr(catalog, "read_folder", read)
    first, again = (load_model(copy, cache=False).model for _ in range(2))
    assert again is first
    assert paths == [copy, copy]
    card = json.loads((copy / CARD).read_text())
    (copy / CARD).write_text(json.dumps({**card, "fingerprint": "0" * 64}))
    assert load_model(copy, cache=False).fingerprint == "0" * 64


def test_a_bad_card_is_a_clear_error(copy: Path) -> None:
    card = json.loads((copy / CARD).read_text())
    (copy / CARD).write_text(json.dumps({**card, "dialect": "klingon"}))
    with pytest.raises(ModelError, match=r"unsupported dialect 'klingon'.*prism, m2m100"):
        read_folder(copy)
    del card["source_languages"]
    (copy / CARD).write_text(json.dumps(card))
    with pytest.raises(ModelError, match="has no field 'source_languages'"):
        read_folder(copy)
    (copy / CARD).write_text("{")
    with pytest.raises(ModelError, match="not readable"):
        read_folder(copy)
    (copy / CARD).unlink()
    with pytest.raises(ModelError, match="is not a Tertium model"):
        read_folder(copy)


def test_models_are_found_by_name_and_by_folder(copy: Path) -> None:
    assert find("tertium-mini").name == "tertium-mini"
    assert find(copy).path == copy
    models_folder().mkdir(parents=True)
    shutil.copytree(copy, models_folder() / "mine")
    assert [(entry.name, entry.where) for entry in entries()] == [
        ("tertium-mini", "bundled"),
        ("mine", "cached"),
    ]
    assert find("mine").path == models_folder() / "mine"


def test_an_unknown_model_lists_the_known_ones() -> None:
    with pytest.raises(ModelError, match=r"no model 'gpt-9'.*tertium-mini"):
        load_model("gpt-9")


def test_the_bundled_model_is_whole() -> None:
    find("tertium-mini").check()


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
