"""The checks of ``tertium doctor`` that concern the disk: cache, models, unfinished files."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

from tertium.errors import CacheError, ModelError, TertiumError
from tertium.models.cache.results import MAX_BYTES, examine
from tertium.models.catalog import entries
from tertium.storage.paths import cache_folder, encoders_folder, models_folder, results_file

LEAST_FREE = 200 * 10**6
"""Bytes; below this a disk counts as full."""


class Note(str):
    """The result of a check that found nothing wrong, but files that can be deleted."""


def disk() -> str:
    """Check that there is free space for the cache."""
    folder = cache_folder().absolute()
    while not folder.is_dir() and folder != folder.parent:
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    if free < LEAST_FREE:
        raise CacheError(
            f"{megabytes(free)} free at {folder}, which is too little for a cache or a model; make "
            "room, or keep the cache elsewhere (TERTIUM_CACHE)"
        )
    return f"{megabytes(free)} free at {folder}"


def cache() -> str:
    """Check that the cached results are intact, and can be read and written."""
    file = results_file()
    found = examine(file)
    return f"{found.results} results, {megabytes(found.bytes)} of {megabytes(MAX_BYTES)}, {file}"


def cached_models() -> str:
    """Check every model in the cache against its fingerprint."""
    from tertium.cli.models import read_any

    checked, wrong = 0, []
    for path in sorted(models_folder().glob("[!.]*")):
        try:
            read_any(path).check()
            checked += 1
        except (OSError, TertiumError, TypeError, ValueError) as error:
            wrong.append(f"{error}")
    if wrong:
        raise ModelError(f"{'; '.join(wrong)} (delete the folder first)")
    return f"{checked} in {models_folder()}, all match their fingerprints"


def cut_encoders() -> str:
    """Check that the extracted encoders in the cache match their models."""
    from tertium.cli.models import read_any
    from tertium.models.encoders.layers import matches_its_model
    from tertium.models.engine_file import read_engine_file

    models = {}
    for entry in entries():
        try:
            models[read_any(entry.path).fingerprint] = entry.path / "model.bin"
        except TertiumError:  # reported by the check of the models
            continue
    folder = encoders_folder()
    there = sorted(folder.glob("[!.]*"))
    wrong = []
    for cached in there:
        fingerprint, _, layer = cached.name.rpartition("-")
        if fingerprint not in models or not layer.isdecimal():
            continue
        try:
            same = matches_its_model(cached, read_engine_file(models[fingerprint]), int(layer))
        except (OSError, ModelError):
            same = False
        if not same:
            wrong.append(cached)
    if wrong:
        raise ModelError(f"damaged: {remove(wrong)}; they are extracted again when needed")
    return (
        f"{len(there)} extracted from models, {megabytes(size_of(folder))}; {folder} can be deleted"
    )


def unfinished() -> str:
    """Look for interrupted conversions and damaged caches."""
    from tertium.storage.unfinished import leftovers

    left = [*leftovers(models_folder()), *leftovers(encoders_folder())]
    aside = sorted(cache_folder().glob(f"{results_file().name}.damaged-*"))
    if not left and not aside:
        return "nothing"
    kinds = {"interrupted conversions": left, "damaged caches": aside}
    return Note("; ".join(f"{kind}: {remove(paths)}" for kind, paths in kinds.items() if paths))


def downloads() -> str:
    """Look for interrupted downloads from the hub."""
    from huggingface_hub.constants import HF_HUB_CACHE

    found = sorted(Path(HF_HUB_CACHE).glob("*/blobs/*.incomplete"))
    if not found:
        return "none unfinished"
    names = sorted({path.parent.parent.name.replace("--", "/") for path in found})
    return Note(
        f"unfinished or in progress: {', '.join(names)}; fetch again, and when no download is "
        f"running, {remove(found)}"
    )


def remove(paths: list[Path]) -> str:
    """The command that deletes files, and how much space that frees."""
    names = " ".join(shlex.quote(str(path)) for path in paths)
    return f"rm -r {names} ({megabytes(sum(size_of(path) for path in paths))})"


def size_of(path: Path) -> int:
    """The size of a file, or of all files in a folder, in bytes; files that vanish count 0."""
    found = 0
    for file in [path, *path.rglob("*")]:
        try:
            found += file.stat().st_size if file.is_file() else 0
        except OSError:
            continue
    return found


def megabytes(count: int) -> str:
    """Format a size.

    >>> megabytes(1_250_000)
    '1.2 MB'
    """
    return f"{count / 1e6:.1f} MB"
