"""Prism's release, converted the first time that it is used."""

from __future__ import annotations

import hashlib
from pathlib import Path

from tertium.errors import ModelError
from tertium.models.convert.fairseq.release import FILES
from tertium.models.folder import CARD
from tertium.storage.paths import models_folder

NAMES = {"8412b2044da4b9b2c0a8ce87b305d0d1": "m39v1"}
"""The releases that prism.py knows, by its own hash."""
HASH_DIGITS = 12


def release_hash(folder: Path) -> str:
    """The hash by which prism.py tells models apart: MD5 over the four files."""
    digest = hashlib.md5(usedforsecurity=False)
    for name in FILES:
        try:
            with (folder / name).open("rb") as stream:
                hashlib.file_digest(stream, lambda: digest)  # on top of the files before
        except OSError as error:
            raise ModelError(f"{folder / name} cannot be read: {error.strerror}") from None
    return digest.hexdigest()


def converted_release(folder: Path, digest: str) -> Path:
    """Where the converted release is; it is converted if it is not there yet.

    It appears whole or not at all, and of several processes that convert it at once the first to
    finish wins.
    """
    from tertium.models.convert.translation import convert

    name = f"prism-{digest[:HASH_DIGITS]}"
    out = models_folder() / name
    if not _is_there(out):
        try:
            convert(folder, out, name=name)
        except (ModelError, OSError):
            if not _is_there(out):
                raise
    return out


def _is_there(out: Path) -> bool:
    return (out / CARD).is_file()
