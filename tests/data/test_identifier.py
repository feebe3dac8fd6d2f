"""The unpacked model of py3langid gives the same guesses as the packed one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from py3langid.langid import MODEL_FILE, LanguageIdentifier

from tertium.data import identify as identifier
from tertium.data.identify import check_unpacked, load_identifier, unpacked_folder
from tertium.errors import ModelError
from tertium.storage.paths import cache_folder, identifiers_folder

TEXTS = ("Where did you learn this?", "Wo hast du das gelernt?", "Где вокзал?", "一番近い駅", "12!")


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


@pytest.mark.parametrize(
    "damaged",
    [
        lambda whole: whole[: len(whole) // 2],
        lambda whole: b"",
        lambda whole: whole[:20] + b"{[(" + whole[23:],
        lambda whole: b"PK\x03\x04" + whole[4:],
        lambda whole: whole[:128] + bytes(len(whole) - 128),
        lambda whole: whole[:128] + b"\xff" * (len(whole) - 128),
    ],
    ids=["half", "empty", "header", "zip", "zeros", "ones"],
)
def test_what_is_damaged_is_unpacked_again(damaged: Callable[[bytes], bytes]) -> None:
    load_identifier()
    [folder] = identifiers_folder().iterdir()
    whole = (folder / "moves.npy").read_bytes()
    (folder / "moves.npy").write_bytes(damaged(whole))
    with pytest.raises(ModelError, match="damaged"):
        check_unpacked()
    assert load_identifier().classify(TEXTS[1])[0] == "de"
    assert (folder / "moves.npy").read_bytes() == whole
    check_unpacked()
    assert [path.name for path in identifiers_folder().iterdir()] == [folder.name]


def test_a_missing_file_is_written_again() -> None:
    load_identifier()
    (unpacked_folder() / "rows.npy").unlink()
    assert load_identifier().classify(TEXTS[1])[0] == "de"
    assert np.load(unpacked_folder() / "rows.npy").size


def test_what_another_process_has_unpacked_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """The slower of two processes finds a complete folder when it has unpacked its own."""
    load_identifier()
    before = (unpacked_folder() / "moves.npy").stat().st_ino
    mapped, tried = identifier._mapped, []

    def not_yet(folder: Path, norm_probs: bool) -> Any:
        tried.append(folder)
        if len(tried) == 1:
            raise FileNotFoundError(folder)
        return mapped(folder, norm_probs)

    monkeypatch.setattr(identifier, "_mapped", not_yet)
    load_identifier()
    assert len(tried) == 2
    assert (unpacked_folder() / "moves.npy").stat().st_ino == before


def test_another_layout_in_the_package_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def changed(identifier: Any) -> dict[str, Any]:
        raise AttributeError("tk_nextmove")

    monkeypatch.setattr(identifier, "_arrays", changed)
    assert load_identifier().classify(TEXTS[1])[0] == "de"
    assert not unpacked_folder().exists()
    assert list(identifiers_folder().iterdir()) == []


def test_without_a_cache_folder() -> None:
    cache_folder().touch()  # a file, where a folder should be
    assert load_identifier().classify(TEXTS[1])[0] == "de"
    assert cache_folder().is_file()
