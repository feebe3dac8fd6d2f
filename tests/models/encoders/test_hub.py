"""Encoders come from the hub, too, with all the modules that they have."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from tertium.models.card import EncoderSettings, read_card
from tertium.models.catalog import load_encoder
from tertium.storage.paths import models_folder

from ...cli.conftest import TERTIUM
from ...conftest import ConvertedEncoder
from ...local_hub import COMMIT, local_hub
from ..convert.test_encoder import write_dense, write_modules


def test_fetch_a_sentence_transformers_folder(
    encoder: Callable[[str], ConvertedEncoder], tmp_path: Path
) -> None:
    published = shutil.copytree(encoder("bert").original.folder, tmp_path / "published")
    write_modules(published, "Pooling", "Dense", "Normalize")
    pooling = '{"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": true}'
    (published / "1_Pooling" / "config.json").write_text(pooling)
    write_dense(published / "2_Dense", "Tanh", safe=False)
    (published / "3_Normalize" / "README.md").write_text("nothing to read")
    with local_hub("sentence-transformers/LaBSE", published) as hub:
        settings = {"HF_ENDPOINT": hub.address, "HF_HOME": str(tmp_path / "hf")}
        done = subprocess.run(
            [*TERTIUM, "models", "fetch", "LaBSE"],
            env={**os.environ, **settings, "HF_HUB_DISABLE_PROGRESS_BARS": "1"},
            capture_output=True,
            text=True,
        )
    assert done.returncode == 0, done.stderr
    assert "bert, layer 3 of 3" in done.stdout
    folder = read_card(models_folder() / "LaBSE", EncoderSettings)
    folder.verified()
    assert folder.origin == f"sentence-transformers/LaBSE@{COMMIT}"
    assert folder.licence == "Apache-2.0"
    made = load_encoder("LaBSE")
    assert made.settings["pooling"] == "cls+mean-dense.tanh"
    assert made.sentence_vectors(["The sea."]).vectors.shape == (1, 16)
