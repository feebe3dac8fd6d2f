"""``tertium doctor``: checks of the engine, and of the files on disk."""

from __future__ import annotations

import platform
import shlex
import shutil
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Literal

import typer

from tertium._version import __version__
from tertium.data.records import counted
from tertium.errors import CacheError, ModelError, TertiumError
from tertium.models import golden
from tertium.models.base import Query
from tertium.models.card import read_card
from tertium.models.catalog import DEFAULT_ENCODER, DEFAULT_MODEL, find, find_encoder, load_model
from tertium.models.engine import available_cores
from tertium.models.results import MAX_BYTES, examine
from tertium.storage.paths import (
    cache_folder,
    file_sha256,
    identifiers_folder,
    models_folder,
    results_file,
)

PACKAGES = ("ctranslate2", "sentencepiece", "tokenizers", "numpy", "sacrebleu")
FLOAT32_TOLERANCE = 2e-5
"""The golden numbers have six decimals, and processors differ in the sixth."""
BATCH_TOLERANCE = 1e-4
"""For float32, with log-probabilities down to -20, whose last digit is worth 2e-6."""
INT8_TOLERANCE = 1e-4
OTHER_INT8_TOLERANCE = 0.5
"""For unusual int8 arithmetic, compared with float32: rounding errors only."""
LEAST_FREE = 200 * 10**6
"""Bytes; below this a disk counts as full."""


class Note(str):
    """The result of a check that found nothing wrong, but files that can be deleted."""


def doctor() -> None:
    """Check that Tertium works on this machine; exit code 1 if anything is wrong.

    One line per check. A line that begins with FAIL names the remedy; a note is about files that
    can be deleted.
    """
    passed = True
    for name, check in CHECKS.items():
        try:
            result = check()
            verdict = "note" if isinstance(result, Note) else "ok"
            typer.echo(f"{verdict:5} {name}: {result}")
        except Exception as error:
            passed = False
            typer.echo(f"FAIL  {name}: {error}")
    raise typer.Exit(0 if passed else 1)


def _versions() -> str:
    packages = ", ".join(f"{package} {version(package)}" for package in PACKAGES)
    return f"tertium {__version__}, Python {platform.python_version()}, {packages}"


def _threads() -> str:
    return f"{available_cores()} of {platform.machine()}"


def _weights() -> str:
    cards = [find(DEFAULT_MODEL), find_encoder(DEFAULT_ENCODER)]
    shown = [f"{card.name} {card.verified(file_sha256).fingerprint[:12]}" for card in cards]
    return f"{' and '.join(shown)} match their fingerprints"


def _int8() -> str:
    """Check that sums of int8 products are exact, and name the int8 arithmetic of this machine."""
    from tertium.models.arithmetic import int8_arithmetic, saturates
    from tertium.models.engine_file import LIMIT

    name = int8_arithmetic()
    if saturates(LIMIT):
        raise ValueError(
            f"int8 products saturate with weights of {LIMIT}, so int8 numbers are wrong here; "
            "use float32"
        )
    result = f"int8-{name}, no saturation with 7-bit weights"
    if saturates(127):
        result += " (8-bit weights would saturate: no VNNI)"
    return result


def _golden(compute_type: Literal["float32", "int8"]) -> str:
    model = load_model(DEFAULT_MODEL, compute_type=compute_type, cache=False)
    recorded = golden.read_golden(find(DEFAULT_MODEL).path)
    expected = [each.float32 for each in recorded]
    against, tolerance = "", FLOAT32_TOLERANCE
    if compute_type == "int8":
        precision = model.settings["precision"]
        if precision == golden.INT8:
            expected, tolerance = [each.int8 for each in recorded], INT8_TOLERANCE
        else:
            against, tolerance = f" from float32 ({precision})", OTHER_INT8_TOLERANCE
    off = golden.largest_difference(golden.golden_scores(model, recorded), expected)
    if not off <= tolerance:
        raise ValueError(
            f"log-probabilities are off by {off:.2g}{against} (allowed: {tolerance:g})"
        )
    return (
        f"{len(recorded)} sentences, at most {off:.2g} off per token{against}; "
        f"{tolerance:g} allowed"
    )


