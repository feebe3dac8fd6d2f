"""Where Tertium stores files on this machine, and hashes of files that it remembers there."""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from pathlib import Path
from threading import get_ident

from tertium.storage.atomic import replacing_text

CACHE_VARIABLE = "TERTIUM_CACHE"


def cache_folder() -> Path:
    """``$TERTIUM_CACHE`` if it is set, otherwise the cache folder of this system."""
    if given := os.environ.get(CACHE_VARIABLE):
        return Path(given).expanduser()
    import platformdirs

    return Path(platformdirs.user_cache_dir("tertium", appauthor=False))


def results_file() -> Path:
    """Cached results of models; the name changes whenever the format does."""
    return cache_folder() / "answers-2.sqlite"


def hashes_file() -> Path:
    """Hashes of the files of models, by path; computed again when needed."""
    return cache_folder() / "hashes.json"


def models_folder() -> Path:
    """Downloaded and converted models."""
    return cache_folder() / "models"


def identifiers_folder() -> Path:
    """Models for language identification, unpacked; recreated when needed."""
    return cache_folder() / "identifiers"


_known: dict[str, list[object]] = {}
"""What this process has hashed; the only memory if the cache folder cannot be written."""


def file_sha256(path: Path) -> str:
    """Hash a file of any size."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def remembered_sha256(path: Path) -> str:
    """Hash a file, unless this file (device, inode, size and times) was hashed before.

    The hashes are in the cache folder, so that a model of gigabytes is read once, not in every run.
    """
    name, before = str(path.resolve()), _identity(path)
    known = _known.get(name) or _read().get(name)
    if isinstance(known, list) and known[:-1] == before:
        return str(known[-1])
    digest = file_sha256(path)
    if _identity(path) == before:  # not written to in the meantime
        _remember(name, [*before, digest])
    return digest


def _identity(path: Path) -> list[object]:
    """What changes when a file is replaced or written to; ctime cannot be set back."""
    status = path.stat()
    times = status.st_mtime_ns, status.st_ctime_ns
    return [status.st_dev, status.st_ino, status.st_size, *times]


def _read() -> dict[str, list[object]]:
    try:
        hashes = json.loads(hashes_file().read_bytes())
    except (OSError, ValueError):
        return {}
    return hashes if isinstance(hashes, dict) else {}


def _remember(name: str, known: list[object]) -> None:
    _known[name] = known
    file = hashes_file()
    with suppress(OSError):  # a cache that cannot be written: hash again in the next run
        file.parent.mkdir(parents=True, exist_ok=True)
        present = {path: known for path, known in _read().items() if os.path.exists(path)}
        with replacing_text(
            file, file.with_name(f"{file.name}.{os.getpid()}-{get_ident()}")
        ) as stream:
            json.dump({**present, name: known}, stream, indent=1)
