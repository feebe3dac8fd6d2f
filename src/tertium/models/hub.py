"""From the Hugging Face hub to a model folder in the cache."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from tertium.errors import ModelError, SettingError, first_line
from tertium.models.encoders import use
from tertium.models.encoders.folder import EncoderFolder
from tertium.models.encoders.known import KNOWN_ENCODERS
from tertium.models.folder import ModelFolder, file_sha256
from tertium.models.translation.known import known_model
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
"""A module of sentence-transformers that may have been published before safetensors."""
SHA256 = re.compile(r"[0-9a-f]{64}")
COMMIT = re.compile(r"[0-9a-f]{40}")


def fetch(
    name: str,
    *,
    revision: str | None = None,
    offline: bool = False,
    quantization: Literal["int8", "float32"] = "float32",
    layer: int | None = None,
) -> ModelFolder | EncoderFolder:
    """Download a model by its known name or its hub id, convert it, and keep it under that name.

    A download whose line breaks goes on where it stopped; files that were whole when it was killed
    are not fetched again. A file that is not what the hub said it would be is an error, and is
    fetched anew the next time. ``revision`` pins a commit; which
    one it was is kept with the model. An encoder is kept up to ``layer``.
    """
    known, known_encoder = known_model(name), KNOWN_ENCODERS.get(name)
    published = known or known_encoder
    if name == use.NAME:
        raise ModelError(use.HOW)
    hub_id = published.hub_id if published else name
    if "/" not in hub_id:
        raise ModelError(
            f"{name!r} is no model that Tertium knows, and no id of the hub (owner/name); "
            "see `tertium models`"
        )
    out = models_folder() / name.replace("/", "--")
    if out.exists():
        raise ModelError(f"{name} is there already, in {out}; remove the folder to fetch it anew")
    snapshot = download(hub_id, revision=revision, offline=offline)
    short = name.rpartition("/")[2]
    licence = published.licence if published else "see its page on the hub"
    origin = f"{hub_id}@{snapshot.name if COMMIT.fullmatch(snapshot.name) else 'unknown'}"
    from tertium.models.convert.encoder import convert_encoder, is_encoder
    from tertium.models.convert.translation import convert

    if is_encoder(snapshot):
        return convert_encoder(
            snapshot,
            out,
            layer=layer,
            name=short,
            licence=licence,
            quantization=quantization,
            origin=origin,
        )
    if layer is not None:
        raise SettingError(f"{name} is a translation model; only an encoder is cut at a layer")
    return convert(
        snapshot,
        out,
        name=short,
        dialect=known.dialect if known else None,
        licence=licence,
        quantization=quantization,
        origin=origin,
    )


def download(hub_id: str, *, revision: str | None = None, offline: bool = False) -> Path:
    """Bring what conversion needs into the hub's own cache, and check it."""
    files = [*TOKENIZER_FILES, *DENSE_WEIGHTS]
    options: Any = {"revision": revision, "offline": offline}
    snapshot = download_files(hub_id, [*files, *SAFE_WEIGHTS], **options)
    if not any(snapshot.glob(SAFE_WEIGHTS[0])):
        snapshot = download_files(hub_id, [*files, *TORCH_WEIGHTS], **options)
    return snapshot


def download_files(
    hub_id: str,
    patterns: Sequence[str],
    *,
    kind: Literal["model", "dataset"] = "model",
    revision: str | None = None,
    offline: bool = False,
) -> Path:
    """Bring the files of a repository that match into the hub's own cache, and check them."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    try:
        found = snapshot_download(
            hub_id,
            repo_type=kind,
            revision=revision,
            allow_patterns=list(patterns),
            local_files_only=offline,
        )
    except LocalEntryNotFoundError as error:
        why = "it was not downloaded before" if offline else "the hub is out of reach"
        raise ModelError(f"{hub_id} cannot be fetched: {why} ({first_line(error)})") from None
    except Exception as error:  # the library's, its HTTP client's, or the system's
        raise ModelError(
            f"{hub_id} cannot be fetched: {first_line(error)}; run the same command again to go on"
        ) from error
    snapshot = Path(str(found))
    check_snapshot(snapshot)
    return snapshot


def check_snapshot(snapshot: Path) -> None:
    """Compare large files with the checksum that the hub gave, which is the name of their blob."""
    damaged = []
    for file in sorted(snapshot.rglob("*")):
        blob = file.resolve()
        if not file.is_file() or not SHA256.fullmatch(blob.name):
            continue
        if file_sha256(blob) != blob.name:
            damaged.append(file.name)
            blob.unlink()
            file.unlink(missing_ok=True)
    if damaged:
        raise ModelError(
            f"damaged on the way, by their checksums, and removed: {', '.join(damaged)}; "
            "run the same command again"
        )