def _batching() -> str:
    """Check that numbers do not depend on the batch that they are computed in."""
    recorded = golden.read_golden(find(DEFAULT_MODEL).path)
    queries = [Query(a.target, b.source, a.target_lang) for a in recorded for b in recorded]
    off = {}
    for compute_type in ("int8", "float32"):
        model = load_model(DEFAULT_MODEL, compute_type=compute_type, cache=False).model
        together = model.log_probs(queries)
        alone = [model.log_probs([query])[0].log_probs for query in queries]
        off[compute_type] = golden.largest_difference(together, alone)
    if off["int8"] or off["float32"] > BATCH_TOLERANCE:
        raise ValueError(f"numbers depend on the batch they are computed in: {off}")
    return f"the same number in any batch (int8 to the bit, float32 to {off['float32']:.2g})"


def _disk() -> str:
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


def _cache() -> str:
    """Check that the cached results are intact, and can be read and written."""
    file = results_file()
    state = examine(file)
    size = f"{megabytes(state.bytes)} of {megabytes(MAX_BYTES)}"
    return f"{counted(state.results, 'result')}, {size}, {file}"


def _cached_models() -> str:
    """Check every model in the cache against its fingerprint."""
    checked, wrong = 0, []
    for path in sorted(models_folder().glob("[!.]*")):
        try:
            read_card(path).verified(file_sha256)
            checked += 1
        except (OSError, TertiumError, TypeError, ValueError) as error:
            wrong.append(f"{error}")
    if wrong:
        raise ModelError(f"{'; '.join(wrong)} (delete the folder first)")
    return f"{checked} in {models_folder()}, all match their fingerprints"


def _unpacked_identifier() -> str:
    """Check that the unpacked model for language identification is that of py3langid."""
    from tertium.data.identify import check_unpacked, unpacked_folder

    folder = unpacked_folder()
    if not folder.exists():
        return "not unpacked yet"
    try:
        check_unpacked()
    except ModelError as error:
        raise ModelError(f"{error}: {remove([folder])}; it is unpacked again") from error
    size = megabytes(size_of(identifiers_folder()))
    return f"as in py3langid, {size}; {identifiers_folder()} can be deleted"


def _leftovers() -> str:
    """Look for interrupted conversions and damaged caches."""
    from tertium.storage.atomic import leftovers

    folders = (models_folder(), identifiers_folder())
    interrupted = [path for folder in folders for path in leftovers(folder)]
    damaged = sorted(cache_folder().glob(f"{results_file().name}.damaged-*"))
    if not interrupted and not damaged:
        return "nothing"
    kinds = {"interrupted conversions": interrupted, "damaged caches": damaged}
    return Note("; ".join(f"{kind}: {remove(paths)}" for kind, paths in kinds.items() if paths))


def _downloads() -> str:
    """Look for interrupted downloads from the hub."""
    from huggingface_hub.constants import HF_HUB_CACHE

    incomplete = sorted(Path(HF_HUB_CACHE).glob("*/blobs/*.incomplete"))
    if not incomplete:
        return "none unfinished"
    names = sorted({path.parent.parent.name.replace("--", "/") for path in incomplete})
    return Note(
        f"unfinished or in progress: {', '.join(names)}; fetch again, and when no download is "
        f"running, {remove(incomplete)}"
    )


def remove(paths: list[Path]) -> str:
    """The command that deletes files, and how much space that frees."""
    names = " ".join(shlex.quote(str(path)) for path in paths)
    return f"rm -r {names} ({megabytes(sum(size_of(path) for path in paths))})"


def size_of(path: Path) -> int:
    """The size of a file, or of all files in a folder, in bytes; files that vanish count 0."""
    total = 0
    for file in [path, *path.rglob("*")]:
        try:
            total += file.stat().st_size if file.is_file() else 0
        except OSError:
            continue
    return total


def megabytes(count: int) -> str:
    """Format a size.

    >>> megabytes(1_250_000)
    '1.2 MB'
    """
    return f"{count / 1e6:.1f} MB"


ENGINE_CHECKS: dict[str, Callable[[], str]] = {
    "versions": _versions,
    "threads": _threads,
    "model": _weights,
    "int8": _int8,  # before any float32 model, or its instruction set could not be chosen
    "golden numbers, int8": lambda: _golden("int8"),
    "golden numbers, float32": lambda: _golden("float32"),
    "batching": _batching,
}
DISK_CHECKS: dict[str, Callable[[], str]] = {
    "disk": _disk,
    "cache": _cache,
    "cached models": _cached_models,
    "language identification": _unpacked_identifier,
    "left over": _leftovers,
    "downloads": _downloads,
}
CHECKS = {**ENGINE_CHECKS, **DISK_CHECKS}
