"""Download files from the Hugging Face hub into its cache, and verify them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from tertium.errors import InputError, ModelError, TertiumError, first_line

SHA256 = re.compile(r"[0-9a-f]{64}")
ERRORS: dict[str, type[TertiumError]] = {"model": ModelError, "dataset": InputError}


def download_files(
    hub_id: str,
    patterns: Sequence[str],
    *,
    kind: Literal["model", "dataset"] = "model",
    revision: str | None = None,
    offline: bool = False,
) -> Path:
    """Download the files of a repository that match, and verify them; return the snapshot folder.

    An interrupted download resumes; complete files are not downloaded again. ``offline`` uses only
    what was downloaded before.
    """
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    error_type = ERRORS[kind]
    what = hub_id if kind == "model" else f"the dataset {hub_id}"
    cure = "" if kind == "model" else "; or give a folder that contains it"
    try:
        snapshot = snapshot_download(
            hub_id,
            repo_type=kind,
            revision=revision,
            allow_patterns=list(patterns),
            local_files_only=offline,
        )
    except LocalEntryNotFoundError as error:
        why = "it was not downloaded before" if offline else "the hub is unreachable"
        raise error_type(
            f"{what} cannot be downloaded: {why} ({first_line(error)}){cure}"
        ) from None
    except Exception as error:  # of the library, its HTTP client or the system
        raise error_type(
            f"{what} cannot be downloaded: {first_line(error)}; "
            f"run the same command again to resume{cure}"
        ) from error
    folder = Path(str(snapshot))
    check_snapshot(folder, error_type)
    return folder


def check_snapshot(snapshot: Path, error_type: type[TertiumError] = ModelError) -> None:
    """Compare large files with the checksum of the hub, which is the name of their blob."""
    damaged = []
    for file in sorted(snapshot.rglob("*")):
        blob = file.resolve()
        if not file.is_file() or not SHA256.fullmatch(blob.name):
            continue
        with blob.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
        if digest != blob.name:
            damaged.append(file.name)
            blob.unlink()
            file.unlink(missing_ok=True)
    if damaged:
        raise error_type(
            f"damaged during download (wrong checksum) and removed: {', '.join(damaged)}; "
            "run the same command again"
        )
