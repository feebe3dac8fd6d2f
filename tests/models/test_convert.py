"""Converting runs no code that a checkpoint brings along, and can be done from the command line."""

from __future__ import annotations

import os
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from tertium.errors import ModelError
from tertium.models.convert import convert
from tertium.models.ctranslate2 import CTranslate2Model

from ..conftest import Converted
from ..tiny import MAKERS


class Trap:
    """What a malicious checkpoint holds: unpickling it makes a folder."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return os.mkdir, (str(self.path),)


@pytest.fixture
def torch_folder(tiny_m2m100: Converted, tmp_path: Path) -> Path:
    """A model as it was published before safetensors."""
    folder = tmp_path / "old"
    shutil.copytree(tiny_m2m100.original.folder, folder)
    (folder / "model.safetensors").unlink()
    return folder


def test_a_malicious_checkpoint_runs_nothing(torch_folder: Path, tmp_path: Path) -> None:
    trapped = tmp_path / "trapped"
    weights = {"model.shared.weight": Trap(trapped)}
    torch.save(weights, torch_folder / "pytorch_model.bin")
    with pytest.raises(ModelError, match="cannot be converted"):
        convert(torch_folder, tmp_path / "out")
    (torch_folder / "pytorch_model.bin").write_bytes(pickle.dumps(weights))
    with pytest.raises(ModelError, match="cannot be converted"):
        convert(torch_folder, tmp_path / "out")
    assert not trapped.exists()
    torch.load(
        _saved(weights, tmp_path / "proof.bin"), weights_only=False
    )  # the trap does work where it is let
    assert trapped.exists()


def _saved(weights: object, file: Path) -> Path:
    torch.save(weights, file)
    return file


def test_weights_from_before_safetensors(
    torch_folder: Path, tiny_m2m100: Converted, tmp_path: Path
) -> None:
    state = tiny_m2m100.original.model.state_dict()
    torch.save(dict(state), torch_folder / "pytorch_model.bin")
    made = convert(torch_folder, tmp_path / "out")
    assert made.fingerprint == tiny_m2m100.folder.fingerprint


@pytest.mark.parametrize("name", list(MAKERS))
def test_int8_stays_near(name: str, family: Callable[[str], Converted], tmp_path: Path) -> None:
    """A report more than a test: tiny models suffer more from int8 than real ones."""
    original = family(name).original
    marian = "opus-mt-en-fr" if original.family == "marian" else None
    folder = convert(original.folder, tmp_path / "int8", name=marian, quantization="int8")
    pairs = list(original.directions())
    answers = [
        CTranslate2Model(made).log_probs(
            [pair[0] for pair in pairs],
            [pair[1] for pair in pairs],
            target_lang=[original.code(pair[2]) for pair in pairs],
            source_lang=[original.code(pair[3]) for pair in pairs],
        )
        for made in (family(name).folder, folder)
    ]
    off = [abs(a.H - b.H) for a, b in zip(*answers, strict=True)]
    print(
        f"{name}: int8 is off by {sum(off) / len(off):.4f} in H on average, {max(off):.4f} at most"
    )
    assert sum(off) / len(off) < 0.1
