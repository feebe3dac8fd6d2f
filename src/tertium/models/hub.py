"""Download a model from the Hugging Face hub and convert it into a folder in the cache."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Literal

from tertium.data.hub import download_files
from tertium.errors import ModelError, SettingError
from tertium.models import prism_release
from tertium.models.card import EncoderCard, LanguageCard, TranslationCard
from tertium.models.catalog import cache_name
from tertium.models.convert.checkpoint import check_libraries
from tertium.models.encoders import use
from tertium.models.public import public_entry
from tertium.storage.paths import models_folder

TOKENIZER_FILES = (
    "*.json",
    "*.model",
    "*.spm",
    "merges.txt",
    "tokenization_small100.py",
    "vocab.txt",
)
SAFE_WEIGHTS = ("*.safetensors",)
TORCH_WEIGHTS = ("pytorch_model*.bin", "0_Transformer/pytorch_model*.bin")
DENSE_WEIGHTS = ("*_Dense/pytorch_model.bin",)
"""Dense modules of sentence-transformers, some of which were published before safetensors."""
COMMIT = re.compile(r"[0-9a-f]{40}")


def fetch(
    name: str,
    *,
    revision: str | None = None,
    offline: bool = False,
    quantization: Literal["int8", "float32"] = "float32",
    layer: int | None = None,
) -> TranslationCard | EncoderCard | LanguageCard:
    """Download a model by its catalog name or hub id, convert it, and save it in the cache.

    An interrupted download resumes, and complete files are not downloaded again. A file with a
    wrong checksum is an error, and is downloaded again the next time. ``revision`` pins a commit;
    the commit is recorded with the model. An encoder is saved up to ``layer``.
    """
    if name.lower() == use.NAME:
        raise ModelError(use.INSTALL_HINT)
    entry = public_entry(name)
    hub_id = entry.hub_id if entry else name
    if "/" not in hub_id and not (entry and entry.url):
        raise ModelError(
            f"{name!r} is neither in the catalog of public models (see `tertium models`) nor a "
            "hub id (owner/name)"
        )
    out = models_folder() / cache_name(name)
    if out.exists():
        raise ModelError(f"{out} already exists; remove the folder to download the model again")
    check_libraries()  # before anything is downloaded
    if entry is not None and entry.url:
        if revision is not None or layer is not None:
            raise SettingError(f"{entry.name} is one file", cure="leave out {revision} and {layer}")
        return prism_release.fetch_release(
            prism_release.M39V1_RELEASE,
            out,
            name=entry.name,
            licence=entry.licence,
            offline=offline,
            quantization=quantization,
        )
    snapshot = download(hub_id, revision=revision, offline=offline)
    short = entry.name if entry else name.rpartition("/")[2]
    licence = entry.licence if entry else "see its page on the hub"
    origin = f"{hub_id}@{snapshot.name if COMMIT.fullmatch(snapshot.name) else 'unknown'}"
    from tertium.models.convert.any import convert_any

    return convert_any(
        snapshot,
        out,
        dialect=(entry.dialect or None) if entry else None,
        layer=layer,
        shown=name,
        name=short,
        licence=licence,
        quantization=quantization,
        origin=origin,
    )


def download(hub_id: str, *, revision: str | None = None, offline: bool = False) -> Path:
    """Download the files that conversion needs into the hub's cache, and verify them."""
    files = [*TOKENIZER_FILES, *DENSE_WEIGHTS]
    options: Any = {"revision": revision, "offline": offline}
    snapshot = download_files(hub_id, [*files, *SAFE_WEIGHTS], **options)
    if not any(snapshot.glob(SAFE_WEIGHTS[0])):
        snapshot = download_files(hub_id, [*files, *TORCH_WEIGHTS], **options)
    return snapshot
