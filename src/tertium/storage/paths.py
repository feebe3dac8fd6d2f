"""Where Tertium keeps things on this machine."""

from __future__ import annotations

import os
from pathlib import Path

CACHE_VARIABLE = "TERTIUM_CACHE"


def cache_folder() -> Path:
    """``$TERTIUM_CACHE`` if it is set, otherwise the folder that this system has for caches."""
    if given := os.environ.get(CACHE_VARIABLE):
        return Path(given).expanduser()
    import platformdirs

    return Path(platformdirs.user_cache_dir("tertium", appauthor=False))


def answers_file() -> Path:
    """The answers that models have given; the name changes whenever the layout does."""
    return cache_folder() / "answers-2.sqlite"


def models_folder() -> Path:
    """Models that were fetched or converted."""
    return cache_folder() / "models"


def encoders_folder() -> Path:
    """Encoders that were cut out of translation models, or at a layer; made anew when needed."""
    return cache_folder() / "encoders"
