"""The unpacked model of py3langid gives the same guesses as the packed one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from py3langid.langid import MODEL_FILE, LanguageIdentifier

from tertium.data.identifier import load_identifier
from tertium.storage.paths import CACHE_VARIABLE, identifiers_folder

TEXTS = ("Where did you learn this?", "Wo hast du das gelernt?", "Где вокзал?", "一番近い駅", "12!")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("norm_probs", [False, True])
def test_same_guesses(norm_probs: bool) -> None:
    packed = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=norm_probs)
    load_identifier()  # which unpacks it
    mapped = load_identifier(norm_probs=norm_probs)
    assert isinstance(mapped.tk_nextmove, memoryview)
    assert [mapped.rank(text) for text in TEXTS] == [packed.rank(text) for text in TEXTS]
    packed.set_languages(["de", "en", "ru"])
    mapped.set_languages(["de", "en", "ru"])
    assert [mapped.classify(text) for text in TEXTS] == [packed.classify(text) for text in TEXTS]


def test_what_is_damaged_is_unpacked_again() -> None:
    load_identifier()
    [folder] = identifiers_folder().iterdir()
    whole = (folder / "moves.npy").read_bytes()
    (folder / "moves.npy").write_bytes(whole[: len(whole) // 2])
    assert load_identifier().classify(TEXTS[1])[0] == "de"
    assert (folder / "moves.npy").read_bytes() == whole
    (folder / "rows.npy").unlink()
    assert load_identifier().classify(TEXTS[1])[0] == "de"
    assert np.load(folder / "rows.npy").size
    assert [path.name for path in identifiers_folder().iterdir()] == [folder.name]


def test_without_a_cache_folder(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (cache / "file").touch()
    monkeypatch.setenv(CACHE_VARIABLE, str(cache / "file"))
    assert load_identifier().classify(TEXTS[1])[0] == "de"
    assert (cache / "file").is_file()
