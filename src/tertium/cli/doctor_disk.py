"""What ``tertium doctor`` looks for on the disk: the cache, the models, and what was left there."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

from tertium.errors import CacheError, ModelError, TertiumError
from tertium.models.cache.results import MAX_BYTES, examine
from tertium.models.catalog import entries
from tertium.storage.paths import answers_file, cache_folder, encoders_folder, models_folder

LEAST_FREE = 200 * 10**6
"""With fewer bytes free, a disk is as good as full."""


class Note(str):
    """Nothing is wrong, but there is something to know, or to tidy up."""


def disk() -> str:
    """Whether there is room where the cache is, or will be."""
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
    file = answers_file()
    found = examine(file)
    return f"{found.results} results, {megabytes(found.bytes)} of {megabytes(MAX_BYTES)}, {file}"


def cached_models() -> str:
    """Whether every model in the cache is what its card says."""
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
    return f"{checked} in {models_folder()}, all as their cards say"


def cut_encoders() -> str:
    """Whether the encoders in the cache are what they were cut from, and how large they are."""
    from tertium.cli.models import read_any
    from tertium.models.encoders.layers import matches_its_model
    from tertium.models.engine_file import read_engine_file

    models = {}
    for entry in entries():
        try:
            models[read_any(entry.path).fingerprint] = entry.path / "model.bin"
        except TertiumError:  # which the check of the models says
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
        raise ModelError(f"damaged: {remove(wrong)}; made anew when needed")
    return f"{len(there)} cut out of models, {megabytes(size_of(folder))}; {folder} can be deleted"


def unfinished() -> str:
    """Whether killed conversions, or damaged caches, were left behind."""
    from tertium.storage.unfinished import leftovers

    left = [*leftovers(models_folder()), *leftovers(encoders_folder())]
    aside = sorted(cache_folder().glob(f"{answers_file().name}.damaged-*"))
    if not left and not aside:
        return "nothing"
    kinds = {"conversions that were broken off": left, "damaged caches that were put aside": aside}
    return Note("; ".join(f"{kind}: {remove(paths)}" for kind, paths in kinds.items() if paths))


def downloads() -> str:
    """Whether downloads from the hub were broken off."""
    from huggingface_hub.constants import HF_HUB_CACHE

    found = sorted(Path(HF_HUB_CACHE).glob("*/blobs/*.incomplete"))
    if not found:
        return "none is unfinished"
    names = sorted({path.parent.parent.name.replace("--", "/") for path in found})
    return Note(
        f"unfinished, or going on: {', '.join(names)}; fetch again, and when no download is going "
        f"on, {remove(found)}"
    )


def remove(paths: list[Path]) -> str:
    """The command that deletes what is not needed, and what that gives back."""
    names = " ".join(shlex.quote(str(path)) for path in paths)
    return f"rm -r {names} ({megabytes(sum(size_of(path) for path in paths))})"


def size_of(path: Path) -> int:
    """How many bytes a file, or all files in a folder, have; what vanishes meanwhile has none."""
    found = 0
    for file in [path, *path.rglob("*")]:
        try:
            found += file.stat().st_size if file.is_file() else 0
        except OSError:
            continue
    return found


def megabytes(count: int) -> str:
    """A size, for people.

    >>> megabytes(1_250_000)
    '1.2 MB'
    """
    return f"{count / 1e6:.1f} MB"
