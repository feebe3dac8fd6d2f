"""Converting runs no code that a checkpoint brings along, and can be done from the command line."""

from __future__ import annotations

import json
import os
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from tertium.errors import ModelError
from tertium.models.base import make_queries
from tertium.models.convert.translation import convert
from tertium.models.translation.ctranslate2 import CTranslate2Model

from ...conftest import Converted
from ...tiny import MAKERS
from .test_published import refused

PARTS = ("weight", "bias")
SIDES = ("encoder", "decoder")


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


@pytest.fixture
def published(tiny_m2m100: Converted, tmp_path: Path) -> Path:
    """A copy of a published folder, to be damaged."""
    return shutil.copytree(tiny_m2m100.original.folder, tmp_path / "published")


def configure(folder: Path, **changes: object) -> None:
    file = folder / "config.json"
    file.write_text(json.dumps({**json.loads(file.read_text("utf-8")), **changes}), "utf-8")


def change_weights(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    weights = load_file(folder / "model.safetensors")
    change(weights)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})


def test_layers_that_are_not_there_are_not_made_up(
    published: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    layers = json.loads((published / "config.json").read_text("utf-8"))["decoder_layers"]
    configure(published, decoder_layers=layers + 2)
    name = f"model.decoder.layers.{layers}.encoder_attn.k_proj"
    message = refused(convert, published, capfd)
    assert f"weights are missing: {name}.bias, {name}.weight, " in message
    assert message.endswith(" ...")


def test_missing_weights_are_not_made_up(
    published: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    name = "model.decoder.layers.0.fc1"
    change_weights(published, lambda all_: [all_.pop(f"{name}.{part}") for part in PARTS])
    message = refused(convert, published, capfd)
    assert message.endswith(f"weights are missing: {name}.bias, {name}.weight")


def test_weights_that_the_network_has_no_place_for(
    published: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    layers = json.loads((published / "config.json").read_text("utf-8"))["encoder_layers"]
    configure(published, encoder_layers=layers - 1)
    message = refused(convert, published, capfd)
    assert "config.json describes a network without" in message
    assert f"model.encoder.layers.{layers - 1}.fc1.bias, " in message


def test_weights_of_another_shape(published: Path, capfd: pytest.CaptureFixture[str]) -> None:
    width = json.loads((published / "config.json").read_text("utf-8"))["decoder_ffn_dim"]
    configure(published, decoder_ffn_dim=width + 8)
    message = refused(convert, published, capfd)
    assert message.endswith(f"model.decoder.layers.0.fc1.bias is {width}, not {width + 8}")


SINUSOIDS = {f"model.{side}.embed_positions.weights": torch.ones(4) for side in SIDES}
"""They were saved once; every network computes them."""
HEAD = {"v_head.summary.weight": torch.ones(4)}


@pytest.mark.parametrize("more", [SINUSOIDS, HEAD], ids=["sinusoids", "a head for training"])
def test_what_a_checkpoint_has_beside_the_network_does_no_harm(
    more: dict[str, Any],
    published: Path,
    tiny_m2m100: Converted,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    change_weights(published, lambda weights: weights.update(more))
    capfd.readouterr()
    made = convert(published, tmp_path / "out")
    assert made.fingerprint == tiny_m2m100.folder.fingerprint
    assert "".join(capfd.readouterr()) == ""


def test_madlad_has_no_weights_called_shared(
    family: Callable[[str], Converted], tmp_path: Path
) -> None:
    """The release calls the embeddings of both sides the decoder's; its outputs are others."""
    madlad = family("madlad")
    folder = shutil.copytree(madlad.original.folder, tmp_path / "released")
    change_weights(folder, lambda all_: all_.update({"lm_head.weight": 2 * all_["shared.weight"]}))
    shared = convert(folder, tmp_path / "shared")
    change_weights(
        folder, lambda all_: all_.update({"decoder.embed_tokens.weight": all_.pop("shared.weight")})
    )
    assert convert(folder, tmp_path / "out").fingerprint == shared.fingerprint
    assert shared.fingerprint != madlad.folder.fingerprint


def test_what_pytorch_says_of_unsafe_files_is_not_passed_on(
    torch_folder: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = torch_folder / "pytorch_model.bin"
    torch.save({"model.shared.weight": Trap(tmp_path / "trapped")}, file)
    found = f"{os.mkdir.__module__}.mkdir"
    assert refused(convert, torch_folder, capfd) == (
        f"{file} cannot be converted: it contains more than weights ({found}), and is not loaded"
    )
    file.write_bytes(b"no checkpoint")
    assert "weights_only" not in refused(convert, torch_folder, capfd)
    file.write_bytes(b"")
    assert refused(convert, torch_folder, capfd).endswith(": EOFError")


@pytest.mark.parametrize("name", list(MAKERS))
def test_int8_stays_near(name: str, family: Callable[[str], Converted], tmp_path: Path) -> None:
    """A report more than a test: tiny models suffer more from int8 than real ones."""
    original = family(name).original
    marian = "opus-mt-en-fr" if original.family == "marian" else None
    folder = convert(original.folder, tmp_path / "int8", name=marian, quantization="int8")
    pairs = list(original.directions())
    answers = [
        CTranslate2Model(made, compute_type=compute_type).log_probs(  # type: ignore[arg-type]
            make_queries(
                [pair[0] for pair in pairs],
                [pair[1] for pair in pairs],
                target_lang=[original.code(pair[2]) for pair in pairs],
                source_lang=[original.code(pair[3]) for pair in pairs],
            )
        )
        for made, compute_type in ((family(name).folder, "float32"), (folder, "int8"))
    ]
    off = [abs(a.H - b.H) for a, b in zip(*answers, strict=True)]
    print(
        f"{name}: int8 is off by {sum(off) / len(off):.4f} in H on average, {max(off):.4f} at most"
    )
    assert sum(off) / len(off) < 0.1
