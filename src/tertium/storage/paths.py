"""Where Tertium stores files on this machine."""

from __future__ import annotations

import os
from pathlib import Path

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
